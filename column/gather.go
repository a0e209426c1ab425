package column

import (
	"math/bits"
	"slices"
)

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
	if i := b.timesColumn(); i >= 0 && b.TimeValid == nil && len(b.Late) == 0 {
		out.Times = Values[int64](&out.Cols[i])
	} else {
		out.TakeTimes(b, rows)
	}
	if b.Hash != nil {
		out.Hash = Alloc[uint64](out, len(rows))
		gather(out.Hash, b.Hash, rows)
	}
	return out
}

// timesColumn is the column whose memory the event times are, or -1: those of a source that has them in ms are.
func (b *Batch) timesColumn() int {
	if len(b.Times) > 0 {
		for i := range b.Cols {
			if c := &b.Cols[i]; c.Kind == Int64 && len(c.Data) == 8*len(b.Times) && &c.Data[0] == &BytesOf(b.Times)[0] {
				return i
			}
		}
	}
	return -1
}

// TakeTimes gives b, a new batch, copies of the event times and late pairs of physical rows of src, one for each row of b, in
// any order and as often as wanted; nil means all. It is for operators that make new columns for the rows that they keep; the
// key hashes are left behind, since they belong to key columns.
func (b *Batch) TakeTimes(src *Batch, rows []uint32) {
	if rows == nil {
		if src.Times != nil {
			b.Times = Alloc[int64](b, src.Rows)
			copy(b.Times, src.Times)
			if src.TimeValid != nil {
				b.TimeValid = Alloc[byte](b, BitmapLen(src.Rows))
				copy(b.TimeValid, src.TimeValid)
			}
		}
		b.Late = append([]LatePair(nil), src.Late...)
		return
	}
	if src.Times != nil {
		b.Times = Alloc[int64](b, len(rows))
		gather(b.Times, src.Times, rows)
		if src.TimeValid != nil {
			b.TimeValid, _ = gatherBits(b, src.TimeValid, rows)
		}
	}
	switch {
	case len(src.Late) == 0:
	case slices.IsSorted(rows):
		b.Late = moveLate(nil, src.Late, rows, 0)
	default:
		b.Late = findLate(src.Late, rows)
	}
}

// ShareTimes gives b, a new batch, the event times and late pairs of src, which has as many rows and no selection, without
// copying them: b keeps src alive. The key hashes are left behind.
func (b *Batch) ShareTimes(src *Batch) {
	if src.Times == nil && len(src.Late) == 0 {
		return
	}
	if b.parent != nil {
		b.TakeTimes(src, nil)
		return
	}
	b.Times, b.TimeValid, b.Late = src.Times, src.TimeValid, src.Late
	b.parent = src
	src.Retain()
}

// findLate gives the pairs of rows in any order.
func findLate(late []LatePair, rows []uint32) (out []LatePair) {
	for i, r := range rows {
		at, ok := slices.BinarySearchFunc(late, r, func(p LatePair, r uint32) int { return int(p.Row) - int(r) })
		if ok {
			out = append(out, LatePair{Row: int32(i), J: late[at].J})
		}
	}
	return out
}

// Slice gives the physical rows from <= row < to of a batch without a selection as a batch that shares the memory of b
// and keeps it alive. The caller owns it.
func (b *Batch) Slice(from, to int) *Batch {
	d := b.Derive()
	d.Rows = to - from
	for i := range d.Cols {
		d.sliceColumn(&d.Cols[i], from, to)
	}
	if b.Times != nil {
		d.Times = b.Times[from:to]
		if b.TimeValid != nil {
			d.TimeValid = d.alignBits(b.TimeValid, from, to-from)
		}
	}
	if b.Hash != nil {
		d.Hash = b.Hash[from:to]
	}
	if len(b.Late) > 0 {
		d.Late = moveLateRange(nil, b.Late, from, to, 0)
	}
	return d
}

func (b *Batch) sliceColumn(c *Column, from, to int) {
	if c.Nulls > 0 {
		c.Valid = b.alignBits(c.Valid, from, to-from)
		if c.Nulls = CountZeros(c.Valid, to-from); c.Nulls == 0 {
			c.Valid = nil
		}
	}
	switch c.Kind {
	case Bool:
		c.Data = b.alignBits(c.Data, from, to-from)
	case Bytes:
		c.Offsets = c.Offsets[from : to+1]
	case List, Struct:
		b.sliceNested(c, from, to)
	default:
		w := c.Kind.Width()
		c.Data = c.Data[from*w : to*w]
	}
}

// moveLate appends the pairs of the rows that were taken, which ascend and may be repeated, renumbered from base on.
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

