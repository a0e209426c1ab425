package engine

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/arkflow-go/arkflow/checkpoint"
	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/internal/align"
	"github.com/arkflow-go/arkflow/internal/link"
	"github.com/arkflow-go/arkflow/operator"
	"github.com/arkflow-go/arkflow/shuffle"
)

// task is one goroutine that drives one chain of operators (DESIGN E1). Everything in it belongs to that goroutine, but
// for the inbox and the atomics of its nodes.
type task struct {
	id    checkpoint.TaskID
	exec  *Execution
	ctx   context.Context
	in    *link.Inbox
	nodes []*node // every node after those it reads from; the first is the root
	edges []*outEdge

	source *sourceStage   // nil in a task that reads from links
	merge  *align.Merge   // of links, or of splits
	align  *align.Aligner // links only

	aligning   int64     // epoch whose barrier blocked an input last
	alignSince time.Time // and when it blocked the first
	ports      []int     // input of the root that link i leads to

	beside  []*node       // nodes that work beside the goroutine of the task, in the order of nodes
	current *node         // whose code runs, for guard
	blocked time.Duration // time spent held up by others: links without space, rates, the memory limit
	timer   operator.Timer
	phase   phase
	inside  atomic.Pointer[node] // current, for who asks from outside
	exited  atomic.Bool

	idleNanos    atomic.Int64 // time spent waiting for input
	blockedNanos atomic.Int64 // blocked, for Status
	restSince    atomic.Int64 // it does not work now: since when, ns since 1970; 0 where it works
	restHeld     atomic.Bool  // held up by others, rather than without input
	heldBy       atomic.Int32 // the input that holds the watermark of the task back, -1 where none does
	heldSince    atomic.Int64 // since when, ms since 1970
	heldW        atomic.Int64 // its watermark
	endedAt      atomic.Int64 // how long the task has run, once it has ended
	lastBar      int64        // epoch of the last barrier that was answered
}

// phase is how far a task is.
type phase uint8

const (
	phaseOpen     phase = iota // rows flow
	phaseFinished              // all input has ended; barriers may come
	phaseEnded                 // the last barrier was answered; commits may come
	phaseExit                  // the goroutine ends
)

func (t *task) pool() *column.Pool { return t.exec.pool }
func (t *task) root() *node        { return t.nodes[0] }

// run is the goroutine of the task.
func (t *task) run() error {
	defer func() {
		t.endedAt.Store(int64(t.exec.clock.Now().Sub(t.exec.started)))
		t.exited.Store(true)
	}()
	loop := t.readLinks
	if t.source != nil {
		loop = t.readSplits
	}
	return t.guard(func() error {
		t.noteHolder()
		if err := t.resume(); err != nil {
			return err
		}
		for t.phase != phaseExit {
			if err := t.ctx.Err(); err != nil {
				return context.Cause(t.ctx)
			}
			if err := t.obey(); err != nil || t.phase == phaseExit {
				return err
			}
			if err := t.fireTimers(); err != nil {
				return err
			}
			if err := t.answerWake(); err != nil {
				return err
			}
			if err := loop(); err != nil {
				return err
			}
		}
		return nil
	})
}

// obey carries out the commands of the master.
func (t *task) obey() error {
	for _, c := range t.in.TakeCommands() {
		switch c.Kind {
		case link.CmdBarrier:
			if err := t.barrier(c.Epoch, c.Ends); err != nil {
				return err
			}
		case link.CmdAbort:
			if t.align != nil {
				t.apply(t.align.Cancel(c.Epoch))
			}
		case link.CmdCommit:
			t.exec.post(evCommitted{t.id, c.Epoch, t.commit(c.Epoch)})
		case link.CmdDrain:
			if err := t.source.drain(); err != nil {
				return err
			}
		case link.CmdExit:
			t.phase = phaseExit
		}
	}
	return nil
}

// readLinks takes the next element of the inbox, or waits for one.
func (t *task) readLinks() error {
	i, e, ok := t.in.Pop()
	if !ok {
		return t.wait(nil)
	}
	switch e.Kind {
	case shuffle.Data:
		err := t.root().process(t.ports[i], e.Batch)
		e.Batch.Release()
		return err
	case shuffle.Watermark:
		t.merge.Watermark(i, e.Time)
		return t.advance()
	case shuffle.StatusOf:
		t.merge.Status[i] = e.Status
		return t.advance()
	case shuffle.Barrier:
		a := t.align.Barrier(i, e.Epoch)
		if a.Block && t.aligning != e.Epoch {
			t.aligning, t.alignSince = e.Epoch, t.exec.clock.Now()
		}
		if a.Snapshot != 0 {
			if err := t.barrier(a.Snapshot, e.Ends); err != nil {
				return err
			}
		}
		t.apply(a)
		if a.Block { // after unblocking what the epoch that it subsumed had blocked
			t.in.Block(i)
		}
	}
	return nil
}

// apply unblocks links where the aligner says so.
func (t *task) apply(a align.Alignment) {
	if a.Unblock {
		t.in.Unblock()
	}
}

// advance passes on the watermark and the status of the task after one of its inputs has changed.
func (t *task) advance() error {
	if t.phase != phaseOpen {
		return nil
	}
	w, status := t.merge.Result()
	t.noteHolder()
	if status == shuffle.Finished {
		return t.finish()
	}
	if w > t.root().w {
		if err := t.root().watermark(w); err != nil {
			return err
		}
	}
	if status == shuffle.Idle {
		if err := t.settle(); err != nil {
			return err
		}
	}
	for _, e := range t.edges {
		if err := e.setStatus(status); err != nil {
			return err
		}
	}
	return nil
}

