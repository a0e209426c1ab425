package window

import (
	"fmt"

	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/internal/kernel"
	"github.com/arkflow-go/arkflow/internal/keys"
	"github.com/arkflow-go/arkflow/operator"
	"github.com/arkflow-go/arkflow/state"
)

// addNearBound adds rows one after the other while the number of live entries is near MaxBufferedKeys: what is evicted,
// and when, is then the same however the rows are cut into batches (W9).
func (x *instance) addNearBound(b *column.Batch, rows rowSet) error {
	for n := rows.len(); n > 0; n = rows.len() {
		start := x.grid.floor(b.Times[rows.at(0)])
		end := start + x.grid.size
		run := 1
		for run < n {
			if t := b.Times[rows.at(run)]; t < start || t >= end {
				break
			}
			run++
		}
		if err := x.addRunNearBound(start, b, rows.cut(0, run)); err != nil {
			return err
		}
		rows = rows.cut(run, n)
	}
	return nil
}

// addRunNearBound adds rows of one window. As many rows as there is room for entries cannot exceed the bound; at
// the bound itself a row is added alone, and only where it makes no new entry.
func (x *instance) addRunNearBound(start int64, b *column.Batch, rows rowSet) error {
	x.agg.KeepExact()
	for _, w := range x.open {
		if err := w.pane.Settle(); err != nil {
			return err
		}
	}
	for {
		if rows = x.takeEvicted(start, b, rows); rows.len() == 0 {
			return nil
		}
		n := min(x.limit-x.live(), rows.len())
		if n <= 0 {
			p := x.find(start)
			if p == nil || !p.Has(b, rows.at(0)) {
				if err := x.full(); err != nil {
					return err
				}
				continue
			}
			n = 1
		}
		if err := x.addTo(start, b, rows.cut(0, n)); err != nil {
			return err
		}
		rows = rows.cut(n, rows.len())
	}
}

// find gives the pane of a window, nil where it is not open.
func (x *instance) find(start int64) *kernel.Pane {
	for i := range x.open {
		if x.open[i].start == start {
			return x.open[i].pane
		}
	}
	return nil
}

// full makes room for an entry as the policy says.
func (x *instance) full() error {
	if x.b.assigner.full == Fail {
		return x.errFull(x.live(), fmt.Sprintf("(window, key) entries in %d open windows", len(x.open)))
	}
	oldest := x.open[0]
	entries, rows := oldest.pane.Live(), oldest.pane.Rows()
	if x.fired(oldest.start) {
		rows = 0 // they are in a result
	}
	x.evicted = append(x.evicted, tombstone{start: oldest.start})
	oldest.pane.Close()
	x.open = append(x.open[:0], x.open[1:]...)
	x.evicting(oldest.start, entries, rows, len(x.evicted))
	return nil
}

// tombstone marks a window that was evicted and has not ended: its later rows are counted and dropped.
type tombstone struct {
	start  int64
	groups map[int]bool // key groups that were evicted; nil: all of this task
}

type tombstones []tombstone

// forget removes the tombstones of windows that are over.
func (s *tombstones) forget(over func(start int64) bool) {
	kept := (*s)[:0]
	for _, t := range *s {
		if !over(t.start) {
			kept = append(kept, t)
		}
	}
	clear((*s)[len(kept):])
	*s = kept
}

// takeEvicted counts the rows of an evicted window and gives the others.
func (x *instance) takeEvicted(start int64, b *column.Batch, rows rowSet) rowSet {
	for _, t := range x.evicted {
		if t.start != start {
			continue
		}
		n := x.weigh(b, rows)
		if t.groups == nil {
			rows = rowSet{}
		} else {
			rows = x.outside(t.groups, b, rows)
		}
		x.ctx.Counters.Drop(operator.DropEvicted, n-x.weigh(b, rows))
	}
	return rows
}

// outside gives the rows whose key group is not among the groups.
func (x *task) outside(groups map[int]bool, b *column.Batch, rows rowSet) rowSet {
	hash := b.Hash
	if hash == nil {
		hash = keys.Hash(nil, b, x.b.layout.Keys(b))
	}
	var kept []uint32
	for i := range rows.len() {
		r := rows.at(i)
		if !groups[state.KeyGroup(hash[r], x.ctx.MaxParallelism)] {
			kept = append(kept, uint32(r))
		}
	}
	return rowSet{rows: kept}
}