// moveLateRange appends the pairs of the rows from <= row < to, renumbered from base on.
func moveLateRange(dst, late []LatePair, from, to, base int) []LatePair {
	for _, p := range late {
		if r := int(p.Row); r >= from && r < to {
			dst = append(dst, LatePair{Row: int32(base + r - from), J: p.J})
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
		switch src.Kind {
		case Bool:
			dst.Data, _ = gatherBits(out, src.Data, rows)
		case Bytes:
			gatherBytes(out, dst, src, rows)
		default:
			gatherNested(out, dst, src, rows)
		}
	}
}

func gather[T any](dst, src []T, rows []uint32) {
	dst = dst[:len(rows)]
	for i, r := range rows {
		dst[i] = src[r]
	}
}

func gatherBits(out *Batch, src []byte, rows []uint32) (dst []byte, zeros int) {
	dst = Alloc[byte](out, BitmapLen(len(rows)))
	ones, i := 0, 0
	for ; i+8 <= len(rows); i += 8 {
		x := gatherByte(src, (*[8]uint32)(rows[i:]))
		dst[i>>3] = x
		ones += bits.OnesCount8(x)
	}
	if i < len(rows) {
		x := byte(0)
		for k, r := range rows[i:] {
			x |= src[r>>3] >> (r & 7) & 1 << k
		}
		dst[i>>3] = x
		ones += bits.OnesCount8(x)
	}
	return dst, len(rows) - ones
}

// gatherByte gives the bits of eight rows. What a filter leaves is often a run.
func gatherByte(src []byte, r *[8]uint32) byte {
	first := r[0]
	if r[1] == first+1 && r[2] == first+2 && r[3] == first+3 && r[4] == first+4 && r[5] == first+5 && r[6] == first+6 && r[7] == first+7 {
		at, shift := first>>3, first&7
		if shift == 0 {
			return src[at]
		}
		return src[at]>>shift | src[at+1]<<(8-shift)
	}
	bit := func(r uint32) byte { return src[r>>3] >> (r & 7) & 1 }
	return bit(r[0]) | bit(r[1])<<1 | bit(r[2])<<2 | bit(r[3])<<3 | bit(r[4])<<4 | bit(r[5])<<5 | bit(r[6])<<6 | bit(r[7])<<7
}

func gatherBytes(out *Batch, dst, src *Column, rows []uint32) {
	off := Alloc[int32](out, len(rows)+1)
	off[0] = 0
	dst.Offsets = off
	var data []byte
	if looksEven(src.Offsets, rows) {
		data = Alloc[byte](out, shortText*len(rows))
		if gatherEven(View[[shortText]byte](data), off[1:], src, rows) {
			dst.Data = data
			return
		}
	}
	total := gatherLengths(off[1:], src.Offsets, rows)
	if int(total) > len(data) {
		data = Alloc[byte](out, int(total))
	}
	data = data[:total]
	dst.Data = data
	if int(total) <= shortText*len(rows) {
		gatherShort(data, src, off, rows)
		return
	}
	for i := 0; i < len(rows); { // the texts of rows that follow each other lie side by side
		next := i + 1
		for next < len(rows) && rows[next] == rows[next-1]+1 {
			next++
		}
		copy(data[off[i]:off[next]], src.Data[src.Offsets[rows[i]]:])
		i = next
	}
}

// shortText is the length of texts that are copied without a look at how long they are.
const shortText = 16

// looksEven guesses by a few whether all texts have shortText bytes: UUIDs, addresses.
func looksEven(from []int32, rows []uint32) bool {
	even := func(i int) bool { return from[rows[i]+1]-from[rows[i]] == shortText }
	n := len(rows)
	return n > 0 && even(0) && even(n/3) && even(n-1)
}

// gatherEven copies texts of shortText bytes each, and their ends; false where one has other than these.
func gatherEven(to [][shortText]byte, ends []int32, src *Column, rows []uint32) bool {
	from, data := src.Offsets, src.Data
	to, ends = to[:len(rows)], ends[:len(rows)]
	other := int32(0)
	for i, r := range rows {
		at := from[r]
		text := data[at:]
		other |= from[r+1] - at ^ shortText
		if len(text) < shortText {
			return false
		}
		to[i] = [shortText]byte(text)
		ends[i] = int32(i+1) * shortText
	}
	return other == 0
}

// gatherLengths gives where texts end that follow each other, and their bytes in all.
func gatherLengths(ends, from []int32, rows []uint32) (total int32) {
	ends = ends[:len(rows)]
	for i, r := range rows {
		total += from[r+1] - from[r]
		ends[i] = total
	}
	return total
}

// gatherShort copies texts most of which are short: what is too much of one is overwritten by the next.
func gatherShort(data []byte, src *Column, off []int32, rows []uint32) {
	for i, r := range rows {
		from, to := src.Data[src.Offsets[r]:], data[off[i]:]
		if n := int(off[i+1] - off[i]); n > shortText || len(from) < shortText || len(to) < shortText {
			copy(to[:n], from)
			continue
		}
		*(*[shortText]byte)(to) = *(*[shortText]byte)(from)
	}
}
