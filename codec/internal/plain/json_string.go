package plain

import (
	"encoding/binary"
	"math/bits"
	"unicode/utf16"
	"unicode/utf8"
)

// What a string holds beside plain ASCII.
const (
	HasEscape uint8 = 1 << iota
	HasHigh         // bytes >= 0x80
)

const highs = 0x8080808080808080 // the highest bit of each byte

// Special marks, in the high bit of each byte of w, the bytes that end a run of plain characters: quotes, backslashes and
// control characters. Only the lowest mark is exact.
func Special(w uint64) uint64 {
	q := w ^ ones*'"'
	s := w ^ ones*'\\'
	return ((q-ones) & ^q | (s-ones) & ^s | (w-ones*0x20) & ^w) & highs
}

// StringEnd scans a string from behind its opening quote to its closing quote, whose index it gives. A negative result
// -1-i says that byte i is wrong: a control character, a bad escape, or the end of the text.
func StringEnd(b []byte, i int) (end int, holds uint8) {
	for {
		for i+8 <= len(b) {
			w := binary.LittleEndian.Uint64(b[i:])
			m := Special(w)
			if m == 0 {
				if w&highs != 0 {
					holds |= HasHigh
				}
				i += 8
				continue
			}
			n := bits.TrailingZeros64(m) &^ 7
			if w&highs&(1<<n-1) != 0 {
				holds |= HasHigh
			}
			i += n >> 3
			goto found
		}
		for ; i < len(b); i++ {
			c := b[i]
			if c == '"' || c == '\\' || c < 0x20 {
				goto found
			}
			if c >= 0x80 {
				holds |= HasHigh
			}
		}
		return -1 - i, holds
	found:
		if b[i] == '"' {
			return i, holds
		}
		n := 0
		if b[i] == '\\' {
			n = escapeLen(b[i:])
		}
		if n == 0 {
			return -1 - i, holds
		}
		holds |= HasEscape
		i += n
	}
}

// escapeLen is the length of the escape sequence at the beginning of b, 0 if it is none.
func escapeLen(b []byte) int {
	if len(b) < 2 {
		return 0
	}
	switch b[1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2
	case 'u':
		if hex4(b) >= 0 {
			return 6
		}
	}
	return 0
}

// hex4 is the code unit of an escape \uXXXX at the beginning of b, negative if there is none.
func hex4(b []byte) rune {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return -1
	}
	var r rune
	for _, c := range b[2:6] {
		switch {
		case c-'0' <= 9:
			c -= '0'
		case c|0x20 >= 'a' && c|0x20 <= 'f':
			c = c | 0x20 - 'a' + 10
		default:
			return -1
		}
		r = r<<4 | rune(c)
	}
	return r
}

// Unescape appends the value of the inside of a string that StringEnd has accepted. Bytes that are no UTF-8 and
// surrogates without a partner become U+FFFD, as in encoding/json.
func Unescape(dst, s []byte) []byte {
	for i := 0; i < len(s); {
		switch c := s[i]; {
		case c == '\\':
			if s[i+1] != 'u' {
				dst = append(dst, unescaped(s[i+1]))
				i += 2
				continue
			}
			r := hex4(s[i:])
			i += 6
			if utf16.IsSurrogate(r) {
				if pair := utf16.DecodeRune(r, hex4(s[i:])); pair != utf8.RuneError {
					r = pair
					i += 6
				} else {
					r = utf8.RuneError
				}
			}
			dst = utf8.AppendRune(dst, r)
		case c < utf8.RuneSelf:
			dst = append(dst, c)
			i++
		default:
			r, n := utf8.DecodeRune(s[i:])
			dst = utf8.AppendRune(dst, r)
			i += n
		}
	}
	return dst
}

func unescaped(c byte) byte {
	switch c {
	case 'b':
		return '\b'
	case 'f':
		return '\f'
	case 'n':
		return '\n'
	case 'r':
		return '\r'
	case 't':
		return '\t'
	}
	return c
}
