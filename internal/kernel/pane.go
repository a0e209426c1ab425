package kernel

import (
	"slices"

	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/internal/chunk"
	"github.com/arkflow-go/arkflow/internal/layout"
	"github.com/arkflow-go/arkflow/internal/partition"
	"github.com/arkflow-go/arkflow/internal/spare"
)

const (
	// From manyGroups groups on a pane is partitioned, where its layout allows it, and so are the panes after it,
	// until one has had fewer than fewGroups.
	manyGroups = 256 << 10
	fewGroups  = 128 << 10
	idleTables = 2 // empty tables that are kept for the next panes

	keptKeys = 4 << 20 // bytes of long keys that are kept with an empty table
	keptIdle = 1 << 20 // bytes of empty tables that are kept while no pane is open
)

// Aggregator keeps the panes of an operator and what they share. Use it from one goroutine.
type Aggregator struct {
	l        *layout.Layout
	s        scratch // for the rows of batches
	folding  scratch // for the entries of partitions
	partials partials
	argWords [][]uint64
	vals     [][]uint64

	idle      []*table
	small     *table // groups one partition at a time
	chunks    chunk.Memory
	partsIdle *parts
	open      int // panes
	large     bool
	noParts   bool
	spares    spare.Memory

	many, few, foldAt int // manyGroups, fewGroups and foldRows
	patience              // of views
}

// NewAggregator gives an aggregator without panes.
func NewAggregator(l *layout.Layout) *Aggregator {
	return &Aggregator{l: l, many: manyGroups, few: fewGroups, foldAt: foldRows, patience: patience{mostWork, lull}}
}

// Layout is that of the panes.
func (a *Aggregator) Layout() *layout.Layout { return a.l }

// KeepExact makes Live of all panes exact from now on: panes are no longer partitioned. Whoever compares
// Live with a bound calls it when the bound comes near.
func (a *Aggregator) KeepExact() { a.noParts = true }

// smallTable is the table that partitions share; it is empty.
func (a *Aggregator) smallTable() *table {
	if a.small == nil {
		a.small = small(a.l)
	}
	return a.small
}

// Pane is the groups of one window.
type Pane struct {
	a    *Aggregator
	t    *table // nil while the pane is partitioned
	p    *parts
	rows int64
	seen int   // groups that each gave last of a partitioned pane, 0 where it was not called
	form *form // see View
	last *View
}

// Open gives an empty pane.
func (a *Aggregator) Open() *Pane {
	a.open++
	if a.large && !a.noParts {
		return &Pane{a: a, p: a.takeParts()}
	}
	return &Pane{a: a, t: a.takeTable()}
}

func (a *Aggregator) takeTable() *table {
	if n := len(a.idle); n > 0 {
		t := a.idle[n-1]
		a.idle = a.idle[:n-1]
		return t
	}
	return a.table()
}

func (a *Aggregator) table() *table {
	t := newTable(a.l)
	t.spares = &a.spares
	return t
}

func (a *Aggregator) takeParts() *parts {
	if p := a.partsIdle; p != nil {
		a.partsIdle = nil
		return p
	}
	return newParts(a)
}

// Close forgets the rows of a pane. Its memory, and the keys of a table of which more than half had rows, serve the next one.
func (p *Pane) Close() {
	a := p.a
	a.open--
	if p.p != nil {
		if p.seen == 0 {
			p.seen = p.p.Upper()
		}
		a.large = p.seen >= a.few
		a.giveParts(p.p)
	} else {
		a.large = a.l.Buffer && p.t.live >= a.many
		a.giveTable(p.t)
	}
	p.t, p.p, p.rows, p.seen, p.form, p.last = nil, nil, 0, 0, nil, nil
	if a.open == 0 {
		a.idle = fewIdle(a.idle)
		a.spares.Drop()
	}
	if a.open == 0 && !a.large && a.chunks.Used == 0 {
		a.chunks, a.partsIdle, a.small = chunk.Memory{}, nil, nil
	}
}

// fewIdle gives the empty tables that are kept while there is no row.
func fewIdle(idle []*table) []*table {
	bytes := 0
	return slices.DeleteFunc(idle, func(t *table) bool {
		bytes += t.sizeBytes()
		return bytes > keptIdle
	})
}

func (a *Aggregator) giveParts(p *parts) {
	p.release()
	if a.partsIdle == nil {
		a.partsIdle = p
	}
}

func (a *Aggregator) giveTable(t *table) {
	tooLarge := len(t.rows) > 1<<16 && t.live < len(t.rows)/t.l.Stride/8
	if len(a.idle) >= idleTables || tooLarge || a.large && !a.noParts {
		return
	}
	if t.live*2 <= t.groups() || len(t.bytes) > keptKeys {
		if !t.detach() {
			return
		}
		t.clearKeys()
	} else {
		t.own()
		t.clearRows()
	}
	a.idle = append(a.idle, t)
}

// Rows is the number of rows that were added.
func (p *Pane) Rows() int64 { return p.rows }

