package scalar

import (
	"fmt"
	"math"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/internal/calc"
	"github.com/arkflow-go/arkflow/internal/tree"
)

// Castable tells whether values of a type can be cast to another.
func Castable(from, to arrow.DataType) bool {
	a, b := tree.ClassOf(from), tree.ClassOf(to)
	switch {
	case arrow.TypeEqual(from, to), a == b:
		return true
	case a == tree.ClassText && !isString(from), b == tree.ClassText && !isString(to):
		return false // a binary is cast to and from strings alone, which are of its class
	case a == tree.ClassText, b == tree.ClassText, a.Numeric() && b.Numeric():
		return true
	case a == tree.ClassInt:
		return b == tree.ClassBool || b.Temporal()
	case b == tree.ClassInt:
		return a == tree.ClassBool || a.Temporal()
	}
	return a == tree.ClassInstant && b == tree.ClassTimeOfDay
}

// cast is the cast of one type to another.
type cast struct {
	from, to         arrow.DataType
	fromKind, toKind column.Kind
	try              bool
	zone             *time.Location // of whichever is a timestamp with a zone
	scale, precision int32          // of the decimal that the result is
	fromScale        int32          // of the decimal that the operand is
	low, high        int64          // what fits in the result, where that is an integer or a temporal type
}

// Cast gives the cast between types that are Castable. The kernel is nil where the values stay as they are. A value that does not fit
// is an error of the row, or null with try.
func Cast(from, to arrow.DataType, try bool) Call {
	c := &cast{from: from, to: to, fromKind: column.KindOf(from), toKind: column.KindOf(to), try: try, zone: time.UTC}
	for _, t := range []arrow.DataType{from, to} {
		if ts, ok := t.(*arrow.TimestampType); ok && ts.TimeZone != "" {
			if zone, err := tree.LoadZone(ts.TimeZone); err == nil {
				c.zone = zone
			}
		}
	}
	if d, ok := from.(*arrow.Decimal128Type); ok {
		c.fromScale = d.Scale
	}
	if d, ok := to.(*arrow.Decimal128Type); ok {
		c.scale, c.precision = d.Scale, d.Precision
	}
	c.low, c.high = rangeOf(c.toKind)
	call := Call{Args: []Arg{{Type: from}}, Want: []arrow.DataType{from}, Result: to}
	if c.same() {
		return call
	}
	call.Kernel = c.kernel()
	if call.Fails = !c.lossless(); try {
		call.Nullable, call.Fails = call.Fails, false
	}
	return call
}

// same tells whether the values of both types mean the same.
func (c *cast) same() bool {
	a, b := tree.ClassOf(c.from), tree.ClassOf(c.to)
	switch {
	case arrow.TypeEqual(c.from, c.to):
		return true
	case a == tree.ClassText && b == tree.ClassText:
		return isString(c.from) || !isString(c.to)
	case a == tree.ClassInstant && b == tree.ClassInstant:
		return c.from.ID() == arrow.TIMESTAMP && c.to.ID() == arrow.TIMESTAMP && tree.UnitOf(c.from) == tree.UnitOf(c.to)
	case a.Temporal() && b == tree.ClassInt, a == tree.ClassInt && b.Temporal():
		return c.fromKind == c.toKind
	}
	return false
}

// lossless tells whether every value fits.
func (c *cast) lossless() bool {
	a, b := tree.ClassOf(c.from), tree.ClassOf(c.to)
	wide := c.fromKind.Width() < c.toKind.Width()
	switch {
	case b == tree.ClassText:
		return a == tree.ClassBool || a == tree.ClassDuration || a.Numeric()
	case b == tree.ClassBool:
		return a == tree.ClassInt
	case b == tree.ClassFloat:
		return a == tree.ClassInt || a == tree.ClassFloat && wide || a == tree.ClassDecimal && c.toKind == column.Float64
	case b == tree.ClassInt:
		return a == tree.ClassBool || a == tree.ClassInt && wide && (isSigned(c.toKind) || !isSigned(c.fromKind)) || a.Temporal() && wide && isSigned(c.toKind)
	}
	return false
}

func isSigned(k column.Kind) bool { return k >= column.Int8 && k <= column.Int64 }

