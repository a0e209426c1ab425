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

// ScatterFixed is the inverse of GatherFixed: it copies src, values of width bytes, to the places of dst.
func ScatterFixed(dst, src []byte, places []uint32, width int) {
	switch width {
	case 1:
		scatter(dst, src, places)
	case 2:
		scatter(view[uint16](dst), view[uint16](src), places)
	case 4:
		scatter(view[uint32](dst), view[uint32](src), places)
	case 8:
		scatter(view[uint64](dst), view[uint64](src), places)
	default:
		scatter(view[Int128](dst), view[Int128](src), places)
	}
}

func scatter[T any](dst, src []T, places []uint32) {
	src = src[:len(places)]
	for i, p := range places {
		dst[p] = src[i]
	}
}
