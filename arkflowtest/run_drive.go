package arkflowtest

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.uber.org/goleak"
)

// StuckError is the result of a job that cannot move any more although it should: nothing is left to read, no timer is due, and
// it has not ended.
type StuckError struct {
	Why   string
	Tasks string // the state of every task
}

func (e *StuckError) Error() string { return fmt.Sprintf("arkflowtest: %s\n%s", e.Why, e.Tasks) }

// lookAgain is how often the driver looks although nothing told it to: a timer that fired may never be noticed by its owner.
const lookAgain = 20 * time.Millisecond

// quiet reports whether nothing in the job can move until the driver does something.
func (r *run) quiet() bool {
	moving := func() bool {
		var held int64
		for _, g := range r.cfg.gates {
			held += g.held.Load()
		}
		return r.exec.Moving() != held
	}
	if r.fake == nil {
		return atRest(r.feed.stirs.Load, moving, func() bool { return !r.ended && r.feed.woken(r.exec.Resting) })
	}
	return atRest(func() int64 { return r.feed.stirs.Load() + r.fake.stirs.Load() }, moving,
		func() bool { return !r.ended && r.feed.woken(r.exec.Resting) || r.fake.unnoticed() })
}

// atRest reports whether nobody moves and nobody will by itself. Tasks are counted while they move, but not what rouses one that rests: a split
// that has more, a timer that fires. Who is roused counts as moving before it takes note, so the two are looked at in turns; both may
// come about meanwhile, so each, and each taking note, is counted in stirs before it can be seen.
func atRest(stirs func() int64, moving, roused func() bool) bool {
	n := stirs()
	return !moving() && !roused() && !moving() && stirs() == n
}

// settle lets scripts go on until nothing can move any more or the job has ended.
func (r *run) settle() error {
	for {
		if err := r.rest(); err != nil || r.done() {
			return err
		}
		more, err := r.pass()
		if err != nil || !more {
			return err
		}
	}
}

func (r *run) done() bool {
	select {
	case <-r.exec.Done():
		return true
	default:
		return false
	}
}

// rest waits until nothing can move or the job has ended.
func (r *run) rest() error {
	var again *time.Ticker
	for !r.done() && !r.quiet() {
		var tick <-chan time.Time
		if r.fake != nil {
			if again == nil {
				again = time.NewTicker(lookAgain)
				defer again.Stop()
			}
			tick = again.C
		}
		select {
		case <-r.notify:
		case <-tick:
		case <-r.exec.Done():
		case <-r.ctx.Done():
			return r.giveUp(context.Cause(r.ctx).Error())
		case <-r.hard.C:
			return r.giveUp(fmt.Sprintf("the job was given up after %s", r.cfg.timeout))
		}
	}
	return nil
}

// pass lets the splits go on that wait at a gate, together; false where none does.
func (r *run) pass() (bool, error) {
	waiting := r.feed.waiting()
	if len(waiting) == 0 {
		return false, nil
	}
	var d time.Duration
	epoch := false
	for _, g := range waiting {
		d = max(d, g.gate.d)
		epoch = epoch || g.gate.kind == stepCheckpoint
	}
	if d > 0 {
		if err := r.advance(d); err != nil {
			return false, err
		}
	}
	if epoch && !r.done() {
		if _, err := r.checkpoint(); err != nil {
			return false, err
		}
	}
	r.feed.release(waiting)
	return true, nil
}

// maxStops is at how many timers on its way an Advance waits for the job; it is coarser where there are more.
const maxStops = 1000

// advance lets the clock go on, from timer to timer, each time until nothing moves.
func (r *run) advance(d time.Duration) error {
	if r.fake == nil {
		return errors.New("arkflowtest: Advance needs the fake clock")
	}
	to := r.fake.Now().Add(d)
	for {
		now := r.fake.Now()
		next, ok := r.fake.next()
		if least := now.Add(d / maxStops); next.Before(least) {
			next = least
		}
		if !ok || next.After(to) {
			next = to
		}
		r.fake.to(next)
		if err := r.rest(); err != nil || r.done() {
			return err
		}
		if !next.Before(to) {
			return nil
		}
	}
}

