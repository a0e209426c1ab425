package kernel

import (
	"math"

	"github.com/arkflow-go/arkflow/column"
)

// canonicalNaN is the one NaN of keys.
const canonicalNaN = 0x7FF8000000000001

// floatKey gives the canonical bits of a float: −0 becomes 0, every NaN the same one.
func floatKey(f float64) uint64 {
	if f != f {
		return canonicalNaN
	}
	return math.Float64bits(f + 0) // −0 + 0 is 0
}

// wordKind reports whether values of the kind are canonical in one 8-byte word.
func wordKind(k column.Kind) bool {
	return k != column.Bytes && k != column.Decimal && k != column.Invalid
}

// canonical writes the canonical words of physical rows [lo, lo+len(dst)) of a column whose kind is a wordKind, or of the rows named
// where rows is not nil. Slots of nulls get some value. Int64 and Uint64 columns without rows are viewed, not copied.
func canonical(scratch []uint64, c *column.Column, lo, n int, rows []uint32) []uint64 {
	switch c.Kind {
	case column.Int64, column.Uint64:
		v := column.Values[uint64](c)
		if rows == nil {
			return v[lo : lo+n]
		}
		return gatherWords(scratch[:n], v, rows)
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

func gatherWords(dst, v []uint64, rows []uint32) []uint64 {
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
			dst[i] = floatKey(float64(x))
		}
		return dst
	}
	for i, r := range rows {
		dst[i] = floatKey(float64(v[r]))
	}
	return dst
}
