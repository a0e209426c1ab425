package engine

import (
	"fmt"
	"strings"

	"github.com/arkflow-go/arkflow/operator"
)

// Status is what can be said of an execution at one moment. Its numbers are read one after the other while rows flow; they
// add up exactly once the job has ended.
type Status struct {
	Job       string
	State     State
	Err       string // of a failed job
	LastEpoch int64  // the last sealed epoch, 0 where there is none
	Degraded  string // why results may be missing (such as evicted windows); empty where all is well
	Operators []OperatorStatus
}

// OperatorStatus is an operator over all its tasks.
type OperatorStatus struct {
	ID      string
	Kind    string
	Tasks   int
	RowsIn  int64
	RowsOut int64
	Batches int64            // emitted
	Late    int64            // rows that the late policy was applied to
	Dropped map[string]int64 // rows that go no further, by reason
	// Watermark is the least of its tasks in ms; HasWatermark is false while one of them has none.
	Watermark    int64
	HasWatermark bool
	StateEntries int64 // live (window, key) entries and the like
	StateBytes   int64
	// PeakEntries is the greatest number of entries seen, PeakBytes their size then (each summed over tasks).
	PeakEntries int64
	PeakBytes   int64
}

// Operator gives the status of the operator of that ID, or nil.
func (s Status) Operator(id string) *OperatorStatus {
	for i := range s.Operators {
		if s.Operators[i].ID == id {
			return &s.Operators[i]
		}
	}
	return nil
}

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
	x.mu.Unlock()
	at := map[string]int{}
	for _, o := range x.cfg.Plan.Operators {
		at[o.ID] = len(s.Operators)
		s.Operators = append(s.Operators, OperatorStatus{ID: o.ID, Kind: o.Kind, Tasks: o.Parallelism, Dropped: map[string]int64{},
			Watermark: operator.MaxWatermark})
	}
	for _, t := range x.tasks {
		for _, n := range t.nodes {
			s.Operators[at[n.id]].add(n)
		}
	}
	for i := range s.Operators {
		o := &s.Operators[i]
		o.HasWatermark = o.Watermark != operator.MinWatermark
	}
	return s
}

func (o *OperatorStatus) add(n *node) {
	o.RowsIn += n.rowsIn.Load()
	o.RowsOut += n.rowsOut.Load()
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
		x.emit(Event{Kind: EventDegraded, Operator: op, Message: reason})
	}
}

// Tasks says of each task what it is doing, one line each: for the message of a test that is stuck.
func (x *Execution) Tasks() string {
	var b strings.Builder
	for _, t := range x.tasks {
		t.in.mu.Lock()
		state := "busy or blocked on a full link"
		if t.in.idle.Load() {
			state = "waiting for input"
		}
		fmt.Fprintf(&b, "task %s: %s", t.id, state)
		for i, l := range t.in.links {
			blocked := ""
			if l.blocked {
				blocked = ", blocked by alignment"
			}
			fmt.Fprintf(&b, "; link %d: %d elements (%d batches)%s", i, l.n, l.data, blocked)
		}
		t.in.mu.Unlock()
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
		if !t.in.idle.Load() {
			doing = "busy, or waiting for room in a link"
			if n := t.inside.Load(); n != nil {
				doing = fmt.Sprintf("in operator %q", n.id)
			}
		}
		out = append(out, fmt.Sprintf("task %s: %s", t.id, doing))
	}
	return out
}
