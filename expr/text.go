package expr

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
var symbols = [...]string{
	opEq: "=", opNe: "<>", opLt: "<", opLe: "<=", opGt: ">", opGe: ">=",
	opAdd: "+", opSub: "-", opMul: "*", opDiv: "/", opMod: "%", opNeg: "-",
	opAnd: "and", opOr: "or", opNot: "not", opIsNull: "is null", opIsNotNull: "is not null", opIn: "in",
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
func strengthOf(o operator) int {
	switch o {
	case opOr:
		return strengthOr
	case opAnd:
		return strengthAnd
	case opNot:
		return strengthNot
	case opEq, opNe, opLt, opLe, opGt, opGe, opIsNull, opIsNotNull, opIn:
		return strengthCompare
	case opAdd, opSub:
		return strengthAdd
	case opMul, opDiv, opMod:
		return strengthMul
	case opNeg:
		return strengthNeg
	}
	return strengthAtom
}

// String gives the expression as SQL-like text, such as `status = 'paid' and amount > 0`.
func (e Expr) String() string { return e.node().String() }

func (n *node) String() string {
	var b strings.Builder
	n.write(&b, 0)
	return b.String()
}

// write appends the text of n to a place that asks for a binding strength.
func (n *node) write(b *strings.Builder, place int) {
	s := strengthOf(n.op)
	if s < place {
		b.WriteByte('(')
		defer b.WriteByte(')')
	}
	switch n.op {
	case opColumn:
		b.WriteString(quoteName(n.name))
	case opLiteral:
		b.WriteString(n.lit.String())
	case opNeg:
		b.WriteByte('-')
		if n.args[0].op == opColumn {
			n.args[0].write(b, strengthAtom)
			return
		}
		b.WriteByte('(')
		n.args[0].write(b, 0)
		b.WriteByte(')')
	case opNot:
		b.WriteString("not ")
		n.args[0].write(b, s)
	case opIsNull, opIsNotNull:
		n.args[0].write(b, s+1)
		b.WriteString(" " + symbols[n.op])
	case opIn:
		n.args[0].write(b, s+1)
		b.WriteString(" in (")
		for i, a := range n.args[1:] {
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
		n.args[0].write(b, left)
		b.WriteString(" " + symbols[n.op] + " ")
		n.args[1].write(b, s+1)
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

func (l literal) String() string {
	switch v := l.value.(type) {
	case nil:
		if l.untyped() {
			return "null"
		}
		return "cast(null as " + l.typ.String() + ")"
	case bool:
		return strconv.FormatBool(v)
	case int64:
		return integerText(v, l.typ)
	case uint64:
		return strconv.FormatUint(v, 10)
	case float64:
		return floatText(v, l.typ)
	case string:
		if l.typ.ID() == arrow.BINARY {
			return "x'" + hex.EncodeToString([]byte(v)) + "'"
		}
		return "'" + strings.ReplaceAll(v, "'", "''") + "'"
	case *big.Int:
		return decimalText(decimal128.FromBigInt(v), l.typ.(*arrow.Decimal128Type).Scale)
	}
	return fmt.Sprint(l.value)
}

// integerText gives a whole number, an instant as a time of UTC, a duration as Go writes it.
func integerText(v int64, t arrow.DataType) string {
	unit := unitOf(t)
	perSecond := max(int64(time.Second)/unit, 1)
	switch classOf(t) {
	case classInstant:
		sec, part := floorDiv(v, perSecond), v-floorDiv(v, perSecond)*perSecond
		if unit > int64(time.Second) {
			if calc.Overflows(opMul, v, unit/int64(time.Second)) {
				break
			}
			sec, part = v*(unit/int64(time.Second)), 0
		}
		if at := time.Unix(sec, part*unit).UTC(); at.Year() >= -9999 && at.Year() <= 9999 && sec > -1e12 && sec < 1e12 {
			return "timestamp '" + at.Format(time.RFC3339Nano) + "'"
		}
		return "timestamp '" + strconv.FormatInt(v, 10) + " " + unitFor(unit).String() + "'"
	case classDuration, classTimeOfDay:
		if !calc.Overflows(opMul, v, unit) {
			return "interval '" + time.Duration(v*unit).String() + "'"
		}
		return "interval '" + strconv.FormatInt(v, 10) + " " + unitFor(unit).String() + "'"
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
