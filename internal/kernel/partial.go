package kernel

import (
	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/internal/extreme"
	"github.com/arkflow-go/arkflow/internal/layout"
)

// A partial result is a group that is not complete: rows that were gathered by their key before an exchange. Batches of partial
// results have the schema Layout.Partial and the columns of saved panes (see SnapshotSchema); their time is the window_start. They
// may be added wherever rows may be.

// partials is a block of partial results as a table.
type partials struct {
	t    *table
	refs [blockRows]uint32
}

// load reads partial results whose rows are counted by so much less, and gives the number of rows that they stand for.
func (p *partials) load(l *layout.Layout, b *column.Batch, n int, at rowAt, less uint64) (rows int64, err error) {
	if p.t == nil {
		p.t = &table{l: l, rows: make([]uint64, l.Stride*(blockRows+1)), sides: make([][]int64, l.Sides), heaps: make([]extreme.Heap, l.Heaps)}
		for i := range p.refs {
			p.refs[i] = uint32((i + 1) * l.Stride)
		}
	}
	clear(p.t.rows[:(n+1)*l.Stride])
	p.t.clearSides()
	count, counts := p.t.rows[l.Count:], column.View[uint64](b.Cols[1+len(l.KeyCols)].Data)
	for i, ref := range p.refs[:n] {
		c := counts[at.row(i)]
		rows += int64(c)
		count[ref] = c - less
	}
	return rows, p.t.set(p.refs[:n], b, at)
}

// blockPartial adds at most blockRows partial results.
func (p *Pane) blockPartial(b *column.Batch, n int, at rowAt) error {
	a := p.a
	a.noParts = true
	if err := p.Settle(); err != nil {
		return err
	}
	p.t.own()
	refs, err := p.t.find(&a.s, n, at)
	if err != nil {
		return err
	}
	rows, err := a.partials.load(a.l, b, n, at, 1) // find has counted one row for each
	if err != nil {
		return err
	}
	p.rows += rows
	p.t.combine(a.partials.t, refs, a.partials.refs[:n])
	return nil
}

// addPartial adds at most blockRows partial results of keys of those numbers.
func (c *Cells) addPartial(b *column.Batch, n int, at rowAt, nums []uint32) error {
	x := c.x
	refs := x.refs[:n]
	if err := c.locate(refs, nums, 1); err != nil {
		return err
	}
	rows, err := x.partials.load(x.l, b, n, at, 1)
	if err != nil {
		return err
	}
	c.rows += rows
	c.t.combine(x.partials.t, refs, x.partials.refs[:n])
	return nil
}

// Bytes is how much the groups of a pane that is not partitioned hold.
func (p *Pane) Bytes() int { return 8*p.t.live*p.a.l.Stride + len(p.t.bytes) + p.t.heapBytes() }

// NewPartials gives a writer of panes as partial results, in memory of the pool. emit borrows the batch.
func NewPartials(l *layout.Layout, pool *column.Pool, emit func(b *column.Batch) error) *Dump {
	d := newDump(l, l, false, 0, ResultRows, pool, nil)
	d.Schema = l.Partial()
	d.emit = func(b *column.Batch) error {
		b.Times = column.Alloc[int64](b, b.Rows)
		copy(b.Times, column.Values[int64](&b.Cols[0]))
		return emit(b)
	}
	return d
}

// Discard gives back what was not emitted.
func (d *Dump) Discard() { d.close() }
