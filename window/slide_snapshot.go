package window

import (
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/internal/kernel"
	"github.com/arkflow-go/arkflow/operator"
	"github.com/arkflow-go/arkflow/state"
)

// Snapshot implements operator.Stateful.
func (x *sliding) Snapshot(w state.Writer) error {
	if err := x.save(w); err != nil {
		return err
	}
	x.freeze(stateSlices, 1, x.slices, w)
	id := int64(1)
	for list := x.stragglers; len(list) > 0; id++ {
		var first []*slice
		first, list = x.apart(list)
		x.freeze(stateStrays, id, first, w)
	}
	if t := x.evictedTable(); t.Rows > 0 {
		w.Table(stateEvicted, t)
	}
	return nil
}

// savedFrom is the start of the first window that has a slice and is not closed.
func (x *sliding) savedFrom(s *slice) int64 { return max(s.from, x.opened) }

// apart gives the first of the stragglers that are saved under the same numbers, and the others. They stay apart over a restore, so that
// floats are added up in the same order.
func (x *sliding) apart(list []*slice) (first, alike []*slice) {
	seen := map[[2]int64]bool{}
	for _, s := range list {
		name := [2]int64{s.at, x.savedFrom(s)}
		if seen[name] {
			alike = append(alike, s)
			continue
		}
		seen[name] = true
		first = append(first, s)
	}
	return first, alike
}

// freeze saves slices, no two of them alike, in tables of their own.
func (x *sliding) freeze(name string, id int64, list []*slice, w state.Writer) {
	keys := x.index.Freeze()
	type frozen struct {
		at, from int64
		cells    *kernel.Cells
	}
	all := make([]frozen, len(list))
	n := 0
	for i, s := range list {
		all[i] = frozen{s.at, x.savedFrom(s), s.cells.Freeze(keys)}
		n += s.cells.Len()
	}
	groups := x.maxParallelism()
	w.Part(name, id, view{n, func(emit func(state.Table)) error {
		d := kernel.NewCellDump(keys, groups, n, emit)
		for _, f := range all {
			if err := d.AddCells(f.at, f.from, f.cells); err != nil {
				return err
			}
		}
		return d.Close()
	}})
}

func (x *sliding) evictedTable() state.Table {
	t := state.Table{Schema: evictedSchema}
	var starts []int64
	own := x.owned()
	for g := own.First; g < own.End; g++ {
		if to := max(x.evicted.to, x.evicted.of(g)); to != operator.MinWatermark {
			starts = append(starts, to)
			t.Groups = append(t.Groups, uint16(g))
		}
	}
	t.Rows = len(starts)
	t.Cols = []column.Column{{Type: arrow.PrimitiveTypes.Int64, Kind: column.Int64, Data: column.BytesOf(starts)}}
	return t
}

// Restore implements operator.Stateful. A slice of which a task had closed windows that are open here, because another task's W
// was lower, becomes a straggler: those windows are not fired again without the slices that are gone.
func (x *sliding) Restore(r state.Reader) error {
	if err := x.restore(r); err != nil {
		return err
	}
	if to, ok := x.grid.ended(x.watermark); ok {
		x.passed, x.any, x.edge = to, true, to+x.grid.size
	}
	for i, name := range [2]string{stateSlices, stateStrays} {
		var made map[target]*slice
		load := kernel.NewCellLoad(x.index, x.owned(), func(at, from int64) *kernel.Cells {
			_, _, normal, last := x.cut.sliceOf(at)
			to := target{at, from, last, i == 1 || from != max(normal, x.opened)}
			if !to.straggler {
				return x.slice(at).cells
			}
			s := made[to]
			if s == nil {
				s = &slice{at: at, from: from, last: last, straggler: true, cells: x.index.Cells()}
				made[to] = s
				x.stragglers = append(x.stragglers, s)
			}
			return s.cells
		})
		for t, err := range r.Tables(name) {
			made = map[target]*slice{} // a key is in a table once, see apart
			if err == nil {
				err = load.Add(t)
			}
			if err != nil {
				return fmt.Errorf("restore window: %w", err)
			}
		}
	}
	if err := x.restoreEvicted(r); err != nil {
		return err
	}
	if err := x.reenter(); err != nil {
		return err
	}
	if x.limit > 0 {
		x.show(x.passed)
	}
	if x.processing {
		x.arm()
	}
	return nil
}

func (x *sliding) restoreEvicted(r state.Reader) error {
	own := x.owned()
	groups := map[int]int64{}
	for t, err := range r.Tables(stateEvicted) {
		if err != nil {
			return fmt.Errorf("restore window: %w", err)
		}
		starts := column.Values[int64](&t.Cols[0])
		for i, g := range t.Groups {
			if own.Contains(int(g)) {
				groups[int(g)] = starts[i]
			}
		}
	}
	same := len(groups) == own.Len()
	for _, to := range groups {
		same = same && to == groups[own.First]
	}
	switch {
	case len(groups) == 0:
	case same:
		x.evicted.to = groups[own.First]
	default:
		x.evicted.groups = groups
	}
	return nil
}
