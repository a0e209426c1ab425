package arkflow

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/arkflow-go/arkflow/internal/engine"
	"github.com/arkflow-go/arkflow/internal/life"
	"github.com/arkflow-go/arkflow/internal/supervise"
	"github.com/arkflow-go/arkflow/operator"
)

// What a Handle tells of a job; see the fields of each.
type (
	// Status is what can be said of a job at one moment: Job, State, Err (text, of a failed job), Started and Ended, Restarts; LastEpoch and
	// Checkpoints; Memory (bytes in flight and in state) and OverLimit (sources have paused for it); HeldBack (who holds watermarks back);
	// Degraded (why results may be missing, or ""); Operators, of which Operator(id) gives one. What operators count starts anew with a
	// restart. docs/jobs.md lists the fields of each of these types.
	Status = engine.Status
	// OperatorStatus is one operator in a Status, over all its tasks: ID, Kind, Tasks; RowsIn, RowsOut, BytesIn, BytesOut, Batches; Late, Dropped (by reason),
	// Future, Unknown; SourceLag (records there and not read, if HasSourceLag); Watermark (ms, if HasWatermark), Lag, Lead; Busy, Idle, Blocked, QueueFill (0 to 1); StateEntries, StateBytes and the
	// greatest of them, PeakEntries and PeakBytes.
	OperatorStatus = engine.OperatorStatus
	// Event is something that happened to a job: Time, Kind, State (the new one, of EventState), Epoch (of checkpoints), Operator (of
	// EventDegraded), Message, and Missed, the events that this reader was too slow for.
	Event = life.Event
	// EventKind is the kind of an Event.
	EventKind = life.EventKind
	// Peeked is rows that passed an operator, as Records, and their event Times in ms (nil on a processing-time stream): see Handle.Peek.
	Peeked = engine.Peeked
	// CheckpointStatus is what is known of a job's epochs: how many were Completed and Aborted; LastDuration, LastAligned,
	// LastEntries (rows of state) and LastAt of the last one; the number of the one InFlight.
	CheckpointStatus = engine.CheckpointStatus
	// HeldBack says who holds a watermark back: at which Operator and Subtask, By whom (a split, or an operator and task before it), at which
	// Watermark (ms, if HasWatermark) and Since when.
	HeldBack = engine.HeldBack
	// MemoryLimitError says that a job stayed over its memory limit although its sources had paused: Limit and Used in bytes, and the
	// Largest operators.
	MemoryLimitError = engine.MemoryLimitError
	// State is a state of a job's life, as its name; Ended says whether it is a last one.
	State = life.State
	// OperatorError says in which Operator and Task something went wrong while the job ran; Err is what, Stack that of a panic.
	OperatorError = engine.OperatorError
	// PanicError is a panic of user code with a Value, turned into an error.
	PanicError = engine.PanicError
)

// The states of a job's life. Suspended, Finished and Failed are final; under Restart a Failed job is Created again while tries are left.
const (
	Created   = life.Created
	Starting  = life.Starting
	Running   = life.Running
	Draining  = life.Draining
	Suspended = life.Suspended
	Finished  = life.Finished
	Failed    = life.Failed
)

// The kinds of events.
const (
	EventState             = life.EventState
	EventCheckpoint        = life.EventCheckpoint
	EventCheckpointAborted = life.EventCheckpointAborted
	EventDegraded          = life.EventDegraded
	EventMemory            = life.EventMemory
	EventRestart           = life.EventRestart
)

// ErrCanceled is the result of a job that was cancelled: what was in flight is lost.
var ErrCanceled = engine.ErrCanceled

// ErrEnded is the answer to a request to a job that has ended or is ending.
var ErrEnded = engine.ErrEnded

// Handle is a job that was started. Its methods are safe for concurrent use and may be called again.
type Handle struct {
	x    *supervise.Run
	job  string
	plan *Plan
	log  *slog.Logger

	durable bool // epochs survive the process
}

// Plan is the plan that runs.
func (h *Handle) Plan() *Plan { return h.plan }

// Wait waits until the job has ended and everything is closed, and gives its error: nil after a clean end, ErrCanceled after Cancel, what
// failed otherwise. If ctx ends before, it gives the cause of ctx and the job runs on.
func (h *Handle) Wait(ctx context.Context) error {
	err := h.x.Wait(ctx)
	if err == nil || errors.Is(err, ErrCanceled) || ctx.Err() != nil && errors.Is(err, context.Cause(ctx)) {
		return err
	}
	return nameJob(h.job, err)
}

// Done is closed when the job has ended and everything is closed.
func (h *Handle) Done() <-chan struct{} { return h.x.Done() }

// Checkpoint takes an epoch now and gives its number once it is sealed and its commits are done. While another one is in flight it waits
// for the one after it. ErrEnded says that the job has ended or is ending.
func (h *Handle) Checkpoint(ctx context.Context) (epoch int64, err error) { return h.x.Checkpoint(ctx) }

// Status gives the present status.
func (h *Handle) Status() Status { return h.x.Status() }

// Peek waits until the operator has emitted so many rows (a sink: taken them) and gives copies of them, with their event times. If ctx
// or the job ends before, it gives those that there were. One caller at a time can look at an operator.
func (h *Handle) Peek(ctx context.Context, operator string, rows int) (*Peeked, error) {
	return h.x.Peek(ctx, operator, rows)
}

// Events gives the latest events and those to come; the channel is closed when the job or ctx ends. A reader that is more than 256 events
// behind loses the oldest, counted in Event.Missed.
func (h *Handle) Events(ctx context.Context) <-chan Event { return h.x.Events(ctx) }

// Stop suspends the job and waits for it: intake stops, rows in flight reach the sinks, a last epoch is taken, everything is closed.
// It is not the end of time: open windows stay in state and emit nothing; a job that is started again with the same Runtime.Bucket goes
// on with them. Without a bucket what is in open windows is lost with the handle; a warning says how much. If ctx ends before, it gives the cause of ctx and the stop goes on.
func (h *Handle) Stop(ctx context.Context) error {
	h.warnStop()
	h.x.Stop()
	return h.Wait(ctx)
}

// Drain ends the job for good and waits for it: no more input is read, event time ends, windows are flushed, a final epoch is taken.
// If ctx ends before, it gives the cause of ctx and the drain goes on.
func (h *Handle) Drain(ctx context.Context) error {
	h.x.Drain()
	return h.Wait(ctx)
}

// Cancel drops what is in flight and waits for the end; the last epoch stands. It gives nil once the job has been cancelled.
func (h *Handle) Cancel(ctx context.Context) error {
	h.x.Cancel()
	if err := h.Wait(ctx); err != nil && !errors.Is(err, ErrCanceled) {
		return err
	}
	return nil
}

// warnStop says what a stop without durable checkpoints loses.
func (h *Handle) warnStop() {
	if h.durable {
		return
	}
	entries := int64(0)
	status := h.x.Status()
	for _, o := range status.Operators {
		entries += o.StateEntries
	}
	if entries > 0 && !status.State.Ended() {
		h.log.Warn("job stopped without durable checkpoints: open windows are lost", "job", h.job, "entries", entries)
	}
}

// doneWithin waits for the end of the job for at most d.
func (h *Handle) doneWithin(clock operator.Clock, d time.Duration) bool {
	t := clock.NewTimer(d)
	defer t.Stop()
	select {
	case <-h.x.Done():
		return true
	case <-t.C():
		return false
	}
}
