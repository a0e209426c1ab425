package checkpoint

import (
	"fmt"
	"slices"
	"sort"
)

// Coordinator decides on epochs, at most one in flight: from its barriers until it is sealed, so that epochs are sealed and
// committed in order. It is a pure state machine: Step takes an event and gives what is to be done, in order.
type Coordinator struct {
	job     string
	tasks   map[TaskID]bool
	last    int64 // number of the last epoch begun
	flight  *flight
	waiting []any // waiters of the next epoch
	ending  bool  // an epoch that ends the job has begun, or begins as soon as the one in flight is sealed
}

type flight struct {
	epoch   int64
	ends    bool
	sealing bool // every task has answered
	answers map[TaskID]*TaskSnapshot
	waiters []any
}

// NewCoordinator coordinates the epochs of the planned task set; the first epoch's number is last + 1.
func NewCoordinator(job string, tasks []TaskID, last int64) *Coordinator {
	c := &Coordinator{job: job, tasks: map[TaskID]bool{}, last: last}
	for _, t := range tasks {
		c.tasks[t] = true
	}
	return c
}

// Events.
type (
	// Trigger asks for an epoch. Without a waiter it is ignored while one is in flight; with one the next epoch is begun
	// afterwards, and the waiter is handed back in Seal or Abort.
	Trigger struct{ Waiter any }
	// End asks for the epoch that ends the job. One in flight is aborted, unless it is being sealed: then that is waited for.
	// Nothing can be triggered after it.
	End struct{}
	// Answer is a task's snapshot.
	Answer struct {
		Task     TaskID
		Epoch    int64
		Snapshot *TaskSnapshot
	}
	// Sealed tells that the epoch is durable.
	Sealed struct{ Epoch int64 }
	// Failed tells that the epoch could not be made durable, or that nobody knows.
	Failed struct{ Epoch int64 }
	// Timeout gives up an epoch if it is still in flight.
	Timeout struct{ Epoch int64 }
)

// Actions.
type (
	// Inject sends a barrier through all sources.
	Inject struct {
		Epoch int64
		Ends  bool
	}
	// Abort tells every task that the epoch is over. The answers that there were are not needed any more.
	Abort struct {
		Epoch   int64
		Reason  string
		Waiters []any
		Answers []*TaskSnapshot
	}
	// Seal makes the epoch durable, then commits.
	Seal struct {
		Epoch   *Epoch
		Waiters []any
	}
	// CancelSeal interrupts a Seal that takes too long: whether the epoch is durable is for the one who seals to find out.
	CancelSeal struct{ Epoch int64 }
	// Reject tells of an answer that belongs to no epoch in flight or to no planned task.
	Reject struct {
		Task   TaskID
		Epoch  int64
		Reason string
		Answer *TaskSnapshot
	}
)

// Step takes an event.
func (c *Coordinator) Step(event any) []any {
	switch e := event.(type) {
	case Trigger:
		return c.trigger(e.Waiter)
	case End:
		return c.end()
	case Answer:
		return c.answer(e)
	case Timeout:
		if c.flight == nil || c.flight.epoch != e.Epoch {
			return nil
		}
		if c.flight.sealing {
			return []any{CancelSeal(e)}
		}
		return append(c.abort("timed out"), c.next()...)
	case Sealed:
		return c.sealed(e.Epoch)
	case Failed:
		return c.sealed(e.Epoch) // the next may begin all the same
	}
	return []any{Reject{Reason: fmt.Sprintf("unknown event %T", event)}}
}

// Ending reports whether the epoch that ends the job has been asked for.
func (c *Coordinator) Ending() bool { return c.ending }

// InFlight is the number of the epoch in flight, 0 where there is none.
func (c *Coordinator) InFlight() int64 {
	if c.flight == nil {
		return 0
	}
	return c.flight.epoch
}

func (c *Coordinator) trigger(waiter any) []any {
	if c.ending {
		if waiter == nil {
			return nil
		}
		return []any{Abort{Reason: "the job is ending", Waiters: []any{waiter}}}
	}
	if waiter != nil {
		c.waiting = append(c.waiting, waiter)
	}
	if c.flight != nil {
		return nil
	}
	return c.begin(false)
}

