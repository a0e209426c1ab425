package column

// Spread makes c, a dense column of batch out with a value for each of rows, a column of n rows in which they stand at these rows. What
// stands elsewhere is undefined. Rows ascend, each at most once. Texts are not copied. It is not for lists and structs.
func (c *Column) Spread(out *Batch, rows []uint32, n int) {
	if c.Nulls > 0 {
		c.Valid = spreadBits(out, c.Valid, rows, n)
		c.Nulls += n - len(rows) // rows that are not named are null as well
	}
	switch c.Kind {
	case Bool:
		c.Data = spreadBits(out, c.Data, rows, n)
	case Bytes:
		c.Offsets = spreadOffsets(out, c.Offsets, rows, n)
	case Decimal:
		c.Data = spread[[2]uint64](out, c.Data, rows, n)
	default:
		switch c.Kind.Width() {
		case 8:
			c.Data = spread[uint64](out, c.Data, rows, n)
		case 4:
			c.Data = spread[uint32](out, c.Data, rows, n)
		case 2:
			c.Data = spread[uint16](out, c.Data, rows, n)
		default:
			c.Data = spread[uint8](out, c.Data, rows, n)
		}
	}
}

func spread[T any](out *Batch, src []byte, rows []uint32, n int) []byte {
	to, from := Alloc[T](out, n), View[T](src)[:len(rows)]
	for i, r := range rows {
		to[r] = from[i]
	}
	return BytesOf(to)
}

func spreadBits(out *Batch, src []byte, rows []uint32, n int) []byte {
	to := AllocZero[byte](out, BitmapLen(n))
	for i, r := range rows {
		to[r>>3] |= src[i>>3] >> (i & 7) & 1 << (r & 7)
	}
	return to
}

// spreadOffsets gives rows that are not named no text.
func spreadOffsets(out *Batch, src []int32, rows []uint32, n int) []int32 {
	to := Alloc[int32](out, n+1)
	next := uint32(0)
	for i, r := range rows {
		for ; next <= r; next++ {
			to[next] = src[i]
		}
	}
	for ; int(next) <= n; next++ {
		to[next] = src[len(rows)]
	}
	return to
}
