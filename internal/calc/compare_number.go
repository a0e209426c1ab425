package calc

import "math"

// BlockRows is the number of rows that expressions are evaluated over at a time. A multiple of 64.
const BlockRows = 1024

// Number are the Go types of columns that compare as numbers.
type Number interface {
	~int8 | ~int16 | ~int32 | ~int64 | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~float32 | ~float64
}

// HoldsFor tells by the sign of a comparison + 1 whether a relation holds.
func HoldsFor(op Op) [3]byte {
	switch op {
	case Lt:
		return [3]byte{1, 0, 0}
	case Le:
		return [3]byte{1, 1, 0}
	case Gt:
		return [3]byte{0, 0, 1}
	case Ge:
		return [3]byte{0, 1, 1}
	case Eq:
		return [3]byte{0, 1, 0}
	}
	return [3]byte{1, 0, 1}
}

// CompareConst is dst[i] = x[i] op c, where c is not NaN. A NaN among x is less than nothing and equal to nothing here, so
// that the Negated relations see it as the greatest.
func CompareConst[T Number](op Op, dst []byte, x []T, c T) {
	dst = dst[:len(x)]
	switch op {
	case Lt:
		for i, v := range x {
			var b byte
			if v < c {
				b = 1
			}
			dst[i] = b
		}
	case Le:
		for i, v := range x {
			var b byte
			if v <= c {
				b = 1
			}
			dst[i] = b
		}
	default:
		for i, v := range x {
			var b byte
			if v == c {
				b = 1
			}
			dst[i] = b
		}
	}
}

// ComparePairs is dst[i] = x[i] < y[i] or x[i] = y[i], NaN being equal to itself and the greatest.
func ComparePairs[T Number](op Op, dst []byte, x, y []T) {
	dst, y = dst[:len(x)], y[:len(x)]
	if op == Lt {
		for i, v := range x {
			var less, nan, num byte
			w := y[i]
			if v < w {
				less = 1
			}
			if w != w {
				nan = 1
			}
			if v == v {
				num = 1
			}
			dst[i] = less | nan&num
		}
		return
	}
	for i, v := range x {
		var same, nan, nan2 byte
		w := y[i]
		if v == w {
			same = 1
		}
		if w != w {
			nan = 1
		}
		if v != v {
			nan2 = 1
		}
		dst[i] = same | nan&nan2
	}
}

// SelectConst writes the rows base+i for which x[i] op c, exclusive-or Negate, and counts them. len(x) <= BlockRows.
func SelectConst[T Number](op Op, Negate bool, kept *[BlockRows]uint32, base uint32, x []T, c T) int {
	n, flip := 0, 0
	if Negate {
		flip = 1
	}
	switch op {
	case Lt:
		for i, v := range x {
			kept[n&(BlockRows-1)] = base + uint32(i)
			b := 0
			if v < c {
				b = 1
			}
			n += b ^ flip
		}
	case Le:
		for i, v := range x {
			kept[n&(BlockRows-1)] = base + uint32(i)
			b := 0
			if v <= c {
				b = 1
			}
			n += b ^ flip
		}
	default:
		for i, v := range x {
			kept[n&(BlockRows-1)] = base + uint32(i)
			b := 0
			if v == c {
				b = 1
			}
			n += b ^ flip
		}
	}
	return n
}

// SelectMasked writes the rows base+i for which x[i]&mask = want, or <> want, and counts them. len(x) <= BlockRows.
func SelectMasked(Negate bool, kept *[BlockRows]uint32, base uint32, x []int64, mask, want int64) int {
	n := 0
	out := kept[:]
	if Negate {
		for i, v := range x {
			out[n] = base + uint32(i)
			b := 0
			if v&mask != want {
				b = 1
			}
			n += b
		}
		return n
	}
	for i, v := range x {
		out[n] = base + uint32(i)
		b := 0
		if v&mask == want {
			b = 1
		}
		n += b
	}
	return n
}

// SelectTrue writes the rows whose byte is 1 and counts them. rows names them; nil: base+i. len(truth) <= BlockRows.
func SelectTrue(kept *[BlockRows]uint32, base uint32, rows []uint32, truth []byte) int {
	n := 0
	if rows == nil {
		for i, t := range truth {
			kept[n&(BlockRows-1)] = base + uint32(i)
			n += int(t)
		}
		return n
	}
	rows = rows[:len(truth)]
	for i, t := range truth {
		kept[n&(BlockRows-1)] = rows[i]
		n += int(t)
	}
	return n
}

// CmpSignedUint compares exactly.
func CmpSignedUint(a int64, b uint64) int {
	if a < 0 || uint64(a) < b {
		return -1
	}
	if uint64(a) > b {
		return 1
	}
	return 0
}

// CmpSignedFloat compares exactly; NaN is the greatest.
func CmpSignedFloat(a int64, b float64) int {
	switch {
	case b != b || b >= 1<<63:
		return -1
	case b < -1<<63:
		return 1
	}
	whole := math.Trunc(b)
	if w := int64(whole); a != w {
		if a < w {
			return -1
		}
		return 1
	}
	return sign(whole, b)
}

// CmpUintFloat compares exactly; NaN is the greatest.
func CmpUintFloat(a uint64, b float64) int {
	switch {
	case b != b || b >= 1<<64:
		return -1
	case b < 0:
		return 1
	}
	whole := math.Trunc(b)
	if w := uint64(whole); a != w {
		if a < w {
			return -1
		}
		return 1
	}
	return sign(whole, b)
}

func sign(a, b float64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// CmpUnits compares a·factor with b without computing the Product.
func CmpUnits(a, b, factor int64) int {
	q, r := b/factor, b%factor
	if r < 0 {
		q, r = q-1, r+factor
	}
	switch {
	case a < q || a == q && r > 0:
		return -1
	case a > q:
		return 1
	}
	return 0
}
