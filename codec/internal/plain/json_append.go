package plain

import (
	"encoding/binary"
	"math"
	"math/bits"
	"strconv"
	"unicode/utf8"
)

// AppendFloat64 appends the shortest text that reads back as v, in the form of encoding/json. NaN and the infinities, which
// JSON has no number for, become the strings "NaN", "Infinity" and "-Infinity".
func AppendFloat64(dst []byte, v float64) []byte {
	// A decimal of at most 15 digits that reads back as v is, without trailing zeros, its shortest text: few decimal places
	// need no search.
	const places, scale = 4, 1e4
	if m := v * scale; math.Abs(m) < 1e15 {
		if r := int64(m + math.Copysign(0.5, m)); float64(r)/scale == v && (r != 0 || !math.Signbit(v)) {
			return appendFixed(dst, r, places)
		}
	}
	return appendAnyFloat(dst, v, 64)
}

// appendFixed appends m·10^-places without trailing zeros.
func appendFixed(dst []byte, m int64, places int) []byte {
	if m < 0 {
		dst = append(dst, '-')
		m = -m
	}
	var rest [8]byte
	used := 0 // of rest, from its end, without trailing zeros
	at := len(rest)
	for range places {
		digit := byte(m % 10)
		m /= 10
		at--
		rest[at] = '0' + digit
		if used == 0 && digit != 0 {
			used = len(rest) - at
		}
	}
	dst = strconv.AppendInt(dst, m, 10)
	if used == 0 {
		return dst
	}
	dst = append(dst, '.')
	return append(dst, rest[at:len(rest)-used+1]...)
}

func AppendFloat32(dst []byte, v float32) []byte {
	if v == float32(int32(v)) && v != 0 && math.Abs(float64(v)) < 1<<24 {
		return strconv.AppendInt(dst, int64(v), 10)
	}
	return appendAnyFloat(dst, float64(v), 32)
}

func appendAnyFloat(dst []byte, v float64, bitSize int) []byte {
	switch {
	case math.IsNaN(v):
		return append(dst, `"NaN"`...)
	case math.IsInf(v, 1):
		return append(dst, `"Infinity"`...)
	case math.IsInf(v, -1):
		return append(dst, `"-Infinity"`...)
	}
	a := math.Abs(v)
	if a == 0 || bitSize == 64 && a >= 1e-6 && a < 1e21 || bitSize == 32 && float32(a) >= 1e-6 && float32(a) < 1e21 {
		return strconv.AppendFloat(dst, v, 'f', -1, bitSize)
	}
	dst = strconv.AppendFloat(dst, v, 'e', -1, bitSize)
	if n := len(dst); n >= 4 && dst[n-4] == 'e' && dst[n-3] == '-' && dst[n-2] == '0' { // e-09 is written e-9
		dst[n-2] = dst[n-1]
		dst = dst[:n-1]
	}
	return dst
}

const hexDigits = "0123456789abcdef"

// AppendString appends a quoted string as encoding/json does without HTML escaping: bytes that are no UTF-8 become U+FFFD,
// and U+2028 and U+2029 are escaped.
func AppendString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	from, i := 0, 0
	for i < len(s) {
		if i = plainEnd(s, i); i >= len(s) {
			break
		}
		c := s[i]
		if c < utf8.RuneSelf {
			dst = append(dst, s[from:i]...)
			dst = appendEscape(dst, c)
			i++
			from = i
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			dst = append(dst, s[from:i]...)
			dst = append(dst, `\ufffd`...)
			from = i + n
		case r == '\u2028' || r == '\u2029':
			dst = append(dst, s[from:i]...)
			dst = append(dst, `\u202`...)
			dst = append(dst, hexDigits[r&0xF])
			from = i + n
		}
		i += n
	}
	dst = append(dst, s[from:]...)
	return append(dst, '"')
}

// plainEnd gives the index of the first byte from i on that must be looked at: a quote, a backslash, a control character, or
// one >= 0x80.
func plainEnd(s string, i int) int {
	for i+8 <= len(s) {
		w := binary.LittleEndian.Uint64([]byte(s[i : i+8]))
		if m := Special(w) | w&highs; m != 0 {
			return i + bits.TrailingZeros64(m)>>3
		}
		i += 8
	}
	for i < len(s) {
		if c := s[i]; c < 0x20 || c >= utf8.RuneSelf || c == '"' || c == '\\' {
			break
		}
		i++
	}
	return i
}

func appendEscape(dst []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(dst, '\\', c)
	case '\b':
		return append(dst, `\b`...)
	case '\f':
		return append(dst, `\f`...)
	case '\n':
		return append(dst, `\n`...)
	case '\r':
		return append(dst, `\r`...)
	case '\t':
		return append(dst, `\t`...)
	}
	return append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&0xF])
}
