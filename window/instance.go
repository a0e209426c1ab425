package window

import (
	"slices"
	"time"

	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/internal/kernel"
	"github.com/arkflow-go/arkflow/operator"
)

// openWindow is a window that has rows.
type openWindow struct {
	start int64
	pane  *kernel.Pane
	id    int64 // of its part of the state; 0 before it has one
}

// openWindows are ascending by start.
type openWindows []openWindow

// pane gives the pane of a window, opening it where it is not.
func (o *openWindows) pane(start int64, agg *kernel.Aggregator) *kernel.Pane {
	list := *o
	i := len(list)
	for i > 0 && list[i-1].start > start {
		i--
	}
	if i > 0 && list[i-1].start == start {
		return list[i-1].pane
	}
	p := agg.Open()
	*o = slices.Insert(list, i, openWindow{start: start, pane: p})
	return p
}

// instance is a window operator in one task whose windows do not overlap.
type instance struct {
	task
	agg     *kernel.Aggregator
	results *kernel.Results

	open    openWindows
	evicted tombstones
	lastID  int64 // see openWindow

	out     operator.Output // of the batch that is being processed
	buckets buckets
	changes kernel.Changes
	numbers []uint32       // scratch: rows of a range
	panes   []*kernel.Pane // scratch of StateSize
}

// New implements operator.Bound.
func (b *bound) New(ctx *operator.Context) (operator.Instance, error) {
	t := newTask(b, ctx)
	if t.grid.size > t.grid.step {
		return newSliding(t), nil
	}
	x := &instance{task: t}
	x.agg = kernel.NewAggregator(b.layout)
	x.results = kernel.NewResults(b.layout, b.out.Schema, ctx.Pool, x.overflow)
	if x.lateness > 0 {
		x.agg.KeepExact()
		x.results.WithUpdates()
	}
	return x, nil
}

// Process implements operator.Instance.
func (x *instance) Process(_ int, b *column.Batch, out operator.Output) error {
	if x.processing {
		return x.arrive(b)
	}
	rows, lo, hi, ordered, err := x.admit(b, out)
	if err != nil || rows.len() == 0 {
		return err
	}
	if x.computes(b) {
		if b, rows, err = x.compute(b, rows, 0); err != nil || b == nil {
			return err
		}
		defer b.Release()
		lo, hi, ordered = span(b.Times, rows)
	}
	x.out = out
	if x.limit > 0 && x.live()+rows.len() > x.limit {
		return x.addNearBound(b, rows)
	}
	return x.add(b, rows, lo, hi, ordered)
}

// add adds rows, none of them late, to their windows.
func (x *instance) add(b *column.Batch, rows rowSet, lo, hi int64, ordered bool) error {
	start := x.grid.floor(lo)
	if uint64(hi)-uint64(start) < uint64(x.grid.step) {
		return x.addTo(start, b, rows)
	}
	if !ordered {
		return x.buckets.split(x.grid, b.Times, rows, start, hi, func(start int64, rows rowSet) error {
			return x.addTo(start, b, rows)
		})
	}
	for rows.len() > 0 {
		start = x.grid.floor(b.Times[rows.at(0)])
		n := before(b.Times, rows, start+x.grid.size)
		if err := x.addTo(start, b, rows.cut(0, n)); err != nil {
			return err
		}
		rows = rows.cut(n, rows.len())
	}
	return nil
}

// addTo adds rows to one window.
func (x *instance) addTo(start int64, b *column.Batch, rows rowSet) error {
	if len(x.evicted) > 0 {
		if rows = x.takeEvicted(start, b, rows); rows.len() == 0 {
			return nil
		}
	}
	p := x.pane(start)
	if x.fired(start) {
		return x.correct(start, p, b, rows)
	}
	if rows.rows != nil {
		return p.AddRows(b, rows.rows)
	}
	return p.AddRange(b, rows.lo, rows.hi)
}

// fired reports whether a window has fired: it is kept for corrections.
func (x *instance) fired(start int64) bool {
	return x.lateness > 0 && !x.processing && start+x.grid.size <= x.watermark
}

