package column

import (
	"fmt"
	"math"

	"github.com/apache/arrow-go/v18/arrow"
)

// Appender builds one column. Each call appends one value; the method must suit the column's Kind, except that
// Int64 and Float64 convert to narrower kinds (the caller has checked that the value fits).
type Appender struct {
	pool     *Pool
	typ      arrow.DataType
	kind     Kind
	n        int
	nulls    int
	valid    []byte // bitmap, nil while there is no null
	data     []byte
	offsets  []int32
	offBuf   []byte
	limit    int // of len(data) where offsets speak of it
	children []Appender
	tooLarge int // 1 + the first value that was left out because of the limit; 0 where there is none
}

func (a *Appender) init(p *Pool, t arrow.DataType) {
	children := a.children
	*a = Appender{pool: p, typ: t, kind: KindOf(t), limit: math.MaxInt32}
	if !a.kind.IsNested() {
		return
	}
	if a.children = children; children == nil {
		types := childTypes(t)
		a.children = make([]Appender, len(types))
		for i, ct := range types {
			a.children[i].init(p, ct)
		}
	}
}

// Type is the Arrow type of the column.
func (a *Appender) Type() arrow.DataType { return a.typ }

// Kind is the layout of the column.
func (a *Appender) Kind() Kind { return a.kind }

// Len is the number of values appended.
func (a *Appender) Len() int { return a.n }

// grow makes room for n more bytes of data and gives them.
func (a *Appender) grow(n int) []byte {
	l := len(a.data)
	if l+n > cap(a.data) {
		next := a.pool.Get(max(l+n, 2*l, 1024))
		copy(next, a.data)
		a.pool.Put(a.data)
		a.data = next
	}
	a.data = a.data[:l+n]
	return a.data[l:]
}

// Extend appends n values of a fixed-width column and gives the slice to fill; all are valid. T must have the width of
// the column's Kind.
func Extend[T Fixed](a *Appender, n int) []T {
	v := View[T](a.grow(n * a.kind.Width()))
	a.noteValid(n)
	a.n += n
	return v
}

func put[T any](a *Appender, v T) {
	var z [1]T
	View[T](a.grow(len(BytesOf(z[:]))))[0] = v
	a.noteValid(1)
	a.n++
}

// noteValid records that the next n values are there.
func (a *Appender) noteValid(n int) {
	if a.valid == nil {
		return
	}
	a.growValid(a.n + n)
	setBits(a.valid, a.n, a.n+n)
}

// setBits sets the bits from <= i < to.
func setBits(m []byte, from, to int) {
	for ; from < to && from&7 != 0; from++ {
		SetBit(m, from)
	}
	for ; from+8 <= to; from += 8 {
		m[from>>3] = 0xFF
	}
	for ; from < to; from++ {
		SetBit(m, from)
	}
}

// startValid makes a bitmap for the values so far, all of which are there.
func (a *Appender) startValid() {
	if a.valid == nil {
		a.growValid(max(a.n, 1))
		setBits(a.valid, 0, a.n)
	}
}

// growValid makes the bitmap hold n bits; new bits are zero.
func (a *Appender) growValid(n int) {
	l, need := len(a.valid), BitmapLen(n)
	if need <= l {
		return
	}
	if need > cap(a.valid) {
		next := a.pool.Get(max(need, 2*l))
		copy(next, a.valid)
		a.pool.Put(a.valid)
		a.valid = next
	}
	a.valid = a.valid[:need]
	clear(a.valid[l:])
}

// Null appends a null.
func (a *Appender) Null() { a.Nulls(1) }

// Nulls appends n nulls.
func (a *Appender) Nulls(n int) {
	if n <= 0 {
		return
	}
	a.startValid()
	a.growValid(a.n + n)
	switch a.kind {
	case Bool:
		a.growBits(a.n + n)
	case Bytes:
		a.startOffsets()
		l := len(a.offsets)
		a.offsets = growTo(a.pool, &a.offBuf, a.offsets, n)
		for i := range n {
			a.offsets[l+i] = int32(len(a.data))
		}
	case List:
		a.endLists(n)
	case Struct:
		for i := range a.children {
			a.children[i].Nulls(n)
		}
	default:
		clear(a.grow(n * a.kind.Width()))
	}
	a.n += n
	a.nulls += n
}

func (a *Appender) growBits(n int) {
	l, need := len(a.data), BitmapLen(n)
	if need > l {
		clear(a.grow(need - l))
	}
}