// noteHolder notes for Status which input holds the watermark back, and since when it is that one at that watermark.
func (t *task) noteHolder() {
	i, w := t.merge.Holder()
	if int32(i) == t.heldBy.Load() && w == t.heldW.Load() {
		return
	}
	t.heldW.Store(w)
	t.heldBy.Store(int32(i))
	t.heldSince.Store(t.exec.clock.Now().UnixMilli())
}

// finish flushes the operators at the end of all input and tells the tasks behind.
func (t *task) finish() error {
	t.phase = phaseFinished
	if err := t.root().watermark(operator.MaxWatermark); err != nil {
		return err
	}
	for _, n := range t.nodes {
		if err := n.drain(); err != nil {
			return err
		}
	}
	for _, e := range t.edges {
		if err := e.setStatus(shuffle.Finished); err != nil {
			return err
		}
	}
	t.exec.post(evFinished{t.id})
	return nil
}

// barrier takes the snapshot of the task, sends the barrier on and answers the master.
func (t *task) barrier(epoch int64, ends bool) error {
	snap := &checkpoint.TaskSnapshot{}
	if t.source != nil {
		if err := t.source.snapshot(snap); err != nil {
			return err
		}
	}
	if err := t.settle(); err != nil {
		return err
	}
	for _, n := range t.nodes {
		if err := n.snapshot(epoch, snap); err != nil {
			return err
		}
	}
	for _, e := range t.edges {
		if err := e.control(shuffle.Element{Kind: shuffle.Barrier, Epoch: epoch, Ends: ends}); err != nil {
			return err
		}
	}
	if t.aligning == epoch {
		snap.Aligned = t.exec.clock.Now().Sub(t.alignSince)
	}
	t.lastBar = epoch
	if ends {
		t.phase = phaseEnded
	}
	t.exec.post(evAnswer{checkpoint.Answer{Task: t.id, Epoch: epoch, Snapshot: snap}})
	return nil
}

// commits reports whether a writer of the task commits in two phases.
func (t *task) commits() bool {
	for _, n := range t.nodes {
		if _, ok := n.writer.(operator.TwoPhaseWriter); ok {
			return true
		}
	}
	return false
}

// commit commits what the writers of the task have prepared up to an epoch.
func (t *task) commit(epoch int64) error {
	for _, n := range t.nodes {
		w, ok := n.writer.(operator.TwoPhaseWriter)
		if !ok {
			continue
		}
		for len(n.unsealed) > 0 && n.unsealed[0].Epoch <= epoch {
			p := n.unsealed[0]
			prev := n.enter()
			err := w.Commit(p.Epoch, p.Data)
			n.leave(prev)
			if err != nil {
				return n.wrap(err)
			}
			n.unsealed = n.unsealed[1:]
		}
	}
	return nil
}

// send hands an element to a link; the time it waits for space is not idleness of a source.
func (t *task) send(l *link.Link, e shuffle.Element) error {
	if e.Kind != shuffle.Data || !l.Full() {
		return l.Send(t.ctx, e)
	}
	t.beginRest(true)
	defer t.endRest()
	return l.Send(t.ctx, e)
}

// beginRest notes that the task does not work from now on: held up by others, or without input. endRest ends that.
func (t *task) beginRest(held bool) {
	t.restHeld.Store(held)
	t.restSince.Store(t.exec.clock.Now().UnixNano())
}

func (t *task) endRest() {
	d := time.Duration(t.exec.clock.Now().UnixNano() - t.restSince.Swap(0))
	if t.restHeld.Load() {
		t.noteBlocked(d)
	} else {
		t.idleNanos.Add(int64(d))
	}
}

// noteBlocked notes time that the task was held up by others.
func (t *task) noteBlocked(d time.Duration) {
	t.blocked += d
	t.blockedNanos.Store(int64(t.blocked))
}

// fireTimers calls the operators whose time has come.
func (t *task) fireTimers() error {
	at := t.nextTimer()
	if at.IsZero() || t.phase != phaseOpen {
		return nil
	}
	now := t.exec.clock.Now()
	if now.Before(at) {
		return nil
	}
	for _, n := range t.nodes {
		if err := n.onTimer(now); err != nil {
			return err
		}
	}
	return nil
}

// nextTimer is the earliest timer of an operator, zero where there is none.
func (t *task) nextTimer() (at time.Time) {
	for _, n := range t.nodes {
		if !n.timerAt.IsZero() && (at.IsZero() || n.timerAt.Before(at)) {
			at = n.timerAt
		}
	}
	return at
}

// wait sends on what was collected and waits for the inbox, a timer of an operator, or what the source stage waits for.
func (t *task) wait(s *sourceStage) error {
	for _, e := range t.edges {
		if err := e.flush(); err != nil {
			return err
		}
	}
	if !t.in.Rest() {
		return nil
	}
	var due <-chan time.Time
	at := t.nextTimer()
	if t.phase != phaseOpen {
		at = time.Time{}
	}
	if s != nil {
		if d := s.deadline(); !d.IsZero() && (at.IsZero() || d.Before(at)) {
			at = d
		}
	}
	if !at.IsZero() {
		d := max(0, at.Sub(t.exec.clock.Now()))
		if t.timer == nil {
			t.timer = t.exec.clock.NewTimer(d)
		} else {
			t.timer.Reset(d)
		}
		due = t.timer.C()
	}
	t.exec.activity.Pause()
	t.beginRest(s != nil && s.heldUp())
	woken := false
	if s != nil {
		woken = s.await(t.in.Wake(), due)
	} else {
		select {
		case <-t.in.Wake():
			woken = true
		case <-due:
		case <-t.ctx.Done():
		}
	}
	if !woken {
		t.in.Rise()
	}
	if due != nil {
		t.timer.Stop()
	}
	t.endRest()
	return nil
}