// checkpoint takes an epoch.
func (r *run) checkpoint() (int64, error) {
	ctx, cancel := context.WithTimeout(r.ctx, r.cfg.timeout)
	defer cancel()
	return r.handle.Checkpoint(ctx)
}

// Bounds of the jumps from timer to timer while an end goes on: something in the job waits for the clock.
const (
	maxJumps    = 10_000
	maxJumpTime = 24 * time.Hour
)

// arm begins the time that is left until the run is given up.
func (r *run) arm() { r.hard.Reset(r.cfg.timeout) }

// finish lets the scripts run out, ends the job where a split stays open, and waits for the end.
func (r *run) finish() error {
	if err := r.settle(); err != nil {
		return err
	}
	if over, open := r.feed.over(); over && open && !r.ended && !r.done() {
		r.askEnd(r.cfg.end)
	}
	return r.await()
}

// askEnd asks for an end of the job.
func (r *run) askEnd(e End) {
	r.ended = true
	switch e {
	case Drain:
		r.exec.Drain()
	case Stop:
		r.exec.Stop()
	case Cancel:
		r.exec.Cancel()
	}
}

// await waits for the end of the job. Where nothing moves it jumps to the next timer; where there is none the job is stuck.
func (r *run) await() error {
	jumps, from := 0, r.clock.Now()
	for {
		if err := r.settle(); err != nil {
			return err
		}
		if r.done() {
			break
		}
		if r.wild || r.fake == nil || r.held() {
			if err := r.outside(); err != nil {
				return err
			}
			continue
		}
		next, ok := r.fake.next()
		if !ok || jumps == maxJumps || next.Sub(from) > maxJumpTime {
			return r.giveUp("the job cannot move any more: its scripts are over and it has not ended")
		}
		jumps++
		r.fake.to(next)
	}
	err := r.handle.Wait(r.ctx)
	if r.cfg.leaks {
		if leak := goleak.Find(r.leak); leak != nil {
			err = errors.Join(err, leak)
		}
	}
	return err
}

func (r *run) held() bool {
	for _, g := range r.cfg.gates {
		if g.held.Load() > 0 {
			return true
		}
	}
	return false
}

// outside waits for something that this package does not know of.
func (r *run) outside() error {
	select {
	case <-r.notify:
	case <-r.exec.Done():
	case <-r.ctx.Done():
		return r.giveUp(context.Cause(r.ctx).Error())
	case <-r.hard.C:
		return r.giveUp(fmt.Sprintf("the job was given up after %s", r.cfg.timeout))
	}
	return nil
}

// giveUp cancels the job, and gives the state of its tasks as it was before.
func (r *run) giveUp(why string) error {
	err := &StuckError{Why: why, Tasks: r.exec.Tasks()}
	r.ended = true
	for _, g := range r.cfg.gates {
		g.Open()
	}
	r.exec.Cancel()
	t := time.NewTimer(giveUpGrace)
	defer t.Stop()
	select {
	case <-r.exec.Done():
	case <-t.C: // user code that does not look at its context
		err.Why += "; it did not end when it was cancelled: " + fmt.Sprint(r.exec.Blocked())
	}
	return err
}

// giveUpGrace is how long a job may take to end when it is given up.
const giveUpGrace = 2 * time.Second

// result closes the run.
func (r *run) result(err error) *Result {
	r.hard.Stop()
	r.bucket.close(r.ctx)
	out := &Result{into: r.into, sinks: r.sinks, err: err, clock: r.clock}
	if r.exec != nil {
		out.status = r.exec.Status()
		out.plan = r.exec.Plan()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	out.snaps = r.snaps
	return out
}
