package keys

import (
	"encoding/binary"
	"math/bits"

	"github.com/arkflow-go/arkflow/column"
	"github.com/zeebo/xxh3"
)

// A text as a key of a table is two words. One of at most InlineText bytes is held whole: its bytes, little endian, and its length in the
// highest byte. Of a longer one the first word is its hash, and the highest byte of the second LongText; the rest is for who knows
// where its bytes are. Null has NullText there.
const (
	InlineText = 15
	NullText   = 0xFE
	LongText   = 0xFF
)

// Odd constants of the hash of two words.
const (
	fold0 = 0xA0761D6478BD642F
	fold1 = 0xE7037ED1A0B428DB
)

// Fold is the hash of two words within a table.
func Fold(k0, k1 uint64) uint64 {
	hi, lo := bits.Mul64(k0^fold0, k1^fold1)
	return hi ^ lo
}

// inlineMask keeps the bytes of a text of that length in its two words.
var inlineMask = func() (m [InlineText + 1][2]uint64) {
	for n := range m {
		m[n] = [2]uint64{1<<(8*min(n, 8)) - 1, 1<<(8*max(n-8, 0)) - 1}
	}
	return m
}()

// TextWords writes the words of the texts of a Bytes column, and their hashes: of as many physical rows as k0 has room for, those named
// or those from lo on.
func TextWords(k0, k1, hash []uint64, c *column.Column, lo int, rows []uint32) {
	k1, hash = k1[:len(k0)], hash[:len(k0)]
	off, data := c.Offsets, c.Data
	for i := range k0 {
		r := lo + i
		if rows != nil {
			r = int(rows[i])
		}
		o, size := int(off[r]), uint(off[r+1]-off[r])
		if size > InlineText || o+16 > len(data) {
			k0[i], k1[i], hash[i] = TextWordsOf(data[o : o+int(size)])
			continue
		}
		p := data[o : o+16]
		m := &inlineMask[size&InlineText]
		w0 := binary.LittleEndian.Uint64(p) & m[0]
		w1 := binary.LittleEndian.Uint64(p[8:])&m[1] | uint64(size)<<56
		hi, lo := bits.Mul64(w0^fold0, w1^fold1)
		k0[i], k1[i], hash[i] = w0, w1, hi^lo
	}
	if c.Nulls > 0 {
		for i := range k0 {
			r := lo + i
			if rows != nil {
				r = int(rows[i])
			}
			if c.IsNull(r) {
				k0[i], k1[i] = 0, NullText<<56
				hash[i] = Fold(k0[i], k1[i])
			}
		}
	}
}

// TextWordsOf is TextWords of one text.
func TextWordsOf(v []byte) (k0, k1, hash uint64) {
	if len(v) > InlineText {
		h := xxh3.Hash(v)
		return h, LongText << 56, h
	}
	var p [16]byte
	copy(p[:], v)
	k0 = binary.LittleEndian.Uint64(p[:])
	k1 = binary.LittleEndian.Uint64(p[8:]) | uint64(len(v))<<56
	return k0, k1, Fold(k0, k1)
}
