package codec

import (
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
)

// jsonColumn is what encoding and decoding need to know of a column.
type jsonColumn struct {
	op     valueOp
	zoned  bool  // opInstant: the column has a zone
	perSec int64 // units in a second, of the types of time
	lo, hi int64 // opInt and the integers of time: the least and greatest value
	top    uint64
	scale  int32
	digits int32 // precision of a decimal
	want   string
}

// jsonColumnOf compiles a type that column.CheckSchema accepts.
func jsonColumnOf(t arrow.DataType) jsonColumn {
	if d, ok := t.(*arrow.DictionaryType); ok {
		return jsonColumnOf(d.ValueType)
	}
	c := jsonColumn{lo: math.MinInt64, hi: math.MaxInt64, want: TypeName(t)}
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
		c.op, c.perSec, c.zoned = opInstant, perSecond(x.Unit), x.TimeZone != ""
	case *arrow.Date32Type:
		c.op, c.lo, c.hi = opDate32, math.MinInt32, math.MaxInt32
	case *arrow.Date64Type:
		c.op = opDate64
	case *arrow.Time32Type:
		c.op, c.perSec, c.lo, c.hi = opClock32, perSecond(x.Unit), math.MinInt32, math.MaxInt32
	case *arrow.Time64Type:
		c.op, c.perSec = opClock64, perSecond(x.Unit)
	case *arrow.DurationType:
		c.op, c.perSec = opSpan, perSecond(x.Unit)
	case *arrow.Decimal128Type:
		c.op, c.scale, c.digits = opDecimal, x.Scale, x.Precision
	case *arrow.BinaryType, *arrow.LargeBinaryType, *arrow.BinaryViewType:
		c.op = opBase64
	default:
		c.op = opText
	}
	return c
}
