package column

import "fmt"

// MaxBatchBytes bounds the string bytes of one column of a batch that is put together from others: see Fits.
const MaxBatchBytes = 1 << 30

// Fits reports whether these physical rows of src (nil: all that are there) may join the rows that the builder has
// without a column growing over MaxBatchBytes. Where they do not, the builder's rows are a batch of their own first.
// Rows of one batch always fit an empty builder.
func (b *Builder) Fits(src *Batch, rows []uint32) bool {
	if b.rows == 0 {
		return true
	}
	if rows == nil {
		rows = src.Sel
	}
	for i := range b.cols {
		switch a := &b.cols[i]; {
		case a.kind == Bytes && len(a.data)+src.Cols[i].bytesOf(rows, src.Rows) > MaxBatchBytes:
			return false
		case a.kind.IsNested() && a.bytes()+src.Cols[i].SizeBytes() > MaxBatchBytes: // more than the rows need, at a size that is rare
			return false
		}
	}
	return true
}

// bytesOf is the number of string bytes of the rows, nil meaning the first n.
func (c *Column) bytesOf(rows []uint32, n int) int {
	if from, to, ok := asRange(rows, n); ok {
		if from == to {
			return 0
		}
		return int(c.Offsets[to]) - int(c.Offsets[from])
	}
	total := 0
	for _, r := range rows {
		total += int(c.Offsets[r+1] - c.Offsets[r])
	}
	return total
}

// asRange gives ascending rows (nil: the first n) as from <= row < to, where they are without a gap.
func asRange(rows []uint32, n int) (from, to int, ok bool) {
	switch {
	case rows == nil:
		return 0, n, true
	case len(rows) == 0:
		return 0, 0, true
	}
	from, to = int(rows[0]), int(rows[len(rows)-1])+1
	return from, to, to-from == len(rows)
}

// AppendRows appends physical rows of src (nil: all rows that are there), ascending and each at most once, with their
// hidden vectors. The schemas must be equal. Rows of a batch without event times have null ones beside rows that have
// some; key hashes are kept only if all rows have one. Err tells where the rows are more than a batch can hold.
func (b *Builder) AppendRows(src *Batch, rows []uint32) {
	if rows == nil {
		rows = src.Sel
	}
	from, to, run := asRange(rows, src.Rows)
	n := len(rows)
	if run {
		n = to - from
	}
	if n == 0 {
		return
	}
	for i := range b.cols {
		a, c := &b.cols[i], &src.Cols[i]
		if a.kind != c.Kind {
			panic(fmt.Sprintf("column: append of kind %s to a column of kind %s", c.Kind, a.kind))
		}
		if run {
			a.appendRange(c, from, to)
		} else {
			a.appendRows(c, rows)
		}
	}
	if src.Times != nil {
		b.appendTimes(src, rows, from, n, run)
	}
	if src.Hash != nil && len(b.hash) == b.rows {
		b.hasHash = true
		b.hash = growTo(b.pool, &b.hashBuf, b.hash, n)
		if at := b.hash[b.rows:]; run {
			copy(at, src.Hash[from:to])
		} else {
			gather(at, src.Hash, rows)
		}
	}
	if len(src.Late) > 0 {
		if run {
			b.late = moveLateRange(b.late, src.Late, from, to, b.rows)
		} else {
			b.late = moveLate(b.late, src.Late, rows, b.rows)
		}
	}
	b.rows += n
}

func (b *Builder) appendTimes(src *Batch, rows []uint32, from, n int, run bool) {
	b.padTimes(b.rows)
	at := b.rows
	b.times = growTo(b.pool, &b.timeBuf, b.times, n)
	if run {
		copy(b.times[at:], src.Times[from:from+n])
	} else {
		gather(b.times[at:], src.Times, rows)
	}
	if src.TimeValid == nil {
		return
	}
	for i := range n {
		r := from + i
		if !run {
			r = int(rows[i])
		}
		if !Bit(src.TimeValid, r) {
			b.nullTimes = append(b.nullTimes, int32(at+i))
		}
	}
}

