package column

import (
	"sync/atomic"

	"github.com/apache/arrow-go/v18/arrow"
)

// LatePair says of a row that may be late what the earlier rows of its split had established: J(row) is their
// watermark in ms. Only rows with time < J have one (T4).
type LatePair struct {
	Row int32 // physical row
	J   int64 // ms since the Unix epoch
}

// Batch is a set of rows as columns. See the package comment for who owns it.
type Batch struct {
	Schema *arrow.Schema
	Cols   []Column // as many as Schema has fields, each of Rows values
	Rows   int      // physical rows
	Sel    []uint32 // the rows that are there, ascending; nil means all Rows

	// Event time of each physical row in ms (T12); nil on processing-time streams. The value of a row whose
	// bit in TimeValid is not set is undefined; a nil TimeValid means that all are valid.
	Times     []int64
	TimeValid []byte

	Late []LatePair // ascending by row; rows outside Sel may have one
	Hash []uint64   // stable hash of each physical row's key (K2); nil until somebody needs it

	pool   *Pool
	parent *Batch
	owned  [][]byte
	free   func()
	refs   atomic.Int32
}

// NewBatch gives an empty batch of that schema whose columns the caller fills. Its memory comes from the pool.
func NewBatch(p *Pool, s *arrow.Schema, rows int) *Batch {
	b := p.header()
	b.Schema, b.Rows = s, rows
	n := s.NumFields()
	if cap(b.Cols) < n {
		b.Cols = make([]Column, n)
	}
	b.Cols = b.Cols[:n]
	for i := range b.Cols {
		t := s.Field(i).Type
		b.Cols[i] = Column{Type: t, Kind: KindOf(t)}
	}
	return b
}

// Derive gives a batch that shares everything with b and keeps b alive. The caller owns it and may replace its
// schema, columns, selection and hidden vectors before handing it on.
func (b *Batch) Derive() *Batch {
	d := b.pool.header()
	d.Schema, d.Rows, d.Sel = b.Schema, b.Rows, b.Sel
	d.Cols = append(d.Cols[:0], b.Cols...)
	d.Times, d.TimeValid, d.Late, d.Hash = b.Times, b.TimeValid, b.Late, b.Hash
	d.parent = b
	b.Retain()
	return d
}

// OnRelease sets what is called once when the last reference goes: a source gets its buffers back by it.
func (b *Batch) OnRelease(f func()) { b.free = f }

// Pool is where the batch's memory comes from.
func (b *Batch) Pool() *Pool { return b.pool }

// Len is the number of rows that are there.
func (b *Batch) Len() int {
	if b.Sel != nil {
		return len(b.Sel)
	}
	return b.Rows
}

// Row gives the physical row of the i-th row that is there.
func (b *Batch) Row(i int) int {
	if b.Sel != nil {
		return int(b.Sel[i])
	}
	return i
}

// Alloc lends n values of T that live as long as the batch. Their content is undefined.
func Alloc[T any](b *Batch, n int) []T {
	var z [1]T
	if n == 0 {
		return View[T](nil)
	}
	buf := b.pool.Get(n * len(BytesOf(z[:])))
	b.owned = append(b.owned, buf)
	return View[T](buf)[:n]
}

// AllocZero is Alloc with all bytes zero.
func AllocZero[T any](b *Batch, n int) []T {
	v := Alloc[T](b, n)
	clear(BytesOf(v))
	return v
}

// Adopt makes the batch own a loan of its pool.
func (b *Batch) Adopt(buf []byte) {
	if cap(buf) > 0 {
		b.owned = append(b.owned, buf)
	}
}

// AdoptBatch makes b own the memory of o, which a Builder made, whose owner the caller was, and which is gone: its columns may
// become columns of b.
func (b *Batch) AdoptBatch(o *Batch) {
	b.owned = append(b.owned, o.owned...)
	clear(o.owned)
	o.owned = o.owned[:0]
	o.Release()
}

// Retain adds a reference.
func (b *Batch) Retain() { b.refs.Add(1) }

// Release gives a reference back; with the last one the memory goes back to the pool.
func (b *Batch) Release() {
	n := b.refs.Add(-1)
	if n > 0 {
		return
	}
	if n < 0 {
		b.doubleRelease()
		return
	}
	for i, buf := range b.owned {
		b.pool.Put(buf)
		b.owned[i] = nil
	}
	parent, free, pool := b.parent, b.free, b.pool
	clear(b.Cols)
	b.Schema, b.Cols, b.Rows, b.Sel = nil, b.Cols[:0], 0, nil
	b.Times, b.TimeValid, b.Late, b.Hash = nil, nil, nil, nil
	b.owned, b.parent, b.free = b.owned[:0], nil, nil
	pool.putHeader(b)
	if free != nil {
		free()
	}
	if parent != nil {
		parent.Release()
	}
}

// doubleRelease is told to the pool's debug mode; outside it a batch that was released twice is left alone.
func (b *Batch) doubleRelease() {
	if p := b.pool; p != nil && p.debug != nil {
		p.mu.Lock()
		p.debug.faults = append(p.debug.faults, "batch released twice at "+here().String())
		p.mu.Unlock()
	}
}

// Column gives the column of that name, or nil.
func (b *Batch) Column(name string) *Column {
	if at := b.Schema.FieldIndices(name); len(at) > 0 {
		return &b.Cols[at[0]]
	}
	return nil
}

// SizeBytes is the memory that the batch's columns view.
func (b *Batch) SizeBytes() int {
	n := 8*len(b.Times) + 8*len(b.Hash) + 4*len(b.Sel)
	for i := range b.Cols {
		n += b.Cols[i].SizeBytes()
	}
	return n
}
