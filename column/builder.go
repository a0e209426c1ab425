package column

import (
	"fmt"

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
	nullTimes []int32 // rows without an event time, ascending
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
	if len(b.times) > b.rows {
		b.times = b.times[:b.rows]
	}
	for n := len(b.nullTimes); n > 0 && int(b.nullTimes[n-1]) >= b.rows; n-- {
		b.nullTimes = b.nullTimes[:n-1]
	}
}

// Truncate forgets all rows from the n-th on, and the values of the row that is being built. It is for builders without event
// times.
func (b *Builder) Truncate(n int) {
	b.rows = min(b.rows, n)
	b.DropRow()
}

// SetRows says that every column has been given n values by its appender.
func (b *Builder) SetRows(n int) { b.rows = n }

// Time gives the row that is being built its event time. Rows that are given none have a null one if others have.
func (b *Builder) Time(ms int64, valid bool) {
	b.padTimes(b.rows)
	if !valid {
		b.padTimes(b.rows + 1)
		return
	}
	b.times = growTo(b.pool, &b.timeBuf, b.times, 1)
	b.times[len(b.times)-1] = ms
}

// padTimes gives the rows below n that have no event time a null one.
func (b *Builder) padTimes(n int) {
	b.hasTimes = true
	at := len(b.times)
	if at >= n {
		return
	}
	b.times = growTo(b.pool, &b.timeBuf, b.times, n-at)
	for i := at; i < n; i++ {
		b.times[i] = 0
		b.nullTimes = append(b.nullTimes, int32(i))
	}
}

// Int64, Float64, String, Bool and Null append to column i; see Appender for the other types.
func (b *Builder) Int64(i int, v int64)     { b.cols[i].Int64(v) }
func (b *Builder) Float64(i int, v float64) { b.cols[i].Float64(v) }
func (b *Builder) String(i int, v string)   { b.cols[i].String(v) }
func (b *Builder) Bool(i int, v bool)       { b.cols[i].Bool(v) }
func (b *Builder) Null(i int)               { b.cols[i].Null() }

// Err tells the first column whose strings have grown beyond what a batch holds: it wraps ErrTooLarge. The rows of such
// a builder are not whole: Discard them. Who appends rows of any size looks here before Finish, or asks Fits and Bytes
// in time.
func (b *Builder) Err() error {
	for i := range b.cols {
		if b.cols[i].isTooLarge() {
			return fmt.Errorf("column %q: %w", b.schema.Field(i).Name, ErrTooLarge)
		}
	}
	return nil
}

// Bytes is the number of string bytes of the column that has most of them; all bytes of a nested column count.
func (b *Builder) Bytes() int {
	most := 0
	for i := range b.cols {
		switch c := &b.cols[i]; {
		case c.kind == Bytes:
			most = max(most, len(c.data))
		case c.kind.IsNested():
			most = max(most, c.bytes())
		}
	}
	return most
}

// Finish gives the rows as a batch that the caller owns, and empties the builder. A batch that is not whole would be a
// silent loss, so Finish panics with the error that Err would have told.
func (b *Builder) Finish() *Batch {
	if err := b.Err(); err != nil {
		b.Discard()
		panic(err)
	}
	return b.finish()
}

// Discard gives the memory of unfinished rows back and empties the builder.
func (b *Builder) Discard() {
	for i := range b.cols {
		b.cols[i].discard()
	}
	b.pool.Put(b.timeBuf)
	b.pool.Put(b.hashBuf)
	b.empty()
}

func (b *Builder) finish() *Batch {
	out := NewBatch(b.pool, b.schema, b.rows)
	for i := range b.cols {
		b.cols[i].finish(out, &out.Cols[i])
	}
	if b.hasTimes {
		b.padTimes(b.rows)
		out.Times = b.times[:b.rows]
		if len(b.nullTimes) > 0 {
			out.TimeValid = Alloc[byte](out, BitmapLen(b.rows))
			for i := range out.TimeValid {
				out.TimeValid[i] = 0xFF
			}
			for _, r := range b.nullTimes {
				if int(r) < b.rows {
					ClearBit(out.TimeValid, int(r))
				}
			}
		}
	}
	if b.hasHash && len(b.hash) == b.rows {
		out.Hash = b.hash
	}
	out.Adopt(b.timeBuf)
	out.Adopt(b.hashBuf)
	if len(b.late) > 0 {
		out.Late = append([]LatePair(nil), b.late...)
	}
	b.empty()
	return out
}

func (b *Builder) empty() {
	b.times, b.timeBuf, b.hash, b.hashBuf = nil, nil, nil, nil
	b.nullTimes, b.late = b.nullTimes[:0], b.late[:0]
	b.hasTimes, b.hasHash = false, false
	b.rows = 0
}

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
