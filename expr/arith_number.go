package expr

import (
	"math"
	"math/bits"
)

// Loops over uint64 and floats. A constant operand comes as a column of equal values.

func addUints(dst, x, y []uint64) (failed bool) {
	dst, y = dst[:len(x)], y[:len(x)]
	var all uint64
	for i, a := range x {
		r, carry := bits.Add64(a, y[i], 0)
		all |= carry
		dst[i] = r
	}
	return all != 0
}

func subUints(dst, x, y []uint64) (failed bool) {
	dst, y = dst[:len(x)], y[:len(x)]
	var all uint64
	for i, a := range x {
		r, borrow := bits.Sub64(a, y[i], 0)
		all |= borrow
		dst[i] = r
	}
	return all != 0
}

func mulUints(dst, x, y []uint64) (failed bool) {
	dst, y = dst[:len(x)], y[:len(x)]
	var all uint64
	for i, a := range x {
		hi, lo := bits.Mul64(a, y[i])
		all |= hi
		dst[i] = lo
	}
	return all != 0
}

func divUints(dst, x, y []uint64, mod bool) (failed bool) {
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

// overflowsUint tells whether a op b does not fit in uint64; a zero divisor counts.
func overflowsUint(op operator, a, b uint64) bool {
	switch op {
	case opAdd:
		return a+b < a
	case opSub:
		return a < b
	case opMul:
		hi, _ := bits.Mul64(a, b)
		return hi != 0
	}
	return b == 0
}

type float interface{ ~float32 | ~float64 }

func floatPairs[T float](op operator, dst, x, y []T) {
	dst, y = dst[:len(x)], y[:len(x)]
	switch op {
	case opAdd:
		for i, a := range x {
			dst[i] = a + y[i]
		}
	case opSub:
		for i, a := range x {
			dst[i] = a - y[i]
		}
	case opMul:
		for i, a := range x {
			dst[i] = a * y[i]
		}
	case opDiv:
		for i, a := range x {
			dst[i] = a / y[i]
		}
	case opMod:
		for i, a := range x {
			dst[i] = T(math.Mod(float64(a), float64(y[i])))
		}
	}
}

func negate[T float](dst, x []T) {
	dst = dst[:len(x)]
	for i, a := range x {
		dst[i] = -a
	}
}
