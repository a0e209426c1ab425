package expr

import (
	"math"
	"math/big"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/arkflow-go/arkflow/column"
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
	switch kind {
	case column.Float64:
		return floatPlace(r, t, func(r *big.Rat) (float64, bool) { return r.Float64() })
	case column.Float32:
		return floatPlace(r, t, func(r *big.Rat) (float64, bool) {
			f, exact := r.Float32()
			return float64(f), exact
		})
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

// floatPlace finds a number among floats of a type; nearest rounds.
func floatPlace(r *big.Rat, t arrow.DataType, nearest func(*big.Rat) (float64, bool)) place {
	f, exact := nearest(r)
	if exact {
		return place{placeExact, literal{t, f}}
	}
	if math.IsInf(f, 1) || !math.IsInf(f, -1) && new(big.Rat).SetFloat64(f).Cmp(r) > 0 {
		if t.ID() == arrow.FLOAT32 {
			f = float64(math.Nextafter32(float32(f), float32(math.Inf(-1))))
		} else {
			f = math.Nextafter(f, math.Inf(-1))
		}
	}
	return place{placeAbove, literal{t, f}}
}

// stepOf is the distance of two neighbouring values of a type that is no float, in the measure of literal.number.
func stepOf(t arrow.DataType) *big.Rat {
	if d, ok := t.(*arrow.Decimal128Type); ok {
		return scaleStep(d.Scale)
	}
	return new(big.Rat).SetInt64(unitOf(t))
}

// scaleStep is 10^-scale.
func scaleStep(scale int32) *big.Rat {
	if scale < 0 {
		return new(big.Rat).SetInt(pow10Big(int(-scale)))
	}
	return new(big.Rat).SetFrac(big.NewInt(1), pow10Big(int(scale)))
}

// rangeOf gives the least and the greatest unscaled value of a type that is no float. Decimals range over what their 16 bytes
// hold, so that values beyond their precision are compared rightly too.
func rangeOf(t arrow.DataType) (low, high *big.Int) {
	bits, signed := uint(8*column.KindOf(t).Width()), true
	switch column.KindOf(t) {
	case column.Uint8, column.Uint16, column.Uint32, column.Uint64:
		signed = false
	}
	one := big.NewInt(1)
	if !signed {
		high = new(big.Int).Lsh(one, bits)
		return new(big.Int), high.Sub(high, one)
	}
	high = new(big.Int).Lsh(one, bits-1)
	low = new(big.Int).Neg(high)
	return low, high.Sub(high, one)
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
	if !ok || math.IsNaN(f) || math.IsInf(f, 0) || math.Abs(f) >= 1e38 || f != 0 && math.Abs(f) < 1e-38 {
		return literal{}, false
	}
	bits := 64
	if l.typ.ID() == arrow.FLOAT32 {
		bits = 32
	}
	r, ok := new(big.Rat).SetString(formatFloat(f, bits))
	if !ok {
		return literal{}, false
	}
	scale := 0
	v := new(big.Rat).Set(r)
	for ten := big.NewRat(10, 1); !v.IsInt(); scale++ {
		v.Mul(v, ten)
	}
	digits := len(new(big.Int).Abs(v.Num()).String())
	if digits > maxDigits || scale > maxDigits {
		return literal{}, false
	}
	return literal{&arrow.Decimal128Type{Precision: int32(max(digits, scale, 1)), Scale: int32(scale)}, new(big.Int).Set(v.Num())}, true
}

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
