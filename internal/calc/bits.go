package calc

import "encoding/binary"

// Inside a block truth and validity are bytes of 0 or 1, a byte a row; columns have bitmaps. The loops here go between
// the two, eight rows at a time.

// ones is a byte 1 for each of eight rows.
const ones = 0x0101010101010101

// UnpackBits spreads n bits from bit base (a multiple of 8) into bytes.
func UnpackBits(dst, bitmap []byte, base, n int) {
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

// GatherBits gives the bits of rows as bytes.
func GatherBits(dst, bitmap []byte, rows []uint32) {
	dst = dst[:len(rows)]
	for i, r := range rows {
		dst[i] = bitmap[r>>3] >> (r & 7) & 1
	}
}

// PackBits writes the bytes of src as bits and counts the ones.
func PackBits(dst, src []byte) int {
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

// AndBytes is dst[i] = a[i] & b[i].
func AndBytes(dst, a, b []byte) {
	n, i := len(dst), 0
	a, b = a[:n], b[:n]
	for ; i+8 <= n; i += 8 {
		binary.LittleEndian.PutUint64(dst[i:], binary.LittleEndian.Uint64(a[i:])&binary.LittleEndian.Uint64(b[i:]))
	}
	for ; i < n; i++ {
		dst[i] = a[i] & b[i]
	}
}

// OrBytes is dst[i] = a[i] | b[i].
func OrBytes(dst, a, b []byte) {
	n, i := len(dst), 0
	a, b = a[:n], b[:n]
	for ; i+8 <= n; i += 8 {
		binary.LittleEndian.PutUint64(dst[i:], binary.LittleEndian.Uint64(a[i:])|binary.LittleEndian.Uint64(b[i:]))
	}
	for ; i < n; i++ {
		dst[i] = a[i] | b[i]
	}
}

// NotBytes is dst[i] = 1 - a[i].
func NotBytes(dst, a []byte) {
	n, i := len(dst), 0
	a = a[:n]
	for ; i+8 <= n; i += 8 {
		binary.LittleEndian.PutUint64(dst[i:], binary.LittleEndian.Uint64(a[i:])^ones)
	}
	for ; i < n; i++ {
		dst[i] = a[i] ^ 1
	}
}

// FillBytes sets all of dst to v.
func FillBytes(dst []byte, v byte) {
	if v == 0 {
		clear(dst)
		return
	}
	for i := range dst {
		dst[i] = v
	}
}
