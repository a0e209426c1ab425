package window

import (
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/internal/kernel"
	"github.com/arkflow-go/arkflow/operator"
)

// openWindow is a window that has rows.
type openWindow struct {
	start int64
	pane  *kernel.Pane
}

// instance is a window operator in one task.
type instance struct {
	ctx        *operator.Context
	b          *bound
	grid       grid
	processing bool
	route      bool
	limit      int // live entries of this task, 0: unbounded
	agg        *kernel.Aggregator
	results    *kernel.Results

	watermark int64 // W
	lateEdge  int64 // rows before it are late by W: the greatest edge <= W
	clock     int64 // processing time: the latest instant seen, ms
	open      []openWindow
	evicted   tombstones

	kept, late []uint32 // scratch of the filters
	buckets    buckets
	panes      []*kernel.Pane // scratch of StateSize
}

// New implements operator.Bound.
func (b *bound) New(ctx *operator.Context) (operator.Instance, error) {
	x := &instance{ctx: ctx, b: b, grid: newGrid(b.assigner.size, b.assigner.offset), watermark: operator.MinWatermark,
		lateEdge: operator.MinWatermark, clock: operator.MinWatermark}
	x.processing = b.in.Time == operator.ProcessingTime
	x.route = b.assigner.late == Route
	x.limit = share(b.assigner.bound(), ctx)
	x.agg = kernel.NewAggregator(b.layout)
	x.results = kernel.NewResults(b.layout, b.out.Schema, ctx.Pool, x.overflow)
	return x, nil
}

// share is this task's part of a bound, in proportion to its key groups.
func share(n int, ctx *operator.Context) int {
	if n == 0 || ctx.MaxParallelism <= 0 || ctx.KeyGroups.Len() <= 0 {
		return n
	}
	part := func(group int) int64 { return int64(n) * int64(group) / int64(ctx.MaxParallelism) }
	return max(1, int(part(ctx.KeyGroups.End)-part(ctx.KeyGroups.First)))
}

// overflow applies the error policy to a result that does not fit its column.
func (x *instance) overflow(col, value, problem string) error {
	return x.ctx.Reject(1, &operator.RowError{Field: col, Value: value, Problem: problem})
}

var errNoTimes = errors.New("batch of an event-time stream has no times")

// Process implements operator.Instance.
func (x *instance) Process(_ int, b *column.Batch, out operator.Output) error {
	rows := rowSet{hi: b.Rows, rows: b.Sel}
	if x.processing {
		return x.arrive(b, rows)
	}
	if b.Times == nil {
		return errNoTimes
	}
	var err error
	if b.TimeValid != nil {
		if rows, err = x.takeNulls(b, rows, out); err != nil || rows.len() == 0 {
			return err
		}
	}
	lo, hi, ordered := span(b.Times, rows)
	if !x.grid.has(lo) || !x.grid.has(hi) {
		if rows, err = x.takeMisfits(b, rows); err != nil || rows.len() == 0 {
			return err
		}
		lo, hi, ordered = span(b.Times, rows)
	}
	if lo < x.lateEdge || x.pairsReach(b, lo) {
		if rows, err = x.takeLate(b, rows, out); err != nil || rows.len() == 0 {
			return err
		}
		lo, hi, ordered = span(b.Times, rows)
	}
	if x.limit > 0 && x.live()+rows.len() > x.limit {
		return x.addNearBound(b, rows)
	}
	return x.add(b, rows, lo, hi, ordered)
}

