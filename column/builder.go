package column

import (
	"fmt"
	"math"

	"github.com/apache/arrow-go/v18/arrow"
)

// Builder makes a batch row by row or column by column, in memory of the pool. The zero value is not usable:
// make one with NewBuilder. After Finish it is empty again. Not safe for concurrent use.
type Builder struct {
	pool   *Pool
	schema *arrow.Schema
	cols   []Appender
	rows   int

	times     []int64
	timeBuf   []byte
	nullTimes []int32
	late      []LatePair
	hash      []uint64
	hashBuf   []byte
	hasTimes  bool
	hasHash   bool
}

// NewBuilder gives an empty builder. Types that KindOf does not know must not be in the schema (CheckSchema).
func NewBuilder(p *Pool, s *arrow.Schema) *Builder {
	b := &Builder{pool: p, schema: s, cols: make([]Appender, s.NumFields())}
	for i := range b.cols {
		b.cols[i].init(p, s.Field(i).Type)
	}
	return b
}

// Schema is what the builder was made for.
func (b *Builder) Schema() *arrow.Schema { return b.schema }

// Len is the number of rows that EndRow or AppendRows completed.
func (b *Builder) Len() int { return b.rows }

// Col gives the appender of column i.
func (b *Builder) Col(i int) *Appender { return &b.cols[i] }

// EndRow completes a row: columns that got no value for it become null.
func (b *Builder) EndRow() {
	b.rows++
	for i := range b.cols {
		if c := &b.cols[i]; c.n < b.rows {
			c.Null()
		}
	}
}

// DropRow forgets the values that were appended since the last EndRow.
func (b *Builder) DropRow() {
	for i := range b.cols {
		b.cols[i].truncate(b.rows)
	}
}

// SetRows says that every column has been given n values by its appender.
func (b *Builder) SetRows(n int) { b.rows = n }

// Time gives the row that is being built its event time.
func (b *Builder) Time(ms int64, valid bool) {
	b.hasTimes = true
	if !valid {
		b.nullTimes = append(b.nullTimes, int32(len(b.times)))
		ms = 0
	}
	b.times = growTo(b.pool, &b.timeBuf, b.times, 1)
	b.times[len(b.times)-1] = ms
}

// Int64, Float64, String, Bool and Null append to column i; see Appender for the other types.
func (b *Builder) Int64(i int, v int64)     { b.cols[i].Int64(v) }
func (b *Builder) Float64(i int, v float64) { b.cols[i].Float64(v) }
func (b *Builder) String(i int, v string)   { b.cols[i].String(v) }
func (b *Builder) Bool(i int, v bool)       { b.cols[i].Bool(v) }
func (b *Builder) Null(i int)               { b.cols[i].Null() }

// Finish gives the rows as a batch that the caller owns, and empties the builder.
func (b *Builder) Finish() *Batch {
	out := NewBatch(b.pool, b.schema, b.rows)
	for i := range b.cols {
		b.cols[i].finish(out, &out.Cols[i])
	}
	if b.hasTimes {
		out.Times = b.times
		out.Adopt(b.timeBuf)
		if len(b.nullTimes) > 0 {
			out.TimeValid = Alloc[byte](out, BitmapLen(b.rows))
			for i := range out.TimeValid {
				out.TimeValid[i] = 0xFF
			}
			for _, r := range b.nullTimes {
				ClearBit(out.TimeValid, int(r))
			}
		}
	}
	if b.hasHash {
		out.Hash = b.hash
		out.Adopt(b.hashBuf)
	}
	if len(b.late) > 0 {
		out.Late = append([]LatePair(nil), b.late...)
	}
	b.times, b.timeBuf, b.hash, b.hashBuf = nil, nil, nil, nil
	b.nullTimes, b.late = b.nullTimes[:0], b.late[:0]
	b.hasTimes, b.hasHash = false, false
	b.rows = 0
	return out
}

// Discard gives the memory of unfinished rows back.
func (b *Builder) Discard() { b.Finish().Release() }

// growTo gives s with n more elements in memory of the pool, keeping its content.
func growTo[T any](p *Pool, buf *[]byte, s []T, n int) []T {
	need := len(s) + n
	if need <= cap(s) {
		return s[:need]
	}
	var z [1]T
	w := len(BytesOf(z[:]))
	next := p.Get(max(need*w, 2*len(s)*w, 1024))
	next = next[:cap(next)/w*w]
	copy(next, BytesOf(s))
	p.Put(*buf)
	*buf = next
	return View[T](next)[:need]
}

// Appender builds one column. Each call appends one value; the method must suit the column's Kind, except that
// Int64 and Float64 convert to narrower kinds (the caller has checked that the value fits).
type Appender struct {
	pool    *Pool
	typ     arrow.DataType
	kind    Kind
	n       int
	nulls   int
	valid   []byte // bitmap, nil while there is no null
	data    []byte
	offsets []int32
	offBuf  []byte
}

func (a *Appender) init(p *Pool, t arrow.DataType) { *a = Appender{pool: p, typ: t, kind: KindOf(t)} }

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

// Extend appends n values of a fixed-width column and gives the slice to fill; all are valid.
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
	for i := a.n; i < a.n+n; i++ {
		SetBit(a.valid, i)
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
	if a.valid == nil {
		a.growValid(a.n + n)
		for i := 0; i < a.n; i++ {
			SetBit(a.valid, i)
		}
	} else {
		a.growValid(a.n + n)
	}
	switch a.kind {
	case Bool:
		a.growBits(a.n + n)
	case Bytes:
		for range n {
			a.endBytes()
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

// String appends to a Bytes column.
func (a *Appender) String(v string) {
	copy(a.grow(len(v)), v)
	a.endBytes()
	a.noteValid(1)
	a.n++
}

// Bytes appends to a Bytes column.
func (a *Appender) Bytes(v []byte) {
	copy(a.grow(len(v)), v)
	a.endBytes()
	a.noteValid(1)
	a.n++
}

// endBytes closes the value whose bytes were just appended.
func (a *Appender) endBytes() {
	if a.offsets == nil {
		a.offsets = growTo(a.pool, &a.offBuf, a.offsets, 1)
		a.offsets[0] = 0
	}
	if len(a.data) > math.MaxInt32 {
		panic("column: more than 2 GiB of string data in one batch")
	}
	a.offsets = growTo(a.pool, &a.offBuf, a.offsets, 1)
	a.offsets[len(a.offsets)-1] = int32(len(a.data))
}

// truncate forgets all values from the n-th on.
func (a *Appender) truncate(n int) {
	if a.n <= n {
		return
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
	default:
		a.data = a.data[:n*a.kind.Width()]
	}
	a.n = n
}

// finish hands the values to a batch and empties the appender.
func (a *Appender) finish(b *Batch, c *Column) {
	if a.kind == Bytes && a.offsets == nil {
		a.offsets = growTo(a.pool, &a.offBuf, a.offsets, 1)
		a.offsets[0] = 0
	}
	*c = Column{Type: a.typ, Kind: a.kind, Nulls: a.nulls, Data: a.data, Offsets: a.offsets}
	b.Adopt(a.data)
	b.Adopt(a.offBuf)
	if a.nulls > 0 {
		c.Valid = a.valid
	}
	b.Adopt(a.valid)
	a.init(a.pool, a.typ)
}