// correct adds rows to a window that has fired and emits the results that they change.
func (x *instance) correct(start int64, p *kernel.Pane, b *column.Batch, rows rowSet) error {
	list := rows.rows
	if list == nil {
		x.numbers = x.numbers[:0]
		for r := rows.lo; r < rows.hi; r++ {
			x.numbers = append(x.numbers, uint32(r))
		}
		list = x.numbers
	}
	if err := p.AddChanging(b, list, &x.changes); err != nil {
		return err
	}
	return x.results.WriteChanges(p, &x.changes, start, start+x.grid.size, true, func(b *column.Batch) error {
		return x.out.Emit(operator.Main, b)
	})
}

// pane gives the pane of a window, opening it where it is not.
func (x *instance) pane(start int64) *kernel.Pane { return x.open.pane(start, x.agg) }

// live is the number of live entries, or a bound on it from above.
func (x *instance) live() (n int) {
	for _, w := range x.open {
		n += w.pane.Live()
	}
	return n
}

// OnWatermark implements operator.WatermarkHandler.
func (x *instance) OnWatermark(w int64, out operator.Output) (int64, error) {
	if x.processing || w <= x.watermark {
		return w, nil
	}
	was := x.watermark
	x.advance(w)
	return w, x.fire(was, w, out)
}

// fire emits the windows that end after `was` and at t or before, in the order of their ends, and closes those that nothing will
// correct any more.
func (x *instance) fire(was, t int64, out operator.Output) error {
	var emit func(b *column.Batch) error
	for i := 0; i < len(x.open) && x.open[i].start+x.grid.size <= t; i++ {
		w := &x.open[i]
		if x.lateness > 0 && w.start+x.grid.size <= was {
			continue
		}
		if emit == nil {
			emit = func(b *column.Batch) error { return out.Emit(operator.Main, b) }
		}
		if err := x.results.Write(w.pane, w.start, w.start+x.grid.size, !x.processing, emit); err != nil {
			return err
		}
	}
	n, opened := 0, x.grid.open(t, x.lateness)
	for ; n < len(x.open) && x.open[n].start < opened; n++ {
		x.open[n].pane.Close()
		x.open[n].pane = nil
	}
	if n > 0 {
		left := copy(x.open, x.open[n:])
		clear(x.open[left:])
		x.open = x.open[:left]
	}
	x.evicted.forget(func(start int64) bool { return start < opened })
	return nil
}

// arrive adds rows of a processing-time stream to the window of the present.
func (x *instance) arrive(b *column.Batch) error {
	now, rows, err := x.arrival(b)
	if err != nil || rows.len() == 0 {
		return err
	}
	if x.computes(b) {
		if b, rows, err = x.compute(b, rows, now); err != nil || b == nil {
			return err
		}
		defer b.Release()
	}
	start := x.grid.floor(now)
	if x.limit > 0 && x.live()+rows.len() > x.limit {
		err = x.addRunNearBound(start, b, rows)
	} else {
		err = x.addTo(start, b, rows)
	}
	x.arm()
	return err
}

// arm asks for a timer at the end of the first open window.
func (x *instance) arm() {
	if len(x.open) > 0 && x.ctx.SetTimer != nil {
		x.ctx.SetTimer(time.UnixMilli(x.open[0].start + x.grid.size))
	}
}

// OnTimer implements operator.TimerHandler.
func (x *instance) OnTimer(now time.Time, out operator.Output) error {
	if !x.processing {
		return nil
	}
	if err := x.fire(operator.MinWatermark, x.now(now), out); err != nil {
		return err
	}
	x.arm()
	return nil
}

// OnDrain implements operator.Drainer: all open windows fire.
func (x *instance) OnDrain(out operator.Output) error {
	return x.fire(x.watermark, operator.MaxWatermark, out)
}

// StateSize implements operator.Sized. Entries of windows that are grouped only when they fire are counted as rows. Memory that only views of
// earlier barriers hold is not counted, what they gave back is.
func (x *instance) StateSize() (entries, bytes int64) {
	x.panes = x.panes[:0]
	for _, w := range x.open {
		x.panes = append(x.panes, w.pane)
	}
	return int64(x.live()), int64(x.agg.SizeBytes(x.panes))
}
