package kernel

import (
	"maps"
	"slices"

	"github.com/arkflow-go/arkflow/internal/extreme"
)

// Frozen views. At a barrier a pane, an index or cells give a view of what they are at that moment, in a time that does not depend on
// their size. The view is read by another goroutine while the rows go on: who writes to a table that a view shares copies it first.

// freeze gives a view of a table that can be read, not searched.
func (t *table) freeze() *table {
	t.shared = true
	f := *t
	f.slots, f.nullRefs, f.nullSet = nil, nil, maps.Clone(t.nullSet)
	f.rows = t.rows[:t.end:t.end]
	f.sides, f.heaps = slices.Clone(t.sides), slices.Clone(t.heaps)
	return &f
}

// own makes the rows of a table its own before they are written. Keys are never written again, so a table that gets only new keys
// need not call it.
func (t *table) own() {
	if t.shared {
		t.unshare()
	}
}

func (t *table) unshare() {
	t.shared = false
	rows := make([]uint64, len(t.rows))
	copy(rows, t.rows[:t.end])
	t.rows = rows
	for i, s := range t.sides {
		t.sides[i] = slices.Clone(s)
	}
	for i := range t.heaps {
		var h extreme.Heap
		h.Copy(&t.heaps[i])
		t.heaps[i] = h
	}
}

// Freeze gives an aggregator for frozen panes.
func (a *Aggregator) Freeze() *Aggregator { return NewAggregator(a.l) }

// Freeze gives a view of a pane for a Dump, with an aggregator that Freeze gave; nil of a pane that is partitioned.
func (p *Pane) Freeze(a *Aggregator) *Pane {
	if p.p != nil {
		return nil
	}
	return &Pane{a: a, t: p.t.freeze(), rows: p.rows}
}

// Freeze gives a view of the keys, for frozen cells.
func (x *Index) Freeze() *Index {
	t := *x.t // keys are never written again, and the counts beside them are not read
	t.slots, t.nullRefs, t.nullSet = nil, nil, maps.Clone(x.t.nullSet)
	t.rows = x.t.rows[:x.t.end:x.t.end]
	return &Index{l: x.l, t: &t}
}

// Freeze gives a view of cells for a Dump, with an index that Freeze gave.
func (c *Cells) Freeze(x *Index) *Cells {
	return &Cells{x: x, t: c.t.freeze(), dense: c.dense, rows: c.rows}
}
