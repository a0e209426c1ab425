package keys

import (
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/arkflow-go/arkflow/column"
)

// Tag is the canonical type of a key column (DESIGN K1): columns of one tag and parameter may be compared as keys.
// The numbers are part of the stable hash and of the written key, so they never change.
type Tag uint8

// The canonical types.
const (
	TagInvalid   Tag = 0
	TagInt       Tag = 1 // signed integers, as int64
	TagUint      Tag = 2 // unsigned integers, as uint64
	TagFloat     Tag = 3 // as float64; −0 is 0, all NaNs are one
	TagBool      Tag = 4
	TagBytes     Tag = 5 // strings, binaries and dictionaries of them
	TagTimestamp Tag = 6 // parameter: unit
	TagDate32    Tag = 7 // days
	TagDate64    Tag = 8 // milliseconds
	TagTime      Tag = 9 // parameter: unit
	TagDuration  Tag = 10
	TagDecimal   Tag = 11 // parameter: scale
)

var tagNames = [...]string{"invalid", "integer", "unsigned integer", "float", "bool", "bytes", "timestamp", "date32", "date64", "time", "duration", "decimal"}

// Type is the canonical type of a key column.
type Type struct {
	Tag   Tag
	Param uint8 // unit of times (0 s, 1 ms, 2 µs, 3 ns), scale of decimals (as int8), else 0
}

func (t Type) String() string {
	name := fmt.Sprintf("KeyTag(%d)", t.Tag)
	if int(t.Tag) < len(tagNames) {
		name = tagNames[t.Tag]
	}
	switch t.Tag {
	case TagTimestamp, TagTime, TagDuration:
		return fmt.Sprintf("%s[%s]", name, arrow.TimeUnit(t.Param))
	case TagDecimal:
		return fmt.Sprintf("%s(scale %d)", name, int8(t.Param))
	}
	return name
}

// TypeOf gives the canonical type of a column type; TagInvalid for a type that no key can have.
func TypeOf(t arrow.DataType) Type {
	switch x := t.(type) {
	case *arrow.TimestampType:
		return Type{TagTimestamp, uint8(x.Unit)}
	case *arrow.Time32Type:
		return Type{TagTime, uint8(x.Unit)}
	case *arrow.Time64Type:
		return Type{TagTime, uint8(x.Unit)}
	case *arrow.DurationType:
		return Type{TagDuration, uint8(x.Unit)}
	case *arrow.Date32Type:
		return Type{Tag: TagDate32}
	case *arrow.Date64Type:
		return Type{Tag: TagDate64}
	case *arrow.Decimal128Type:
		return Type{TagDecimal, uint8(int8(x.Scale))}
	case *arrow.DictionaryType:
		return TypeOf(x.ValueType)
	}
	switch column.KindOf(t) {
	case column.Bool:
		return Type{Tag: TagBool}
	case column.Int8, column.Int16, column.Int32, column.Int64:
		return Type{Tag: TagInt}
	case column.Uint8, column.Uint16, column.Uint32, column.Uint64:
		return Type{Tag: TagUint}
	case column.Float32, column.Float64:
		return Type{Tag: TagFloat}
	case column.Bytes:
		return Type{Tag: TagBytes}
	}
	return Type{}
}
