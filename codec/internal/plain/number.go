package plain

import (
	"encoding/binary"
	"math"
	"math/bits"
	"strconv"
	"unsafe"
)

// Numbers are scanned by the grammar of JSON. The functions below begin at the first byte of a number and give the index
// behind it; a negative index says that there is no number there.

const (
	ones  = 0x0101010101010101 // one in each byte
	Zeros = ones * '0'
)

// DigitsAhead counts the ASCII digits at the beginning (the lowest bytes) of w.
func DigitsAhead(w uint64) int {
	x := w ^ Zeros
	return bits.TrailingZeros64((x+ones*6|x)&(ones*0xF0)) >> 3
}

// DigitsValue is the value of the n <= 8 digits at the beginning of w.
func DigitsValue(w uint64, n int) uint64 {
	w = (w ^ Zeros) << (64 - 8*n) // as if Zeros came before
	w = w*10 + w>>8
	return ((w&0x000000FF000000FF)*0x000F424000000064 + (w>>16&0x000000FF000000FF)*0x0000271000000001) >> 32
}

var Pow10u64 = [...]uint64{1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8}

// scanDigits reads digits into m, which wraps where there are more than 19 of them in total.
func scanDigits(b []byte, i int, m uint64) (uint64, int) {
	for i+8 <= len(b) {
		w := binary.LittleEndian.Uint64(b[i:])
		n := DigitsAhead(w)
		if n < 8 {
			if n == 0 {
				return m, i
			}
			return m*Pow10u64[n&7] + DigitsValue(w, n), i + n
		}
		m = m*Pow10u64[8] + DigitsValue(w, 8)
		i += 8
	}
	for i < len(b) {
		c := b[i] - '0'
		if c > 9 {
			break
		}
		m = m*10 + uint64(c)
		i++
	}
	return m, i
}

// NumberEnd gives the index behind the number at i.
func NumberEnd(b []byte, i int) int {
	if i < len(b) && b[i] == '-' {
		i++
	}
	from := i
	_, i = scanDigits(b, i, 0)
	if i == from || b[from] == '0' && i > from+1 {
		return -1
	}
	if i < len(b) && b[i] == '.' {
		from = i + 1
		if _, i = scanDigits(b, from, 0); i == from {
			return -1
		}
	}
	if i < len(b) && b[i]|0x20 == 'e' {
		i++
		if i < len(b) && (b[i] == '+' || b[i] == '-') {
			i++
		}
		from = i
		if _, i = scanDigits(b, from, 0); i == from {
			return -1
		}
	}
	return i
}

// PlainInt reads an integer of at most 19 digits without fraction and exponent; ok is false where something else stands
// there.
func PlainInt(b []byte, i int) (v int64, end int, ok bool) {
	neg := i < len(b) && b[i] == '-'
	if neg {
		i++
	}
	m, end := scanDigits(b, i, 0)
	n := end - i
	if n == 0 || n > 19 || m > math.MaxInt64 || b[i] == '0' && n > 1 {
		return 0, 0, false
	}
	if end < len(b) {
		if c := b[end]; c == '.' || c|0x20 == 'e' {
			return 0, 0, false
		}
	}
	v = int64(m)
	if neg {
		v = -v
	}
	return v, end, true
}

// WholeNumber gives the exact value of a number such as 12, 1.0 or 1e3 as sign and magnitude.
func WholeNumber(text []byte) (neg bool, mag uint64, w Wholeness) {
	d := TakeApart(text)
	hi, lo, w := d.Whole128(0)
	if hi != 0 {
		w = TooLarge
	}
	return d.Neg, lo, w
}

var Pow10f64 = [...]float64{1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22}

// ScanFloat reads a number. Where a product or quotient of two exact values gives the correctly rounded result it is taken;
// else strconv decides. inRange is false where the number is beyond float64.
func ScanFloat(b []byte, i int) (v float64, end int, inRange bool) {
	start := i
	if i < len(b) && b[i] == '-' {
		i++
	}
	from := i
	m, i := scanDigits(b, i, 0)
	n := i - from
	if n == 0 || b[from] == '0' && n > 1 {
		return 0, -1, false
	}
	exp := 0
	if i < len(b) && b[i] == '.' {
		from = i + 1
		m, i = scanDigits(b, from, m)
		if i == from {
			return 0, -1, false
		}
		exp = from - i
		n -= exp
	}
	if i < len(b) && b[i]|0x20 == 'e' {
		if i = NumberEnd(b, start); i < 0 {
			return 0, -1, false
		}
		n = 99 // strconv knows exponents
	}
	if n <= 19 && m < 1<<53 && exp >= -22 {
		v = float64(m) / Pow10f64[-exp]
		if b[start] == '-' {
			v = -v
		}
		return v, i, true
	}
	v, err := strconv.ParseFloat(unsafe.String(&b[start], i-start), 64)
	return v, i, err == nil
}

// ScanFloat32 is ScanFloat, rounded once to float32.
func ScanFloat32(b []byte, i int) (v float32, end int, inRange bool) {
	f, end, inRange := ScanFloat(b, i)
	if end < 0 || f == float64(int32(f)) && math.Abs(f) < 1<<24 {
		return float32(f), end, inRange
	}
	w, err := strconv.ParseFloat(unsafe.String(&b[i], end-i), 32)
	return float32(w), end, err == nil
}
