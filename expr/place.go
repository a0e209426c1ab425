package expr

import (
	"math"
	"math/big"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/internal/calc"
)

// place says where a constant lies among the values of a type.
type place struct {
	where placeKind
	lit   literal // placeExact: the constant as a value of the type; placeAbove: the greatest value below it
}

type placeKind uint8

const (
	placeExact placeKind = iota // it is a value of the type
	placeAbove                  // it is no value; lit is the greatest one below it
	placeUnder                  // it is below all values
)

// placeOf finds a constant, not null, among the values of a numeric or temporal type.
func placeOf(l literal, t arrow.DataType) place {
	t = plainType(t)
	kind := column.KindOf(t)
	if f, ok := l.value.(float64); ok && (math.IsNaN(f) || math.IsInf(f, 0)) {
		switch {
		case kind == column.Float32 || kind == column.Float64:
			return place{placeExact, literal{t, f}}
		case f < 0:
			return place{where: placeUnder}
		}
		return place{placeAbove, greatest(t)}
	}
	if f, ok := l.value.(float64); ok && (kind == column.Float64 || kind == column.Float32 && float64(float32(f)) == f) {
		return place{placeExact, literal{t, f}} // a big number would lose the sign of zero
	}
	if d, ok := decimalOfFloat(l); ok && kind == column.Decimal {
		l = d
	}
	r, _ := l.number()
	if classOf(t) == classFloat {
		f, exact := calc.FloatFloor(r, bitsOf(t))
		if exact {
			return place{placeExact, literal{t, f}}
		}
		return place{placeAbove, literal{t, f}}
	}
	scaled := new(big.Rat).Quo(r, stepOf(t))
	whole := new(big.Int).Div(scaled.Num(), scaled.Denom()) // floor: the denominator is positive
	low, high := rangeOf(t)
	switch {
	case whole.Cmp(low) < 0:
		return place{where: placeUnder}
	case whole.Cmp(high) > 0:
		return place{placeAbove, greatest(t)}
	}
	at := place{placeExact, wholeLiteral(whole, t)}
	if !scaled.IsInt() {
		at.where = placeAbove
	}
	return at
}

// stepOf is the distance of two neighbouring values of a type that is no float, in the measure of literal.number.
func stepOf(t arrow.DataType) *big.Rat {
	if d, ok := t.(*arrow.Decimal128Type); ok {
		return calc.ScaleStep(d.Scale)
	}
	return new(big.Rat).SetInt64(unitOf(t))
}

// rangeOf gives the least and the greatest unscaled value of a type that is no float. Decimals range over what their 16 bytes
// hold, so that values beyond their precision are compared rightly too.
func rangeOf(t arrow.DataType) (low, high *big.Int) {
	k := column.KindOf(t)
	return calc.IntRange(uint(8*k.Width()), k < column.Uint8 || k > column.Uint64)
}

func greatest(t arrow.DataType) literal {
	_, high := rangeOf(t)
	return wholeLiteral(high, t)
}

// wholeLiteral makes a constant of a type that is no float of an unscaled value in its range.
func wholeLiteral(v *big.Int, t arrow.DataType) literal {
	switch column.KindOf(t) {
	case column.Decimal:
		return literal{t, v}
	case column.Uint8, column.Uint16, column.Uint32, column.Uint64:
		return literal{t, v.Uint64()}
	}
	return literal{t, v.Int64()}
}

// decimalOfFloat gives a float constant as the decimal that its shortest text is, if 38 digits hold it: 0.1 is meant.
func decimalOfFloat(l literal) (literal, bool) {
	f, ok := l.value.(float64)
	if !ok {
		return literal{}, false
	}
	v, scale, ok := calc.DecimalOfFloat(f, bitsOf(l.typ))
	if !ok {
		return literal{}, false
	}
	return literal{&arrow.Decimal128Type{Precision: max(calc.Digits(v), scale, 1), Scale: scale}, v}, true
}

// bitsOf is the width of a fixed-width type.
func bitsOf(t arrow.DataType) int { return 8 * column.KindOf(t).Width() }

// convertExact gives a numeric constant, or null, as a value of another numeric type if that holds it exactly. Floats become
// decimals by their shortest text, and integers beyond 2^53 the nearest float64.
func convertExact(l literal, t arrow.DataType) (literal, bool) {
	if l.null() {
		return literal{typ: t}, true
	}
	if !classOf(l.typ).numeric() || !classOf(t).numeric() {
		return literal{}, false
	}
	at := placeOf(l, t)
	if at.where == placeExact {
		return at.lit, true
	}
	if t.ID() == arrow.FLOAT64 {
		if r, ok := l.number(); ok {
			f, _ := r.Float64()
			return literal{t, f}, true
		}
	}
	return literal{}, false
}
