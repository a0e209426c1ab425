package kernel

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/internal/extreme"
)

// A partial result is a group that is not complete: rows that were gathered by their key before an exchange. Batches of partial
// results have the schema Layout.Partial and the columns of saved panes (see SnapshotSchema); their time is the window_start. They
// may be added wherever rows may be.

// Partial is the schema of partial results. Batches are known by the pointer.
func (l *Layout) Partial() *arrow.Schema { return l.partial }

// Exact reports whether the result of a group is the same to the bit however its rows are gathered: sums of floats are not.
func (l *Layout) Exact() bool {
	for _, arg := range l.args {
		for _, a := range arg.accs {
			if a.kind == accSumFloat {
				return false
			}
		}
	}
	return true
}

// Keys gives the key columns of a batch of rows or of partial results.
func (l *Layout) Keys(b *column.Batch) []int {
	if b.Schema == l.partial {
		return l.partialKeys
	}
	return l.keyCols
}

// Weigh is the number of rows that physical rows of a batch stand for: those in rows, or lo to hi where rows is nil.
func (l *Layout) Weigh(b *column.Batch, lo, hi int, rows []uint32) (n int) {
	if b.Schema != l.partial {
		if rows != nil {
			return len(rows)
		}
		return hi - lo
	}
	counts := column.Values[int64](&b.Cols[1+len(l.keyCols)])
	if rows != nil {
		for _, r := range rows {
			n += int(counts[r])
		}
		return n
	}
	for _, c := range counts[lo:hi] {
		n += int(c)
	}
	return n
}

// takeKeys points at the key columns of a batch.
func (l *Layout) takeKeys(into []*column.Column, b *column.Batch) []*column.Column {
	for _, k := range l.Keys(b) {
		into = append(into, &b.Cols[k])
	}
	return into
}

// partials is a block of partial results as a table.
type partials struct {
	t    *table
	refs [blockRows]uint32
}

// load reads partial results whose rows are counted by so much less, and gives the number of rows that they stand for.
func (p *partials) load(l *Layout, b *column.Batch, n int, at rowAt, less uint64) (rows int64, err error) {
	if p.t == nil {
		p.t = &table{l: l, rows: make([]uint64, l.stride*(blockRows+1)), sides: make([][]int64, l.sides), heaps: make([]extreme.Heap, l.heaps)}
		for i := range p.refs {
			p.refs[i] = uint32((i + 1) * l.stride)
		}
	}
	clear(p.t.rows[:(n+1)*l.stride])
	p.t.clearSides()
	if err := p.t.fill(p.refs[:n], b, at); err != nil {
		return 0, err
	}
	count := p.t.rows[l.count:]
	for _, ref := range p.refs[:n] {
		rows += int64(count[ref])
		count[ref] -= less
	}
	return rows, nil
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
func (p *Pane) Bytes() int { return 8*p.t.live*p.a.l.stride + len(p.t.bytes) + p.t.heapBytes() }

// NewPartials gives a writer of panes as partial results, in memory of the pool. emit borrows the batch.
func NewPartials(l *Layout, pool *column.Pool, emit func(b *column.Batch) error) *Dump {
	d := newDump(l, l, false, 0, ResultRows, nil)
	d.Schema, d.Pool = l.partial, pool
	d.emit = func(b *column.Batch) error {
		b.Times = column.Alloc[int64](b, b.Rows)
		copy(b.Times, column.Values[int64](&b.Cols[0]))
		return emit(b)
	}
	return d
}

// Discard gives back what was not emitted.
func (d *Dump) Discard() { d.close() }
