package calc

import "encoding/binary"

// EqualLong tells which texts equal c, of at least 8 bytes: by length, the first and the last 8 bytes, and only then all.
func EqualLong(to []byte, off []int32, chars []byte, rows []uint32, c []byte) {
	head, tail := binary.LittleEndian.Uint64(c), binary.LittleEndian.Uint64(c[len(c)-8:])
	long := len(c) > 16
	for i, r := range rows {
		at, end := int(off[r]), int(off[r+1])
		to[i] = 0
		if end-at != len(c) || binary.LittleEndian.Uint64(chars[at:]) != head || binary.LittleEndian.Uint64(chars[end-8:]) != tail {
			continue
		}
		if !long || string(chars[at:end]) == string(c) {
			to[i] = 1
		}
	}
}