// appendRows appends the values of physical rows of a column of the same kind.
func (a *Appender) appendRows(src *Column, rows []uint32) {
	switch a.kind {
	case Bool:
		a.growBits(a.n + len(rows))
		for i, r := range rows {
			if src.Bool(int(r)) {
				SetBit(a.data, a.n+i)
			}
		}
	case Bytes:
		dst, off := a.growBytes(src.bytesOf(rows, 0), len(rows))
		if dst == nil {
			break
		}
		at := off[0]
		for i, r := range rows {
			n := copy(dst, src.Data[src.Offsets[r]:src.Offsets[r+1]])
			dst = dst[n:]
			at += int32(n)
			off[i+1] = at
		}
	case List:
		for _, r := range rows {
			a.appendLists(src, int(r), int(r)+1)
		}
	case Struct:
		for i := range a.children {
			a.children[i].appendRows(&src.Children[i], rows)
		}
	default:
		a.gatherFixed(src, rows)
	}
	a.growValidFor(src.Nulls > 0, len(rows))
	if src.Nulls > 0 {
		for i, r := range rows {
			if src.IsNull(int(r)) {
				a.nulls++
			} else {
				SetBit(a.valid, a.n+i)
			}
		}
	}
	a.n += len(rows)
}

func (a *Appender) gatherFixed(src *Column, rows []uint32) {
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
}

// appendRange appends the values from <= row < to of a column of the same kind.
func (a *Appender) appendRange(src *Column, from, to int) {
	n := to - from
	switch a.kind {
	case Bool:
		a.growBits(a.n + n)
		for i := range n {
			if src.Bool(from + i) {
				SetBit(a.data, a.n+i)
			}
		}
	case Bytes:
		base := src.Offsets[from]
		dst, off := a.growBytes(int(src.Offsets[to]-base), n)
		if dst == nil {
			break
		}
		copy(dst, src.Data[base:src.Offsets[to]])
		at := off[0] - base
		for i, o := range src.Offsets[from+1 : to+1] {
			off[i+1] = at + o
		}
	case List:
		a.appendLists(src, from, to)
	case Struct:
		for i := range a.children {
			a.children[i].appendRange(&src.Children[i], from, to)
		}
	default:
		w := a.kind.Width()
		copy(a.grow(n*w), src.Data[from*w:to*w])
	}
	a.growValidFor(src.Nulls > 0, n)
	if src.Nulls > 0 {
		for i := range n {
			if src.IsNull(from + i) {
				a.nulls++
			} else {
				SetBit(a.valid, a.n+i)
			}
		}
	}
	a.n += n
}

// growBytes makes room for n values of together `bytes` bytes: off[0] is the end of the values before, off[1:] are to be
// filled. Where they do not fit, empty values stand in their place, and nil is returned.
func (a *Appender) growBytes(bytes, n int) (dst []byte, off []int32) {
	a.startOffsets()
	at := len(a.offsets) - 1
	a.offsets = growTo(a.pool, &a.offBuf, a.offsets, n)
	off = a.offsets[at:]
	if len(a.data)+bytes > a.limit {
		a.leaveOut()
		for i := range off[1:] {
			off[i+1] = off[0]
		}
		return nil, nil
	}
	dst = a.grow(bytes)
	if dst == nil {
		dst = []byte{}
	}
	return dst, off
}

// ExtendBytes is Extend for a Bytes column: it appends n values that have together `size` bytes, all valid. The caller fills
// dst with the bytes of the values, one after the other, and ends[i] with start + the number of bytes up to the end of
// value i. Where they do not fit, empty values stand in their place (see Builder.Err), and dst is nil.
func ExtendBytes(a *Appender, n, size int) (dst []byte, start int32, ends []int32) {
	dst, off := a.growBytes(size, n)
	if n == 0 || dst == nil {
		off = a.offsets[len(a.offsets)-n-1:]
	}
	a.noteValid(n)
	a.n += n
	return dst, off[0], off[1:]
}

// growValidFor makes the bitmap hold n more values: all of them valid, or all unset where some are null.
func (a *Appender) growValidFor(nulls bool, n int) {
	if !nulls {
		a.noteValid(n)
		return
	}
	a.startValid()
	a.growValid(a.n + n)
}
