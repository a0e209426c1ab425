package scalar

import (
	"math"
	"math/bits"
	"strconv"
	"unsafe"

	"github.com/arkflow-go/arkflow/internal/calc"
)

// intText gives a whole number as text.
func intText(v int64) string { return strconv.FormatInt(v, 10) }

// viewText views bytes as a string for functions that keep none.
func viewText(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

// trimSpace gives b without white space of ASCII at its ends.
func trimSpace(b []byte) []byte {
	for len(b) > 0 && (b[0] == ' ' || b[0] >= '\t' && b[0] <= '\r') {
		b = b[1:]
	}
	for len(b) > 0 && (b[len(b)-1] == ' ' || b[len(b)-1] >= '\t' && b[len(b)-1] <= '\r') {
		b = b[:len(b)-1]
	}
	return b
}

// parseWhole reads a whole number as its magnitude and sign.
func parseWhole(b []byte) (u uint64, negative, ok bool) {
	if len(b) > 0 && (b[0] == '-' || b[0] == '+') {
		negative = b[0] == '-'
		b = b[1:]
	}
	for _, c := range b {
		d := uint64(c - '0')
		hi, lo := bits.Mul64(u, 10)
		sum, carry := bits.Add64(lo, d, 0)
		if d > 9 || hi != 0 || carry != 0 {
			return 0, false, false
		}
		u = sum
	}
	return u, negative && u != 0, len(b) > 0
}

// parseInt reads a whole number of 64 bits.
func parseInt(b []byte) (int64, bool) {
	u, negative, ok := parseWhole(b)
	switch {
	case !ok || u > 1<<63 || u == 1<<63 && !negative:
		return 0, false
	case negative:
		return int64(-u), true
	}
	return int64(u), true
}

// parseDecimal reads digits with a point and an exponent as a decimal of a scale, rounded, halves away from zero.
func parseDecimal(b []byte, scale int32) (v calc.Int128, ok bool) {
	negative := false
	if len(b) > 0 && (b[0] == '-' || b[0] == '+') {
		negative = b[0] == '-'
		b = b[1:]
	}
	exponent, digits := int64(0), 0
	if at := indexExponent(b); at >= 0 {
		e, okE := parseInt(b[at+1:])
		if !okE || e > 1e6 || e < -1e6 {
			return v, false
		}
		exponent, b = e, b[:at]
	}
	point, cut := false, false
	first := byte(0) // the first digit that is cut off
	for _, c := range b {
		if c == '.' && !point {
			point = true
			continue
		}
		d := c - '0'
		if d > 9 {
			return v, false
		}
		digits++
		if cut || !calc.Below(v, calc.MaxDigits-1) { // more digits than are held: those after the point do not count, or it does not fit
			if !cut {
				cut, first = true, d
			}
			if !point {
				exponent++
			}
			continue
		}
		v = timesTen(v, d)
		if point {
			exponent--
		}
	}
	if digits == 0 {
		return v, false
	}
	by := exponent + int64(scale)
	if cut && by == 0 && first >= 5 {
		lo, carry := bits.Add64(v[0], 1, 0)
		v = calc.Int128{lo, v[1] + carry}
	}
	v, ok = calc.Rescale(v, int32(min(max(by, -1000), 1000)), true)
	if negative {
		v = calc.Negated(v)
	}
	return v, ok
}

func indexExponent(b []byte) int {
	for i, c := range b {
		if c == 'e' || c == 'E' {
			return i
		}
	}
	return -1
}

// timesTen is v·10 + d.
func timesTen(v calc.Int128, d byte) calc.Int128 {
	hi, lo := bits.Mul64(v[0], 10)
	lo, carry := bits.Add64(lo, uint64(d), 0)
	return calc.Int128{lo, v[1]*10 + hi + carry}
}

// floatDecimal gives the decimal of a scale nearest to the shortest text of a float, halves away from zero.
func floatDecimal(f float64, width int, scale int32) (calc.Int128, bool) {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return calc.Int128{}, false
	}
	var buf [32]byte
	return parseDecimal(strconv.AppendFloat(buf[:0], f, 'e', -1, width), scale)
}

// appendFloat gives the shortest text that is read back as f.
func appendFloat(b []byte, f float64, width int) []byte {
	return strconv.AppendFloat(b, f, 'g', -1, width)
}

// appendDecimal gives a decimal in plain digits.
func appendDecimal(b []byte, v calc.Int128, scale int32) []byte {
	if int64(v[1]) < 0 {
		b, v = append(b, '-'), calc.Negated(v)
	}
	var digits [40]byte
	at := len(digits)
	for v != (calc.Int128{}) || len(digits)-at <= int(scale) || at == len(digits) {
		q := v[1] / 10
		lo, r := bits.Div64(v[1]%10, v[0], 10)
		v = calc.Int128{lo, q}
		at--
		digits[at] = byte('0' + r)
	}
	text := digits[at:]
	if scale > 0 {
		b = append(b, text[:len(text)-int(scale)]...)
		return append(append(b, '.'), text[len(text)-int(scale):]...)
	}
	b = append(b, text...)
	for ; scale < 0 && text[0] != '0'; scale++ {
		b = append(b, '0')
	}
	return b
}
