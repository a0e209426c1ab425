package arkflowtest

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"sync"
	"sync/atomic"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/operator"
)

// feed is what the scripted sources of a run have to give. mu guards everything in its splits.
type feed struct {
	notify func()       // somebody should look again; never blocks
	stirs  atomic.Int64 // calls of Poll; see atRest
	mu     sync.Mutex
	splits []*splitRun // by source, then split
}

// splitRun is a split of a scripted source in one run.
type splitRun struct {
	feed   *feed
	source string
	index  int
	schema *arrow.Schema
	steps  []step // may be appended to while open
	open   bool   // no end after the last step
	own    bool   // the script says the watermark
	cut    func(left int) int
	fail   func(given int) (rows int, err error) // faults: rows that may be given before the next one, or the fault itself

	at, row   int // next to read
	given     int // rows read in this run
	w         int64
	released  bool // the gate at `at` may be passed
	signalled bool // ready was signalled, and Poll has not been called since
	reading   bool
	subtask   int // that reads
	ready     chan struct{}
}

func (s *splitRun) id() string { return splitID(s.index) }

func splitID(i int) string { return fmt.Sprintf("split-%03d", i) }

// signalLocked wakes the task that reads the split.
func (s *splitRun) signalLocked() {
	if !s.reading {
		return
	}
	s.signalled = true
	select {
	case s.ready <- struct{}{}:
	default:
	}
}

// waitsAtLocked is the gate that the split waits at, or nil.
func (s *splitRun) waitsAtLocked() *step {
	if !s.reading || s.released || s.at >= len(s.steps) || !s.steps[s.at].gate() {
		return nil
	}
	return &s.steps[s.at]
}

// woken reports whether a reader was woken, has not looked yet, and will at once: its task is not held up elsewhere.
func (f *feed) woken(resting func(source string, subtask int) bool) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, s := range f.splits {
		if s.signalled && resting(s.source, s.subtask) {
			return true
		}
	}
	return false
}

// waiter is a split that waits at a gate.
type waiter struct {
	split *splitRun
	gate  step
}

// waiting gives the splits that wait at a gate.
func (f *feed) waiting() (out []waiter) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, s := range f.splits {
		if g := s.waitsAtLocked(); g != nil {
			out = append(out, waiter{s, *g})
		}
	}
	return out
}

// release lets splits go on.
func (f *feed) release(waiting []waiter) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, w := range waiting {
		w.split.released = true
		w.split.signalLocked()
	}
}

// over reports whether every split has given what it has, and whether one of them stays open.
func (f *feed) over() (over, open bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, s := range f.splits {
		if s.at < len(s.steps) {
			return false, false
		}
		open = open || s.open
	}
	return true, open
}

// scripted is a source that reads a script.
type scripted struct {
	schema *arrow.Schema
	splits []*splitRun
	onOpen func() error
}

func (s *scripted) Kind() string          { return "script" }
func (s *scripted) Schema() *arrow.Schema { return s.schema }

func (s *scripted) Splits(context.Context) (out []operator.Split, err error) {
	for _, sp := range s.splits {
		out = append(out, operator.Split{ID: sp.id()})
	}
	return out, nil
}

func (s *scripted) Open(ctx *operator.Context, sp operator.Split, position []byte) (operator.Reader, error) {
	if s.onOpen != nil {
		if err := s.onOpen(); err != nil {
			return nil, err
		}
	}
	for _, run := range s.splits {
		if run.id() != sp.ID {
			continue
		}
		run.feed.mu.Lock()
		defer run.feed.mu.Unlock()
		if run.reading {
			return nil, fmt.Errorf("split %q is read already", sp.ID)
		}
		if position != nil {
			if _, err := fmt.Sscanf(string(position), "%d.%d.%d", &run.at, &run.row, &run.w); err != nil {
				return nil, fmt.Errorf("position %q of split %q: %w", position, sp.ID, err)
			}
		}
		run.reading, run.subtask = true, ctx.Subtask
		r := &scriptReader{run: run, ctx: ctx}
		if run.own {
			return ownReader{r}, nil
		}
		return r, nil
	}
	return nil, fmt.Errorf("no split %q", sp.ID)
}

