package calc

import "unsafe"

// GatherFixed copies the rows of src, values of width bytes, to dst. Both are aligned for the width, at most to 8.
func GatherFixed(dst, src []byte, rows []uint32, width int) {
	switch width {
	case 1:
		gather(dst, src, rows)
	case 2:
		gather(view[uint16](dst), view[uint16](src), rows)
	case 4:
		gather(view[uint32](dst), view[uint32](src), rows)
	case 8:
		gather(view[uint64](dst), view[uint64](src), rows)
	default:
		gather(view[Int128](dst), view[Int128](src), rows)
	}
}

func view[T any](b []byte) []T {
	var z T
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/int(unsafe.Sizeof(z)))
}

func gather[T any](dst, src []T, rows []uint32) {
	dst = dst[:len(rows)]
	for i, r := range rows {
		dst[i] = src[r]
	}
}
