package blocks

import (
	"fmt"
	"math"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/arkflow-go/arkflow/column"
)

// conversion turns the values of a column of one type into those of another. Its zero value changes nothing but the name of the type.
type conversion struct {
	to  column.Kind // where the layout changes
	mul int64       // units of time: values are multiplied
	div int64       // or divided, rounded down
}

// conversionOf says how type a becomes type b; ok is false where that would lose or invent something. Allowed are: another form of text or
// of bytes, a dictionary of the same values, text as bytes; an integer or float of more bits; a decimal of more digits and the same scale;
// another unit of a timestamp, time of day or duration (finer parts are cut off), a date of milliseconds for one of days; with or without a zone, of which none means UTC; an int64 as a
// timestamp, duration or time of its unit.
func conversionOf(a, b arrow.DataType) (c conversion, ok bool) {
	a, b = plain(a), plain(b)
	if arrow.TypeEqual(a, b) {
		return c, true
	}
	ka, kb := column.KindOf(a), column.KindOf(b)
	if ka == column.Bytes && kb == column.Bytes {
		return c, isText(a) || !isText(b)
	}
	if a.ID() == arrow.INT64 && kb == column.Int64 {
		return c, b.ID() != arrow.DATE64
	}
	switch x := a.(type) {
	case *arrow.TimestampType:
		if y, is := b.(*arrow.TimestampType); is {
			return units(x.Unit, y.Unit), true
		}
		return c, false
	case *arrow.Time32Type:
		switch y := b.(type) {
		case *arrow.Time32Type:
			return units(x.Unit, y.Unit), true
		case *arrow.Time64Type:
			c = units(x.Unit, y.Unit)
			c.to = kb
			return c, true
		}
		return c, false
	case *arrow.Time64Type:
		if y, is := b.(*arrow.Time64Type); is {
			return units(x.Unit, y.Unit), true
		}
		return c, false
	case *arrow.Date32Type:
		return conversion{to: kb, mul: msPerDay}, b.ID() == arrow.DATE64
	case *arrow.DurationType:
		if y, is := b.(*arrow.DurationType); is {
			return units(x.Unit, y.Unit), true
		}
		return c, false
	case *arrow.Decimal128Type:
		y, is := b.(*arrow.Decimal128Type)
		return c, is && x.Scale == y.Scale && x.Precision <= y.Precision
	}
	if !arrow.IsInteger(a.ID()) && !arrow.IsFloating(a.ID()) || !arrow.IsInteger(b.ID()) && !arrow.IsFloating(b.ID()) {
		return c, false
	}
	c.to = kb
	wider := ka.Width() < kb.Width()
	switch {
	case arrow.IsFloating(a.ID()):
		return c, arrow.IsFloating(b.ID()) && wider
	case arrow.IsFloating(b.ID()):
		return c, false
	case arrow.IsSignedInteger(a.ID()):
		return c, arrow.IsSignedInteger(b.ID()) && wider
	}
	return c, wider
}

const msPerDay = 86_400_000

// plain is the type of the values.
func plain(t arrow.DataType) arrow.DataType {
	if d, ok := t.(*arrow.DictionaryType); ok {
		return plain(d.ValueType)
	}
	return t
}

func isText(t arrow.DataType) bool {
	switch t.ID() {
	case arrow.STRING, arrow.LARGE_STRING, arrow.STRING_VIEW:
		return true
	}
	return false
}

func units(a, b arrow.TimeUnit) conversion {
	if a == b {
		return conversion{}
	}
	if x, y := int64(a.Multiplier()), int64(b.Multiplier()); x > y {
		return conversion{mul: x / y}
	} else {
		return conversion{div: y / x}
	}
}

// apply gives the converted column; new memory belongs to b.
func (c conversion) apply(b *column.Batch, src *column.Column) (column.Column, error) {
	out := *src
	switch {
	case c.mul > 0 || c.div > 0:
		if c.to != column.Invalid {
			out.Kind = c.to
		}
		return out, c.scale(b, src, &out)
	case c.to == column.Invalid:
		return out, nil
	}
	out.Kind = c.to
	switch src.Kind {
	case column.Int8:
		out.Data = widenInt(b, column.Values[int8](src), c.to)
	case column.Int16:
		out.Data = widenInt(b, column.Values[int16](src), c.to)
	case column.Int32:
		out.Data = widenInt(b, column.Values[int32](src), c.to)
	case column.Uint8:
		out.Data = widenInt(b, column.Values[uint8](src), c.to)
	case column.Uint16:
		out.Data = widenInt(b, column.Values[uint16](src), c.to)
	case column.Uint32:
		out.Data = widenInt(b, column.Values[uint32](src), c.to)
	default:
		out.Data = column.BytesOf(widen[float32, float64](b, column.Values[float32](src)))
	}
	return out, nil
}

func widenInt[A int8 | int16 | int32 | uint8 | uint16 | uint32](b *column.Batch, v []A, to column.Kind) []byte {
	switch to.Width() {
	case 2:
		return column.BytesOf(widen[A, int16](b, v))
	case 4:
		return column.BytesOf(widen[A, int32](b, v))
	}
	return column.BytesOf(widen[A, int64](b, v))
}

func widen[A, B int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | float32 | float64](b *column.Batch, v []A) []B {
	v = v[:b.Rows]
	out := column.Alloc[B](b, len(v))
	for i, x := range v {
		out[i] = B(x)
	}
	return out
}

// scale changes the unit of time.
func (c conversion) scale(b *column.Batch, src, out *column.Column) error {
	v := column.Alloc[int64](b, b.Rows)
	if src.Kind == column.Int32 {
		for i, x := range column.Values[int32](src)[:b.Rows] {
			v[i] = int64(x)
		}
	} else {
		copy(v, column.Values[int64](src))
	}
	least, most := int64(math.MinInt64), int64(math.MaxInt64)
	if out.Kind == column.Int32 {
		least, most = math.MinInt32, math.MaxInt32
	}
	for i, x := range v {
		if c.mul > 0 {
			if (x > most/c.mul || x < least/c.mul) && !src.IsNull(i) {
				return fmt.Errorf("row %d: %d does not fit in the finer unit of the schema", i, x)
			}
			v[i] = x * c.mul
			continue
		}
		if v[i] = x / c.div; x%c.div < 0 {
			v[i]--
		}
	}
	if out.Data = column.BytesOf(v); out.Kind == column.Int32 {
		narrow := column.Alloc[int32](b, len(v))
		for i, x := range v {
			narrow[i] = int32(x)
		}
		out.Data = column.BytesOf(narrow)
	}
	return nil
}
