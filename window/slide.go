package window

import (
	"slices"
	"time"

	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/internal/kernel"
	"github.com/arkflow-go/arkflow/operator"
)

// Overlapping windows keep slices (see slicer). A row is added to one slice, and a window's result is that of its slices (see running).
//
// A slice is known by its first instant, `at`, and by `from`, the start of the first window that has it. A row that
// comes when a window with its slice has fired already, or that J makes late for some of its windows, goes to another slice of the
// same instant whose `from` is the first window that the row belongs to: a straggler. So a slice that is part of a running result never
// changes, and no window has rows that were late for it, whatever W is when they come (T4).

// slice is the rows of some time that the same windows have.
type slice struct {
	at        int64 // first instant
	from      int64 // start of the first window that has it
	last      int64 // start of the last window that has it
	straggler bool
	entered   bool // it is part of the running result
	shown     bool // it is part of a result that was emitted; kept where there is a bound
	cells     *kernel.Cells
	id        int64 // of its part of the state; 0 before it has one
}

// in reports whether a window has the slice.
func (s *slice) in(start int64) bool { return s.from <= start && start <= s.last }

// sliding is a window operator in one task whose windows overlap.
type sliding struct {
	task
	cut     slicer
	index   *kernel.Index
	results *kernel.Results
	running running

	slices     []*slice // ascending by at, stragglers not among them
	stragglers []*slice // in the order in which they were made
	passed     int64    // start of the last window that ended at or before W; valid if any
	any        bool
	edge       int64 // end of that window: no slice before it is changed any more
	evicted    evictedTo
	compactAt  int   // keys in the index from which on it is looked for dead ones
	lastID     int64 // see slice

	out    operator.Output // of the batch that is being processed
	strays []stray
	into   []*kernel.Cells
	fix    corrections
}

// minCompact is the number of keys below which the index is not looked over while there are slices.
const minCompact = 1 << 12

func newSliding(t task) *sliding {
	x := &sliding{task: t, cut: newSlicer(t.grid), edge: operator.MinWatermark, compactAt: minCompact}
	x.evicted.to = operator.MinWatermark
	x.index = kernel.NewIndex(t.b.layout)
	x.results = kernel.NewCellResults(x.index, t.b.out.Schema, t.ctx.Pool, x.overflow)
	if x.lateness > 0 {
		x.results.WithUpdates()
	}
	if t.b.layout.Subtractable() {
		x.running = &totals{index: x.index}
	} else {
		x.running = newTiers(x.index, t.grid)
	}
	return x
}

// Process implements operator.Instance.
func (x *sliding) Process(_ int, b *column.Batch, out operator.Output) error {
	x.out = out
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
	if rows = x.takeEvicted(b, rows, lo); rows.len() == 0 {
		return nil
	}
	if x.limit > 0 && x.live()+rows.len() > x.limit {
		err = x.addNearBound(b, rows)
	} else {
		err = x.addAll(b, rows, lo, hi, ordered)
	}
	if err != nil || len(x.fix.touched) == 0 {
		return err
	}
	return x.correct(out)
}

// addAll adds rows, none of them late for all windows, to their slices.
func (x *sliding) addAll(b *column.Batch, rows rowSet, lo, hi int64, ordered bool) (err error) {
	if lo < x.edge || len(b.Late) > 0 {
		if rows, err = x.takeStrays(b, rows); err != nil || rows.len() == 0 {
			return err
		}
		lo, hi, ordered = span(b.Times, rows)
	}
	return x.cut.each(b.Times, rows, lo, hi, ordered, func(at int64, rows rowSet) error { return x.addTo(x.slice(at), b, rows) })
}

// addTo adds rows to a slice, and to the running result where the slice is part of it.
func (x *sliding) addTo(s *slice, b *column.Batch, rows rowSet) error {
	x.into = append(x.into[:0], s.cells)
	if s.entered {
		if t := x.running.total(); t != nil {
			x.into = append(x.into, t)
		}
	}
	if s.straggler {
		if err := x.touch(s, b, rows); err != nil {
			return err
		}
	}
	if rows.rows != nil {
		return kernel.AddRows(x.into, b, rows.rows)
	}
	return kernel.AddRange(x.into, b, rows.lo, rows.hi)
}

// slice gives the slice that begins at an instant, making it where it is not there.
func (x *sliding) slice(at int64) *slice {
	i := len(x.slices)
	for i > 0 && x.slices[i-1].at > at {
		i--
	}
	if i > 0 && x.slices[i-1].at == at {
		return x.slices[i-1]
	}
	_, _, from, last := x.cut.sliceOf(at)
	var before *kernel.Cells
	if i > 0 {
		before = x.slices[i-1].cells
	}
	s := &slice{at: at, from: from, last: last, cells: x.index.Densely(before)}
	x.slices = slices.Insert(x.slices, i, s)
	return s
}

// live is the number of (slice, key) entries.
func (x *sliding) live() (n int) {
	for _, s := range x.slices {
		n += s.cells.Len()
	}
	for _, s := range x.stragglers {
		n += s.cells.Len()
	}
	return n
}

// OnWatermark implements operator.WatermarkHandler.
func (x *sliding) OnWatermark(w int64, out operator.Output) (int64, error) {
	if x.processing || w <= x.watermark {
		return w, nil
	}
	x.advance(w)
	return w, x.fire(w, out)
}

