package calc

import (
	"math"
	"math/big"
	"strconv"
)

// ScaleStep is 10^-scale.
func ScaleStep(scale int32) *big.Rat {
	power := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(max(scale, -scale))), nil)
	if scale < 0 {
		return new(big.Rat).SetInt(power)
	}
	return new(big.Rat).SetFrac(big.NewInt(1), power)
}

// FloatFloor gives the greatest float of 32 or 64 bits that is not above a number, and whether it is the number.
func FloatFloor(r *big.Rat, bits int) (f float64, exact bool) {
	if bits == 32 {
		narrow, exact := r.Float32()
		if f = float64(narrow); !exact && above(f, r) {
			f = float64(math.Nextafter32(narrow, float32(math.Inf(-1))))
		}
		return f, exact
	}
	if f, exact = r.Float64(); !exact && above(f, r) {
		f = math.Nextafter(f, math.Inf(-1))
	}
	return f, exact
}

func above(f float64, r *big.Rat) bool {
	return math.IsInf(f, 1) || !math.IsInf(f, -1) && new(big.Rat).SetFloat64(f).Cmp(r) > 0
}

// IntRange gives the least and the greatest integer of a width.
func IntRange(bits uint, signed bool) (low, high *big.Int) {
	one := big.NewInt(1)
	if signed {
		high = new(big.Int).Lsh(one, bits-1)
		low = new(big.Int).Neg(high)
		return low, high.Sub(high, one)
	}
	high = new(big.Int).Lsh(one, bits)
	return new(big.Int), high.Sub(high, one)
}

// FormatFloat gives the shortest text that is read back as f, a float of 32 or 64 bits.
func FormatFloat(f float64, bits int) string { return strconv.FormatFloat(f, 'g', -1, bits) }

// DecimalOfFloat gives the decimal that the shortest text of a float is: digits·10^-scale. ok is false where 38 digits do
// not hold it.
func DecimalOfFloat(f float64, bits int) (digits *big.Int, scale int32, ok bool) {
	if math.IsNaN(f) || math.IsInf(f, 0) || math.Abs(f) >= 1e38 || f != 0 && math.Abs(f) < 1e-38 {
		return nil, 0, false
	}
	v, ok := new(big.Rat).SetString(FormatFloat(f, bits))
	if !ok {
		return nil, 0, false
	}
	for ten := big.NewRat(10, 1); !v.IsInt(); scale++ {
		v.Mul(v, ten)
	}
	return v.Num(), scale, Digits(v.Num()) <= MaxDigits && scale <= MaxDigits
}

// Digits is the number of decimal digits of |v|.
func Digits(v *big.Int) int32 { return int32(len(new(big.Int).Abs(v).Text(10))) }
