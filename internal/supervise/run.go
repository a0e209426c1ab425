package supervise

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/arkflow-go/arkflow/checkpoint"
	"github.com/arkflow-go/arkflow/checkpoint/storage"
	"github.com/arkflow-go/arkflow/internal/engine"
	"github.com/arkflow-go/arkflow/internal/life"
)

// Policy says how often a failed execution is started again from its last sealed epoch (DESIGN E7). The zero value is never.
type Policy struct {
	Max     int           // restarts in a row: an execution that ran for HealthyAfter ends a row
	Backoff time.Duration // before the first of a row; doubled before each further one, up to MaxBackoff
}

// HealthyAfter is how long an execution runs until its failure counts as the first again.
const HealthyAfter = 10 * time.Minute

// MaxBackoff bounds what doubling makes of the time before a restart.
const MaxBackoff = time.Minute

// errRestarting is the answer to a request for an epoch while a job waits to be restarted.
var errRestarting = errors.New("the job is being restarted")

// Run is a job over all its executions: the first and those that a restart began. Its methods are safe for concurrent use.
type Run struct {
	cfg    engine.Config
	policy Policy
	done   chan struct{}
	ending context.Context // ends when an end was asked for: no restart any more
	forbid context.CancelFunc

	mu       sync.Mutex // guards what follows
	x        *engine.Execution
	restarts int       // in all
	row      int       // since an execution ran for HealthyAfter
	since    time.Time // start of the present execution
	waiting  bool      // between two executions
	err      error
	over     bool
	atEnd    []func()
}

// Start starts an execution and, where it fails, further ones as the policy says. An error of the first start is not tried again.
// started is called with each execution; it may be nil.
func Start(ctx context.Context, cfg engine.Config, policy Policy, started func(*engine.Execution)) (*Run, error) {
	if started == nil {
		started = func(*engine.Execution) {}
	}
	cfg = cfg.WithDefaults()
	cfg.Feed = &life.Feed{}
	r := &Run{cfg: cfg, policy: policy, done: make(chan struct{})}
	r.ending, r.forbid = context.WithCancel(context.WithoutCancel(ctx))
	x, err := engine.Start(ctx, cfg)
	started(x)
	if err != nil {
		cfg.Feed.Close()
		r.forbid()
		return nil, err
	}
	r.x, r.since = x, cfg.Clock.Now()
	detached := context.WithoutCancel(ctx)
	go r.supervise(detached, started)
	return r, nil
}

func (r *Run) supervise(ctx context.Context, started func(*engine.Execution)) {
	defer close(r.done)
	defer r.forbid()
	defer r.cfg.Feed.Close()
	defer r.runAtEnd()
	for {
		x := r.current()
		<-x.Done()
		err := x.Wait(ctx)
		last := x.LastEpoch()
		if r.cfg.Clock.Now().Sub(r.since) >= HealthyAfter {
			r.row = 0
		}
		for err != nil && !errors.Is(err, engine.ErrCanceled) && r.mayRestart(err) {
			next, nerr := r.restart(last)
			started(next)
			if nerr == nil {
				r.mu.Lock()
				r.x, r.waiting, r.since = next, false, r.cfg.Clock.Now()
				asked := r.ending.Err() != nil
				r.mu.Unlock()
				if asked { // the request came while it was starting
					next.Cancel()
				}
				break
			}
			switch {
			case r.ending.Err() != nil: // it is the end that was asked for
			case errors.Is(nerr, storage.ErrFenced): // the last there is to tell, of a failure that nobody has mended
				err = fmt.Errorf("%w; it had failed before: %w", nerr, err)
			default:
				err = nerr
			}
		}
		if r.current() != x {
			continue
		}
		r.mu.Lock()
		r.err, r.waiting = err, false
		r.mu.Unlock()
		return
	}
}

