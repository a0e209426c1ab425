package plain

import (
	"math/bits"
	"strconv"
)

// DecimalText is a number by the grammar of JSON taken apart: ±digits·10^exp. Zeros at either end of the digits belong to
// exp, so zero has none.
type DecimalText struct {
	Neg   bool
	Span  []byte // the digits; a decimal point in between counts for nothing
	Count int    // of digits
	Exp   int64
}

// maxExp bounds exponents that are written out, far beyond what any type holds.
const maxExp = 1 << 40

// TakeApart takes a number apart, which must be one by the grammar of JSON.
func TakeApart(text []byte) DecimalText {
	var d DecimalText
	if text[0] == '-' {
		d.Neg, text = true, text[1:]
	}
	mantissa := text
	for i, c := range text {
		if c|0x20 == 'e' {
			mantissa, d.Exp = text[:i], exponent(text[i+1:])
			break
		}
	}
	point := -1
	for i, c := range mantissa {
		if c == '.' {
			point = i
		}
	}
	from, to := 0, len(mantissa)
	for from < to && (mantissa[from] == '0' || mantissa[from] == '.') {
		from++
	}
	for from < to && (mantissa[to-1] == '0' || mantissa[to-1] == '.') {
		to--
	}
	d.Span, d.Count = mantissa[from:to], to-from
	switch {
	case point < 0:
		d.Exp += int64(len(mantissa) - to)
	case point >= to:
		d.Exp += int64(point - to)
	default:
		d.Exp -= int64(to - point - 1)
		if point >= from {
			d.Count--
		}
	}
	return d
}

// exponent reads an exponent, bounded by ±maxExp.
func exponent(text []byte) int64 {
	neg := text[0] == '-'
	if neg || text[0] == '+' {
		text = text[1:]
	}
	var e int64
	for _, c := range text {
		e = min(e*10+int64(c-'0'), maxExp)
	}
	if neg {
		return -e
	}
	return e
}

// Wholeness says whether a number is an integer.
type Wholeness uint8

const (
	Whole    Wholeness = iota
	TooLarge           // its magnitude needs more bits than there are
	Fraction           // not an integer
)

// Whole128 gives |d|·10^scale, which must be an integer of at most 128 bits.
func (d DecimalText) Whole128(scale int32) (hi, lo uint64, w Wholeness) {
	if d.Count == 0 {
		return 0, 0, Whole
	}
	exp := d.Exp + int64(scale)
	if exp < 0 {
		return 0, 0, Fraction
	}
	if int64(d.Count)+exp > 39 {
		return 0, 0, TooLarge
	}
	ok := true
	for _, c := range d.Span {
		if c != '.' && ok {
			hi, lo, ok = mul10add(hi, lo, uint64(c-'0'))
		}
	}
	for ; exp > 0 && ok; exp-- {
		hi, lo, ok = mul10add(hi, lo, 0)
	}
	if !ok {
		return 0, 0, TooLarge
	}
	return hi, lo, Whole
}

// mul10add gives hi:lo·10 + c; ok is false if that needs more than 128 bits.
func mul10add(hi, lo, c uint64) (uint64, uint64, bool) {
	over, h := bits.Mul64(hi, 10)
	carry, l := bits.Mul64(lo, 10)
	h, c1 := bits.Add64(h, carry, 0)
	l, c2 := bits.Add64(l, c, 0)
	h, c3 := bits.Add64(h, 0, c2)
	return h, l, over|c1|c3 == 0
}

// Negate128 gives the two's complement.
func Negate128(hi, lo uint64) (uint64, uint64) {
	l, borrow := bits.Sub64(0, lo, 0)
	h, _ := bits.Sub64(0, hi, borrow)
	return h, l
}

// Pow10of128 gives 10^n for 0 <= n <= 38.
func Pow10of128(n int32) (hi, lo uint64) {
	lo = 1
	for range n {
		hi, lo, _ = mul10add(hi, lo, 0)
	}
	return hi, lo
}

// AppendDecimal appends hi:lo·10^-scale in plain notation with scale decimal places.
func AppendDecimal(dst []byte, lo, hi uint64, scale int32) []byte {
	if int64(hi) < 0 {
		dst = append(dst, '-')
		hi, lo = Negate128(hi, lo)
	}
	var text [64]byte
	digits := appendUint128(text[:0], hi, lo)
	if scale <= 0 {
		dst = append(dst, digits...)
		if hi|lo != 0 {
			for range -scale {
				dst = append(dst, '0')
			}
		}
		return dst
	}
	n := len(digits) - int(scale)
	if n <= 0 {
		dst = append(dst, "0."...)
		for range -n {
			dst = append(dst, '0')
		}
		return append(dst, digits...)
	}
	dst = append(dst, digits[:n]...)
	dst = append(dst, '.')
	return append(dst, digits[n:]...)
}

const ten19 = 10_000_000_000_000_000_000

func appendUint128(dst []byte, hi, lo uint64) []byte {
	if hi == 0 {
		return strconv.AppendUint(dst, lo, 10)
	}
	qh, rem := hi/ten19, hi%ten19
	ql, low := bits.Div64(rem, lo, ten19)
	dst = appendUint128(dst, qh, ql)
	var tail [20]byte
	t := strconv.AppendUint(tail[:0], low, 10)
	for range 19 - len(t) {
		dst = append(dst, '0')
	}
	return append(dst, t...)
}
