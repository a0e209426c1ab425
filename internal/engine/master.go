package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/arkflow-go/arkflow/checkpoint"
	"github.com/arkflow-go/arkflow/checkpoint/storage"
	"github.com/arkflow-go/arkflow/internal/life"
	"github.com/arkflow-go/arkflow/internal/link"
	"github.com/arkflow-go/arkflow/internal/report"
	"github.com/arkflow-go/arkflow/internal/spans"
	"github.com/arkflow-go/arkflow/operator"
)

// master owns the life of the execution and its epochs. Everything in it belongs to one goroutine.
type master struct {
	x        *Execution
	coord    *checkpoint.Coordinator
	interval operator.Timer          // nil: no periodic epochs
	memory   *memoryMonitor          // nil without a memory limit
	limit    operator.Timer          // of the epoch in flight; nil while none was
	limitOf  checkpoint.Inject       // the epoch that limit is for
	unseal   context.CancelCauseFunc // interrupts the seal of the epoch in flight

	finished map[checkpoint.TaskID]bool // tasks that have flushed at the end of their input
	began    time.Time                  // when the epoch in flight was triggered
	running  int                        // tasks whose goroutine has not ended, and savepoints that are being written
	target   life.State                 // the final state that the job is heading for
	failure  error
	commits  map[int64]*committing // epochs whose commits are under way
	exiting  bool
	failed   int                  // epochs that failed in a row
	fenced   <-chan struct{}      // of the session
	spans    map[int64]spans.Span // of epochs that are neither committed nor given up
}

// waiter is one who waits for an epoch.
type waiter struct {
	result    chan CheckpointResult
	savepoint string
}

// committing is an epoch that is sealed and whose sinks commit.
type committing struct {
	left    int
	seal    checkpoint.Seal
	started time.Time
}

func (x *Execution) newMaster() *master {
	ids := make([]checkpoint.TaskID, len(x.tasks))
	for i, t := range x.tasks {
		ids[i] = t.id
	}
	last := int64(0)
	if x.cfg.Restore != nil {
		last = x.cfg.Restore.Number
	}
	var fenced <-chan struct{}
	if x.session != nil {
		last, fenced = max(last, x.session.LastEpoch()), x.session.Fenced()
	}
	m := &master{x: x, coord: checkpoint.NewCoordinator(x.cfg.Plan.Job, ids, last), finished: map[checkpoint.TaskID]bool{},
		running: len(x.tasks), target: life.Finished, commits: map[int64]*committing{}, fenced: fenced, spans: map[int64]spans.Span{}}
	m.memory = x.newMemoryMonitor()
	if x.cfg.CheckpointEvery > 0 {
		m.interval = x.clock.NewTimer(x.cfg.CheckpointEvery)
	}
	return m
}

// run handles events until every task has ended, then closes everything.
func (m *master) run() {
	for m.running > 0 {
		m.wait()
	}
	m.x.conclude(m)
}

func (m *master) wait() {
	var tick, limit <-chan time.Time
	if m.interval != nil {
		tick = m.interval.C()
	}
	if m.coord.InFlight() != 0 && m.limit != nil {
		limit = m.limit.C()
	}
	select {
	case <-m.x.box.wake:
		for _, ev := range m.x.box.take() {
			m.handle(ev)
			m.x.activity.Pause()
		}
	case <-m.fenced:
		m.x.activity.Resume()
		m.fenced = nil
		m.fail(m.x.session.Err())
		m.x.activity.Pause()
	case <-tick:
		m.x.activity.Resume()
		m.do(m.coord.Step(checkpoint.Trigger{}))
		m.interval.Reset(m.x.cfg.CheckpointEvery)
		m.x.activity.Pause()
	case <-m.memory.tick():
		m.x.activity.Resume()
		if err := m.memory.check(); err != nil {
			m.fail(err)
		}
		m.x.activity.Pause()
	case <-limit:
		m.x.activity.Resume()
		m.limit.Stop()
		m.timedOut(m.limitOf)
		m.x.activity.Pause()
	}
}

