package codec

import (
	"github.com/arkflow-go/arkflow/codec/internal/plain"
	"math"

	"github.com/apache/arrow-go/v18/arrow"
)

// valueOp says how the values of a column are written in JSON.
type valueOp uint8

const (
	opSkip valueOp = iota // no column
	opInt
	opUint
	opFloat64
	opFloat32
	opBool
	opText
	opBase64
	opInstant // string of RFC 3339, or integer in the unit
	opDate32
	opDate64
	opClock32
	opClock64
	opSpan // integer in the unit, or Go duration
	opDecimal
	opNested // lists, maps and structs
)

// textColumn is what encoding and decoding need to know of a column.
type textColumn struct {
	op     valueOp
	zoned  bool  // opInstant: the column has a zone
	perSec int64 // units in a second, of the types of time
	lo, hi int64 // opInt and the integers of time: the least and greatest value
	top    uint64
	scale  int32
	digits int32 // precision of a decimal
	want   string
	nested *nestedColumn // opNested
}

// textColumnOf compiles a type that column.CheckSchema accepts.
func textColumnOf(t arrow.DataType) textColumn {
	if d, ok := t.(*arrow.DictionaryType); ok {
		return textColumnOf(d.ValueType)
	}
	c := textColumn{lo: math.MinInt64, hi: math.MaxInt64, want: TypeName(t)}
	switch x := t.(type) {
	case *arrow.Int8Type:
		c.op, c.lo, c.hi = opInt, math.MinInt8, math.MaxInt8
	case *arrow.Int16Type:
		c.op, c.lo, c.hi = opInt, math.MinInt16, math.MaxInt16
	case *arrow.Int32Type:
		c.op, c.lo, c.hi = opInt, math.MinInt32, math.MaxInt32
	case *arrow.Int64Type:
		c.op = opInt
	case *arrow.Uint8Type:
		c.op, c.top = opUint, math.MaxUint8
	case *arrow.Uint16Type:
		c.op, c.top = opUint, math.MaxUint16
	case *arrow.Uint32Type:
		c.op, c.top = opUint, math.MaxUint32
	case *arrow.Uint64Type:
		c.op, c.top = opUint, math.MaxUint64
	case *arrow.Float32Type:
		c.op = opFloat32
	case *arrow.Float64Type:
		c.op = opFloat64
	case *arrow.BooleanType:
		c.op = opBool
	case *arrow.TimestampType:
		c.op, c.perSec, c.zoned = opInstant, plain.PerSecond(x.Unit), x.TimeZone != ""
	case *arrow.Date32Type:
		c.op, c.lo, c.hi = opDate32, math.MinInt32, math.MaxInt32
	case *arrow.Date64Type:
		c.op = opDate64
	case *arrow.Time32Type:
		c.op, c.perSec, c.lo, c.hi = opClock32, plain.PerSecond(x.Unit), math.MinInt32, math.MaxInt32
	case *arrow.Time64Type:
		c.op, c.perSec = opClock64, plain.PerSecond(x.Unit)
	case *arrow.DurationType:
		c.op, c.perSec = opSpan, plain.PerSecond(x.Unit)
	case *arrow.Decimal128Type:
		c.op, c.scale, c.digits = opDecimal, x.Scale, x.Precision
	case *arrow.BinaryType, *arrow.LargeBinaryType, *arrow.BinaryViewType:
		c.op = opBase64
	case *arrow.StructType, arrow.ListLikeType:
		c.op = opNested
	default:
		c.op = opText
	}
	return c
}

// jsonColumnOf is textColumnOf for JSON, which has nested values.
func jsonColumnOf(f arrow.Field) textColumn {
	c := textColumnOf(f.Type)
	if c.op == opNested {
		n := nestedColumnOf(f, f.Name)
		c.nested, c.want = &n, n.want
	}
	return c
}

func (s *textColumn) beyondRange() string { return "out of the range of " + s.want }

// wholeInt gives the exact value of a number such as 12, 1.0 or 1e3 as an int64 of the column; problem is empty if it is one.
func (s *textColumn) wholeInt(text []byte) (v int64, problem string) {
	neg, mag, w := plain.WholeNumber(text)
	switch {
	case w == plain.Fraction:
		return 0, "not an integer, as " + s.want + " must be"
	case w == plain.TooLarge, mag > 1<<63, mag == 1<<63 && !neg:
		return 0, s.beyondRange()
	}
	if v = int64(mag); neg {
		v = -v
	}
	if v < s.lo || v > s.hi {
		return 0, s.beyondRange()
	}
	return v, ""
}

// wholeUint is wholeInt for unsigned columns.
func (s *textColumn) wholeUint(text []byte) (v uint64, problem string) {
	neg, mag, w := plain.WholeNumber(text)
	switch {
	case w == plain.Fraction:
		return 0, "not an integer, as " + s.want + " must be"
	case w == plain.TooLarge, neg && mag > 0, mag > s.top:
		return 0, s.beyondRange()
	}
	return mag, ""
}

// decimal gives a number as an integer of the column's scale, in two's complement.
func (s *textColumn) decimal(text []byte) (hi, lo uint64, problem string) {
	t := plain.TakeApart(text)
	hi, lo, w := t.Whole128(s.scale)
	limitHi, limitLo := plain.Pow10of128(s.digits)
	switch {
	case w == plain.Fraction:
		return 0, 0, "more decimal places than " + s.want + " has"
	case w == plain.TooLarge, hi > limitHi, hi == limitHi && lo >= limitLo:
		return 0, 0, s.beyondRange()
	}
	if t.Neg {
		hi, lo = plain.Negate128(hi, lo)
	}
	return hi, lo, ""
}