// scriptReader reads a split.
type scriptReader struct {
	run *splitRun
	ctx *operator.Context
}

// ownReader is a scriptReader that says its watermark.
type ownReader struct{ *scriptReader }

// Watermark implements operator.WatermarkReader.
func (r ownReader) Watermark() (int64, bool) {
	r.run.feed.mu.Lock()
	defer r.run.feed.mu.Unlock()
	return r.run.w, r.run.w != operator.MinWatermark
}

// Poll implements operator.Reader.
func (r *scriptReader) Poll() (*column.Batch, error) {
	s := r.run
	defer s.feed.notify()
	s.feed.mu.Lock()
	defer s.feed.mu.Unlock()
	s.feed.stirs.Add(1)
	s.signalled = false
	for s.at < len(s.steps) {
		st := &s.steps[s.at]
		switch {
		case st.kind == stepWatermark: // it must be seen before the next row: the engine asks after each Poll
			s.takeWatermarksLocked()
			s.signalLocked()
			return nil, nil
		case st.gate() && !s.released:
			return nil, nil
		case st.kind == stepFail:
			return nil, st.err
		case st.kind != stepRows:
			s.at, s.released = s.at+1, false
			continue
		}
		if s.row < st.rows.len() {
			return r.giveLocked(st)
		}
		s.at, s.row = s.at+1, 0
	}
	if s.open {
		return nil, nil
	}
	return nil, io.EOF
}

// giveLocked makes the next batch, and takes the watermarks that follow its rows.
func (r *scriptReader) giveLocked(st *step) (*column.Batch, error) {
	s := r.run
	left := st.rows.len() - s.row
	n := min(max(s.cut(left), 1), left)
	if s.fail != nil {
		rows, err := s.fail(s.given)
		if err != nil {
			return nil, err
		}
		n = min(n, rows)
	}
	b, err := st.rows.batch(r.ctx.Pool, s.schema, s.row, s.row+n)
	if err != nil {
		return nil, fmt.Errorf("scripted source %q, %s: %w", s.source, s.id(), err)
	}
	s.given += n
	if s.row += n; s.row == st.rows.len() {
		s.at, s.row = s.at+1, 0
		s.takeWatermarksLocked()
	}
	return b, nil
}

func (s *splitRun) takeWatermarksLocked() {
	for s.at < len(s.steps) && s.steps[s.at].kind == stepWatermark {
		s.w = max(s.w, s.steps[s.at].w)
		s.at++
	}
}

// Ready implements operator.Reader.
func (r *scriptReader) Ready() <-chan struct{} { return r.run.ready }

// Position implements operator.Reader.
func (r *scriptReader) Position() ([]byte, error) {
	s := r.run
	s.feed.mu.Lock()
	defer s.feed.mu.Unlock()
	at := s.at
	if s.released {
		at++ // what the gate stands for has happened
	}
	return fmt.Appendf(nil, "%d.%d.%d", at, s.row, s.w), nil
}

// Close implements operator.Reader.
func (r *scriptReader) Close() error {
	r.run.feed.mu.Lock()
	defer r.run.feed.mu.Unlock()
	r.run.reading, r.run.signalled = false, false
	return nil
}

// cutAt gives batches of at most n rows.
func cutAt(n int) func(int) int { return func(int) int { return n } }

// cutRandom gives batches of any number of rows, small ones more often.
func cutRandom(seed, split uint64) func(int) int {
	r := rand.New(rand.NewPCG(seed, split))
	return func(left int) int {
		most := []int{1, 3, 10, 100, 5000}[r.IntN(5)]
		return 1 + r.IntN(min(most, left))
	}
}
