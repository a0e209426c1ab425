package aggregate

import (
	"math/big"
	"math/bits"
)

// 10^38, the first number of 39 digits.
const (
	tenTo38Lo = 0x098A224000000000
	tenTo38Hi = 0x4B3B4CA85A86C47A
)

// magnitude gives the magnitude words of a two's complement number of three words, and its sign.
func magnitude(w0, w1, w2 uint64) (_, _, _ uint64, negative bool) {
	if int64(w2) >= 0 {
		return w0, w1, w2, false
	}
	w0, c := bits.Add64(^w0, 1, 0)
	w1, c = bits.Add64(^w1, 0, c)
	w2, _ = bits.Add64(^w2, 0, c)
	return w0, w1, w2, true
}

// Fits38 reports whether a 128-bit number has at most 38 digits.
func Fits38(lo, hi uint64) bool {
	lo, hi, _, _ = magnitude(lo, hi, uint64(int64(hi)>>63))
	return hi < tenTo38Hi || hi == tenTo38Hi && lo < tenTo38Lo
}

// MeanDecimal gives sum·10^tenfold / n, rounded half away from zero. It always fits where n > 0: a mean lies between its values.
func MeanDecimal(lo, hi uint64, wraps int64, n uint64, tenfold int) ([2]uint64, bool) {
	if n == 0 {
		return [2]uint64{}, true
	}
	w0, w1, w2, negative := magnitude(lo, hi, uint64(int64(hi)>>63)+uint64(wraps))
	m := [4]uint64{w0, w1, w2, 0}
	for range tenfold {
		c := uint64(0)
		for i := range m {
			h, l := bits.Mul64(m[i], 10)
			var over uint64
			m[i], over = bits.Add64(l, c, 0)
			c = h + over
		}
	}
	rem := uint64(0)
	for i := 3; i >= 0; i-- {
		m[i], rem = bits.Div64(rem, m[i], n)
	}
	if rem >= n-rem {
		c := uint64(0)
		m[0], c = bits.Add64(m[0], 1, 0)
		m[1], _ = bits.Add64(m[1], 0, c)
	}
	q := [2]uint64{m[0], m[1]}
	fits := m[2]|m[3]|q[1]>>63 == 0 && Fits38(q[0], q[1])
	if negative {
		var c uint64
		q[0], c = bits.Add64(^q[0], 1, 0)
		q[1], _ = bits.Add64(^q[1], 0, c)
	}
	return q, fits
}

// Unscaled writes a decimal as text.
func Unscaled(v *big.Int, scale int32) string {
	if scale <= 0 {
		return v.Mul(v, new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(-scale)), nil)).String()
	}
	f := new(big.Rat).SetFrac(v, new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(scale)), nil))
	return f.FloatString(int(scale))
}
