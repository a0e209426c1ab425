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

// Moving is the number of goroutines that can move. At 0 nothing happens until a clock, a source or a caller does something;
// Hooks.Quiet tells when that is reached. An execution that is ending always moves.
func (x *Execution) Moving() int64 {
	n := x.activity.moving.Load()
	if x.ctx.Err() != nil {
		n++
	}
	return n
}

// Plan is the plan that runs.
func (x *Execution) Plan() *plan.Plan { return x.cfg.Plan }
