package column

import (
	"fmt"
	"math/bits"
	"unsafe"

	"github.com/apache/arrow-go/v18/arrow"
)

// Kind is the physical layout of a column: which Go type its values have.
type Kind uint8

// The physical layouts. Several Arrow types share one: a Timestamp, a Time64 and a Duration are Int64.
const (
	Invalid Kind = iota
	Bool         // one bit a value, least significant first
	Int8
	Int16
	Int32
	Int64
	Uint8
	Uint16
	Uint32
	Uint64
	Float32
	Float64
	Decimal // decimal128: 16 bytes a value, little endian
	Bytes   // strings and binaries: int32 offsets and bytes
	List    // lists and maps: int32 offsets and a child; see IsNested
	Struct  // a child for each field
)

var kindNames = [...]string{"invalid", "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32", "float64", "decimal", "bytes", "list", "struct"}

func (k Kind) String() string { return kindNames[k] }

// Width is the number of bytes of a value; 0 for Bool, Bytes, List and Struct.
func (k Kind) Width() int {
	switch k {
	case Int8, Uint8:
		return 1
	case Int16, Uint16:
		return 2
	case Int32, Uint32, Float32:
		return 4
	case Int64, Uint64, Float64:
		return 8
	case Decimal:
		return 16
	}
	return 0
}

// KindOf gives the physical layout of an Arrow type, Invalid for a type that is not supported. Large strings, string
// views and dictionaries are held as Bytes (or the layout of the dictionary's values) and become their own type again in Record.
func KindOf(t arrow.DataType) Kind {
	switch t.ID() {
	case arrow.BOOL:
		return Bool
	case arrow.INT8:
		return Int8
	case arrow.INT16:
		return Int16
	case arrow.INT32, arrow.DATE32, arrow.TIME32:
		return Int32
	case arrow.INT64, arrow.DATE64, arrow.TIME64, arrow.TIMESTAMP, arrow.DURATION:
		return Int64
	case arrow.UINT8:
		return Uint8
	case arrow.UINT16:
		return Uint16
	case arrow.UINT32:
		return Uint32
	case arrow.UINT64:
		return Uint64
	case arrow.FLOAT32:
		return Float32
	case arrow.FLOAT64:
		return Float64
	case arrow.DECIMAL128:
		return Decimal
	case arrow.STRING, arrow.BINARY, arrow.LARGE_STRING, arrow.LARGE_BINARY, arrow.STRING_VIEW, arrow.BINARY_VIEW:
		return Bytes
	case arrow.LIST, arrow.LARGE_LIST, arrow.MAP:
		return List
	case arrow.STRUCT:
		if t.(*arrow.StructType).NumFields() > 0 {
			return Struct
		}
	case arrow.DICTIONARY:
		if k := KindOf(t.(*arrow.DictionaryType).ValueType); !k.IsNested() {
			return k
		}
	}
	return Invalid
}

// CheckSchema reports the first field whose type no operator can hold.
func CheckSchema(s *arrow.Schema) error {
	for i := range s.NumFields() { // Fields copies them
		if err := CheckType(s.Field(i).Type); err != nil {
			return fmt.Errorf("column %q: %w", s.Field(i).Name, err)
		}
	}
	return nil
}

// Column is the values of one field for all rows of a batch. It does not own its memory: the batch does.
type Column struct {
	Type    arrow.DataType
	Kind    Kind
	Nulls   int     // exact number of nulls
	Valid   []byte  // bit i set: row i has a value. nil where there are no nulls
	Data    []byte  // values (see Kind), or the bytes that Offsets speak of
	Offsets []int32 // Bytes: value i is Data[Offsets[i]:Offsets[i+1]]; List: value i is Children[0] from Offsets[i] to Offsets[i+1]

	Children []Column // List and Struct only
}

// Fixed are the Go types of fixed-width columns.
type Fixed interface {
	~int8 | ~int16 | ~int32 | ~int64 | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~float32 | ~float64
}

// Values views the values of a fixed-width column as a slice of its Go type. T must have the width of the column's Kind.
// The slots of nulls hold undefined values.
func Values[T Fixed](c *Column) []T { return View[T](c.Data) }

// View views bytes that are aligned for T as a slice of T.
func View[T any](b []byte) []T {
	var z T
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/int(unsafe.Sizeof(z)))
}

// BytesOf views a slice of fixed-width values as its bytes.
func BytesOf[T any](v []T) []byte {
	var z T
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(v))), len(v)*int(unsafe.Sizeof(z)))
}

// IsNull reports whether row i is null.
func (c *Column) IsNull(i int) bool { return c.Valid != nil && c.Valid[i>>3]&(1<<(i&7)) == 0 }

// AnyNull reports whether one of the physical rows named is null, or of the n rows from lo on where rows is nil.
func (c *Column) AnyNull(lo, n int, rows []uint32) bool {
	if c.Nulls == 0 || c.Valid == nil {
		return false
	}
	if rows != nil {
		all, valid := byte(1), c.Valid
		for _, r := range rows {
			all &= valid[r>>3] >> (r & 7)
		}
		return all == 0
	}
	i, end := lo, lo+n
	for ; i < end && i&7 != 0; i++ {
		if c.IsNull(i) {
			return true
		}
	}
	for ; i+8 <= end; i += 8 {
		if c.Valid[i>>3] != 0xFF {
			return true
		}
	}
	for ; i < end; i++ {
		if c.IsNull(i) {
			return true
		}
	}
	return false
}

// Bytes gives value i of a Bytes column; it lives as long as the batch.
func (c *Column) Bytes(i int) []byte { return c.Data[c.Offsets[i]:c.Offsets[i+1]] }

// String gives value i of a Bytes column without copying; it lives as long as the batch.
func (c *Column) String(i int) string {
	b := c.Data[c.Offsets[i]:c.Offsets[i+1]]
	return unsafe.String(unsafe.SliceData(b), len(b))
}

// Bool gives value i of a Bool column.
func (c *Column) Bool(i int) bool { return Bit(c.Data, i) }

// Bit reads bit i of a bitmap.
func Bit(m []byte, i int) bool { return m[i>>3]&(1<<(i&7)) != 0 }

// SetBit sets bit i of a bitmap.
func SetBit(m []byte, i int) { m[i>>3] |= 1 << (i & 7) }

// ClearBit clears bit i of a bitmap.
func ClearBit(m []byte, i int) { m[i>>3] &^= 1 << (i & 7) }

// BitmapLen is the number of bytes of a bitmap of n bits.
func BitmapLen(n int) int { return (n + 7) / 8 }

// CountZeros is the number of zeros among the first n bits.
func CountZeros(m []byte, n int) int {
	ones, i := 0, 0
	for ; i+64 <= n; i += 64 {
		b := m[i>>3 : i>>3+8]
		ones += bits.OnesCount64(uint64(b[0]) | uint64(b[1])<<8 | uint64(b[2])<<16 | uint64(b[3])<<24 |
			uint64(b[4])<<32 | uint64(b[5])<<40 | uint64(b[6])<<48 | uint64(b[7])<<56)
	}
	for ; i < n; i++ {
		ones += int(m[i>>3]>>(i&7)) & 1
	}
	return n - ones
}

// SizeBytes is the memory that the column views.
func (c *Column) SizeBytes() int {
	n := len(c.Valid) + len(c.Data) + 4*len(c.Offsets)
	for i := range c.Children {
		n += c.Children[i].SizeBytes()
	}
	return n
}
