package engine

import "github.com/arkflow-go/arkflow/internal/plan"

// Moving is the number of goroutines that can move. At 0 nothing happens until a clock, a source or a caller does something;
// Hooks.Quiet tells when that is reached. An execution that is ending always moves.
func (x *Execution) Moving() int64 {
	n := x.activity.Moving()
	if x.ctx.Err() != nil {
		n++
	}
	return n
}

// Resting reports whether the task that reads a source waits for rows or commands, rather than for room in a link, for code that it runs, or
// for the time when it may read again (MaxRate, MemoryLimit).
func (x *Execution) Resting(source string, subtask int) bool {
	for _, t := range x.tasks {
		if t.source != nil && t.source.node.id == source && t.id.Subtask == subtask {
			held := t.restSince.Load() != 0 && t.restHeld.Load() // in this order: restHeld is that of an earlier rest until restSince is set
			return t.in.Idle() && !held
		}
	}
	return false
}

// Plan is the plan that runs.
func (x *Execution) Plan() *plan.Plan { return x.cfg.Plan }