func (m *master) handle(ev any) {
	switch e := ev.(type) {
	case evAnswer:
		m.do(m.coord.Step(e.answer))
	case evTrigger:
		m.do(m.coord.Step(checkpoint.Trigger{Waiter: waiter(e)}))
	case evFinished:
		m.finished[e.task] = true
		if len(m.finished) == len(m.x.tasks) {
			m.do(m.coord.Step(checkpoint.End{}))
		}
	case evStop:
		if m.ending() {
			return
		}
		if !m.coord.Ending() { // otherwise the end of all input was faster
			m.target = life.Suspended
			m.do(m.coord.Step(checkpoint.End{}))
		}
	case evDrain:
		if m.ending() {
			return
		}
		m.x.move(life.Draining)
		m.toSources(link.Command{Kind: link.CmdDrain})
	case evCancel:
		m.fail(ErrCanceled)
	case evSealed:
		m.sealed(e)
	case evCommitted:
		m.committed(e)
	case evExited:
		if m.running--; m.running == 0 {
			m.x.activity.Resume() // the master closes everything now: the execution never rests again
		}
		if e.err != nil {
			m.fail(e.err)
		} else if !m.exiting && !e.saved {
			m.fail(fmt.Errorf("engine: task %s ended on its own", e.task))
		}
	}
}

// timedOut gives up an epoch. Without the one that ends the job it cannot end well.
func (m *master) timedOut(of checkpoint.Inject) {
	if len(m.coord.Missing()) == 0 { // it is being sealed: what came of that, its seal tells
		m.do(m.coord.Step(checkpoint.Timeout{Epoch: of.Epoch}))
		return
	}
	missing := fmt.Sprint(m.coord.Missing())
	m.x.log.Warn("epoch timed out", "job", m.x.cfg.Plan.Job, "epoch", of.Epoch, "missing", missing)
	m.do(m.coord.Step(checkpoint.Timeout{Epoch: of.Epoch}))
	if of.Ends {
		m.fail(fmt.Errorf("epoch %d, the last of the job, was not answered within %s by tasks %s", of.Epoch, m.x.cfg.CheckpointTimeout, missing))
		return
	}
	m.noteFailure(fmt.Errorf("epoch %d was not answered within %s by tasks %s", of.Epoch, m.x.cfg.CheckpointTimeout, missing))
}

// noteFailure counts an epoch that failed; after too many in a row the job fails (DESIGN C10).
func (m *master) noteFailure(err error) {
	if m.failed++; m.failed >= m.x.cfg.Failures {
		m.fail(fmt.Errorf("%d epochs in a row have failed, the last: %w", m.failed, err))
	}
}

// ending reports whether the end has begun: a first request for an end stands.
func (m *master) ending() bool {
	return m.target == life.Suspended || m.failure != nil || m.exiting || m.x.State() == life.Draining
}

// do carries out what the coordinator decided.
func (m *master) do(actions []any) {
	for _, a := range actions {
		switch a := a.(type) {
		case checkpoint.Inject:
			m.began = m.x.clock.Now()
			m.spans[a.Epoch] = m.x.span(m.x.ctx, report.SpanCheckpoint)
			m.x.noteEpochs(func(s *CheckpointStatus) { s.InFlight = a.Epoch })
			m.limitOf = a
			if m.limit == nil {
				m.limit = m.x.clock.NewTimer(m.x.cfg.CheckpointTimeout)
			} else {
				m.limit.Reset(m.x.cfg.CheckpointTimeout)
			}
			m.toSources(link.Command{Kind: link.CmdBarrier, Epoch: a.Epoch, Ends: a.Ends})
		case checkpoint.Abort:
			if m.limit != nil {
				m.limit.Stop()
			}
			for _, s := range a.Answers {
				s.Close()
			}
			err := fmt.Errorf("epoch %d aborted: %s", a.Epoch, a.Reason)
			if a.Epoch != 0 {
				m.x.noteEpochs(func(s *CheckpointStatus) { s.Aborted, s.InFlight = s.Aborted+1, 0 })
			}
			for _, t := range m.x.tasks {
				t.in.Command(link.Command{Kind: link.CmdAbort, Epoch: a.Epoch})
			}
			m.endSpan(a.Epoch, report.SpanOutcome{Err: err})
			answer(a.Waiters, CheckpointResult{Epoch: a.Epoch, Err: err})
			m.x.emit(life.Event{Kind: life.EventCheckpointAborted, Epoch: a.Epoch, Message: err.Error()})
		case checkpoint.Seal:
			m.seal(a)
		case checkpoint.CancelSeal:
			m.unseal(fmt.Errorf("not sealed within %s of its barriers", m.x.cfg.CheckpointTimeout))
		case checkpoint.Reject:
			if a.Answer != nil {
				a.Answer.Close()
			}
			m.x.log.Debug("answer to a barrier rejected", "job", m.x.cfg.Plan.Job, "task", a.Task.String(), "epoch", a.Epoch, "reason", a.Reason)
		}
	}
}

