package kernel

import (
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/arkflow-go/arkflow/column"
)

// KeyTag is the canonical type of a key column (DESIGN K1): columns of one tag and parameter may be compared as keys.
// The numbers are part of the stable hash and of the written key, so they never change.
type KeyTag uint8

// The canonical types.
const (
	TagInvalid   KeyTag = 0
	TagInt       KeyTag = 1 // signed integers, as int64
	TagUint      KeyTag = 2 // unsigned integers, as uint64
	TagFloat     KeyTag = 3 // as float64; −0 is 0, all NaNs are one
	TagBool      KeyTag = 4
	TagBytes     KeyTag = 5 // strings, binaries and dictionaries of them
	TagTimestamp KeyTag = 6 // parameter: unit
	TagDate32    KeyTag = 7 // days
	TagDate64    KeyTag = 8 // milliseconds
	TagTime      KeyTag = 9 // parameter: unit
	TagDuration  KeyTag = 10
	TagDecimal   KeyTag = 11 // parameter: scale
)

var tagNames = [...]string{"invalid", "integer", "unsigned integer", "float", "bool", "bytes", "timestamp", "date32", "date64", "time", "duration", "decimal"}

// KeyType is the canonical type of a key column.
type KeyType struct {
	Tag   KeyTag
	Param uint8 // unit of times (0 s, 1 ms, 2 µs, 3 ns), scale of decimals (as int8), else 0
}

func (t KeyType) String() string {
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

// KeyTypeOf gives the canonical type of a column type; TagInvalid for a type that no key can have.
func KeyTypeOf(t arrow.DataType) KeyType {
	switch x := t.(type) {
	case *arrow.TimestampType:
		return KeyType{TagTimestamp, uint8(x.Unit)}
	case *arrow.Time32Type:
		return KeyType{TagTime, uint8(x.Unit)}
	case *arrow.Time64Type:
		return KeyType{TagTime, uint8(x.Unit)}
	case *arrow.DurationType:
		return KeyType{TagDuration, uint8(x.Unit)}
	case *arrow.Date32Type:
		return KeyType{Tag: TagDate32}
	case *arrow.Date64Type:
		return KeyType{Tag: TagDate64}
	case *arrow.Decimal128Type:
		return KeyType{TagDecimal, uint8(int8(x.Scale))}
	case *arrow.DictionaryType:
		return KeyTypeOf(x.ValueType)
	}
	switch column.KindOf(t) {
	case column.Bool:
		return KeyType{Tag: TagBool}
	case column.Int8, column.Int16, column.Int32, column.Int64:
		return KeyType{Tag: TagInt}
	case column.Uint8, column.Uint16, column.Uint32, column.Uint64:
		return KeyType{Tag: TagUint}
	case column.Float32, column.Float64:
		return KeyType{Tag: TagFloat}
	case column.Bytes:
		return KeyType{Tag: TagBytes}
	}
	return KeyType{}
}