// add adds rows, none of them late, to their windows.
func (x *instance) add(b *column.Batch, rows rowSet, lo, hi int64, ordered bool) error {
	start := x.grid.floor(lo)
	if hi < start+x.grid.size {
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
	if rows.rows != nil {
		return p.AddRows(b, rows.rows)
	}
	return p.AddRange(b, rows.lo, rows.hi)
}

// pane gives the pane of a window, opening it where it is not.
func (x *instance) pane(start int64) *kernel.Pane {
	i := len(x.open)
	for i > 0 && x.open[i-1].start > start {
		i--
	}
	if i > 0 && x.open[i-1].start == start {
		return x.open[i-1].pane
	}
	x.open = append(x.open, openWindow{})
	copy(x.open[i+1:], x.open[i:])
	x.open[i] = openWindow{start, x.agg.Open()}
	return x.open[i].pane
}

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
	x.watermark, x.lateEdge = w, x.grid.floor(w)
	if err := x.fire(w, out); err != nil {
		return w, err
	}
	x.evicted.forget(func(start int64) bool { return start+x.grid.size <= w })
	return w, nil
}

// fire emits the windows that end at t or before, in the order of their ends.
func (x *instance) fire(t int64, out operator.Output) error {
	n := 0
	var emit func(b *column.Batch) error
	for ; n < len(x.open) && x.open[n].start+x.grid.size <= t; n++ {
		w := &x.open[n]
		if emit == nil {
			emit = func(b *column.Batch) error { return out.Emit(operator.Main, b) }
		}
		if err := x.results.Write(w.pane, w.start, w.start+x.grid.size, !x.processing, emit); err != nil {
			return err
		}
		w.pane.Close()
		w.pane = nil
	}
	if n > 0 {
		left := copy(x.open, x.open[n:])
		clear(x.open[left:])
		x.open = x.open[:left]
	}
	return nil
}

// arrive adds rows of a processing-time stream to the window of the present.
func (x *instance) arrive(b *column.Batch, rows rowSet) error {
	now := x.now(x.ctx.Clock.Now())
	if !x.grid.has(now) {
		err := &operator.RowError{Field: "processing time", Value: strconv.FormatInt(now, 10), Problem: "the edges of its window do not fit 64 bits of milliseconds"}
		return x.ctx.Reject(rows.len(), err)
	}
	start := x.grid.floor(now)
	var err error
	if x.limit > 0 && x.live()+rows.len() > x.limit {
		err = x.addRunNearBound(start, b, rows)
	} else {
		err = x.addTo(start, b, rows)
	}
	x.arm()
	return err
}

// now is the clock's time in ms, never going back.
func (x *instance) now(t time.Time) int64 {
	x.clock = max(x.clock, t.UnixMilli())
	return x.clock
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
	t := x.now(now)
	if err := x.fire(t, out); err != nil {
		return err
	}
	x.evicted.forget(func(start int64) bool { return start+x.grid.size <= t })
	x.arm()
	return nil
}

// OnDrain implements operator.Drainer: all open windows fire.
func (x *instance) OnDrain(out operator.Output) error { return x.fire(operator.MaxWatermark, out) }

// StateSize implements operator.Sized. Entries of windows that are grouped only when they fire are counted as rows.
func (x *instance) StateSize() (entries, bytes int64) {
	x.panes = x.panes[:0]
	for _, w := range x.open {
		x.panes = append(x.panes, w.pane)
	}
	return int64(x.live()), int64(x.agg.SizeBytes(x.panes))
}

// takeMisfits applies the error policy to rows whose window has edges beyond 64 bits, and gives the others.
func (x *instance) takeMisfits(b *column.Batch, rows rowSet) (rowSet, error) {
	kept := x.kept[:0]
	misfits, first := 0, int64(0)
	for i := range rows.len() {
		r := rows.at(i)
		if t := b.Times[r]; !x.grid.has(t) {
			if misfits == 0 {
				first = t
			}
			misfits++
			continue
		}
		kept = append(kept, uint32(r))
	}
	x.kept = kept
	err := x.ctx.Reject(misfits, &operator.RowError{Field: "event time", Value: strconv.FormatInt(first, 10),
		Problem: fmt.Sprintf("the edges of its %s window do not fit 64 bits of milliseconds", x.b.assigner.size)})
	return rowSet{rows: kept}, err
}
