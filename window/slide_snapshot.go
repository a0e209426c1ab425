package window

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/internal/kernel"
	"github.com/arkflow-go/arkflow/operator"
	"github.com/arkflow-go/arkflow/state"
)

var sliceTables = [2]string{stateSlices, stateStrays}

// Snapshot implements operator.Stateful.
func (x *sliding) Snapshot(w state.Writer) error {
	if err := x.save(w); err != nil {
		return err
	}
	view := x.index.Views(x.maxParallelism(), x.ctx.Pool)
	for i, list := range [2][]*slice{x.slices, x.stragglers} {
		for _, s := range list {
			if s.id == 0 {
				x.lastID++
				s.id = x.lastID
			}
			w.Part(sliceTables[i], s.id, view(s.cells, s.at, s.from))
		}
	}
	if t := x.evictedTable(); t.Rows > 0 {
		w.Table(stateEvicted, t)
	}
	return nil
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
	opened, err := x.restore(r)
	if err != nil {
		return err
	}
	if to, ok := x.grid.ended(x.watermark); ok {
		x.passed, x.any, x.edge = to, true, to+x.grid.size
	}
	for i, name := range sliceTables {
		if err := x.restoreSlices(r, name, i == 1, opened); err != nil {
			return fmt.Errorf("restore window: %w", err)
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

// restoreSlices reads slices, or stragglers: each part of these is one. They stand in the order in which they were made, so that floats
// are added up in the same order.
func (x *sliding) restoreSlices(r state.Reader, name string, stragglers bool, opened []int64) error {
	made := map[state.PartID]*slice{}
	load := kernel.NewCellLoad(x.index, x.owned(), func(part state.PartID, at, from int64) (*kernel.Cells, error) {
		if part.Task >= len(opened) {
			return nil, fmt.Errorf("task %d has saved no value %q", part.Task, stateValue)
		}
		if s := made[part]; s != nil {
			return s.cells, nil
		}
		from = max(from, opened[part.Task])
		_, _, normal, last := x.cut.sliceOf(at)
		if !stragglers && from == max(normal, x.opened) {
			return x.slice(at).cells, nil
		}
		s := &slice{at: at, from: from, last: last, straggler: true, cells: x.index.Cells()}
		made[part] = s
		return s.cells, nil
	})
	for t, err := range r.Tables(name) {
		if err == nil {
			err = load.Add(t)
		}
		if err != nil {
			return err
		}
	}
	parts := slices.SortedFunc(maps.Keys(made), func(a, b state.PartID) int {
		return cmp.Or(cmp.Compare(a.Task, b.Task), cmp.Compare(a.ID, b.ID))
	})
	for _, p := range parts {
		x.stragglers = append(x.stragglers, made[p])
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