func rangeOf(k column.Kind) (low, high int64) {
	bits := 8 * k.Width()
	switch {
	case k == column.Uint64:
		return 0, math.MaxInt64 // what is above comes as uint64 and is seen to there
	case k >= column.Uint8 && k < column.Uint64:
		return 0, 1<<bits - 1
	case bits > 0 && bits < 64:
		return -1 << (bits - 1), 1<<(bits-1) - 1
	}
	return math.MinInt64, math.MaxInt64
}

// miss tells that the value of a row does not fit.
func (c *cast) miss(out *Out, i int, value string) {
	if c.try {
		out.Null(i)
		return
	}
	out.Fail(i, fmt.Sprintf("%s does not fit in %s", value, c.to))
}

// unread tells that the text of a row cannot be read.
func (c *cast) unread(out *Out, i int, s []byte) {
	if c.try {
		out.Null(i)
		return
	}
	out.Fail(i, fmt.Sprintf("%s is no %s", quoted(s), c.to))
}

// kernel chooses the loop.
func (c *cast) kernel() Kernel {
	a, b := tree.ClassOf(c.from), tree.ClassOf(c.to)
	switch {
	case a == tree.ClassText && b == tree.ClassText:
		return c.checkText
	case a == tree.ClassText:
		return c.fromText
	case b == tree.ClassText:
		return c.toText
	case a.Temporal() && b.Temporal():
		return c.times
	case b == tree.ClassBool:
		return c.toBool
	case b == tree.ClassFloat:
		return c.toFloat
	case b == tree.ClassDecimal:
		return c.toDecimal
	}
	return c.toWhole
}

// wide brings values of up to 64 bits, but uint64 and floats, to int64; buf is used where they are narrower.
func wide(v *Vec, k column.Kind, buf *[calc.BlockRows]int64) []int64 {
	switch k {
	case column.Int64:
		return values[int64](v)
	case column.Bool, column.Uint8:
		return widen(buf, v.Data)
	case column.Int8:
		return widen(buf, values[int8](v))
	case column.Int16:
		return widen(buf, values[int16](v))
	case column.Int32:
		return widen(buf, values[int32](v))
	case column.Uint16:
		return widen(buf, values[uint16](v))
	}
	return widen(buf, values[uint32](v))
}

func widen[T calc.Number](buf *[calc.BlockRows]int64, from []T) []int64 {
	to := buf[:len(from)]
	for i, x := range from {
		to[i] = int64(x)
	}
	return to
}

// store writes a whole number that fits.
func (c *cast) store(out *Out, i int, v int64) {
	switch c.toKind.Width() {
	case 1:
		out.Data[i] = byte(v)
	case 2:
		column.View[int16](out.Data)[i] = int16(v)
	case 4:
		column.View[int32](out.Data)[i] = int32(v)
	default:
		column.View[int64](out.Data)[i] = v
	}
}

func (c *cast) toBool(out *Out, args []Vec) {
	if c.fromKind == column.Uint64 {
		for i, v := range values[uint64](&args[0]) {
			out.Data[i] = truth(v != 0)
		}
		return
	}
	var buf [calc.BlockRows]int64
	for i, v := range wide(&args[0], c.fromKind, &buf) {
		out.Data[i] = truth(v != 0)
	}
}

// toWhole makes integers and temporal counts; fractions are cut off.
func (c *cast) toWhole(out *Out, args []Vec) {
	x := &args[0]
	switch c.fromKind {
	case column.Uint64:
		for i, v := range values[uint64](x) {
			fits := v <= uint64(c.high)
			if c.store(out, i, int64(v)); !fits && !out.Skip(i) {
				c.miss(out, i, fmt.Sprint(v))
			}
		}
	case column.Float32:
		for i, v := range values[float32](x) {
			c.truncate(out, i, float64(v))
		}
	case column.Float64:
		for i, v := range values[float64](x) {
			c.truncate(out, i, v)
		}
	case column.Decimal:
		for i, v := range values[calc.Int128](x) {
			whole, ok := calc.Rescale(v, -c.fromScale, false)
			u := c.toKind == column.Uint64 && ok && whole[1] == 0
			fits := u || ok && whole[1] == uint64(int64(whole[0])>>63) && int64(whole[0]) >= c.low && int64(whole[0]) <= c.high
			if c.store(out, i, int64(whole[0])); !fits && !out.Skip(i) {
				c.miss(out, i, tree.DecimalText(calc.BigOf(v), c.fromScale))
			}
		}
	default:
		var buf [calc.BlockRows]int64
		for i, v := range wide(x, c.fromKind, &buf) {
			if c.store(out, i, v); (v < c.low || v > c.high) && !out.Skip(i) {
				c.miss(out, i, intText(v))
			}
		}
	}
}

