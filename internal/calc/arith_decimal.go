package calc

import (
	"cmp"
	"math/big"
	"math/bits"
	"strconv"
	"unsafe"

	"github.com/apache/arrow-go/v18/arrow/decimal128"
)

// Int128 is the unscaled value of a decimal as it lies in a column: two's complement, low word first.
type Int128 = [2]uint64

// uint256 is a magnitude, low word first.
type uint256 [4]uint64

// MaxDigits is the greatest precision of a decimal.
const MaxDigits = 38

// Pow10 holds 10^0 … 10^38.
var Pow10 = func() (p [MaxDigits + 1]Int128) {
	p[0] = Int128{1, 0}
	for i := 1; i < len(p); i++ {
		hi, lo := bits.Mul64(p[i-1][0], 10)
		p[i] = Int128{lo, p[i-1][1]*10 + hi}
	}
	return p
}()

func negative(v Int128) bool { return int64(v[1]) < 0 }

// Negated is -v, wrapping.
func Negated(v Int128) Int128 {
	lo, borrow := bits.Sub64(0, v[0], 0)
	hi, _ := bits.Sub64(0, v[1], borrow)
	return Int128{lo, hi}
}

func magnitude(v Int128) Int128 {
	if negative(v) {
		return Negated(v)
	}
	return v
}

// mulMagnitudes multiplies two unsigned 128-bit numbers.
func mulMagnitudes(a, b Int128) (r uint256) {
	h00, l00 := bits.Mul64(a[0], b[0])
	h01, l01 := bits.Mul64(a[0], b[1])
	h10, l10 := bits.Mul64(a[1], b[0])
	h11, l11 := bits.Mul64(a[1], b[1])
	var c1, c2 uint64
	r[0] = l00
	r[1], c1 = bits.Add64(h00, l01, 0)
	r[1], c2 = bits.Add64(r[1], l10, 0)
	r[2], c1 = bits.Add64(h01, h10, c1)
	r[3] = h11 + c1
	r[2], c1 = bits.Add64(r[2], l11, c2)
	r[3] += c1
	return r
}

func (a *uint256) cmp(b *uint256) int {
	for i := 3; i >= 0; i-- {
		if a[i] != b[i] {
			if a[i] < b[i] {
				return -1
			}
			return 1
		}
	}
	return 0
}

// Product gives a·b if its magnitude is below 10^digits.
func Product(a, b Int128, digits int32) (Int128, bool) {
	if narrow(a) && narrow(b) { // the product has at most 126 bits
		hi, lo := bits.Mul64(AbsOf(int64(a[0])), AbsOf(int64(b[0])))
		r := Int128{lo, hi}
		if int64(a[0]^b[0]) < 0 {
			r = Negated(r)
		}
		return r, digits == MaxDigits || below(r, digits)
	}
	m := mulMagnitudes(magnitude(a), magnitude(b))
	limit := uint256{Pow10[digits][0], Pow10[digits][1]}
	if m.cmp(&limit) >= 0 {
		return Int128{}, false
	}
	r := Int128{m[0], m[1]}
	if negative(a) != negative(b) {
		r = Negated(r)
	}
	return r, true
}

// MulWide is dst[i] = x[i] * c, which always fits.
func MulWide(dst []Int128, x []int64, c int64) {
	dst = dst[:len(x)]
	for i, a := range x {
		hi, lo := bits.Mul64(uint64(a), uint64(c))
		dst[i] = Int128{lo, hi - uint64(a>>63&c) - uint64(c>>63&a)}
	}
}

// Narrow tells whether 64 bits hold v.
func Narrow(v Int128) bool { return narrow(v) }

// Sum gives a+b if its magnitude is below 10^digits; those of a and b are below 10^38.
func Sum(a, b Int128, digits int32) (Int128, bool) {
	lo, carry := bits.Add64(a[0], b[0], 0)
	hi, _ := bits.Add64(a[1], b[1], carry)
	r := Int128{lo, hi}
	if negative(a) == negative(b) && negative(r) != negative(a) {
		return r, false
	}
	return r, below(r, digits)
}

// narrow tells whether 64 bits hold v.
func narrow(v Int128) bool { return v[1] == uint64(int64(v[0])>>63) }

// below tells whether |v| < 10^digits.
func below(v Int128, digits int32) bool {
	m, p := magnitude(v), &Pow10[digits]
	return m[1] < p[1] || m[1] == p[1] && m[0] < p[0]
}

