package engine

import (
	"context"
	"math"
	"sync/atomic"
	"time"

	"github.com/arkflow-go/arkflow/internal/pace"
	"github.com/arkflow-go/arkflow/operator"
	"github.com/arkflow-go/arkflow/shuffle"
)

// hold waits until rows may pass; it is back-pressure to those upstream.
func (t *task) hold(p *pace.Pace) error {
	if p.PerSecond <= 0 {
		return nil
	}
	now := t.exec.clock.Now()
	if p.Open(now) {
		return nil
	}
	return t.pause(p.Ready.Sub(now))
}

// pause waits as part of the work of the task; an error says that the task must end.
func (t *task) pause(d time.Duration) error {
	t.beginRest(true)
	defer t.endRest()
	timer := t.exec.clock.NewTimer(d)
	defer timer.Stop()
	t.exec.activity.Pause()
	defer t.exec.activity.Resume()
	select {
	case <-timer.C():
		return nil
	case <-t.ctx.Done():
		return context.Cause(t.ctx)
	}
}

// drift keeps splits of a job together (DESIGN T13): each source task publishes how far its slowest active split is, and a split that
// is more than its source's MaxDrift ahead of the slowest of all is not polled.
type drift struct {
	slowest []atomic.Int64 // by source task: MaxWatermark where none of its splits is active
	paused  []atomic.Bool  // by source task: a split of it waits for others
	tasks   []*task
}

func newDrift(tasks []*task) *drift {
	d := &drift{tasks: tasks, slowest: make([]atomic.Int64, len(tasks)), paused: make([]atomic.Bool, len(tasks))}
	for i := range d.slowest {
		d.slowest[i].Store(operator.MinWatermark)
		tasks[i].source.driftIndex = i
	}
	return d
}

// floor is how far the slowest active split of the job is.
func (d *drift) floor() int64 {
	least := operator.MaxWatermark
	for i := range d.slowest {
		least = min(least, d.slowest[i].Load())
	}
	return least
}

// publish tells how far the slowest active split of a task is, and wakes those who wait for it.
func (d *drift) publish(s *sourceStage) {
	if s.driftIndex < 0 {
		return
	}
	least := operator.MaxWatermark
	for i, sp := range s.splits {
		if s.task.merge.Status[i] == shuffle.Active && !sp.done {
			least = min(least, sp.w)
		}
	}
	if d.slowest[s.driftIndex].Swap(least) == least {
		return
	}
	for i, t := range d.tasks {
		if i != s.driftIndex && d.paused[i].CompareAndSwap(true, false) {
			t.in.Poke()
		}
	}
}

// tooFarAhead reports whether a split must wait for the others.
func (s *sourceStage) tooFarAhead(sp *split) bool {
	d := s.task.exec.drift
	if d == nil || s.driftIndex < 0 || s.maxDrift <= 0 || sp.w == operator.MinWatermark {
		return false
	}
	limit := s.maxDrift.Milliseconds()
	ahead := func() bool {
		f := d.floor()
		return f == operator.MinWatermark || f < sp.w && sp.w > addSaturating(f, limit)
	}
	if !ahead() {
		return false
	}
	d.paused[s.driftIndex].Store(true)
	return ahead() // the slowest may have moved before it could see that we wait
}

func addSaturating(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}
