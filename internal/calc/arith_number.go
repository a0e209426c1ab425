package calc

import (
	"math"
	"math/bits"
)

// Loops over uint64 and floats. A constant operand comes as a column of equal values.

// AddUints is dst[i] = x[i] + y[i]; it reports whether any row overflowed.
func AddUints(dst, x, y []uint64) (failed bool) {
	dst, y = dst[:len(x)], y[:len(x)]
	var all uint64
	for i, a := range x {
		r, carry := bits.Add64(a, y[i], 0)
		all |= carry
		dst[i] = r
	}
	return all != 0
}

// SubUints is dst[i] = x[i] - y[i]; it reports whether any row overflowed.
func SubUints(dst, x, y []uint64) (failed bool) {
	dst, y = dst[:len(x)], y[:len(x)]
	var all uint64
	for i, a := range x {
		r, borrow := bits.Sub64(a, y[i], 0)
		all |= borrow
		dst[i] = r
	}
	return all != 0
}

// MulUints is dst[i] = x[i] * y[i]; it reports whether any row overflowed.
func MulUints(dst, x, y []uint64) (failed bool) {
	dst, y = dst[:len(x)], y[:len(x)]
	var all uint64
	for i, a := range x {
		hi, lo := bits.Mul64(a, y[i])
		all |= hi
		dst[i] = lo
	}
	return all != 0
}

// DivUints is dst[i] = x[i] / y[i], or %, 0 where y[i] is 0; it reports whether there was such a row.
func DivUints(dst, x, y []uint64, mod bool) (failed bool) {
	dst, y = dst[:len(x)], y[:len(x)]
	for i, a := range x {
		b := y[i]
		switch {
		case b == 0:
			dst[i], failed = 0, true
		case mod:
			dst[i] = a % b
		default:
			dst[i] = a / b
		}
	}
	return failed
}

// OverflowsUint tells whether a op b does not fit in uint64; a zero Divisor counts.
func OverflowsUint(op Op, a, b uint64) bool {
	switch op {
	case Add:
		return a+b < a
	case Sub:
		return a < b
	case Mul:
		hi, _ := bits.Mul64(a, b)
		return hi != 0
	}
	return b == 0
}

type float interface{ ~float32 | ~float64 }

// FloatPairs is dst[i] = x[i] op y[i] in IEEE 754.
func FloatPairs[T float](op Op, dst, x, y []T) {
	dst, y = dst[:len(x)], y[:len(x)]
	switch op {
	case Add:
		for i, a := range x {
			dst[i] = a + y[i]
		}
	case Sub:
		for i, a := range x {
			dst[i] = a - y[i]
		}
	case Mul:
		for i, a := range x {
			dst[i] = a * y[i]
		}
	case Div:
		for i, a := range x {
			dst[i] = a / y[i]
		}
	case Mod:
		for i, a := range x {
			dst[i] = T(math.Mod(float64(a), float64(y[i])))
		}
	}
}

// Negate is dst[i] = -x[i].
func Negate[T float](dst, x []T) {
	dst = dst[:len(x)]
	for i, a := range x {
		dst[i] = -a
	}
}
