package engine

import (
	"sync/atomic"

	"github.com/arkflow-go/arkflow/internal/plan"
)

// activity counts the goroutines that can move: tasks that are not waiting, and messages to the master that it has not
// handled. Who wakes a waiting task counts it as moving before it does so; so the count is 0 only when nothing can move
// any more until something from outside does (a clock, a source, a caller).
type activity struct {
	moving atomic.Int64
	quiet  func() // called when the count reaches 0; must not block. May be nil
}

func (a *activity) resume() { a.moving.Add(1) }

func (a *activity) pause() {
	if a.moving.Add(-1) == 0 && a.quiet != nil {
		a.quiet()
	}
}

// add counts n more goroutines that can move.
func (a *activity) add(n int) {
	if a.moving.Add(int64(n)) == 0 && n < 0 && a.quiet != nil {
		a.quiet()
	}
}

// Moving is the number of goroutines that can move. At 0 nothing happens until a clock, a source or a caller does something;
// Hooks.Quiet tells when that is reached. An execution that is ending always moves.
func (x *Execution) Moving() int64 {
	n := x.activity.moving.Load()
	if x.ctx.Err() != nil {
		n++
	}
	return n
}

// Resting reports whether the task that reads a source waits for rows or commands, rather than for room in a link or for code that it runs.
func (x *Execution) Resting(source string, subtask int) bool {
	for _, t := range x.tasks {
		if t.source != nil && t.source.node.id == source && t.id.Subtask == subtask {
			return t.in.idle.Load()
		}
	}
	return false
}

// Plan is the plan that runs.
func (x *Execution) Plan() *plan.Plan { return x.cfg.Plan }
