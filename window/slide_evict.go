package window

import (
	"fmt"
	"slices"

	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/internal/keys"
	"github.com/arkflow-go/arkflow/operator"
	"github.com/arkflow-go/arkflow/state"
)

// addNearBound adds rows one after the other while the number of live entries is near MaxBufferedKeys: what is evicted,
// and when, is then the same however the rows are cut into batches (W9).
func (x *sliding) addNearBound(b *column.Batch, rows rowSet) error {
	pairs := b.Late
	at := func(i int) target {
		r, bound := rows.at(i), x.watermark
		for len(pairs) > 0 && int(pairs[0].Row) < r {
			pairs = pairs[1:]
		}
		if len(pairs) > 0 && int(pairs[0].Row) == r {
			bound = max(bound, pairs[0].J)
		}
		return x.target(b.Times[r], bound)
	}
	lo, n := 0, rows.len()
	to := at(0)
	for i := 1; i <= n; i++ {
		var next target
		if i < n {
			if next = at(i); next == to {
				continue
			}
		}
		if err := x.addRunNearBound(to, b, rows.cut(lo, i)); err != nil {
			return err
		}
		lo, to = i, next
	}
	return nil
}

// addRunNearBound adds rows of one slice. As many rows as there is room for entries cannot exceed the bound; at the
// bound itself a row is added alone, and only where it makes no new entry.
func (x *sliding) addRunNearBound(to target, b *column.Batch, rows rowSet) error {
	for {
		if !x.processing && rows.len() > 0 {
			rows = x.takeEvicted(b, rows, b.Times[rows.at(0)])
		}
		if rows.len() == 0 {
			return nil
		}
		n := min(x.limit-x.live(), rows.len())
		if n <= 0 {
			has := false
			if s := x.find(to, false); s != nil {
				var err error
				if has, err = s.cells.Has(b, rows.at(0)); err != nil {
					return err
				}
			}
			if !has {
				if err := x.full(); err != nil {
					return err
				}
				if x.processing && x.evicted.to >= to.at {
					x.ctx.Counters.Drop(operator.DropEvicted, rows.len())
					return nil
				}
				continue
			}
			n = 1
		}
		if err := x.addTo(x.find(to, true), b, rows.cut(0, n)); err != nil {
			return err
		}
		rows = rows.cut(n, rows.len())
	}
}

// full makes room for an entry as the policy says: the oldest window that is open goes, with the slices that only it needs. Where there
// are none, so does the next.
func (x *sliding) full() error {
	if x.b.assigner.full == Fail {
		return x.errFull(x.live(), fmt.Sprintf("(slice, key) entries in %d slices", len(x.slices)+len(x.stragglers)))
	}
	start, some := int64(0), false
	for _, list := range [2][]*slice{x.slices, x.stragglers} {
		for _, s := range list {
			if !some || s.last < start {
				start, some = s.last, true
			}
		}
	}
	entries, rows := 0, int64(0)
	var err error
	gone := func(s *slice) bool {
		if s.last > start {
			return false
		}
		if s.entered && err == nil {
			err = x.running.leave(s)
		}
		entries += s.cells.Len()
		if !s.shown {
			rows += s.cells.Rows()
		}
		x.forget(s)
		s.cells.Close()
		return true
	}
	x.slices = slices.DeleteFunc(x.slices, gone)
	x.stragglers = slices.DeleteFunc(x.stragglers, gone)
	x.evicted.to = max(x.evicted.to, start)
	x.evicted.windows++
	x.evicting(start, entries, rows, x.evicted.windows)
	return err
}

// forget leaves a slice that is gone out of the corrections of the batch.
func (x *sliding) forget(s *slice) {
	x.fix.touched = slices.DeleteFunc(x.fix.touched, func(t touch) bool { return t.s == s })
}

// show notes that the slices of a window are part of a result.
func (x *sliding) show(start int64) {
	for _, list := range [2][]*slice{x.slices, x.stragglers} {
		for _, s := range list {
			s.shown = s.shown || s.entered && s.in(start)
		}
	}
}

// evictedTo is the windows that were evicted: all up to one, which are the oldest that were open. They have no result, and
// rows that belong to no later one are dropped.
type evictedTo struct {
	to      int64         // start of the last one; MinWatermark: none
	groups  map[int]int64 // the same by key group, where tasks that knew different ones were merged; then to is the least
	windows int           // number of evictions
}

// forget removes what is said of windows that are closed.
func (e *evictedTo) forget(opened int64) {
	if e.to < opened {
		e.to = operator.MinWatermark
	}
	for g, to := range e.groups {
		if to < opened {
			delete(e.groups, g)
		}
	}
	if len(e.groups) == 0 {
		e.groups = nil
	}
}

// takeEvicted counts and drops the rows all of whose windows were evicted; lo is the least time of the rows.
func (x *sliding) takeEvicted(b *column.Batch, rows rowSet, lo int64) rowSet {
	e := &x.evicted
	if e.groups == nil && (e.to == operator.MinWatermark || lo >= addTo(e.to, x.grid.step)) {
		return rows
	}
	var hash []uint64
	if e.groups != nil {
		if hash = b.Hash; hash == nil {
			hash = keys.Hash(nil, b, x.b.layout.Keys(b))
		}
	}
	kept := make([]uint32, 0, rows.len())
	for i := range rows.len() {
		r := rows.at(i)
		to := e.to
		if hash != nil {
			to = max(to, e.of(state.KeyGroup(hash[r], x.maxParallelism())))
		}
		if to == operator.MinWatermark || x.grid.floor(b.Times[r]) > to {
			kept = append(kept, uint32(r))
		}
	}
	x.ctx.Counters.Drop(operator.DropEvicted, x.weigh(b, rows)-x.weigh(b, rowSet{rows: kept}))
	return rowSet{rows: kept}
}

// of is the last window of a key group that was evicted while the group was another task's.
func (e *evictedTo) of(group int) int64 {
	if to, ok := e.groups[group]; ok {
		return to
	}
	return operator.MinWatermark
}

// filter leaves results of key groups out whose window was evicted.
func (e *evictedTo) filter(x *sliding, start int64, emit func(b *column.Batch) error) func(b *column.Batch) error {
	if e.groups == nil {
		return emit
	}
	return func(b *column.Batch) error {
		cols := make([]int, len(x.b.keys))
		for i := range cols {
			cols[i] = i
		}
		d := b.Derive()
		defer d.Release()
		d.Sel = column.Alloc[uint32](d, b.Rows)[:0]
		for r, h := range keys.Hash(nil, b, cols) {
			if e.of(state.KeyGroup(h, x.maxParallelism())) < start {
				d.Sel = append(d.Sel, uint32(r))
			}
		}
		if len(d.Sel) == 0 {
			return nil
		}
		return emit(d)
	}
}
