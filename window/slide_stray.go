package window

import (
	"cmp"
	"slices"

	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/operator"
)

// target says to which slice a row goes.
type target struct {
	at        int64
	from      int64 // stragglers: start of the first window that the row belongs to
	last      int64
	straggler bool
}

// stray is a row that goes to a straggler.
type stray struct {
	target
	row uint32
}

// target finds the slice of a row; bound is max(J, W).
func (x *sliding) target(t, bound int64) target {
	at, _, from, last := x.cut.sliceOf(t)
	open := x.opened
	if bound > x.watermark {
		open = x.grid.open(bound, x.lateness)
	}
	if at >= x.edge && from >= open {
		return target{at: at, from: from, last: last}
	}
	return target{at: at, from: max(from, open), last: last, straggler: true}
}

// takeStrays adds the rows that go to stragglers and gives the others.
func (x *sliding) takeStrays(b *column.Batch, rows rowSet) (rowSet, error) {
	x.strays = x.strays[:0]
	pairs, kept := b.Late, x.kept[:0] // rows may view x.kept: it is filtered in place
	for i := range rows.len() {
		r := rows.at(i)
		for len(pairs) > 0 && int(pairs[0].Row) < r {
			pairs = pairs[1:]
		}
		bound := x.watermark
		if len(pairs) > 0 && int(pairs[0].Row) == r {
			bound = max(bound, pairs[0].J)
		}
		if t := b.Times[r]; bound > x.watermark || t < x.edge {
			if to := x.target(t, bound); to.straggler {
				x.strays = append(x.strays, stray{to, uint32(r)})
				continue
			}
		}
		kept = append(kept, uint32(r))
	}
	x.kept = kept
	slices.SortFunc(x.strays, func(a, b stray) int {
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.from, b.from), cmp.Compare(a.row, b.row))
	})
	for lo := 0; lo < len(x.strays); {
		list := x.late[:0]
		to := x.strays[lo].target
		for ; lo < len(x.strays) && x.strays[lo].target == to; lo++ {
			list = append(list, x.strays[lo].row)
		}
		x.late = list
		if err := x.addTo(x.find(to, true), b, rowSet{rows: list}); err != nil {
			return rowSet{}, err
		}
	}
	return rowSet{rows: kept}, nil
}

// find gives the slice of a target, making it where wanted; nil where there is none.
func (x *sliding) find(to target, create bool) *slice {
	if !to.straggler {
		if create {
			return x.slice(to.at)
		}
		for _, s := range x.slices {
			if s.at == to.at {
				return s
			}
		}
		return nil
	}
	for _, s := range x.stragglers {
		if s.at == to.at && s.from == to.from {
			return s
		}
	}
	if !create {
		return nil
	}
	s := &slice{at: to.at, from: to.from, last: to.last, straggler: true, cells: x.index.Cells()}
	s.entered = x.any && s.from <= x.passed && s.last > x.passed
	x.stragglers = append(x.stragglers, s)
	return s
}

// corrections is what a batch has changed of windows that have fired.
type corrections struct {
	touched []touch
	nums    []uint32 // keys of all touches
	marks   []uint32 // by key: rows that came to the window that is being corrected
}

// touch is rows that were added to a straggler.
type touch struct {
	s      *slice
	lo, hi int // of corrections.nums
}

// touch notes the keys of rows that change windows that have fired: see correct.
func (x *sliding) touch(s *slice, b *column.Batch, rows rowSet) (err error) {
	if x.lateness == 0 || !x.any || s.from > x.passed {
		return nil
	}
	f := &x.fix
	lo := len(f.nums)
	f.nums, err = x.index.Numbers(f.nums, b, rows.lo, rows.hi, rows.rows)
	f.touched = append(f.touched, touch{s, lo, len(f.nums)})
	return err
}

// correct emits the results that a batch has changed, window by window.
func (x *sliding) correct(out operator.Output) error {
	f := &x.fix
	defer func() {
		clear(f.touched)
		f.touched, f.nums = f.touched[:0], f.nums[:0]
	}()
	first, last := f.touched[0].s.from, f.touched[0].s.last
	for _, t := range f.touched {
		first, last = min(first, t.s.from), max(last, t.s.last)
	}
	if n := x.index.Len() + 1; len(f.marks) < n {
		f.marks = make([]uint32, n+n/4)
	}
	emit := func(b *column.Batch) error { return out.Emit(operator.Main, b) }
	for start := max(first, x.opened); start <= min(last, x.passed); start += x.grid.step {
		if start <= x.evicted.to {
			continue
		}
		if err := x.correctWindow(start, emit); err != nil {
			return err
		}
	}
	return nil
}

func (x *sliding) correctWindow(start int64, emit func(b *column.Batch) error) (err error) {
	f := &x.fix
	changed := false
	for _, t := range f.touched {
		if t.s.in(start) {
			changed = true
			for _, g := range f.nums[t.lo:t.hi] {
				f.marks[g]++
			}
		}
	}
	if !changed {
		return nil
	}
	c := x.index.Cells()
	for _, list := range [2][]*slice{x.slices, x.stragglers} {
		for _, s := range list {
			if err == nil && s.in(start) {
				err = c.MergeMarked(s.cells, f.marks)
			}
		}
	}
	if err == nil {
		err = x.results.WriteCells(c, f.marks, start, start+x.grid.size, true, x.evicted.filter(x, start, emit))
	}
	c.Close()
	for _, t := range f.touched {
		for _, g := range f.nums[t.lo:t.hi] {
			f.marks[g] = 0
		}
	}
	return err
}