// truncate stores a float without its fraction.
func (c *cast) truncate(out *Out, i int, v float64) {
	t := math.Trunc(v)
	switch {
	case c.toKind == column.Uint64 && t >= 0 && t < 1<<64:
		column.View[uint64](out.Data)[i] = uint64(t)
	case t >= -1<<63 && t < 1<<63 && int64(t) >= c.low && int64(t) <= c.high:
		c.store(out, i, int64(t))
	default:
		if c.store(out, i, 0); !out.Skip(i) {
			c.miss(out, i, calc.FormatFloat(v, 64))
		}
	}
}

func (c *cast) toFloat(out *Out, args []Vec) {
	var at [calc.BlockRows]float64
	x := at[:out.N]
	switch c.fromKind {
	case column.Uint64:
		for i, v := range values[uint64](&args[0]) {
			x[i] = float64(v)
		}
	case column.Float32:
		for i, v := range values[float32](&args[0]) {
			x[i] = float64(v)
		}
	case column.Float64:
		copy(x, values[float64](&args[0]))
	case column.Decimal:
		for i, v := range values[calc.Int128](&args[0]) {
			x[i] = calc.DecimalFloat(v, c.fromScale)
		}
	default:
		var buf [calc.BlockRows]int64
		for i, v := range wide(&args[0], c.fromKind, &buf) {
			x[i] = float64(v)
		}
	}
	if c.toKind == column.Float64 {
		copy(column.View[float64](out.Data), x)
		return
	}
	to := column.View[float32](out.Data)
	for i, v := range x {
		if to[i] = float32(v); math.IsInf(float64(to[i]), 0) && !math.IsInf(v, 0) && !out.Skip(i) {
			c.miss(out, i, calc.FormatFloat(v, 64))
		}
	}
}

// toDecimal rounds to the digits of the result, halves away from zero.
func (c *cast) toDecimal(out *Out, args []Vec) {
	to := column.View[calc.Int128](out.Data)
	set := func(i int, v calc.Int128, scale int32) bool {
		r, ok := calc.Rescale(v, c.scale-scale, true)
		to[i] = r
		return ok && calc.Below(r, c.precision)
	}
	switch c.fromKind {
	case column.Uint64:
		for i, v := range values[uint64](&args[0]) {
			if !set(i, calc.Int128{v}, 0) && !out.Skip(i) {
				c.miss(out, i, fmt.Sprint(v))
			}
		}
	case column.Decimal:
		for i, v := range values[calc.Int128](&args[0]) {
			if !set(i, v, c.fromScale) && !out.Skip(i) {
				c.miss(out, i, tree.DecimalText(calc.BigOf(v), c.fromScale))
			}
		}
	case column.Float32, column.Float64:
		bits := 64
		at := func(i int) float64 { return column.View[float64](args[0].Data)[i] }
		if c.fromKind == column.Float32 {
			bits, at = 32, func(i int) float64 { return float64(column.View[float32](args[0].Data)[i]) }
		}
		for i := range out.N {
			if v, ok := floatDecimal(at(i), bits, c.scale); out.Skip(i) {
				to[i] = calc.Int128{}
			} else if to[i] = v; !ok || !calc.Below(v, c.precision) {
				c.miss(out, i, calc.FormatFloat(at(i), bits))
			}
		}
	default:
		var buf [calc.BlockRows]int64
		for i, v := range wide(&args[0], c.fromKind, &buf) {
			if !set(i, calc.Int128{uint64(v), uint64(v >> 63)}, 0) && !out.Skip(i) {
				c.miss(out, i, intText(v))
			}
		}
	}
}
