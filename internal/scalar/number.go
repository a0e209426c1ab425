package scalar

import (
	"math"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/internal/calc"
	"github.com/arkflow-go/arkflow/internal/tree"
)

// numberType gives the type in which a number is computed: int64, uint64, float32, float64, or the decimal or duration that it is.
func numberType(t arrow.DataType) arrow.DataType {
	switch k := column.KindOf(t); {
	case tree.ClassOf(t) != tree.ClassInt:
		return t
	case k == column.Uint64:
		return arrow.PrimitiveTypes.Uint64
	}
	return arrow.PrimitiveTypes.Int64
}

// bindAbs is abs. The least integer has no positive counterpart: an error of the row.
func bindAbs(c *Call) error {
	t := numberType(c.Args[0].Type)
	c.Want[0] = t
	kind := column.KindOf(t)
	c.Fails = kind == column.Int64
	return c.gives(t, func(out *Out, args []Vec) {
		switch kind {
		case column.Uint64:
			copy(out.Data, args[0].Data)
		case column.Float32:
			absFloats(column.View[float32](out.Data), values[float32](&args[0]))
		case column.Float64:
			absFloats(column.View[float64](out.Data), values[float64](&args[0]))
		case column.Decimal:
			to := column.View[calc.Int128](out.Data)
			for i, v := range values[calc.Int128](&args[0]) {
				if to[i] = v; int64(v[1]) < 0 {
					to[i] = calc.Negated(v)
				}
			}
		default:
			to := column.View[int64](out.Data)
			for i, v := range values[int64](&args[0]) {
				s := v >> 63
				if to[i] = (v ^ s) - s; to[i] < 0 && !out.Skip(i) {
					out.Fail(i, "the absolute value of "+intText(v)+" does not fit in "+t.String())
				}
			}
		}
	})
}

func absFloats[T float32 | float64](to, from []T) {
	for i, v := range from {
		to[i] = T(math.Abs(float64(v)))
	}
}

// bindRounded is floor and ceil: the whole number below or above, of the operand's type; a decimal loses its scale.
func bindRounded(up bool) func(*Call) error {
	round := math.Floor
	if up {
		round = math.Ceil
	}
	return func(c *Call) error {
		t := numberType(c.Args[0].Type)
		c.Want[0] = t
		d, isDecimal := t.(*arrow.Decimal128Type)
		switch {
		case isDecimal:
			result := &arrow.Decimal128Type{Precision: min(max(d.Precision-max(d.Scale, 0)+1, 1), calc.MaxDigits), Scale: min(d.Scale, 0)}
			return c.gives(result, func(out *Out, args []Vec) {
				to := column.View[calc.Int128](out.Data)
				for i, v := range values[calc.Int128](&args[0]) {
					to[i] = wholeDecimal(v, d.Scale, up)
				}
			})
		case tree.ClassOf(t) == tree.ClassFloat:
			return c.gives(t, func(out *Out, args []Vec) { eachFloat(t, out, &args[0], round) })
		}
		return c.gives(t, func(out *Out, args []Vec) { copy(out.Data, args[0].Data) })
	}
}

// wholeDecimal gives the whole number next to a decimal, below it or up.
func wholeDecimal(v calc.Int128, scale int32, up bool) calc.Int128 {
	if scale <= 0 {
		return v
	}
	whole, _ := calc.Rescale(v, -scale, false)
	back, _ := calc.Rescale(whole, scale, false)
	if back == v || (int64(v[1]) < 0) == up {
		return whole
	}
	one := calc.Int128{1}
	if !up {
		one = calc.Negated(one)
	}
	whole, _ = calc.Sum(whole, one, calc.MaxDigits)
	return whole
}

func eachFloat(t arrow.DataType, out *Out, x *Vec, f func(float64) float64) {
	if t.ID() == arrow.FLOAT32 {
		to := column.View[float32](out.Data)
		for i, v := range values[float32](x) {
			to[i] = float32(f(float64(v)))
		}
		return
	}
	to := column.View[float64](out.Data)
	for i, v := range values[float64](x) {
		to[i] = f(v)
	}
}

// bindRound is round: to a number of digits after the point, 0 where none is given, before it where it is negative. Halves go away
// from zero. A float is rounded by x·10^digits and back; a decimal keeps that many digits.
func bindRound(c *Call) error {
	t := numberType(c.Args[0].Type)
	c.Want[0] = t
	digits := int64(0)
	if len(c.Args) > 1 {
		digits, _ = c.whole(1)
	}
	if digits < -calc.MaxDigits || digits > calc.MaxDigits {
		return argError(1, "", "is out of range: digits are -%d to %d", calc.MaxDigits, calc.MaxDigits)
	}
	d, isDecimal := t.(*arrow.Decimal128Type)
	switch {
	case isDecimal:
		by := int32(digits) - d.Scale
		if by >= 0 {
			return c.gives(t, func(out *Out, args []Vec) { copy(out.Data, args[0].Data) })
		}
		result := &arrow.Decimal128Type{Scale: max(int32(digits), 0)}
		result.Precision = min(max(d.Precision-d.Scale, 0)+result.Scale+1, calc.MaxDigits)
		c.Fails = true
		return c.gives(result, func(out *Out, args []Vec) {
			to := column.View[calc.Int128](out.Data)
			for i, v := range values[calc.Int128](&args[0]) {
				r, ok := calc.Rescale(v, by, true)
				r, ok2 := calc.Rescale(r, result.Scale-int32(digits), false)
				if to[i] = r; (!ok || !ok2 || !calc.Below(r, result.Precision)) && !out.Skip(i) {
					out.Fail(i, tree.DecimalText(calc.BigOf(v), d.Scale)+" rounded does not fit in "+result.String())
				}
			}
		})
	case tree.ClassOf(t) == tree.ClassFloat:
		power := math.Pow(10, math.Abs(float64(digits)))
		return c.gives(t, func(out *Out, args []Vec) {
			eachFloat(t, out, &args[0], func(v float64) float64 { return roundFloat(v, digits, power) })
		})
	case digits >= 0:
		return c.gives(t, func(out *Out, args []Vec) { copy(out.Data, args[0].Data) })
	}
	return c.roundWhole(t, -digits)
}

// roundFloat rounds to digits after the point; power is 10^|digits|. Values too big to have such digits stay.
func roundFloat(v float64, digits int64, power float64) float64 {
	if digits < 0 {
		return math.Round(v/power) * power
	}
	if math.Abs(v) >= 1<<52 {
		return v
	}
	r := math.Round(v*power) / power
	if math.IsInf(r, 0) || math.IsNaN(r) {
		return v
	}
	return r
}

// roundWhole rounds integers to n digits before the point.
func (c *Call) roundWhole(t arrow.DataType, n int64) error {
	c.Fails = true
	unsigned := column.KindOf(t) == column.Uint64
	return c.gives(t, func(out *Out, args []Vec) {
		for i := range out.N {
			v := calc.Int128{column.View[uint64](args[0].Data)[i]}
			if !unsigned && int64(v[0]) < 0 {
				v[1] = math.MaxUint64
			}
			r, _ := calc.Rescale(v, -int32(n), true)
			r, ok := calc.Rescale(r, int32(n), false)
			fits := ok && (unsigned && r[1] == 0 || !unsigned && r[1] == uint64(int64(r[0])>>63))
			if column.View[uint64](out.Data)[i] = r[0]; !fits && !out.Skip(i) {
				out.Fail(i, tree.DecimalText(calc.BigOf(v), 0)+" rounded does not fit in "+t.String())
			}
		}
	})
}
