package window

import (
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/operator"
	"github.com/arkflow-go/arkflow/state"
)

// task is what a window operator is in one task, whatever its windows.
type task struct {
	ctx        *operator.Context
	b          *bound
	grid       grid
	lateness   int64 // ms
	processing bool
	route      bool
	limit      int // live entries of this task, 0: unbounded

	watermark int64 // W
	opened    int64 // start of the first window that W has not closed: rows before it are late
	clock     int64 // processing time: the latest instant seen, ms

	computer   computer
	kept, late []uint32 // scratch of the filters
}

func newTask(b *bound, ctx *operator.Context) task {
	a := b.assigner
	return task{ctx: ctx, b: b, grid: newGrid(a.step(), a.size, a.offset), lateness: a.lateness.Milliseconds(),
		processing: b.in.Time == operator.ProcessingTime, route: a.late == Route, limit: share(a.bound(), ctx), computer: newComputer(b),
		watermark: operator.MinWatermark, opened: operator.MinWatermark, clock: operator.MinWatermark}
}

// share is this task's part of a bound, in proportion to its key groups.
func share(n int, ctx *operator.Context) int {
	if n == 0 || ctx.MaxParallelism <= 0 || ctx.KeyGroups.Len() <= 0 {
		return n
	}
	part := func(group int) int64 { return int64(n) * int64(group) / int64(ctx.MaxParallelism) }
	return max(1, int(part(ctx.KeyGroups.End)-part(ctx.KeyGroups.First)))
}

// weigh is the number of rows that rows of a batch stand for.
func (x *task) weigh(b *column.Batch, rows rowSet) int {
	return x.b.layout.Weigh(b, rows.lo, rows.hi, rows.rows)
}

// overflow applies the error policy to a result that does not fit its column.
func (x *task) overflow(col, value, problem string) error {
	return x.ctx.Reject(1, &operator.RowError{Field: col, Value: value, Problem: problem})
}

// advance notes a watermark.
func (x *task) advance(w int64) { x.watermark, x.opened = w, x.grid.open(w, x.lateness) }

var errNoTimes = errors.New("batch of an event-time stream has no times")

// admit applies the policies to rows without time, to rows whose windows no int64 can hold, to rows in gaps, which are never late, and to late rows,
// and gives the others: their least and greatest time, and whether they are in the order of time. None may be left.
func (x *task) admit(b *column.Batch, out operator.Output) (rows rowSet, lo, hi int64, ordered bool, err error) {
	rows = rowSet{hi: b.Rows, rows: b.Sel}
	if b.Times == nil {
		return rows, 0, 0, false, errNoTimes
	}
	if b.TimeValid != nil {
		if rows, err = x.takeNulls(b, rows, out); err != nil || rows.len() == 0 {
			return rows, 0, 0, false, err
		}
	}
	lo, hi, ordered = span(b.Times, rows)
	if !x.grid.has(lo) || !x.grid.has(hi) {
		if rows, err = x.takeMisfits(b, rows); err != nil || rows.len() == 0 {
			return rows, 0, 0, false, err
		}
		lo, hi, ordered = span(b.Times, rows)
	}
	if x.grid.size < x.grid.step && !x.together(lo, hi) {
		if rows = x.takeGaps(b, rows); rows.len() == 0 {
			return rows, 0, 0, false, nil
		}
		lo, hi, ordered = span(b.Times, rows)
	}
	if lo < x.opened || x.pairsReach(b, lo) {
		if rows, err = x.takeLate(b, rows, out); err != nil || rows.len() == 0 {
			return rows, 0, 0, false, err
		}
		lo, hi, ordered = span(b.Times, rows)
	}
	return rows, lo, hi, ordered, nil
}

// together reports whether two times, lo <= hi, are in one and the same window, where windows do not overlap.
func (x *task) together(lo, hi int64) bool {
	past := x.grid.past(lo)
	return past < x.grid.size && uint64(hi)-uint64(lo) < uint64(x.grid.size-past)
}

// takeGaps drops the rows between windows and gives the others. They are never late: whether W has passed a row that belongs to no window
// depends on where batches are cut.
func (x *task) takeGaps(b *column.Batch, rows rowSet) rowSet {
	kept := x.kept[:0]
	for i := range rows.len() {
		if r := rows.at(i); x.grid.past(b.Times[r]) < x.grid.size {
			kept = append(kept, uint32(r))
		}
	}
	x.kept = kept
	x.ctx.Counters.Drop(operator.DropGap, rows.len()-len(kept))
	return rowSet{rows: kept}
}

// takeMisfits applies the error policy to rows whose windows have edges beyond 64 bits, and gives the others.
func (x *task) takeMisfits(b *column.Batch, rows rowSet) (rowSet, error) {
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

// arrival is the processing time at which rows arrive; none of them are left where it has no window.
func (x *task) arrival(b *column.Batch) (now int64, rows rowSet, err error) {
	rows = rowSet{hi: b.Rows, rows: b.Sel}
	now = x.now(x.ctx.Clock.Now())
	switch {
	case !x.grid.has(now):
		err = x.ctx.Reject(rows.len(), &operator.RowError{Field: "processing time", Value: strconv.FormatInt(now, 10),
			Problem: "the edges of its window do not fit 64 bits of milliseconds"})
		return now, rowSet{}, err
	case x.grid.past(now) >= x.grid.size:
		x.ctx.Counters.Drop(operator.DropGap, rows.len())
		return now, rowSet{}, nil
	}
	return now, rows, nil
}

// now is the clock's time in ms, never going back.
func (x *task) now(t time.Time) int64 {
	x.clock = max(x.clock, t.UnixMilli())
	return x.clock
}

func (x *task) maxParallelism() int {
	if x.ctx.MaxParallelism > 0 {
		return x.ctx.MaxParallelism
	}
	return state.DefaultMaxParallelism
}

// owned is the key groups of this task.
func (x *task) owned() state.Range {
	if x.ctx.KeyGroups.Len() > 0 {
		return x.ctx.KeyGroups
	}
	return state.Range{End: x.maxParallelism()}
}

// evicting tells the world of windows that were evicted at the bound.
func (x *task) evicting(start int64, entries int, rows int64, windows int) {
	x.ctx.Counters.Drop(operator.DropEvicted, int(rows))
	x.ctx.Warn("window evicted at MaxBufferedKeys: it will have no result", "window_start", start, "entries", entries,
		"rows", rows, "bound", x.limit, "evicted_windows", windows)
	if x.ctx.Degraded != nil {
		x.ctx.Degraded(fmt.Sprintf("windows are evicted at MaxBufferedKeys (%d) and have no result", x.b.assigner.bound()))
	}
}

// errFull is what Fail gives at the bound.
func (x *task) errFull(live int, what string) error {
	return fmt.Errorf("%d live %s are as many as MaxBufferedKeys lets this task hold (%d of %d); raise it, or let windows be evicted",
		live, what, x.limit, x.b.assigner.bound())
}