// fire emits the windows that end at t or before and have not fired, in the order of their ends, and drops slices that no window
// needs any more.
func (x *sliding) fire(t int64, out operator.Output) error {
	to, ok := x.grid.ended(t)
	if !ok || x.any && to <= x.passed {
		x.close(t)
		return x.compact()
	}
	emit := func(b *column.Batch) error { return out.Emit(operator.Main, b) }
	for {
		start, ok := x.next()
		if !ok || start > to {
			break
		}
		if err := x.enter(start); err != nil {
			return err
		}
		if err := x.emit(start, emit); err != nil {
			return err
		}
		if err := x.leave(start); err != nil {
			return err
		}
		x.passed, x.any = start, true
	}
	x.passed, x.any, x.edge = to, true, to+x.grid.size
	x.close(t)
	return x.compact()
}

// next is the start of the next window that has rows.
func (x *sliding) next() (start int64, ok bool) {
	for _, list := range [2][]*slice{x.slices, x.stragglers} {
		for _, s := range list {
			if x.any && s.last <= x.passed {
				continue
			}
			from := s.from
			if x.any {
				from = max(from, x.passed+x.grid.step)
			}
			if !ok || from < start {
				start, ok = from, true
			}
			if from == x.passed+x.grid.step && x.any {
				return start, true
			}
		}
	}
	return start, ok
}

// enter makes the slices that the window has part of the running result.
func (x *sliding) enter(start int64) error {
	for _, list := range [2][]*slice{x.slices, x.stragglers} {
		for _, s := range list {
			if s.from > start && !s.straggler {
				break
			}
			if s.entered || !s.in(start) {
				continue
			}
			s.entered = true
			if err := x.running.enter(s); err != nil {
				return err
			}
		}
	}
	return nil
}

// emit writes the result of a window, which all its slices have entered.
func (x *sliding) emit(start int64, emit func(b *column.Batch) error) error {
	if start <= x.evicted.to {
		return nil
	}
	if x.limit > 0 {
		x.show(start)
	}
	c, err := x.running.result(start, x.slices, x.stragglers)
	if err != nil || c == nil {
		return err
	}
	return x.results.WriteCells(c, nil, start, start+x.grid.size, !x.processing, x.evicted.filter(x, start, emit))
}

// leave takes the slices out of the running result that no later window has.
func (x *sliding) leave(start int64) error {
	for _, list := range [2][]*slice{x.slices, x.stragglers} {
		for _, s := range list {
			if s.last > start && !s.straggler {
				break
			}
			if s.entered && s.last <= start {
				s.entered = false
				if err := x.running.leave(s); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// close drops the slices that only closed windows have.
func (x *sliding) close(t int64) {
	opened := x.grid.open(t, x.lateness)
	over := func(s *slice) bool {
		if s.last >= opened {
			return false
		}
		s.cells.Close()
		return true
	}
	n := 0
	for n < len(x.slices) && over(x.slices[n]) {
		n++
	}
	x.slices = slices.Delete(x.slices, 0, n)
	x.stragglers = slices.DeleteFunc(x.stragglers, over)
	x.evicted.forget(opened)
	if len(x.slices)+len(x.stragglers) == 0 {
		x.running.reset()
	}
}

// compact forgets keys that no slice has any more.
func (x *sliding) compact() error {
	idle := len(x.slices)+len(x.stragglers) == 0
	if n := x.index.Len(); n < x.compactAt && !(idle && n > 0) {
		return nil
	}
	cells := x.into[:0]
	for _, list := range [2][]*slice{x.slices, x.stragglers} {
		for _, s := range list {
			cells = append(cells, s.cells)
		}
	}
	x.into = cells
	x.running.reset()
	x.index.Compact(cells)
	clear(cells)
	x.compactAt = max(minCompact, 2*x.index.Len())
	return x.reenter()
}

// reenter makes the running result anew.
func (x *sliding) reenter() error {
	for _, list := range [2][]*slice{x.slices, x.stragglers} {
		for _, s := range list {
			if s.entered = x.any && s.from <= x.passed && s.last > x.passed; s.entered {
				if err := x.running.enter(s); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// arrive adds rows of a processing-time stream to the slice of the present.
func (x *sliding) arrive(b *column.Batch) error {
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
	at, _, _, last := x.cut.sliceOf(now)
	switch {
	case last <= x.evicted.to:
		x.ctx.Counters.Drop(operator.DropEvicted, rows.len())
	case x.limit > 0 && x.live()+rows.len() > x.limit:
		err = x.addRunNearBound(target{at: at}, b, rows)
	default:
		err = x.addTo(x.slice(at), b, rows)
	}
	x.arm()
	return err
}

// arm asks for a timer at the end of the next window that has rows.
func (x *sliding) arm() {
	if start, ok := x.next(); ok && x.ctx.SetTimer != nil {
		x.ctx.SetTimer(time.UnixMilli(start + x.grid.size))
	}
}

// OnTimer implements operator.TimerHandler.
func (x *sliding) OnTimer(now time.Time, out operator.Output) error {
	if !x.processing {
		return nil
	}
	x.watermark = max(x.watermark, x.now(now))
	if err := x.fire(x.watermark, out); err != nil {
		return err
	}
	x.arm()
	return nil
}

// OnDrain implements operator.Drainer: all open windows fire.
func (x *sliding) OnDrain(out operator.Output) error {
	return x.fire(operator.MaxWatermark, out)
}

// StateSize implements operator.Sized. Memory that only views of earlier barriers hold is not counted, what they gave back is.
func (x *sliding) StateSize() (entries, bytes int64) {
	bytes = int64(x.index.SizeBytes() + x.running.sizeBytes())
	for _, list := range [2][]*slice{x.slices, x.stragglers} {
		for _, s := range list {
			bytes += int64(s.cells.SizeBytes())
		}
	}
	return int64(x.live()), bytes
}
