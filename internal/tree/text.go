package tree

import (
	"strings"

	"github.com/arkflow-go/arkflow/internal/exprtext"
)

// infix and postfix words of the operators, by operator.
var Symbols = [...]string{
	OpEq: "=", OpNe: "<>", OpLt: "<", OpLe: "<=", OpGt: ">", OpGe: ">=",
	OpAdd: "+", OpSub: "-", OpMul: "*", OpDiv: "/", OpMod: "%", OpNeg: "-",
	OpAnd: "and", OpOr: "or", OpNot: "not", OpIsNull: "is null", OpIsNotNull: "is not null", OpIn: "in", OpCast: "cast", OpTryCast: "try_cast",
	OpCase: "case", OpSwitch: "case",
}

// Binding strengths: an operand that binds less strongly than its place asks for is put in parentheses.
const (
	strengthOr = iota + 1
	strengthAnd
	strengthNot
	strengthCompare
	strengthAdd
	strengthMul
	strengthNeg
	strengthAtom
)

// strength tells how strongly an operator binds its operands.
func (n *Node) strength() int {
	switch n.Op {
	case OpOr:
		return strengthOr
	case OpAnd:
		return strengthAnd
	case OpNot:
		return strengthNot
	case OpEq, OpNe, OpLt, OpLe, OpGt, OpGe, OpIsNull, OpIsNotNull, OpIn:
		return strengthCompare
	case OpAdd, OpSub:
		return strengthAdd
	case OpMul, OpDiv, OpMod:
		return strengthMul
	case OpNeg:
		return strengthNeg
	case OpCall:
		if n.infixCall() {
			return strengthCompare
		}
	}
	return strengthAtom
}

// infixCall tells whether a function is written between its operands.
func (n *Node) infixCall() bool { return n.Name == "like" && len(n.Args) == 2 }

// String gives the tree as SQL text.
func (n *Node) String() string {
	var b strings.Builder
	n.write(&b, 0)
	return b.String()
}

// write appends the text of n to a place that asks for a binding strength.
func (n *Node) write(b *strings.Builder, place int) {
	s := n.strength()
	if s < place {
		b.WriteByte('(')
		defer b.WriteByte(')')
	}
	switch n.Op {
	case OpColumn:
		b.WriteString(quoteName(n.Name))
	case OpLiteral:
		b.WriteString(n.Lit.String())
	case OpNeg:
		b.WriteByte('-')
		if n.Args[0].Op == OpColumn {
			n.Args[0].write(b, strengthAtom)
			return
		}
		b.WriteByte('(')
		n.Args[0].write(b, 0)
		b.WriteByte(')')
	case OpNot:
		b.WriteString("not ")
		n.Args[0].write(b, s)
	case OpIsNull, OpIsNotNull:
		n.Args[0].write(b, s+1)
		b.WriteString(" " + Symbols[n.Op])
	case OpIn:
		n.Args[0].write(b, s+1)
		b.WriteString(" in ")
		writeList(b, n.Args[1:])
	case OpCast, OpTryCast:
		b.WriteString(Symbols[n.Op] + "(")
		n.Args[0].write(b, 0)
		b.WriteString(" as " + n.Type.String() + ")")
	case OpCase, OpSwitch:
		n.writeCase(b)
	case OpCall:
		if !n.infixCall() {
			b.WriteString(n.Name)
			writeList(b, n.Args)
			break
		}
		n.Args[0].write(b, s+1)
		b.WriteString(" like ")
		n.Args[1].write(b, s+1)
	default:
		left := s
		if s == strengthCompare {
			left++
		}
		n.Args[0].write(b, left)
		b.WriteString(" " + Symbols[n.Op] + " ")
		n.Args[1].write(b, s+1)
	}
}

// writeList appends operands in brackets.
func writeList(b *strings.Builder, list []*Node) {
	b.WriteByte('(')
	for i, a := range list {
		if i > 0 {
			b.WriteString(", ")
		}
		a.write(b, 0)
	}
	b.WriteByte(')')
}

func (n *Node) writeCase(b *strings.Builder) {
	b.WriteString("case")
	args := n.Args
	if n.Op == OpSwitch {
		b.WriteByte(' ')
		args[0].write(b, 0)
		args = args[1:]
	}
	for ; len(args) > 1; args = args[2:] {
		b.WriteString(" when ")
		args[0].write(b, 0)
		b.WriteString(" then ")
		args[1].write(b, 0)
	}
	if len(args) == 1 {
		b.WriteString(" else ")
		args[0].write(b, 0)
	}
	b.WriteString(" end")
}

// quoteName gives a column's name, in double quotes where it is no plain word.
func quoteName(name string) string {
	if plainName(name) {
		return name
	}
	return `"` + strings.ReplaceAll(name, `"`, `""`) + `"`
}

// plainName tells whether a name needs no quotes.
func plainName(name string) bool {
	for i, r := range name {
		if r != '_' && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (i == 0 || r < '0' || r > '9') {
			return false
		}
	}
	return name != "" && !exprtext.Reserved(name)
}