// Bool appends to a Bool column.
func (a *Appender) Bool(v bool) {
	a.growBits(a.n + 1)
	if v {
		SetBit(a.data, a.n)
	}
	a.noteValid(1)
	a.n++
}

// Int64 appends to any integer or float column.
func (a *Appender) Int64(v int64) {
	switch a.kind {
	case Int64, Uint64:
		put(a, v)
	case Int32, Uint32:
		put(a, int32(v))
	case Int16, Uint16:
		put(a, int16(v))
	case Int8, Uint8:
		put(a, int8(v))
	case Float64:
		put(a, float64(v))
	case Float32:
		put(a, float32(v))
	default:
		panic(fmt.Sprintf("column: Int64 on a column of kind %s", a.kind))
	}
}

// Uint64 appends to any integer column.
func (a *Appender) Uint64(v uint64) { a.Int64(int64(v)) }

// Float64 appends to a float column.
func (a *Appender) Float64(v float64) {
	if a.kind == Float32 {
		put(a, float32(v))
		return
	}
	put(a, v)
}

// Decimal appends the two words of a 128-bit decimal.
func (a *Appender) Decimal(lo uint64, hi int64) { put(a, [2]uint64{lo, uint64(hi)}) }

// String appends to a Bytes column. A value by which the column would have more than 2 GiB is left out: see Builder.Err.
func (a *Appender) String(v string) {
	if len(v) > a.limit-len(a.data) {
		a.leaveOut()
		v = ""
	}
	copy(a.grow(len(v)), v)
	a.endBytes()
	a.noteValid(1)
	a.n++
}

// Bytes appends to a Bytes column. A value by which the column would have more than 2 GiB is left out: see Builder.Err.
func (a *Appender) Bytes(v []byte) {
	if len(v) > a.limit-len(a.data) {
		a.leaveOut()
		v = nil
	}
	copy(a.grow(len(v)), v)
	a.endBytes()
	a.noteValid(1)
	a.n++
}

// leaveOut notes that the next value does not fit.
func (a *Appender) leaveOut() {
	if a.tooLarge == 0 {
		a.tooLarge = a.n + 1
	}
}

// startOffsets appends the offset at which the first value begins, once.
func (a *Appender) startOffsets() {
	if a.offsets == nil {
		a.offsets = growTo(a.pool, &a.offBuf, a.offsets, 1)
		a.offsets[0] = 0
	}
}

// endBytes closes the value whose bytes were just appended.
func (a *Appender) endBytes() {
	a.startOffsets()
	a.offsets = growTo(a.pool, &a.offBuf, a.offsets, 1)
	a.offsets[len(a.offsets)-1] = int32(len(a.data))
}

// truncate forgets all values from the n-th on.
func (a *Appender) truncate(n int) {
	if a.kind.IsNested() {
		a.dropOpen(n)
	}
	if a.n <= n {
		return
	}
	if a.tooLarge > n {
		a.tooLarge = 0
	}
	for i := n; i < a.n; i++ {
		if a.valid != nil {
			if !Bit(a.valid, i) {
				a.nulls--
			}
			ClearBit(a.valid, i)
		}
		if a.kind == Bool {
			ClearBit(a.data, i)
		}
	}
	if a.valid != nil {
		a.valid = a.valid[:BitmapLen(n)]
	}
	switch a.kind {
	case Bool:
		a.data = a.data[:BitmapLen(n)]
	case Bytes:
		a.data = a.data[:a.offsets[n]]
		a.offsets = a.offsets[:n+1]
	case List, Struct:
		a.truncateNested(n)
	default:
		a.data = a.data[:n*a.kind.Width()]
	}
	a.n = n
}

// finish hands the values to a batch and empties the appender.
func (a *Appender) finish(b *Batch, c *Column) {
	if a.kind == Bytes || a.kind == List {
		a.startOffsets()
	}
	*c = Column{Type: a.typ, Kind: a.kind, Nulls: a.nulls, Data: a.data, Offsets: a.offsets}
	b.Adopt(a.data)
	b.Adopt(a.offBuf)
	if a.nulls > 0 {
		c.Valid = a.valid
	}
	b.Adopt(a.valid)
	if a.kind.IsNested() {
		a.finishNested(b, c)
	}
	a.init(a.pool, a.typ)
}

// discard gives the memory of the values back and empties the appender.
func (a *Appender) discard() {
	a.pool.Put(a.data)
	a.pool.Put(a.offBuf)
	a.pool.Put(a.valid)
	for i := range a.children {
		a.children[i].discard()
	}
	a.init(a.pool, a.typ)
}
