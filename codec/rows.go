package codec

import (
	"encoding/binary"
	"math"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/arkflow-go/arkflow/column"
)

// rowSet is a batch in the making whose current row may be written in any order of columns, more than once a column, and
// given up: a column's slot of the current row is simply overwritten. Buffers are loans of the pool, held from the first
// row until finish.
type rowSet struct {
	pool   *column.Pool
	schema *arrow.Schema
	cols   []colBuf
	n      int    // complete rows
	room   int    // rows that the buffers hold
	stamp  uint32 // of the current row; a column whose stamp differs has no value yet
	filled int    // columns that have a value in the current row
	hint   int    // rows of the last batch
	nested []*column.Builder
}

// colBuf is one column of a rowSet.
type colBuf struct {
	kind    column.Kind
	width   int
	stamp   uint32
	nullish bool    // may be null
	data    []byte  // room*width bytes, or the string bytes so far
	offsets []int32 // Bytes: room+1 entries; offsets[n] is where the current row begins
	offBuf  []byte
	valid   []byte          // nil while there is no null; else room bits, set but for nulls
	hint    int             // string bytes of the last batch
	tree    *column.Builder // lists, maps and structs; the current row is the one being built
}

const minRoom = 16

func newRowSet(p *column.Pool, s *arrow.Schema) rowSet {
	r := rowSet{pool: p, schema: s, cols: make([]colBuf, s.NumFields()), stamp: 1}
	for i := range r.cols {
		f := s.Field(i)
		k := column.KindOf(f.Type)
		r.cols[i] = colBuf{kind: k, width: k.Width(), nullish: f.Nullable}
		if k.IsNested() {
			r.cols[i].tree = column.NewBuilder(p, arrow.NewSchema([]arrow.Field{f}, nil))
			r.nested = append(r.nested, r.cols[i].tree)
		}
	}
	return r
}

// begin makes room for one more row.
func (r *rowSet) begin() {
	if r.n == r.room {
		r.grow()
	}
}

func (r *rowSet) grow() {
	room := max(minRoom, 2*r.room)
	if r.room == 0 {
		room = max(minRoom, (r.hint+7)&^7)
	}
	for i := range r.cols {
		c := &r.cols[i]
		switch c.kind {
		case column.Bytes:
			r.resize(&c.offBuf, 4*(room+1))
			c.offsets = column.View[int32](c.offBuf)
			if r.room == 0 {
				c.offsets[0] = 0
				c.data = r.pool.Get(max(64, c.hint))[:0]
			}
		case column.Bool:
			r.resize(&c.data, column.BitmapLen(room))
		default:
			r.resize(&c.data, room*c.width)
		}
		if c.valid != nil {
			old := len(c.valid)
			r.resize(&c.valid, column.BitmapLen(room))
			fill(c.valid[old:], 0xFF)
		}
	}
	r.room = room
}

// resize exchanges a loan for one of n bytes with the same content.
func (r *rowSet) resize(buf *[]byte, n int) {
	if n <= cap(*buf) {
		*buf = (*buf)[:n]
		return
	}
	next := r.pool.Get(n)
	copy(next, *buf)
	r.pool.Put(*buf)
	*buf = next
}

func fill(b []byte, v byte) {
	for i := range b {
		b[i] = v
	}
}

// claim says that column c gets a value in the current row.
func (r *rowSet) claim(c *colBuf) {
	if c.stamp != r.stamp {
		c.stamp = r.stamp
		r.filled++
		return
	}
	r.reclaim(c)
}

// reclaim takes back the value that column c has in the current row.
func (r *rowSet) reclaim(c *colBuf) {
	if c.valid != nil {
		column.SetBit(c.valid, r.n)
	}
	switch {
	case c.kind == column.Bytes:
		c.data = c.data[:c.offsets[r.n]]
	case c.tree != nil:
		c.tree.Truncate(r.n)
	}
}

func putFixed[T column.Fixed](r *rowSet, c *colBuf, v T) { column.View[T](c.data)[r.n] = v }

// putInt stores an integer that fits the column.
func (r *rowSet) putInt(c *colBuf, v int64) {
	switch c.width {
	case 8:
		putFixed(r, c, v)
	case 4:
		putFixed(r, c, int32(v))
	case 2:
		putFixed(r, c, int16(v))
	default:
		putFixed(r, c, int8(v))
	}
}

func (r *rowSet) putBool(c *colBuf, v bool) {
	if v {
		column.SetBit(c.data, r.n)
	} else {
		column.ClearBit(c.data, r.n)
	}
}

func (r *rowSet) putDecimal(c *colBuf, lo uint64, hi int64) {
	w := column.View[uint64](c.data)
	w[2*r.n], w[2*r.n+1] = lo, uint64(hi)
}

