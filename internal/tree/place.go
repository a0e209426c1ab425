package tree

import (
	"math"
	"math/big"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/internal/calc"
)

// Place says where a constant lies among the values of a type.
type Place struct {
	Where PlaceKind
	Lit   Literal // PlaceExact: the constant as a value of the type; PlaceAbove: the greatest value below it
}

type PlaceKind uint8

const (
	PlaceExact PlaceKind = iota // it is a value of the type
	PlaceAbove                  // it is no value; lit is the greatest one below it
	PlaceUnder                  // it is below all values
)

// PlaceOf finds a constant, not null, among the values of a numeric or temporal type.
func PlaceOf(l Literal, t arrow.DataType) Place {
	t = PlainType(t)
	kind := column.KindOf(t)
	if f, ok := l.Value.(float64); ok && (math.IsNaN(f) || math.IsInf(f, 0)) {
		switch {
		case kind == column.Float32 || kind == column.Float64:
			return Place{PlaceExact, Literal{t, f}}
		case f < 0:
			return Place{Where: PlaceUnder}
		}
		return Place{PlaceAbove, greatest(t)}
	}
	if f, ok := l.Value.(float64); ok && (kind == column.Float64 || kind == column.Float32 && float64(float32(f)) == f) {
		return Place{PlaceExact, Literal{t, f}} // a big number would lose the sign of zero
	}
	if d, ok := DecimalOfFloat(l); ok && kind == column.Decimal {
		l = d
	}
	r, _ := l.Number()
	if ClassOf(t) == ClassFloat {
		f, exact := calc.FloatFloor(r, bitsOf(t))
		if exact {
			return Place{PlaceExact, Literal{t, f}}
		}
		return Place{PlaceAbove, Literal{t, f}}
	}
	scaled := new(big.Rat).Quo(r, stepOf(t))
	whole := new(big.Int).Div(scaled.Num(), scaled.Denom()) // floor: the denominator is positive
	low, high := rangeOf(t)
	switch {
	case whole.Cmp(low) < 0:
		return Place{Where: PlaceUnder}
	case whole.Cmp(high) > 0:
		return Place{PlaceAbove, greatest(t)}
	}
	at := Place{PlaceExact, wholeLiteral(whole, t)}
	if !scaled.IsInt() {
		at.Where = PlaceAbove
	}
	return at
}

// stepOf is the distance of two neighbouring values of a type that is no float, in the measure of Literal.Number.
func stepOf(t arrow.DataType) *big.Rat {
	if d, ok := t.(*arrow.Decimal128Type); ok {
		return calc.ScaleStep(d.Scale)
	}
	return new(big.Rat).SetInt64(UnitOf(t))
}

// rangeOf gives the least and the greatest unscaled value of a type that is no float. Decimals range over what their 16 bytes
// hold, so that values beyond their precision are compared rightly too.
func rangeOf(t arrow.DataType) (low, high *big.Int) {
	k := column.KindOf(t)
	return calc.IntRange(uint(8*k.Width()), k < column.Uint8 || k > column.Uint64)
}

func greatest(t arrow.DataType) Literal {
	_, high := rangeOf(t)
	return wholeLiteral(high, t)
}

// wholeLiteral makes a constant of a type that is no float of an unscaled value in its range.
func wholeLiteral(v *big.Int, t arrow.DataType) Literal {
	switch column.KindOf(t) {
	case column.Decimal:
		return Literal{t, v}
	case column.Uint8, column.Uint16, column.Uint32, column.Uint64:
		return Literal{t, v.Uint64()}
	}
	return Literal{t, v.Int64()}
}

// DecimalOfFloat gives a float constant as the decimal that its shortest text is, if 38 digits hold it: 0.1 is meant.
func DecimalOfFloat(l Literal) (Literal, bool) {
	f, ok := l.Value.(float64)
	if !ok {
		return Literal{}, false
	}
	v, scale, ok := calc.DecimalOfFloat(f, bitsOf(l.Type))
	if !ok {
		return Literal{}, false
	}
	return Literal{&arrow.Decimal128Type{Precision: max(calc.Digits(v), scale, 1), Scale: scale}, v}, true
}

// bitsOf is the width of a fixed-width type.
func bitsOf(t arrow.DataType) int { return 8 * column.KindOf(t).Width() }

// ConvertExact gives a numeric constant, or null, as a value of another numeric type if that holds it exactly. Floats become
// decimals by their shortest text, and integers beyond 2^53 the nearest float64.
func ConvertExact(l Literal, t arrow.DataType) (Literal, bool) {
	if l.IsNull() {
		return Literal{Type: t}, true
	}
	if !ClassOf(l.Type).Numeric() || !ClassOf(t).Numeric() {
		return Literal{}, false
	}
	at := PlaceOf(l, t)
	if at.Where == PlaceExact {
		return at.Lit, true
	}
	if t.ID() == arrow.FLOAT64 {
		if r, ok := l.Number(); ok {
			f, _ := r.Float64()
			return Literal{t, f}, true
		}
	}
	return Literal{}, false
}
