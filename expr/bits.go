package expr

import (
	"encoding/binary"

	"github.com/arkflow-go/arkflow/column"
)

// Inside a block truth and validity are bytes of 0 or 1, a byte a row; columns have bitmaps. The loops here go between
// the two, eight rows at a time.

// ones is a byte 1 for each of eight rows.
const ones = 0x0101010101010101

// unpackBits spreads n bits from bit base (a multiple of 8) into bytes.
func unpackBits(dst, bitmap []byte, base, n int) {
	src := bitmap[base>>3:]
	dst = dst[:n]
	i := 0
	for ; i+8 <= n; i += 8 {
		x := uint64(src[i>>3]) * ones & 0x8040201008040201
		binary.LittleEndian.PutUint64(dst[i:], (x+0x7F7F7F7F7F7F7F7F)>>7&ones)
	}
	for ; i < n; i++ {
		dst[i] = src[i>>3] >> (i & 7) & 1
	}
}

// gatherBits gives the bits of rows as bytes.
func gatherBits(dst, bitmap []byte, rows []uint32) {
	dst = dst[:len(rows)]
	for i, r := range rows {
		dst[i] = bitmap[r>>3] >> (r & 7) & 1
	}
}

// packBits writes the bytes of src as bits and counts the ones.
func packBits(dst, src []byte) int {
	n, set, i := len(src), 0, 0
	for ; i+8 <= n; i += 8 {
		x := binary.LittleEndian.Uint64(src[i:])
		dst[i>>3] = byte(x * 0x0102040810204080 >> 56)
		set += int(x * ones >> 56)
	}
	if i < n {
		var last byte
		for j := i; j < n; j++ {
			last |= src[j] << (j & 7)
			set += int(src[j])
		}
		dst[i>>3] = last
	}
	return set
}

// andBytes is dst[i] = a[i] & b[i].
func andBytes(dst, a, b []byte) {
	n, i := len(dst), 0
	a, b = a[:n], b[:n]
	for ; i+8 <= n; i += 8 {
		binary.LittleEndian.PutUint64(dst[i:], binary.LittleEndian.Uint64(a[i:])&binary.LittleEndian.Uint64(b[i:]))
	}
	for ; i < n; i++ {
		dst[i] = a[i] & b[i]
	}
}

// orBytes is dst[i] = a[i] | b[i].
func orBytes(dst, a, b []byte) {
	n, i := len(dst), 0
	a, b = a[:n], b[:n]
	for ; i+8 <= n; i += 8 {
		binary.LittleEndian.PutUint64(dst[i:], binary.LittleEndian.Uint64(a[i:])|binary.LittleEndian.Uint64(b[i:]))
	}
	for ; i < n; i++ {
		dst[i] = a[i] | b[i]
	}
}

// notBytes is dst[i] = 1 - a[i].
func notBytes(dst, a []byte) {
	n, i := len(dst), 0
	a = a[:n]
	for ; i+8 <= n; i += 8 {
		binary.LittleEndian.PutUint64(dst[i:], binary.LittleEndian.Uint64(a[i:])^ones)
	}
	for ; i < n; i++ {
		dst[i] = a[i] ^ 1
	}
}

// fillBytes sets all of dst to v.
func fillBytes(dst []byte, v byte) {
	if v == 0 {
		clear(dst)
		return
	}
	for i := range dst {
		dst[i] = v
	}
}

// noNulls reports whether the n validity bits from bit base (a multiple of 8) are all set.
func noNulls(bitmap []byte, base, n int) bool {
	return column.CountZeros(bitmap[base>>3:], n) == 0
}