func answer(waiters []any, r CheckpointResult) {
	for _, w := range waiters {
		w.(waiter).result <- r
	}
}

// toSources gives a command to every task that reads splits.
func (m *master) toSources(c link.Command) {
	for _, t := range m.x.tasks {
		if t.source != nil {
			t.in.Command(c)
		}
	}
}

// seal makes an epoch durable beside the data, then writes the savepoints that were asked for.
func (m *master) seal(s checkpoint.Seal) {
	x, e := m.x, s.Epoch
	e.Schemas = x.schemas
	e.Finished = len(m.finished) == len(x.tasks)
	var plain, saving []any
	for _, w := range s.Waiters {
		if w.(waiter).savepoint != "" {
			saving = append(saving, w)
		} else {
			plain = append(plain, w)
		}
	}
	s.Waiters, e.Shared = plain, len(saving) > 0
	m.running += len(saving) // a job that ends well waits for them
	x.activity.Resume()
	began := m.began
	sealing := x.span(m.spans[e.Number].Ctx, report.SpanSeal)
	ctx, cancel := context.WithCancelCause(sealing.Ctx)
	m.unseal = cancel
	x.group.Go(func() {
		defer x.activity.Pause()
		defer x.cfg.Store.Release(x.ctx, e)
		err := x.cfg.Store.Seal(ctx, e)
		if cause := context.Cause(ctx); err != nil && cause != nil && x.ctx.Err() == nil {
			err = fmt.Errorf("%w: %w", cause, err)
		}
		sealing.End(report.SpanOutcome{Run: x.run(), Epoch: e.Number, Entries: e.Entries(), Bytes: e.Written, Err: err})
		x.post(evSealed{s, err, began})
		for _, w := range saving {
			serr := err
			if serr == nil {
				serr = checkpoint.WriteSavepoint(x.ctx, w.(waiter).savepoint, x.shape, e, x.run(), storage.Options{Clock: x.clock})
			}
			answer([]any{w}, CheckpointResult{Epoch: e.Number, Err: serr})
			x.post(evExited{saved: true})
		}
	})
}

// run is the number of the execution, 0 without a bucket.
func (x *Execution) run() int64 {
	if x.session == nil {
		return 0
	}
	return x.session.Run()
}

// sealed starts the commits of a sealed epoch (DESIGN C1).
func (m *master) sealed(e evSealed) {
	m.limit.Stop()
	m.unseal(nil)
	if e.err != nil {
		m.notSealed(e)
		return
	}
	m.failed = 0
	x, epoch := m.x, e.seal.Epoch
	c := &committing{seal: e.seal, started: e.began}
	m.commits[epoch.Number] = c
	x.mu.Lock()
	x.sealed = epoch
	x.mu.Unlock()
	for _, t := range x.tasks {
		if t.commits() {
			c.left++
			t.in.Command(link.Command{Kind: link.CmdCommit, Epoch: epoch.Number})
		}
	}
	if c.left == 0 {
		m.concludeEpoch(c)
	}
	m.do(m.coord.Step(checkpoint.Sealed{Epoch: epoch.Number}))
}

// notSealed gives up an epoch that is not known to be durable: what sinks prepared for it is committed with the next. Without the
// epoch that ends the job, or once it was fenced, the job cannot go on.
func (m *master) notSealed(e evSealed) {
	number := e.seal.Epoch.Number
	err := fmt.Errorf("epoch %d: seal: %w", number, e.err)
	m.endSpan(number, report.SpanOutcome{Err: err})
	answer(e.seal.Waiters, CheckpointResult{Epoch: number, Err: err})
	if e.seal.Epoch.Ends || errors.Is(err, storage.ErrFenced) || m.x.ctx.Err() != nil {
		m.fail(err)
		return
	}
	m.x.noteEpochs(func(s *CheckpointStatus) { s.Aborted, s.InFlight = s.Aborted+1, 0 })
	m.x.log.Warn("epoch not sealed", "job", m.x.cfg.Plan.Job, "epoch", number, "error", e.err)
	m.x.emit(life.Event{Kind: life.EventCheckpointAborted, Epoch: number, Message: err.Error()})
	m.noteFailure(err)
	m.do(m.coord.Step(checkpoint.Failed{Epoch: number}))
}

