package expr

import "math"

// number are the Go types of columns that compare as numbers.
type number interface {
	~int8 | ~int16 | ~int32 | ~int64 | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~float32 | ~float64
}

// relation is a comparison in the form that the loops know: less, less or equal, or equal, possibly negated. A comparison of two
// columns is brought to less or equal by swapping; le is used with constants only.
type relation struct {
	op     operator // opLt, opLe, opEq
	negate bool
}

func relationOf(op operator) relation {
	switch op {
	case opGt:
		return relation{opLe, true}
	case opGe:
		return relation{opLt, true}
	case opNe:
		return relation{opEq, true}
	}
	return relation{op, false}
}

// mirrored gives the operator with its sides swapped.
func mirrored(op operator) operator {
	switch op {
	case opLt:
		return opGt
	case opGt:
		return opLt
	case opLe:
		return opGe
	case opGe:
		return opLe
	}
	return op
}

// holdsFor tells by the sign of a comparison + 1 whether a relation holds.
func holdsFor(op operator) [3]byte {
	switch op {
	case opLt:
		return [3]byte{1, 0, 0}
	case opLe:
		return [3]byte{1, 1, 0}
	case opGt:
		return [3]byte{0, 0, 1}
	case opGe:
		return [3]byte{0, 1, 1}
	case opEq:
		return [3]byte{0, 1, 0}
	}
	return [3]byte{1, 0, 1}
}

// compareConst is dst[i] = x[i] op c, where c is not NaN. A NaN among x is less than nothing and equal to nothing here, so
// that the negated relations see it as the greatest.
func compareConst[T number](op operator, dst []byte, x []T, c T) {
	dst = dst[:len(x)]
	switch op {
	case opLt:
		for i, v := range x {
			var b byte
			if v < c {
				b = 1
			}
			dst[i] = b
		}
	case opLe:
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

// comparePairs is dst[i] = x[i] < y[i] or x[i] = y[i], NaN being equal to itself and the greatest.
func comparePairs[T number](op operator, dst []byte, x, y []T) {
	dst, y = dst[:len(x)], y[:len(x)]
	if op == opLt {
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

// selectConst writes the rows base+i for which x[i] op c, exclusive-or negate, and counts them. len(x) <= blockRows.
func selectConst[T number](op operator, negate bool, kept *[blockRows]uint32, base uint32, x []T, c T) int {
	n, flip := 0, 0
	if negate {
		flip = 1
	}
	switch op {
	case opLt:
		for i, v := range x {
			kept[n&(blockRows-1)] = base + uint32(i)
			b := 0
			if v < c {
				b = 1
			}
			n += b ^ flip
		}
	case opLe:
		for i, v := range x {
			kept[n&(blockRows-1)] = base + uint32(i)
			b := 0
			if v <= c {
				b = 1
			}
			n += b ^ flip
		}
	default:
		for i, v := range x {
			kept[n&(blockRows-1)] = base + uint32(i)
			b := 0
			if v == c {
				b = 1
			}
			n += b ^ flip
		}
	}
	return n
}

// selectMasked writes the rows base+i for which x[i]&mask = want, or <> want, and counts them. len(x) <= blockRows.
func selectMasked(negate bool, kept *[blockRows]uint32, base uint32, x []int64, mask, want int64) int {
	n := 0
	out := kept[:]
	if negate {
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

// selectTrue writes the rows whose byte is 1 and counts them.
func selectTrue(kept *[blockRows]uint32, b block, truth []byte) int {
	n := 0
	truth = truth[:b.n]
	if b.rows == nil {
		base := uint32(b.base)
		for i, t := range truth {
			kept[n&(blockRows-1)] = base + uint32(i)
			n += int(t)
		}
		return n
	}
	rows := b.rows[:len(truth)]
	for i, t := range truth {
		kept[n&(blockRows-1)] = rows[i]
		n += int(t)
	}
	return n
}

// cmpSignedUint compares exactly.
func cmpSignedUint(a int64, b uint64) int {
	if a < 0 || uint64(a) < b {
		return -1
	}
	if uint64(a) > b {
		return 1
	}
	return 0
}

// cmpSignedFloat compares exactly; NaN is the greatest.
func cmpSignedFloat(a int64, b float64) int {
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

// cmpUintFloat compares exactly; NaN is the greatest.
func cmpUintFloat(a uint64, b float64) int {
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

// cmpUnits compares a·factor with b without computing the product.
func cmpUnits(a, b, factor int64) int {
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
