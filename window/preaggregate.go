package window

import (
	"math"

	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/internal/kernel"
	"github.com/arkflow-go/arkflow/internal/preagg"
	"github.com/arkflow-go/arkflow/operator"
)

// PreAggregates implements preagg.Maker. Windows that route late rows need the rows; those that correct results would correct them less
// often; sums of floats would be rounded in another order after a restore.
func (b *bound) PreAggregates() bool {
	return b.in.Time == operator.EventTime && b.assigner.late == Drop && b.assigner.lateness == 0 && b.layout.Exact()
}

// PreAggregate implements preagg.Maker.
func (b *bound) PreAggregate(pool *column.Pool) preagg.Stage {
	if !b.PreAggregates() {
		return nil
	}
	return b.newPreAggregator(pool)
}

func (b *bound) newPreAggregator(pool *column.Pool) *preAggregator {
	a := b.assigner
	p := &preAggregator{b: b, slicer: newSlicer(newGrid(a.step(), a.size, a.offset)), agg: kernel.NewAggregator(b.layout),
		sent: operator.MinWatermark, computer: newComputer(b)}
	p.agg.KeepExact()
	p.out = kernel.NewPartials(b.layout, pool, func(b *column.Batch) error { return p.emit(b) })
	for i := range b.keys {
		p.keys = append(p.keys, 1+i)
	}
	return p
}

// Weigh implements preagg.Maker.
func (b *bound) Weigh(batch *column.Batch) int {
	if batch.Schema != b.layout.Partial() {
		return batch.Len()
	}
	return b.layout.Weigh(batch, 0, batch.Rows, batch.Sel)
}

// preAggregator gathers rows by slice and key before they travel to the task that owns the key. It holds a slice until the first window
// that has it ends, so no row comes later than it would have; a row that is, or may be, late for a window goes as it is.
type preAggregator struct {
	b        *bound
	slicer   slicer
	agg      *kernel.Aggregator
	open     openWindows // slices that have rows
	sent     int64       // the watermark that has been sent behind rows
	computer computer
	keys     []int
	out      *kernel.Dump
	emit     func(b *column.Batch) error // while Flush runs

	kept, rest []uint32       // scratch
	panes      []*kernel.Pane // scratch of Size
}

// Add implements preagg.Stage.
func (p *preAggregator) Add(b *column.Batch) (rest *column.Batch, err error) {
	rows := rowSet{hi: b.Rows, rows: b.Sel}
	if b.Times == nil {
		return b.Derive(), nil
	}
	if b.TimeValid == nil && len(b.Late) == 0 {
		lo, hi, ordered := span(b.Times, rows)
		if p.takes(lo, p.sent) && p.slicer.grid.has(hi) && p.gapless(lo, hi) {
			if taken, err := p.add(b, rows, lo, hi, ordered); !taken || err != nil {
				return b.Derive(), err
			}
			return nil, nil
		}
	}
	rows, left := p.part(b, rows)
	if rows.len() == 0 {
		return b.Derive(), nil
	}
	lo, hi, ordered := span(b.Times, rows)
	if taken, err := p.add(b, rows, lo, hi, ordered); !taken || err != nil {
		return b.Derive(), err
	}
	if len(left) == 0 {
		return nil, nil
	}
	rest = b.Derive()
	rest.Sel = column.Alloc[uint32](rest, len(left))
	copy(rest.Sel, left)
	return rest, nil
}

// takes reports whether a row of that time is on time for all its windows, whatever W becomes before it would leave.
func (p *preAggregator) takes(t, bound int64) bool {
	if !p.slicer.grid.has(t) {
		return false
	}
	_, _, from, _ := p.slicer.sliceOf(t)
	return addTo(from, p.slicer.grid.size) > bound
}

// gapless reports whether no row of these times is between windows.
func (p *preAggregator) gapless(lo, hi int64) bool {
	g := p.slicer.grid
	past := g.past(lo)
	return g.size >= g.step || past < g.size && uint64(hi)-uint64(lo) < uint64(g.size-past)
}

// part parts the rows that are taken from the others.
func (p *preAggregator) part(b *column.Batch, rows rowSet) (taken rowSet, left []uint32) {
	p.kept, p.rest = p.kept[:0], p.rest[:0]
	pairs := b.Late
	for i := range rows.len() {
		r := rows.at(i)
		for len(pairs) > 0 && int(pairs[0].Row) < r {
			pairs = pairs[1:]
		}
		bound := p.sent
		if len(pairs) > 0 && int(pairs[0].Row) == r {
			bound = max(bound, pairs[0].J)
		}
		t := b.Times[r]
		if (b.TimeValid == nil || column.Bit(b.TimeValid, r)) && p.takes(t, bound) && p.gapless(t, t) {
			p.kept = append(p.kept, uint32(r))
			continue
		}
		p.rest = append(p.rest, uint32(r))
	}
	return rowSet{rows: p.kept}, p.rest
}

// add adds rows to their slices. Where an expression cannot be computed for one of them none is taken: the operator's error policy is
// its own.
func (p *preAggregator) add(b *column.Batch, rows rowSet, lo, hi int64, ordered bool) (taken bool, err error) {
	if len(p.b.programs) > 0 {
		c := &p.computer
		c.errs.Reset()
		d := selected(b, rows)
		out, err := c.eval(d)
		d.Release()
		if err != nil {
			return false, err
		}
		defer out.Release()
		if c.errs.Len() > 0 {
			return false, nil
		}
		b, rows = out, rowSet{hi: out.Rows}
	}
	return true, p.slicer.each(b.Times, rows, lo, hi, ordered, func(at int64, rows rowSet) error {
		if rows.rows != nil {
			return p.open.pane(at, p.agg).AddRows(b, rows.rows)
		}
		return p.open.pane(at, p.agg).AddRange(b, rows.lo, rows.hi)
	})
}

// Flush implements preagg.Stage.
func (p *preAggregator) Flush(w int64, emit func(b *column.Batch) error) (rows, entries int64, err error) {
	if w != math.MaxInt64 {
		p.sent = max(p.sent, w)
	}
	n := 0
	for n < len(p.open) && !p.takes(p.open[n].start, w) {
		n++
	}
	if n == 0 {
		return 0, 0, nil
	}
	p.emit = emit
	for i := range p.open[:n] {
		s := &p.open[i]
		rows, entries = rows+s.pane.Rows(), entries+int64(s.pane.Live())
		if err == nil {
			err = p.out.Add(s.start, s.pane)
		}
		s.pane.Close()
		s.pane = nil
	}
	if err == nil {
		err = p.out.Close()
	}
	if err != nil {
		p.out.Discard()
	}
	left := copy(p.open, p.open[n:])
	clear(p.open[left:])
	p.open = p.open[:left]
	return rows, entries, err
}

// Keys implements preagg.Stage.
func (p *preAggregator) Keys() []int { return p.keys }

// Size implements preagg.Stage.
func (p *preAggregator) Size() (entries int, bytes, memory int64) {
	p.panes = p.panes[:0]
	for _, s := range p.open {
		entries += s.pane.Live()
		bytes += int64(s.pane.Bytes())
		p.panes = append(p.panes, s.pane)
	}
	return entries, bytes, int64(p.agg.SizeBytes(p.panes))
}