// CmpDecimals compares a·10^up with b·10^down.
func CmpDecimals(a, b Int128, up, down int32) int {
	if up|down == 0 {
		return cmp.Or(cmp.Compare(int64(a[1]), int64(b[1])), cmp.Compare(a[0], b[0]))
	}
	na, nb := negative(a), negative(b)
	if na != nb {
		if na {
			return -1
		}
		return 1
	}
	ma, mb := magnitude(a), magnitude(b)
	wa, wb := uint256{ma[0], ma[1]}, uint256{mb[0], mb[1]}
	if up > 0 {
		wa = mulMagnitudes(ma, Pow10[up])
	}
	if down > 0 {
		wb = mulMagnitudes(mb, Pow10[down])
	}
	c := wa.cmp(&wb)
	if na {
		return -c
	}
	return c
}

// DecimalPair computes a op b. Its operands are brought to the scale of the result by 10^up and 10^down first (add, sub).
func DecimalPair(op Op, a, b Int128, up, down, digits int32) (Int128, bool) {
	if op == Mul {
		return Product(a, b, digits)
	}
	ok := true
	if up > 0 {
		a, ok = Product(a, Pow10[up], MaxDigits)
	}
	if down > 0 && ok {
		b, ok = Product(b, Pow10[down], MaxDigits)
	}
	if !ok {
		return Int128{}, false
	}
	if op == Sub {
		b = Negated(b)
	}
	return Sum(a, b, digits)
}

// DecimalFloat gives the float64 nearest to v·10^-scale.
func DecimalFloat(v Int128, scale int32) float64 {
	m := magnitude(v)
	if m[1] == 0 && m[0] < 1<<53 && scale >= 0 && scale <= 22 {
		f := float64(m[0]) / floatPow10[scale] // both exact, so the quotient is rounded once
		if negative(v) {
			return -f
		}
		return f
	}
	var text [64]byte
	b := text[:0]
	if negative(v) {
		b = append(b, '-')
	}
	// Two divisions by 10^19 cut 128 bits into groups of 19 digits.
	const group = 1e19
	q1, r1 := bits.Div64(m[1]%group, m[0], group)
	top, mid := m[1]/group, q1
	if top > 0 || mid > 0 {
		h, r := bits.Div64(top, mid, group)
		if h > 0 {
			b = strconv.AppendUint(b, h, 10)
			b = appendDigits(b, r)
		} else {
			b = strconv.AppendUint(b, r, 10)
		}
		b = appendDigits(b, r1)
	} else {
		b = strconv.AppendUint(b, r1, 10)
	}
	b = append(b, 'e')
	b = strconv.AppendInt(b, -int64(scale), 10)
	f, _ := strconv.ParseFloat(unsafe.String(&b[0], len(b)), 64)
	return f
}

// appendDigits appends v as 19 digits.
func appendDigits(b []byte, v uint64) []byte {
	for p := uint64(1e18); p > 0; p /= 10 {
		b = append(b, byte('0'+v/p%10))
	}
	return b
}

// floatPow10 holds the powers of ten that a float64 holds exactly.
var floatPow10 = [23]float64{1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17,
	1e18, 1e19, 1e20, 1e21, 1e22}

// Int128Of gives the words of a Number that fits in 128 bits.
func Int128Of(v *big.Int) Int128 {
	n := decimal128.FromBigInt(v)
	return Int128{n.LowBits(), uint64(n.HighBits())}
}

// BigOf gives a 128-bit number as a big one.
func BigOf(v Int128) *big.Int { return decimal128.New(int64(v[1]), v[0]).BigInt() }

// Below tells whether |v| < 10^digits.
func Below(v Int128, digits int32) bool { return below(v, digits) }

// Rescale gives v·10^by, cut or rounded (halves away from zero) to a whole number; false where 128 bits do not hold it.
func Rescale(v Int128, by int32, round bool) (Int128, bool) {
	switch {
	case by == 0:
		return v, true
	case by > 0:
		if v == (Int128{}) {
			return v, true
		}
		if by > MaxDigits {
			return Int128{}, false
		}
		m := mulMagnitudes(magnitude(v), Pow10[by])
		r := Int128{m[0], m[1]}
		if m[2]|m[3] != 0 || negative(r) {
			return Int128{}, false
		}
		if negative(v) {
			r = Negated(r)
		}
		return r, true
	case by < -MaxDigits:
		return Int128{}, true
	}
	m := magnitude(v)
	if round {
		half := halfPow10(-by)
		var carry uint64
		m[0], carry = bits.Add64(m[0], half[0], 0)
		m[1], _ = bits.Add64(m[1], half[1], carry)
	}
	for left := -by; left > 0; left -= 19 {
		d := Pow10[min(left, 19)][0]
		q := m[1] / d
		m[0], _ = bits.Div64(m[1]%d, m[0], d)
		m[1] = q
	}
	if negative(v) {
		m = Negated(m)
	}
	return m, true
}

// halfPow10 is 10^n / 2, n > 0.
func halfPow10(n int32) Int128 {
	p := Pow10[n]
	return Int128{p[0]>>1 | p[1]<<63, p[1] >> 1}
}
