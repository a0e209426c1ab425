package arkflowtest

import (
	"fmt"
	"slices"
	"sync"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/operator"
)

// collector is where the rows of all replaced sinks go: what an external system would hold. A job that is restored goes on with a copy
// of it as of its epoch. Safe for concurrent use.
type collector struct {
	pool *column.Pool // of what is kept; never given back
	mu   sync.Mutex   // guards what follows
	of   map[string]*sinkRows
}

// sinkRows is what one sink holds.
type sinkRows struct {
	schema    *arrow.Schema
	committed map[part]batches
	staged    map[part]batches // prepared, not yet committed
	pending   map[int]batches  // by subtask: written since the last barrier
	flushes   int64
}

// part is what one task has prepared for one epoch.
type part struct {
	epoch   int64
	subtask int
}

type batches []*column.Batch

func newCollector() *collector { return &collector{pool: column.NewPool(), of: map[string]*sinkRows{}} }

func (c *collector) sinkLocked(id string) *sinkRows {
	s := c.of[id]
	if s == nil {
		s = &sinkRows{committed: map[part]batches{}, staged: map[part]batches{}, pending: map[int]batches{}}
		c.of[id] = s
	}
	return s
}

// fork gives what the system holds when a job is restored from an epoch: what was committed before it, and what was prepared for it.
func (c *collector) fork(epoch int64) *collector {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := newCollector()
	for id, s := range c.of {
		o := out.sinkLocked(id)
		o.schema, o.flushes = s.schema, s.flushes
		for _, m := range []map[part]batches{s.committed, s.staged} {
			for p, b := range m {
				switch {
				case p.epoch < epoch:
					o.committed[p] = b
				case p.epoch == epoch:
					o.staged[p] = b
				}
			}
		}
	}
	return out
}

// take copies rows that a task has written.
func (c *collector) take(id string, subtask int, b *column.Batch) error {
	n := column.NewBuilder(c.pool, b.Schema)
	n.AppendRows(b, nil)
	if err := n.Err(); err != nil {
		n.Discard()
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.sinkLocked(id)
	s.pending[subtask] = append(s.pending[subtask], n.Finish())
	return nil
}

// flush makes visible what a task has written.
func (c *collector) flush(id string, subtask int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.sinkLocked(id)
	s.flushes++
	s.committed[part{-s.flushes, subtask}] = s.pending[subtask] // before every epoch: a restore does not take it back
	delete(s.pending, subtask)
}

func (c *collector) prepare(id string, subtask int, epoch int64) []byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.sinkLocked(id)
	s.staged[part{epoch, subtask}] = s.pending[subtask]
	delete(s.pending, subtask)
	return fmt.Appendf(nil, "%d.%d", epoch, subtask)
}

func partOf(prepared []byte) (p part, err error) {
	_, err = fmt.Sscanf(string(prepared), "%d.%d", &p.epoch, &p.subtask)
	return p, err
}

func (c *collector) commit(id string, epoch int64, prepared []byte) error {
	p, err := partOf(prepared)
	if err != nil || p.epoch != epoch {
		return fmt.Errorf("commit of epoch %d: prepared for another epoch: %q", epoch, prepared)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.sinkLocked(id)
	if _, done := s.committed[p]; done {
		return nil
	}
	b, ok := s.staged[p]
	if !ok {
		return fmt.Errorf("commit of epoch %d: nothing was prepared as %q", epoch, prepared)
	}
	delete(s.staged, p)
	s.committed[p] = b
	return nil
}

func (c *collector) abort(id string, prepared []byte) error {
	p, err := partOf(prepared)
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.sinkLocked(id).staged, p)
	return nil
}

// rows gives the batches of a sink, in the order of epochs and subtasks; with all those that are not committed as well.
func (c *collector) rows(id string, all bool) (out batches) {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.of[id]
	if s == nil {
		return nil
	}
	sources := []map[part]batches{s.committed}
	if all {
		sources = append(sources, s.staged)
	}
	for _, m := range sources {
		var parts []part
		for p := range m {
			parts = append(parts, p)
		}
		slices.SortFunc(parts, func(a, b part) int {
			if a.epoch != b.epoch {
				return int(a.epoch - b.epoch)
			}
			return a.subtask - b.subtask
		})
		for _, p := range parts {
			out = append(out, m[p]...)
		}
	}
	if all {
		var tasks []int
		for t := range s.pending {
			tasks = append(tasks, t)
		}
		slices.Sort(tasks)
		for _, t := range tasks {
			out = append(out, s.pending[t]...)
		}
	}
	return out
}

// schemaOf is the schema of a sink's rows, or nil where there is no such sink.
func (c *collector) schemaOf(id string) *arrow.Schema {
	c.mu.Lock()
	defer c.mu.Unlock()
	if s := c.of[id]; s != nil {
		return s.schema
	}
	return nil
}

// collecting is a sink that gives its rows to a collector.
type collecting struct {
	id     string
	into   *collector
	plain  bool // rows are visible at each barrier, whether the epoch is sealed or not
	faults *faults
	gate   *Gate // may be nil
}

func (s *collecting) Kind() string                { return "collect" }
func (s *collecting) Check(operator.Stream) error { return nil }
func (s *collecting) TwoPhase() bool              { return !s.plain }

func (s *collecting) Open(ctx *operator.Context, in operator.Stream) (operator.Writer, error) {
	if err := s.faults.call(opOpen, s.id); err != nil {
		return nil, err
	}
	s.into.mu.Lock()
	s.into.sinkLocked(s.id).schema = in.Schema
	s.into.mu.Unlock()
	w := &collectWriter{sink: s, ctx: ctx}
	if s.plain {
		return w, nil
	}
	return twoPhaseWriter{w}, nil
}

type collectWriter struct {
	sink *collecting
	ctx  *operator.Context
}

// Write implements operator.Writer.
func (w *collectWriter) Write(b *column.Batch) error {
	if err := w.sink.gate.pass(w.ctx); err != nil {
		return err
	}
	if err := w.sink.faults.call(opWrite, w.sink.id); err != nil {
		return err
	}
	return w.sink.into.take(w.sink.id, w.ctx.Subtask, b)
}

// Flush implements operator.Writer.
func (w *collectWriter) Flush() error {
	if err := w.sink.faults.call(opFlush, w.sink.id); err != nil {
		return err
	}
	w.sink.into.flush(w.sink.id, w.ctx.Subtask)
	return nil
}

// Close implements operator.Writer.
func (w *collectWriter) Close() error { return w.sink.faults.call(opClose, w.sink.id) }

type twoPhaseWriter struct{ *collectWriter }

// Prepare implements operator.TwoPhaseWriter.
func (w twoPhaseWriter) Prepare(epoch int64) ([]byte, error) {
	if err := w.sink.faults.call(opPrepare, w.sink.id); err != nil {
		return nil, err
	}
	return w.sink.into.prepare(w.sink.id, w.ctx.Subtask, epoch), nil
}

// Commit implements operator.TwoPhaseWriter.
func (w twoPhaseWriter) Commit(epoch int64, prepared []byte) error {
	if err := w.sink.faults.call(opCommit, w.sink.id); err != nil {
		return err
	}
	return w.sink.into.commit(w.sink.id, epoch, prepared)
}

// Abort implements operator.TwoPhaseWriter.
func (w twoPhaseWriter) Abort(_ int64, prepared []byte) error {
	return w.sink.into.abort(w.sink.id, prepared)
}
