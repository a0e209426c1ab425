package tree

import (
	"math"
	"math/big"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/internal/calc"
)

// As gives the constant as a value of another type where the cast is plain: the value fits exactly, a float or decimal becomes
// the nearest float, or a text names what floats have no digits for. All else is left to the cast of rows.
func (l Literal) As(t arrow.DataType) (Literal, bool) {
	if column.KindOf(t) == column.Invalid || t.ID() == arrow.DICTIONARY {
		return l, false
	}
	if l.IsNull() || arrow.TypeEqual(l.Type, t) {
		return Literal{t, l.Value}, true
	}
	from, to := ClassOf(l.Type), ClassOf(t)
	switch v := l.Value.(type) {
	case string:
		if to == ClassFloat {
			return namedFloat(v, t)
		}
		return Literal{t, v}, to == ClassText && !(textual(t) && !textual(l.Type))
	case bool:
		return l, false
	}
	switch {
	case to == ClassFloat && from.Numeric():
		return l.nearestFloat(t)
	case from == ClassInt && to.Temporal():
		return placed(Literal{arrow.PrimitiveTypes.Int64, l.Value}, t, UnitOf(t))
	case from == ClassInt && to == ClassInt, from == ClassDecimal && to == ClassInt, from != ClassFloat && from.Numeric() && to == ClassDecimal:
		return placed(l, t, 1)
	case from == to && to.Temporal() && (l.Type.ID() == arrow.TIMESTAMP) == (t.ID() == arrow.TIMESTAMP):
		return placed(l, t, 1)
	}
	return l, false
}

// textual tells strings from binaries.
func textual(t arrow.DataType) bool {
	switch t.ID() {
	case arrow.STRING, arrow.LARGE_STRING, arrow.STRING_VIEW:
		return true
	}
	return false
}

func namedFloat(text string, t arrow.DataType) (Literal, bool) {
	switch text {
	case "NaN":
		return Literal{t, math.NaN()}, true
	case "+Inf", "Inf":
		return Literal{t, math.Inf(1)}, true
	case "-Inf":
		return Literal{t, math.Inf(-1)}, true
	}
	return Literal{}, false
}

// nearestFloat gives a number as a float; false where it is finite and the float is not.
func (l Literal) nearestFloat(t arrow.DataType) (Literal, bool) {
	f, ok := l.Value.(float64)
	if !ok {
		r, _ := l.Number()
		f, _ = r.Float64()
	}
	if t.ID() == arrow.FLOAT32 {
		narrow := float32(f)
		if r, isRat := l.Number(); isRat && !ok {
			narrow, _ = r.Float32()
		}
		if math.IsInf(float64(narrow), 0) && !math.IsInf(f, 0) {
			return Literal{t, float64(narrow)}, false
		}
		f = float64(narrow)
	}
	return Literal{t, f}, true
}

// placed gives a number, times a factor, as a value of a type that holds it exactly.
func placed(l Literal, t arrow.DataType, factor int64) (Literal, bool) {
	r, ok := l.Number()
	if !ok {
		return l, false
	}
	if factor != 1 {
		r = new(big.Rat).Mul(r, new(big.Rat).SetInt64(factor))
	}
	at := PlaceOf(Literal{arrow.Null, r}, t)
	if d, ok := t.(*arrow.Decimal128Type); ok && at.Where == PlaceExact && calc.Digits(at.Lit.Value.(*big.Int)) > d.Precision {
		return l, false
	}
	return at.Lit, at.Where == PlaceExact
}

// NearestTo gives a decimal constant as the float that its digits mean, infinite where the type ends before it.
func (l Literal) NearestTo(t arrow.DataType) Literal {
	if l.IsNull() {
		return l
	}
	f, _ := l.nearestFloat(t)
	return f
}
