package column

import "fmt"

// Compact gives the rows that are there as a batch without a selection: b itself (retained) where it has none.
// The caller owns the result.
func (b *Batch) Compact() *Batch {
	if b.Sel == nil {
		b.Retain()
		return b
	}
	return b.Take(b.Sel)
}

// Take gathers physical rows, ascending and each at most once, into a batch of its own memory.
func (b *Batch) Take(rows []uint32) *Batch {
	out := NewBatch(b.pool, b.Schema, len(rows))
	for i := range b.Cols {
		Gather(out, &out.Cols[i], &b.Cols[i], rows)
	}
	if b.Times != nil {
		out.Times = Alloc[int64](out, len(rows))
		gather(out.Times, b.Times, rows)
		if b.TimeValid != nil {
			out.TimeValid, _ = gatherBits(out, b.TimeValid, rows)
		}
	}
	if b.Hash != nil {
		out.Hash = Alloc[uint64](out, len(rows))
		gather(out.Hash, b.Hash, rows)
	}
	if len(b.Late) > 0 {
		out.Late = moveLate(nil, b.Late, rows, 0)
	}
	return out
}

// moveLate appends the pairs of the rows that were taken, renumbered from base on.
func moveLate(dst, late []LatePair, rows []uint32, base int) []LatePair {
	j := 0
	for i, r := range rows {
		for j < len(late) && uint32(late[j].Row) < r {
			j++
		}
		if j == len(late) {
			break
		}
		if uint32(late[j].Row) == r {
			dst = append(dst, LatePair{Row: int32(base + i), J: late[j].J})
		}
	}
	return dst
}

// Gather fills dst, a column of out, with the rows of src.
func Gather(out *Batch, dst, src *Column, rows []uint32) {
	dst.Type, dst.Kind = src.Type, src.Kind
	if src.Nulls > 0 {
		dst.Valid, dst.Nulls = gatherBits(out, src.Valid, rows)
		if dst.Nulls == 0 {
			dst.Valid = nil
		}
	}
	switch w := src.Kind.Width(); w {
	case 8:
		v := Alloc[uint64](out, len(rows))
		gather(v, View[uint64](src.Data), rows)
		dst.Data = BytesOf(v)
	case 4:
		v := Alloc[uint32](out, len(rows))
		gather(v, View[uint32](src.Data), rows)
		dst.Data = BytesOf(v)
	case 2:
		v := Alloc[uint16](out, len(rows))
		gather(v, View[uint16](src.Data), rows)
		dst.Data = BytesOf(v)
	case 1:
		v := Alloc[uint8](out, len(rows))
		gather(v, src.Data, rows)
		dst.Data = v
	case 16:
		v := Alloc[[2]uint64](out, len(rows))
		gather(v, View[[2]uint64](src.Data), rows)
		dst.Data = BytesOf(v)
	default:
		if src.Kind == Bool {
			dst.Data, _ = gatherBits(out, src.Data, rows)
			return
		}
		gatherBytes(out, dst, src, rows)
	}
}

func gather[T any](dst, src []T, rows []uint32) {
	dst = dst[:len(rows)]
	for i, r := range rows {
		dst[i] = src[r]
	}
}

func gatherBits(out *Batch, src []byte, rows []uint32) (dst []byte, zeros int) {
	dst = AllocZero[byte](out, BitmapLen(len(rows)))
	for i, r := range rows {
		bit := src[r>>3] >> (r & 7) & 1
		dst[i>>3] |= bit << (i & 7)
		zeros += int(1 - bit)
	}
	return dst, zeros
}

func gatherBytes(out *Batch, dst, src *Column, rows []uint32) {
	off := Alloc[int32](out, len(rows)+1)
	total := int32(0)
	off[0] = 0
	for i, r := range rows {
		total += src.Offsets[r+1] - src.Offsets[r]
		off[i+1] = total
	}
	data := Alloc[byte](out, int(total))
	for i, r := range rows {
		copy(data[off[i]:off[i+1]], src.Data[src.Offsets[r]:src.Offsets[r+1]])
	}
	dst.Data, dst.Offsets = data, off
}

// MaxBatchBytes bounds the string bytes of one column of a batch that is put together from others.
const MaxBatchBytes = 1 << 30

// AppendRows appends physical rows of b (nil: all rows that are there), with their hidden vectors. The schemas must be equal.
func (b *Builder) AppendRows(src *Batch, rows []uint32) {
	if rows == nil {
		if src.Sel != nil {
			rows = src.Sel
		} else {
			b.appendAll(src)
			return
		}
	}
	for i := range b.cols {
		b.cols[i].appendRows(&src.Cols[i], rows)
	}
	if src.Times != nil {
		b.hasTimes = true
		at := len(b.times)
		b.times = growTo(b.pool, &b.timeBuf, b.times, len(rows))
		gather(b.times[at:], src.Times, rows)
		if src.TimeValid != nil {
			for i, r := range rows {
				if !Bit(src.TimeValid, int(r)) {
					b.nullTimes = append(b.nullTimes, int32(at+i))
				}
			}
		}
	}
	if src.Hash != nil {
		b.hasHash = true
		at := len(b.hash)
		b.hash = growTo(b.pool, &b.hashBuf, b.hash, len(rows))
		gather(b.hash[at:], src.Hash, rows)
	}
	if len(src.Late) > 0 {
		b.late = moveLate(b.late, src.Late, rows, b.rows)
	}
	b.rows += len(rows)
}

// appendAll appends a whole batch without a selection.
func (b *Builder) appendAll(src *Batch) {
	rows := make([]uint32, src.Rows)
	for i := range rows {
		rows[i] = uint32(i)
	}
	if len(rows) > 0 {
		b.AppendRows(src, rows)
	}
}

// appendRows appends the values of physical rows of a column of the same kind.
func (a *Appender) appendRows(src *Column, rows []uint32) {
	if a.kind != src.Kind {
		panic(fmt.Sprintf("column: append of kind %s to a column of kind %s", src.Kind, a.kind))
	}
	switch {
	case a.kind == Bool:
		for _, r := range rows {
			if src.IsNull(int(r)) {
				a.Null()
			} else {
				a.Bool(src.Bool(int(r)))
			}
		}
		return
	case a.kind == Bytes:
		for _, r := range rows {
			if src.IsNull(int(r)) {
				a.Null()
			} else {
				a.Bytes(src.Bytes(int(r)))
			}
		}
		return
	}
	dst := a.grow(len(rows) * a.kind.Width())
	switch a.kind.Width() {
	case 8:
		gather(View[uint64](dst), View[uint64](src.Data), rows)
	case 4:
		gather(View[uint32](dst), View[uint32](src.Data), rows)
	case 2:
		gather(View[uint16](dst), View[uint16](src.Data), rows)
	case 1:
		gather(dst, src.Data, rows)
	case 16:
		gather(View[[2]uint64](dst), View[[2]uint64](src.Data), rows)
	}
	a.appendValid(src, rows)
	a.n += len(rows)
}

// appendValid appends the validity of rows whose values have just been appended.
func (a *Appender) appendValid(src *Column, rows []uint32) {
	if src.Nulls == 0 {
		a.noteValid(len(rows))
		return
	}
	if a.valid == nil {
		a.growValid(a.n + len(rows))
		for i := 0; i < a.n; i++ {
			SetBit(a.valid, i)
		}
	} else {
		a.growValid(a.n + len(rows))
	}
	for i, r := range rows {
		if src.IsNull(int(r)) {
			a.nulls++
		} else {
			SetBit(a.valid, a.n+i)
		}
	}
}
