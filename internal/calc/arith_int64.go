package calc

import (
	"math"
	"math/bits"
)

// The loops over int64 compute with wrapping and report whether any row may have overflowed; only then are the rows looked
// at one by one. "May" because the check of a constant's loop is a power of two around zero, which costs two operations a row.

// AddConst is dst[i] = x[i] + c, |c| <= 2^62.
func AddConst(dst, x []int64, c int64) (suspect bool) {
	dst = dst[:len(x)]
	var all uint64
	for i, a := range x {
		all |= uint64(a + 1<<62)
		dst[i] = a + c
	}
	return all>>63 != 0
}

// MulConst is dst[i] = x[i] * c where |a * c| fits for |a| <= 2^k.
func MulConst(dst, x []int64, c int64, k uint) (suspect bool) {
	dst = dst[:len(x)]
	half, all := int64(1)<<k, uint64(0)
	for i, a := range x {
		all |= uint64(a + half)
		dst[i] = a * c
	}
	return all>>(k+1) != 0
}

// MulConstRows is MulConst over rows of x.
func MulConstRows(dst, x []int64, rows []uint32, c int64, k uint) (suspect bool) {
	dst = dst[:len(rows)]
	half, all := int64(1)<<k, uint64(0)
	for i, r := range rows {
		a := x[r]
		all |= uint64(a + half)
		dst[i] = a * c
	}
	return all>>(k+1) != 0
}

// SafeBits gives the k of MulConst for 1 <= |c| <= 2^62.
func SafeBits(c int64) uint { return uint(bits.Len64(math.MaxInt64/AbsOf(c)) - 1) }

// AddPairs is dst[i] = x[i] + y[i].
func AddPairs(dst, x, y []int64) (suspect bool) {
	dst, y = dst[:len(x)], y[:len(x)]
	var all int64
	for i, a := range x {
		b := y[i]
		r := a + b
		all |= (a ^ r) & (b ^ r)
		dst[i] = r
	}
	return all < 0
}

// SubPairs is dst[i] = x[i] - y[i].
func SubPairs(dst, x, y []int64) (suspect bool) {
	dst, y = dst[:len(x)], y[:len(x)]
	var all int64
	for i, a := range x {
		b := y[i]
		r := a - b
		all |= (a ^ b) & (a ^ r)
		dst[i] = r
	}
	return all < 0
}

// MulPairs is dst[i] = x[i] * y[i].
func MulPairs(dst, x, y []int64) (suspect bool) {
	dst, y = dst[:len(x)], y[:len(x)]
	var all uint64
	for i, a := range x {
		b := y[i]
		all |= uint64(a+1<<31) | uint64(b+1<<31)
		dst[i] = a * b
	}
	return all>>32 != 0
}

// DivPairs is dst[i] = x[i] / y[i], 0 where that is an error.
func DivPairs(dst, x, y []int64) (suspect bool) {
	dst, y = dst[:len(x)], y[:len(x)]
	for i, a := range x {
		b := y[i]
		if uint64(b+1) <= 1 { // 0 or -1
			dst[i] = -a & b
			suspect = suspect || b == 0 || a == math.MinInt64
			continue
		}
		if uint64(a)|uint64(b) <= math.MaxUint32 {
			dst[i] = int64(uint32(a) / uint32(b))
			continue
		}
		dst[i] = a / b
	}
	return suspect
}

// ModPairs is dst[i] = x[i] % y[i], 0 where that is an error.
func ModPairs(dst, x, y []int64) (suspect bool) {
	dst, y = dst[:len(x)], y[:len(x)]
	for i, a := range x {
		b := y[i]
		if uint64(b+1) <= 1 { // 0 or -1
			dst[i] = 0
			suspect = suspect || b == 0
			continue
		}
		if uint64(a)|uint64(b) <= math.MaxUint32 {
			dst[i] = int64(uint32(a) % uint32(b))
			continue
		}
		dst[i] = a % b
	}
	return suspect
}

// Overflows tells exactly whether a op b does not fit in int64; a zero Divisor counts.
func Overflows(op Op, a, b int64) bool {
	switch op {
	case Add:
		r := a + b
		return (a^r)&(b^r) < 0
	case Sub:
		r := a - b
		return (a^b)&(a^r) < 0
	case Mul:
		hi, lo := bits.Mul64(AbsOf(a), AbsOf(b))
		if (a < 0) != (b < 0) {
			return hi != 0 || lo > 1<<63
		}
		return hi != 0 || lo > math.MaxInt64
	case Div:
		return b == 0 || a == math.MinInt64 && b == -1
	}
	return b == 0
}