// putBytes stores a copy of v. false: the column would hold more than 2 GiB.
func (r *rowSet) putBytes(c *colBuf, v []byte) bool {
	at := len(c.data)
	if at+len(v) > cap(c.data) && !r.growBytes(c, len(v)) {
		return false
	}
	c.data = c.data[:at+len(v)]
	copy(c.data[at:], v)
	c.offsets[r.n+1] = int32(len(c.data))
	return true
}

// putShort is putBytes for b[i:end], of which it may copy more than it stores where there is room: most texts are short.
func (r *rowSet) putShort(c *colBuf, b []byte, i, end int) bool {
	at := len(c.data)
	if n := end - i; n <= 16 && i+16 <= len(b) && at+16 <= cap(c.data) {
		to := c.data[at : at+16]
		binary.LittleEndian.PutUint64(to, binary.LittleEndian.Uint64(b[i:]))
		binary.LittleEndian.PutUint64(to[8:], binary.LittleEndian.Uint64(b[i+8:]))
		c.data = c.data[:at+n]
		c.offsets[r.n+1] = int32(at + n)
		return true
	}
	return r.putBytes(c, b[i:end])
}

// growBytes makes room for n more string bytes.
func (r *rowSet) growBytes(c *colBuf, n int) bool {
	l := len(c.data)
	if l+n > math.MaxInt32 {
		return false
	}
	next := r.pool.Get(max(l+n, 2*l))
	copy(next, c.data)
	r.pool.Put(c.data)
	c.data = next[:l]
	return true
}

// putNull makes the value of column c null. The slot is zeroed, so that equal rows have equal bytes.
func (r *rowSet) putNull(c *colBuf) {
	if c.tree != nil {
		c.tree.Null(0)
		return
	}
	if c.valid == nil {
		c.valid = r.pool.Get(column.BitmapLen(r.room))
		fill(c.valid, 0xFF)
	}
	column.ClearBit(c.valid, r.n)
	switch c.kind {
	case column.Bytes:
		c.offsets[r.n+1] = int32(len(c.data))
	case column.Bool:
		column.ClearBit(c.data, r.n)
	default:
		clear(c.data[r.n*c.width : (r.n+1)*c.width])
	}
}

// end completes the row. Columns without a value become null; the index of the first that must not be is returned
// instead, -1 if there is none.
func (r *rowSet) end() int {
	if r.filled < len(r.cols) {
		for i := range r.cols {
			c := &r.cols[i]
			if c.stamp == r.stamp {
				continue
			}
			if !c.nullish {
				return i
			}
			c.stamp = r.stamp
			r.putNull(c)
		}
	}
	r.n++
	for _, tree := range r.nested {
		tree.EndRow()
	}
	r.next()
	return -1
}

// drop gives up the current row.
func (r *rowSet) drop() {
	for i := range r.cols {
		if c := &r.cols[i]; c.stamp == r.stamp {
			r.reclaim(c)
		}
	}
	r.next()
}

// undo gives up the last complete row.
func (r *rowSet) undo() {
	r.n--
	for i := range r.cols {
		r.reclaim(&r.cols[i])
	}
}

func (r *rowSet) next() {
	r.filled = 0
	r.stamp++
	if r.stamp == 0 { // wrapped: no column may seem filled
		for i := range r.cols {
			r.cols[i].stamp = 0
		}
		r.stamp = 1
	}
}

// finish hands the complete rows over.
func (r *rowSet) finish() *column.Batch {
	n := r.n
	b := column.NewBatch(r.pool, r.schema, n)
	if r.room == 0 {
		r.grow()
	}
	for i := range r.cols {
		c, out := &r.cols[i], &b.Cols[i]
		if c.tree != nil {
			made := c.tree.Finish()
			*out = made.Cols[0]
			b.AdoptBatch(made)
			continue
		}
		b.Adopt(c.data)
		switch c.kind {
		case column.Bytes:
			b.Adopt(c.offBuf)
			out.Offsets, out.Data = c.offsets[:n+1], c.data
			c.hint = len(c.data)
		case column.Bool:
			out.Data = c.data[:column.BitmapLen(n)]
			clearTail(out.Data, n)
		default:
			out.Data = c.data[:n*c.width]
		}
		if c.valid != nil {
			b.Adopt(c.valid)
			if nulls := column.CountZeros(c.valid, n); nulls > 0 {
				out.Nulls, out.Valid = nulls, c.valid[:column.BitmapLen(n)]
				clearTail(out.Valid, n)
			}
		}
		c.data, c.offsets, c.offBuf, c.valid = nil, nil, nil, nil
	}
	r.n, r.room, r.hint = 0, 0, n
	return b
}

// clearTail zeroes the bits behind the n-th.
func clearTail(m []byte, n int) {
	if n&7 != 0 {
		m[n>>3] &= 1<<(n&7) - 1
	}
}

// discard gives all memory back.
func (r *rowSet) discard() {
	if r.room > 0 {
		hint := r.hint
		r.finish().Release()
		r.hint = hint
	}
}