func (c *Coordinator) begin(ends bool) []any {
	c.last++
	c.flight = &flight{epoch: c.last, ends: ends, answers: map[TaskID]*TaskSnapshot{}, waiters: c.waiting}
	c.waiting = nil
	return []any{Inject{Epoch: c.last, Ends: ends}}
}

func (c *Coordinator) end() []any {
	if c.ending {
		return nil
	}
	var out []any
	if c.flight != nil && c.flight.sealing {
		c.ending = true
		return nil
	}
	if c.flight != nil {
		waiters := c.flight.waiters // they are served by the last epoch
		c.flight.waiters = nil
		out = c.abort("the job is ending")
		c.waiting = append(waiters, c.waiting...)
	}
	c.ending = true
	return append(out, c.begin(true)...)
}

func (c *Coordinator) abort(reason string) []any {
	f := c.flight
	c.flight = nil
	if f.ends {
		c.ending = false
	}
	return []any{Abort{Epoch: f.epoch, Reason: reason, Waiters: f.waiters, Answers: f.given()}}
}

// given are the answers that there are, in no order.
func (f *flight) given() (out []*TaskSnapshot) {
	for _, a := range f.answers {
		out = append(out, a)
	}
	return out
}

// next begins the epoch that somebody waits for.
func (c *Coordinator) next() []any {
	if len(c.waiting) == 0 || c.ending {
		return nil
	}
	return c.begin(false)
}

func (c *Coordinator) answer(a Answer) []any {
	f := c.flight
	switch {
	case !c.tasks[a.Task]:
		return []any{Reject{a.Task, a.Epoch, "no such task in the plan", a.Snapshot}}
	case f == nil || f.epoch != a.Epoch || f.sealing:
		return []any{Reject{a.Task, a.Epoch, "the epoch is not in flight", a.Snapshot}}
	case f.answers[a.Task] != nil:
		return []any{Reject{a.Task, a.Epoch, "answered twice", a.Snapshot}}
	}
	f.answers[a.Task] = a.Snapshot
	if len(f.answers) < len(c.tasks) {
		return nil
	}
	f.sealing = true
	return []any{Seal{Epoch: assemble(c.job, f), Waiters: f.waiters}}
}

func (c *Coordinator) sealed(epoch int64) []any {
	f := c.flight
	if f == nil || !f.sealing || f.epoch != epoch {
		return nil
	}
	c.flight = nil
	if c.ending && !f.ends {
		return c.begin(true)
	}
	return c.next()
}

// assemble puts the answers together, in an order that does not depend on that of their arrival.
func assemble(job string, f *flight) *Epoch {
	e := &Epoch{Job: job, Number: f.epoch, Ends: f.ends, Splits: map[string][]SplitSnapshot{}, Operators: map[string][]OperatorSnapshot{}}
	for _, t := range f.answers {
		e.Aligned = max(e.Aligned, t.Aligned)
		for _, o := range t.Operators {
			e.Operators[o.Operator] = append(e.Operators[o.Operator], o)
		}
		for _, s := range t.Splits {
			e.Splits[s.Source] = append(e.Splits[s.Source], s)
		}
	}
	for _, ops := range e.Operators {
		sort.Slice(ops, func(i, j int) bool { return ops[i].Subtask < ops[j].Subtask })
	}
	for _, splits := range e.Splits {
		slices.SortFunc(splits, func(a, b SplitSnapshot) int {
			if a.Split < b.Split {
				return -1
			}
			return 1
		})
	}
	return e
}

// Missing names the tasks that have not answered the epoch in flight, sorted.
func (c *Coordinator) Missing() (out []TaskID) {
	if c.flight == nil {
		return nil
	}
	for t := range c.tasks {
		if c.flight.answers[t] == nil {
			out = append(out, t)
		}
	}
	slices.SortFunc(out, func(a, b TaskID) int {
		if a.String() < b.String() {
			return -1
		}
		return 1
	})
	return out
}