// Live is the number of groups that have rows; of a partitioned pane it is a bound from above (see KeepExact).
func (p *Pane) Live() int {
	if p.p != nil {
		return p.p.Upper()
	}
	return p.t.live
}

// AddRange adds the physical rows lo to hi of a batch.
func (p *Pane) AddRange(b *column.Batch, lo, hi int) error {
	p.a.useKeys(b)
	for ; lo < hi; lo += blockRows {
		if err := p.block(b, min(blockRows, hi-lo), rowAt{lo: lo}); err != nil {
			return err
		}
	}
	return nil
}

// AddRows adds physical rows of a batch.
func (p *Pane) AddRows(b *column.Batch, rows []uint32) error {
	p.a.useKeys(b)
	for len(rows) > 0 {
		n := min(blockRows, len(rows))
		if err := p.block(b, n, rowAt{rows: rows[:n]}); err != nil {
			return err
		}
		rows = rows[n:]
	}
	return nil
}

// Has reports whether the group of a physical row has rows already. The pane must not be partitioned (see KeepExact, Settle).
func (p *Pane) Has(b *column.Batch, row int) bool {
	p.a.useKeys(b)
	ref := p.t.lookupRow(&p.a.s, rowAt{lo: row})
	return ref != 0 && p.t.refCount(ref) > 0
}

// useKeys points the scratch at the key columns of a batch.
func (a *Aggregator) useKeys(b *column.Batch) {
	a.s.keys = a.l.TakeKeys(a.s.keys[:0], b)
}

// block adds at most blockRows rows.
func (p *Pane) block(b *column.Batch, n int, at rowAt) error {
	a := p.a
	if b.Schema == a.l.Partial() {
		return p.blockPartial(b, n, at)
	}
	p.rows += int64(n)
	if p.p != nil {
		if keys, vals, ok := a.partArgs(b, n, at); ok {
			p.p.Append(keys, vals, p.p.full)
			if !p.p.stuck {
				return nil
			}
			a.noParts = true
			return p.Settle()
		}
		a.noParts = true // a null: such rows need a table
		if err := p.Settle(); err != nil {
			return err
		}
	}
	p.t.own()
	refs, err := p.t.find(&a.s, n, at)
	if err != nil {
		return err
	}
	p.t.accumulate(&a.s, b, n, at, refs)
	if p.t.live >= a.many && a.l.Buffer && !a.noParts {
		p.partition()
	}
	return nil
}

// partition moves the groups of a table into partitions.
func (p *Pane) partition() {
	if p.t.spilled() || p.t.nullRef != 0 {
		p.a.noParts = true
		return
	}
	p.a.large = true
	parts := p.a.takeParts()
	parts.scatter(p.t)
	p.t, p.p, p.form = nil, parts, nil
}

// Settle moves a partitioned pane into a table.
func (p *Pane) Settle() error {
	if p.p == nil {
		return nil
	}
	t := p.a.table()
	if n := slotsFor(p.Live()); n > len(t.slots) {
		t.resize(n) // at once: keys come in the order of their hashes
	}
	for at := range partition.Count {
		if err := p.p.load(&p.a.folding, t, at, false); err != nil {
			return err
		}
	}
	p.a.giveParts(p.p)
	p.t, p.p, p.form = t, nil, nil
	return nil
}

// each gives the groups that have rows, block by block.
func (p *Pane) each(f func(t *table, refs []uint32) error) error {
	if p.p == nil {
		return p.t.each(&p.a.folding, f)
	}
	t := p.a.smallTable()
	p.seen = 0
	for at := range partition.Count {
		err := p.p.load(&p.a.folding, t, at, true)
		p.seen += t.live
		if err == nil {
			err = t.each(&p.a.folding, f)
		}
		t.clearKeys()
		if err != nil {
			return err
		}
	}
	return nil
}

func (t *table) each(s *scratch, f func(t *table, refs []uint32) error) error {
	stride := uint32(t.l.Stride)
	refs, rows := &s.rowRefs, t.rows
	for ref := stride; ref < t.end; {
		n := uint32(0)
		if t.live == t.groups() {
			for ; ref < t.end && n < blockRows; ref += stride {
				refs[n] = ref
				n++
			}
		}
		for ; ref < t.end && n < blockRows; ref += stride {
			refs[n&(blockRows-1)] = ref
			n += 1 - uint32((rows[int(ref)+t.l.Count]-1)>>63)
		}
		if n > 0 {
			if err := f(t, refs[:n]); err != nil {
				return err
			}
		}
	}
	return nil
}

// SizeBytes is the memory that all panes and what they share hold.
func (a *Aggregator) SizeBytes(open []*Pane) int {
	n := a.chunks.SizeBytes() + a.spares.SizeBytes()
	for _, t := range a.idle {
		n += t.sizeBytes()
	}
	if a.small != nil {
		n += a.small.sizeBytes()
	}
	for _, p := range open {
		if p.t != nil {
			n += p.t.sizeBytes()
		}
	}
	return n
}