// mayRestart waits for the time of the next restart; false where there is none: a job that was fenced runs elsewhere (DESIGN C4). While it waits
// the job is free: whether it still is at the end, the claim of the next execution decides (checkpoint.Start).
func (r *Run) mayRestart(cause error) bool {
	r.mu.Lock()
	if r.row >= r.policy.Max || r.ending.Err() != nil || errors.Is(cause, storage.ErrFenced) {
		r.mu.Unlock()
		return false
	}
	r.restarts++
	r.row++
	n := r.row
	r.waiting = true
	r.mu.Unlock()
	wait, most := r.policy.Backoff, max(MaxBackoff, r.policy.Backoff)
	for i := 1; i < n && wait < most; i++ {
		wait *= 2
	}
	wait = min(wait, most)
	msg := fmt.Sprintf("restart %d of %d in %s after: %v", n, r.policy.Max, wait, cause)
	r.cfg.Logger.Warn("job restarts", "job", r.cfg.Plan.Job, "restart", n, "of", r.policy.Max, "in", wait, "error", cause)
	r.cfg.Feed.Publish(life.Event{Time: r.cfg.Clock.Now(), Kind: life.EventRestart, Message: msg})
	timer := r.cfg.Clock.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C():
		return true
	case <-r.ending.Done():
		return false
	}
}

// restart starts the next execution; the start is given up where an end is asked for.
func (r *Run) restart(last *checkpoint.Epoch) (*engine.Execution, error) {
	if last != nil && r.cfg.Hold == nil { // an execution that failed before its first epoch leaves the one that it began with
		r.cfg.Restore = last
	}
	return engine.Start(r.ending, r.cfg)
}

// AtEnd calls f once when the job has ended for good, before Done is closed; at once where it has. f must not wait for the job.
func (r *Run) AtEnd(f func()) {
	r.mu.Lock()
	if !r.over {
		r.atEnd = append(r.atEnd, f)
		f = func() {}
	}
	r.mu.Unlock()
	f()
}

func (r *Run) runAtEnd() {
	r.mu.Lock()
	r.over = true
	all := r.atEnd
	r.mu.Unlock()
	for _, f := range all {
		f()
	}
}

func (r *Run) current() *engine.Execution {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.x
}

// end forbids restarts and gives the execution to be ended.
func (r *Run) end() *engine.Execution {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.forbid()
	return r.x
}

// Done is closed when the job has ended for good.
func (r *Run) Done() <-chan struct{} { return r.done }

// Wait waits for the end and gives the error of the last execution, or the cause of ctx.
func (r *Run) Wait(ctx context.Context) error {
	select {
	case <-r.done:
	default:
		select {
		case <-r.done:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.err
}

// Stop, Drain and Cancel ask for an end and forbid restarts; see Execution. While the job waits for a restart, or is being started
// again, they end it with the error that it failed with.
func (r *Run) Stop()   { r.end().Stop() }
func (r *Run) Drain()  { r.end().Drain() }
func (r *Run) Cancel() { r.end().Cancel() }

// Checkpoint asks for an epoch and waits for it; see Execution.Checkpoint.
func (r *Run) Checkpoint(ctx context.Context) (int64, error) {
	return r.Savepoint(ctx, "")
}

// Savepoint is Checkpoint, and writes the epoch to a URL too; see Execution.Savepoint.
func (r *Run) Savepoint(ctx context.Context, url string) (int64, error) {
	r.mu.Lock()
	x, waiting := r.x, r.waiting
	r.mu.Unlock()
	if waiting {
		return 0, errRestarting
	}
	return x.Savepoint(ctx, url)
}

// Status gives the status of the present execution. While the job waits for a restart its state is Starting.
func (r *Run) Status() engine.Status {
	r.mu.Lock()
	x, n, waiting := r.x, r.restarts, r.waiting
	r.mu.Unlock()
	s := x.Status()
	s.Restarts = n
	if waiting {
		s.State = life.Starting
	}
	return s
}

// Events gives the latest events and those to come, over all executions.
func (r *Run) Events(ctx context.Context) <-chan life.Event { return r.cfg.Feed.Subscribe(ctx) }

// Blocked names the tasks of the present execution that have not ended.
func (r *Run) Blocked() []string { return r.current().Blocked() }

// Peek waits for rows that pass an operator; see Execution.Peek.
func (r *Run) Peek(ctx context.Context, operator string, rows int) (*engine.Peeked, error) {
	return r.current().Peek(ctx, operator, rows)
}
