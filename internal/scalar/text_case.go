package scalar

import (
	"encoding/binary"
	"unicode"
	"unicode/utf8"

	"github.com/apache/arrow-go/v18/arrow"
)

// bindCase is lower and upper: character by character, without a locale. Bytes that are no UTF-8 stay as they are.
func bindCase(up bool) func(*Call) error {
	from, to := byte('A'), byte('Z')
	convert := unicode.ToLower
	if up {
		from, to, convert = 'a', 'z', unicode.ToUpper
	}
	return func(c *Call) error {
		return c.gives(arrow.BinaryTypes.String, func(out *Out, args []Vec) {
			x := &args[0]
			off, chars := x.Text.Offsets, x.Text.Data
			for i, r := range x.Rows {
				if out.Skip(i) {
					out.Part(i, 0, 0)
					continue
				}
				start := len(out.Chars)
				s := chars[off[r]:off[r+1]]
				out.Chars = append(out.Chars, s...)
				if !flipCase(out.Chars[start:], from, to) {
					out.Chars = appendConverted(out.Chars[:start], s, convert)
				}
				out.End(i, start)
			}
		})
	}
}

// flipCase changes the case of the letters from … to in place; false where a byte is not ASCII, and then s is in disorder.
func flipCase(s []byte, from, to byte) bool {
	const ones = 0x0101010101010101
	low, high := uint64(0x80-from)*ones, uint64(0x80-to-1)*ones
	var all uint64
	for ; len(s) >= 8; s = s[8:] { // eight bytes at a time: the top bit of b + low tells b >= from, where b < 0x80
		w := binary.LittleEndian.Uint64(s)
		all |= w
		w &= 0x7F7F7F7F7F7F7F7F
		letters := ((w + low) &^ (w + high)) & (0x80 * ones)
		binary.LittleEndian.PutUint64(s, w^letters>>2)
	}
	if all&(0x80*ones) != 0 {
		return false
	}
	for i, b := range s {
		if b >= utf8.RuneSelf {
			return false
		}
		if b >= from && b <= to {
			s[i] = b ^ 0x20
		}
	}
	return true
}

func appendConverted(dst, s []byte, convert func(rune) rune) []byte {
	for len(s) > 0 {
		r, n := utf8.DecodeRune(s)
		if r == utf8.RuneError && n == 1 {
			dst = append(dst, s[0])
		} else {
			dst = utf8.AppendRune(dst, convert(r))
		}
		s = s[n:]
	}
	return dst
}
