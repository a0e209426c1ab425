package tree

import (
	"encoding/hex"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/arkflow-go/arkflow/internal/calc"
)

// infix and postfix words of the operators, by operator.
var Symbols = [...]string{
	OpEq: "=", OpNe: "<>", OpLt: "<", OpLe: "<=", OpGt: ">", OpGe: ">=",
	OpAdd: "+", OpSub: "-", OpMul: "*", OpDiv: "/", OpMod: "%", OpNeg: "-",
	OpAnd: "and", OpOr: "or", OpNot: "not", OpIsNull: "is null", OpIsNotNull: "is not null", OpIn: "in",
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

// strengthOf tells how strongly an operator binds its operands.
func strengthOf(o Operator) int {
	switch o {
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
	}
	return strengthAtom
}

// String gives the tree as SQL text.
func (n *Node) String() string {
	var b strings.Builder
	n.write(&b, 0)
	return b.String()
}

// write appends the text of n to a place that asks for a binding strength.
func (n *Node) write(b *strings.Builder, place int) {
	s := strengthOf(n.Op)
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
		b.WriteString(" in (")
		for i, a := range n.Args[1:] {
			if i > 0 {
				b.WriteString(", ")
			}
			a.write(b, 0)
		}
		b.WriteByte(')')
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

// quoteName gives a column's name, in double quotes where it is no plain word.
func quoteName(name string) string {
	plain := name != ""
	for i, r := range name {
		if r != '_' && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (i == 0 || r < '0' || r > '9') {
			plain = false
		}
	}
	switch strings.ToLower(name) {
	case "and", "or", "not", "is", "in", "null", "true", "false", "timestamp", "interval", "cast", "as":
		plain = false
	}
	if plain {
		return name
	}
	return `"` + strings.ReplaceAll(name, `"`, `""`) + `"`
}

func (l Literal) String() string {
	switch v := l.Value.(type) {
	case nil:
		if l.Untyped() {
			return "null"
		}
		return "cast(null as " + l.Type.String() + ")"
	case bool:
		return strconv.FormatBool(v)
	case int64:
		return integerText(v, l.Type)
	case uint64:
		return strconv.FormatUint(v, 10)
	case float64:
		return floatText(v, l.Type)
	case string:
		if l.Type.ID() == arrow.BINARY {
			return "x'" + hex.EncodeToString([]byte(v)) + "'"
		}
		return "'" + strings.ReplaceAll(v, "'", "''") + "'"
	case *big.Int:
		return decimalText(decimal128.FromBigInt(v), l.Type.(*arrow.Decimal128Type).Scale)
	}
	return fmt.Sprint(l.Value)
}

// integerText gives a whole number, an instant as a time of UTC, a duration as Go writes it.
func integerText(v int64, t arrow.DataType) string {
	unit := UnitOf(t)
	perSecond := max(int64(time.Second)/unit, 1)
	switch ClassOf(t) {
	case ClassInstant:
		sec, part := floorDiv(v, perSecond), v-floorDiv(v, perSecond)*perSecond
		if unit > int64(time.Second) {
			if calc.Overflows(OpMul, v, unit/int64(time.Second)) {
				break
			}
			sec, part = v*(unit/int64(time.Second)), 0
		}
		if at := time.Unix(sec, part*unit).UTC(); at.Year() >= -9999 && at.Year() <= 9999 && sec > -1e12 && sec < 1e12 {
			return "timestamp '" + at.Format(time.RFC3339Nano) + "'"
		}
		return "timestamp '" + strconv.FormatInt(v, 10) + " " + UnitFor(unit).String() + "'"
	case ClassDuration, ClassTimeOfDay:
		if !calc.Overflows(OpMul, v, unit) {
			return "interval '" + time.Duration(v*unit).String() + "'"
		}
		return "interval '" + strconv.FormatInt(v, 10) + " " + UnitFor(unit).String() + "'"
	}
	return strconv.FormatInt(v, 10)
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

func floatText(v float64, t arrow.DataType) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return fmt.Sprintf("cast('%v' as %s)", v, t)
	}
	s := calc.FormatFloat(v, bitsOf(t))
	if !strings.ContainsAny(s, ".e") {
		s += ".0"
	}
	return s
}

func decimalText(v decimal128.Num, scale int32) string { return v.ToString(scale) }
