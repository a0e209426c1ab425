package keys

import (
	"math"

	"github.com/arkflow-go/arkflow/column"
)

// canonicalNaN is the one NaN of keys.
const canonicalNaN = 0x7FF8000000000001

// FloatBits gives the canonical bits of a float: −0 becomes 0, every NaN the same one.
func FloatBits(f float64) uint64 {
	if f != f {
		return canonicalNaN
	}
	return math.Float64bits(f + 0) // −0 + 0 is 0
}

// OneWord reports whether values of the kind are canonical in one 8-byte word.
func OneWord(k column.Kind) bool {
	return k != column.Bytes && k != column.Decimal && k != column.Invalid
}

// Words writes the canonical words of physical rows [lo, lo+len(dst)) of a column whose kind is a OneWord, or of the rows named
// where rows is not nil. Slots of nulls get some value. Int64 and Uint64 columns without rows are viewed, not copied.
func Words(scratch []uint64, c *column.Column, lo, n int, rows []uint32) []uint64 {
	switch c.Kind {
	case column.Int64, column.Uint64:
		v := column.Values[uint64](c)
		if rows == nil {
			return v[lo : lo+n]
		}
		return Gather(scratch[:n], v, rows)
	case column.Int32:
		return widen(scratch[:n], column.Values[int32](c), lo, rows)
	case column.Int16:
		return widen(scratch[:n], column.Values[int16](c), lo, rows)
	case column.Int8:
		return widen(scratch[:n], column.Values[int8](c), lo, rows)
	case column.Uint32:
		return widen(scratch[:n], column.Values[uint32](c), lo, rows)
	case column.Uint16:
		return widen(scratch[:n], column.Values[uint16](c), lo, rows)
	case column.Uint8:
		return widen(scratch[:n], column.Values[uint8](c), lo, rows)
	case column.Float64:
		return floatKeys(scratch[:n], column.Values[float64](c), lo, rows)
	case column.Float32:
		return floatKeys(scratch[:n], column.Values[float32](c), lo, rows)
	}
	dst := scratch[:n]
	if rows == nil {
		for i := range dst {
			dst[i] = uint64(c.Data[(lo+i)>>3]>>((lo+i)&7)) & 1
		}
		return dst
	}
	for i, r := range rows {
		dst[i] = uint64(c.Data[r>>3]>>(r&7)) & 1
	}
	return dst
}

func Gather(dst, v []uint64, rows []uint32) []uint64 {
	rows = rows[:len(dst)]
	for i, r := range rows {
		dst[i] = v[r]
	}
	return dst
}

type narrow interface {
	int8 | int16 | int32 | uint8 | uint16 | uint32
}

func widen[T narrow](dst []uint64, v []T, lo int, rows []uint32) []uint64 {
	if rows == nil {
		v = v[lo : lo+len(dst)]
		for i, x := range v {
			dst[i] = uint64(int64(x))
		}
		return dst
	}
	for i, r := range rows {
		dst[i] = uint64(int64(v[r]))
	}
	return dst
}

func floatKeys[T float32 | float64](dst []uint64, v []T, lo int, rows []uint32) []uint64 {
	if rows == nil {
		v = v[lo : lo+len(dst)]
		for i, x := range v {
			dst[i] = FloatBits(float64(x))
		}
		return dst
	}
	for i, r := range rows {
		dst[i] = FloatBits(float64(v[r]))
	}
	return dst
}

// SignBit is xored to a signed integer to give a word whose unsigned order is that of the values.
const SignBit = 1 << 63

// Ordered turns the canonical bits of a float into a word whose unsigned order is that of the values, NaN greatest.
func Ordered(b uint64) uint64 { return b ^ (uint64(int64(b)>>63) | SignBit) }

// Unordered is the inverse of ordered.
func Unordered(e uint64) uint64 { return e ^ (uint64(int64(^e)>>63) | SignBit) }
