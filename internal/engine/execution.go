package engine

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/arkflow-go/arkflow/checkpoint"
	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/internal/life"
	"github.com/arkflow-go/arkflow/internal/link"
	"github.com/arkflow-go/arkflow/operator"
)

// ErrCanceled is the result of an execution that was cancelled: what was in flight is lost, the last epoch stands.
var ErrCanceled = errors.New("job canceled")

// ErrEnded is the answer to a request to an execution that has ended or is ending.
var ErrEnded = errors.New("the job has ended")

// Execution is a job that runs. Its methods are safe for concurrent use.
type Execution struct {
	cfg      Config
	clock    operator.Clock
	log      *slog.Logger
	hooks    Hooks
	pool     *column.Pool
	activity link.Activity
	started  time.Time
	drift    *drift      // nil where no source has a MaxDrift
	over     atomic.Bool // over MemoryLimit: sources do not read

	session *checkpoint.Session // nil without a bucket
	shape   checkpoint.Shape

	ctx     context.Context // ends when tasks must
	cancel  context.CancelCauseFunc
	tasks   []*task
	closers []closer
	schemas map[string]*arrow.Schema // inferred
	group   sync.WaitGroup

	box    mailbox
	events *life.Feed
	done   chan struct{}

	mu       sync.Mutex // guards what follows; no other lock is taken under it but the feed's
	state    life.State
	err      error
	sealed   *checkpoint.Epoch
	degraded string
	epochs   CheckpointStatus
	ended    time.Time
}

// closer is something that was opened, in the order of opening.
type closer struct {
	node  *node
	close func() error
}

// CheckpointResult is the answer to a request for an epoch.
type CheckpointResult struct {
	Epoch int64
	Err   error
}

// Events to the master.
type (
	evAnswer   struct{ answer checkpoint.Answer }
	evFinished struct{ task checkpoint.TaskID } // the task has flushed at the end of its input
	evExited   struct {
		task  checkpoint.TaskID
		err   error
		saved bool // no task: a savepoint is written, or failed
	}
	evCommitted struct {
		task  checkpoint.TaskID
		epoch int64
		err   error
	}
	evSealed struct {
		seal  checkpoint.Seal
		err   error
		began time.Time
	}
	evTrigger struct {
		result    chan CheckpointResult
		savepoint string // URL of a savepoint to be written too; may be empty
	}
	evStop   struct{} // suspend
	evDrain  struct{}
	evCancel struct{}
)

// mailbox holds events for the master; posting never blocks.
type mailbox struct {
	mu     sync.Mutex
	events []any
	closed bool
	wake   chan struct{}
}

// post gives the master an event; false where it has gone.
func (x *Execution) post(ev any) bool {
	b := &x.box
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return false
	}
	x.activity.Resume()
	b.events = append(b.events, ev)
	select {
	case b.wake <- struct{}{}:
	default:
	}
	return true
}

func (b *mailbox) take() []any {
	b.mu.Lock()
	defer b.mu.Unlock()
	ev := b.events
	b.events = nil
	return ev
}

// close refuses further events and gives those that nobody will handle.
func (b *mailbox) close() []any {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
	return b.events
}

// Done is closed when the execution has ended and everything is closed.
func (x *Execution) Done() <-chan struct{} { return x.done }

// Wait waits for the end and gives the error of the job, nil where it ended well, or the cause of ctx.
func (x *Execution) Wait(ctx context.Context) error {
	select {
	case <-x.done:
		x.mu.Lock()
		defer x.mu.Unlock()
		return x.err
	default:
	}
	select {
	case <-x.done:
		return x.Wait(ctx)
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Savepoint asks for an epoch and waits until it is sealed and committed, and is written to the URL too where there is one.
func (x *Execution) Savepoint(ctx context.Context, url string) (epoch int64, err error) {
	result := make(chan CheckpointResult, 1)
	if !x.post(evTrigger{result, url}) {
		return 0, ErrEnded
	}
	select {
	case r := <-result:
		return r.Epoch, r.Err
	case <-x.done:
		select {
		case r := <-result:
			return r.Epoch, r.Err
		default:
			return 0, ErrEnded
		}
	case <-ctx.Done():
		return 0, context.Cause(ctx)
	}
}

// Stop asks the execution to suspend: rows in flight reach the sinks, a last epoch, no end of time. It does not wait.
func (x *Execution) Stop() { x.post(evStop{}) }

// Drain asks the execution to end for good: as if all input had ended. It does not wait.
func (x *Execution) Drain() { x.post(evDrain{}) }

// Cancel drops what is in flight. It does not wait.
func (x *Execution) Cancel() { x.post(evCancel{}) }

// LastEpoch is the last sealed epoch, or nil.
func (x *Execution) LastEpoch() *checkpoint.Epoch {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.sealed
}

// State is the present state of life.
func (x *Execution) State() life.State {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.state
}

// move changes the state; an illegal move is a fault of the engine and is told as one.
func (x *Execution) move(to life.State) {
	x.mu.Lock()
	from := x.state
	if !life.MayMove(from, to) {
		x.err = errors.Join(x.err, fmt.Errorf("engine: illegal move from %s to %s", from, to))
	}
	x.state = to
	x.mu.Unlock()
	x.emit(life.Event{Kind: life.EventState, State: to, Message: fmt.Sprintf("%s -> %s", from, to)})
	x.log.Info("job state", "job", x.cfg.Plan.Job, "from", string(from), "to", string(to))
}

// noteEpochs changes what Status says of epochs.
func (x *Execution) noteEpochs(f func(*CheckpointStatus)) {
	x.mu.Lock()
	defer x.mu.Unlock()
	f(&x.epochs)
}