func (m *master) committed(e evCommitted) {
	c := m.commits[e.epoch]
	if e.err != nil {
		err := fmt.Errorf("commit of epoch %d: %w", e.epoch, e.err)
		m.endSpan(e.epoch, report.SpanOutcome{Err: err})
		answer(c.seal.Waiters, CheckpointResult{Epoch: e.epoch, Err: err})
		c.seal.Waiters = nil
		m.fail(err)
		return
	}
	if c.left--; c.left == 0 {
		m.concludeEpoch(c)
	}
}

// concludeEpoch answers those who waited for the epoch; after the last one the tasks may go.
func (m *master) concludeEpoch(c *committing) {
	epoch := c.seal.Epoch
	delete(m.commits, epoch.Number)
	now := m.x.clock.Now()
	m.x.noteEpochs(func(s *CheckpointStatus) {
		s.Completed, s.LastAt, s.LastDuration, s.LastEntries = s.Completed+1, now, now.Sub(c.started), epoch.Entries()
		s.LastAligned, s.LastBytes = epoch.Aligned, epoch.Written
		if s.InFlight == epoch.Number {
			s.InFlight = 0
		}
	})
	m.endSpan(epoch.Number, report.SpanOutcome{Entries: epoch.Entries(), Bytes: epoch.Written, Aligned: epoch.Aligned})
	answer(c.seal.Waiters, CheckpointResult{Epoch: epoch.Number})
	m.x.emit(life.Event{Kind: life.EventCheckpoint, Epoch: epoch.Number, Message: fmt.Sprintf("epoch %d sealed", epoch.Number)})
	if epoch.Ends && m.failure == nil {
		m.exiting = true
		for _, t := range m.x.tasks {
			t.in.Command(link.Command{Kind: link.CmdExit})
		}
	}
}

// fail notes the first error and makes every task end.
func (m *master) fail(err error) {
	if m.failure != nil || errors.Is(err, context.Canceled) && m.x.ctx.Err() != nil {
		return
	}
	m.failure = err
	m.x.cancel(err)
}

// conclude closes what was opened, in reverse order, and makes the end known.
func (x *Execution) conclude(m *master) {
	x.cancel(ErrEnded)
	x.group.Wait()
	for _, ev := range x.box.close() {
		if t, ok := ev.(evTrigger); ok {
			t.result <- CheckpointResult{Err: ErrEnded}
		}
	}
	m.memory.stop()
	if m.interval != nil {
		m.interval.Stop()
	}
	if m.limit != nil {
		m.limit.Stop()
	}
	for _, c := range m.commits {
		answer(c.seal.Waiters, CheckpointResult{Epoch: c.seal.Epoch.Number, Err: ErrEnded})
	}
	for epoch := range m.spans {
		m.endSpan(epoch, report.SpanOutcome{Err: cmp.Or(m.failure, ErrEnded)})
	}
	err := m.failure
	if cerr := x.release(); cerr != nil && err == nil {
		err = cerr
	}
	x.endSession()
	to := m.target
	switch {
	case errors.Is(err, ErrCanceled):
		to = life.Suspended
	case err != nil:
		to = life.Failed
	}
	x.mu.Lock()
	x.err = err
	x.ended = x.clock.Now()
	x.mu.Unlock()
	x.move(to)
	if err != nil && to == life.Failed {
		x.log.Error("job failed", failure(x.cfg.Plan.Job, err)...)
	}
	x.closeEvents()
	close(x.done)
}

// release gives everything back: batches in links, readers, operators, writers.
func (x *Execution) release() error {
	for _, t := range x.tasks {
		t.in.Discard()
		for _, e := range t.edges {
			e.discard()
		}
		for _, n := range t.nodes {
			n.dead.discard()
		}
		if t.timer != nil {
			t.timer.Stop()
		}
	}
	var errs []error
	for i := len(x.closers) - 1; i >= 0; i-- {
		c := x.closers[i]
		task := c.node.task.id.String()
		err := apart(func() error { return guarded(c.node.id, task, c.close) })
		var named *OperatorError
		if err != nil && !errors.As(err, &named) {
			err = &OperatorError{Operator: c.node.id, Task: task, Err: fmt.Errorf("close: %w", err)}
		}
		if err != nil {
			errs = append(errs, err)
		}
	}
	x.closers = nil
	if err := x.pool.Check(); err != nil {
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}
