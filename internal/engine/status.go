package engine

import (
	"fmt"
	"strings"
	"time"

	"github.com/arkflow-go/arkflow/internal/life"
	"github.com/arkflow-go/arkflow/internal/plan"
	"github.com/arkflow-go/arkflow/internal/report"
	"github.com/arkflow-go/arkflow/operator"
)

// What Status tells; see package report.
type (
	Status           = report.Status
	CheckpointStatus = report.CheckpointStatus
	HeldBack         = report.HeldBack
	OperatorStatus   = report.OperatorStatus
)

// Status gives the present status.
func (x *Execution) Status() Status {
	x.mu.Lock()
	s := Status{Job: x.cfg.Plan.Job, State: x.state, Degraded: x.degraded}
	if x.err != nil {
		s.Err = x.err.Error()
	}
	if x.sealed != nil {
		s.LastEpoch = x.sealed.Number
	}
	s.Checkpoints, s.Started, s.Ended = x.epochs, x.started, x.ended
	x.mu.Unlock()
	at := map[string]int{}
	for _, o := range x.cfg.Plan.Operators {
		at[o.ID] = len(s.Operators)
		s.Operators = append(s.Operators, OperatorStatus{ID: o.ID, Kind: o.Kind, Tasks: o.Parallelism, Dropped: map[string]int64{},
			Watermark: operator.MaxWatermark, HasSourceLag: o.Role == plan.Source && !s.State.Ended()})
	}
	for _, t := range x.tasks {
		for _, n := range t.nodes {
			n.addTo(&s.Operators[at[n.id]])
		}
		if t.source != nil {
			o := &s.Operators[at[t.source.node.id]]
			for _, sp := range t.source.splits {
				lag, known := sp.lag()
				o.SourceLag, o.HasSourceLag = o.SourceLag+lag, o.HasSourceLag && known
			}
		}
		s.HeldBack = append(s.HeldBack, t.heldBack()...)
	}
	now := x.clock.Now()
	for i := range s.Operators {
		o := &s.Operators[i]
		o.HasWatermark = o.Watermark != operator.MinWatermark
		if o.HasWatermark && o.Watermark != operator.MaxWatermark {
			o.Lag = now.Sub(time.UnixMilli(o.Watermark))
		}
		if !o.HasSourceLag {
			o.SourceLag = 0
		}
	}
	if x.session != nil {
		s.Restored, s.Run = x.session.Progress().Now(), x.session.Run()
	}
	s.Memory, s.OverLimit = x.memory(), x.over.Load()
	return s
}

// addTo adds what the operator of one task has counted.
func (n *node) addTo(o *OperatorStatus) {
	t := n.task
	idle, blocked := time.Duration(t.idleNanos.Load()), time.Duration(t.blockedNanos.Load())
	if since := t.restSince.Load(); since != 0 {
		if d := t.exec.clock.Now().Sub(time.Unix(0, since)); t.restHeld.Load() {
			blocked += d
		} else {
			idle += d
		}
	}
	o.Idle, o.Blocked = o.Idle+idle, o.Blocked+blocked
	o.Busy += max(0, t.alive()-idle-blocked)
	if n == t.root() {
		o.QueueFill = max(o.QueueFill, t.in.Fill())
	}
	o.Future += n.counters.Future()
	o.Lead = max(o.Lead, time.Duration(n.counters.Lead())*time.Millisecond)
	o.Unknown += n.counters.Unknown()
	o.RowsIn += n.rowsIn.Load()
	o.RowsOut += n.rowsOut.Load()
	o.BytesIn += n.bytesIn.Load()
	o.BytesOut += n.bytesOut.Load()
	o.Batches += n.batches.Load()
	o.Late += n.counters.Late()
	for reason, k := range n.counters.Dropped() {
		o.Dropped[reason] += k
	}
	o.Watermark = min(o.Watermark, n.wNow.Load())
	o.StateEntries += n.entries.Load()
	o.StateBytes += n.bytes.Load()
	o.PeakEntries += n.peakEnts.Load()
	o.PeakBytes += n.peak.Load()
}

// lag is how many records are there for the split, unread; ok is false where its reader does not know, or panics.
func (sp *split) lag() (n int64, ok bool) {
	if sp.reader == nil {
		return 0, true
	}
	if l, is := sp.reader.(operator.LagReader); is {
		defer func() { _ = recover() }()
		return l.Lag()
	}
	return 0, false
}

// degrade notes that results may be missing, the first time for an operator as an event.
func (x *Execution) degrade(op, reason string) {
	x.mu.Lock()
	first := !strings.Contains(x.degraded, fmt.Sprintf("operator %q", op))
	if first {
		if x.degraded != "" {
			x.degraded += "; "
		}
		x.degraded += fmt.Sprintf("operator %q: %s", op, reason)
	}
	x.mu.Unlock()
	if first {
		x.emit(life.Event{Kind: life.EventDegraded, Operator: op, Message: reason})
	}
}

// Tasks says of each task what it is doing, one line each: for the message of a test that is stuck.
func (x *Execution) Tasks() string {
	var b strings.Builder
	for _, t := range x.tasks {
		fmt.Fprintf(&b, "task %s: %s", t.id, t.in.Describe())
		for _, n := range t.nodes {
			w := "none"
			if v := n.wNow.Load(); v != operator.MinWatermark {
				w = fmt.Sprint(v)
			}
			fmt.Fprintf(&b, "\n  %s: in %d, out %d, watermark %s", n.id, n.rowsIn.Load(), n.rowsOut.Load(), w)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// Blocked names the tasks that have not ended, with the operator whose code they run where it is known.
func (x *Execution) Blocked() (out []string) {
	for _, t := range x.tasks {
		if t.exited.Load() {
			continue
		}
		doing := "waiting for input"
		if !t.in.Idle() {
			doing = "busy, or waiting for room in a link"
			if n := t.inside.Load(); n != nil {
				doing = fmt.Sprintf("in operator %q", n.id)
			}
		}
		out = append(out, fmt.Sprintf("task %s: %s", t.id, doing))
	}
	return out
}

// alive is how long the task has run.
func (t *task) alive() time.Duration {
	end := t.endedAt.Load()
	if end == 0 {
		return t.exec.clock.Now().Sub(t.exec.started)
	}
	return time.Duration(end)
}

// heldBack says which input holds the watermark of the task back, where it has several or is a source.
func (t *task) heldBack() []HeldBack {
	i := int(t.heldBy.Load())
	if i < 0 || t.source == nil && t.in.Links() < 2 {
		return nil
	}
	if t.source != nil && i >= len(t.source.splits) { // the start failed before its splits were open
		return nil
	}
	w := t.heldW.Load()
	h := HeldBack{Operator: t.id.Chain, Subtask: t.id.Subtask, Watermark: w, HasWatermark: w != operator.MinWatermark,
		Since: time.UnixMilli(t.heldSince.Load())}
	if t.source != nil {
		h.By = fmt.Sprintf("split %q", t.source.splits[i].id)
	} else {
		h.By = t.in.From(i)
	}
	return []HeldBack{h}
}
