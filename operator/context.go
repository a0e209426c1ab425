package operator

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/state"
)

// Clock tells the time and makes timers. All time in the engine comes from one (T11).
type Clock interface {
	Now() time.Time
	// NewTimer gives a timer that fires once after d.
	NewTimer(d time.Duration) Timer
}

// Timer is a timer of a Clock, as *time.Timer is.
type Timer interface {
	C() <-chan time.Time
	Reset(d time.Duration)
	Stop()
}

// SystemClock is the clock of the machine. It works under testing/synctest.
type SystemClock struct{}

// Now gives time.Now().
func (SystemClock) Now() time.Time { return time.Now() }

// NewTimer gives a time.Timer.
func (SystemClock) NewTimer(d time.Duration) Timer { return systemTimer{time.NewTimer(d)} }

type systemTimer struct{ *time.Timer }

func (t systemTimer) C() <-chan time.Time   { return t.Timer.C }
func (t systemTimer) Reset(d time.Duration) { t.Timer.Reset(d) }
func (t systemTimer) Stop()                 { t.Timer.Stop() }

// Context is what an instance, reader or writer of one task may use of the world. Context.Context ends when the task does.
type Context struct {
	context.Context
	Job            string
	Run            int64  // number of the execution, greater than that of each earlier one of the job; 0 where no store gives numbers
	Operator       string // ID
	Subtask        int    // 0 <= Subtask < Parallelism
	Parallelism    int
	MaxParallelism int
	KeyGroups      state.Range // the key groups that this task owns
	Pool           *column.Pool
	Clock          Clock
	Logger         *slog.Logger
	OnError        ErrorPolicy
	Counters       *Counters
	// SetTimer asks for TimerHandler.OnTimer at that time or soon after; a later call replaces an earlier one.
	SetTimer func(at time.Time)
	// Wake makes the task call WakeHandler.OnWake soon. Safe for use by any goroutine that the instance has started. Nil where no task drives it.
	Wake func()
	// Moving tells that n more goroutines beside the task's (fewer, where n is negative) can move by themselves: one that works for the instance counts
	// from before it is given work until it waits for more, for a clock, or has ended; the task's own is counted by the engine, unless the instance makes
	// it wait. A test knows by it when nothing will happen any more. Nil where nobody counts.
	Moving func(n int)
	// Degraded says that results may be missing from now on and why: it shows in Status and, the first time, as an event. Nil where nobody listens.
	Degraded func(reason string)
	// Pause waits as part of the work of the task; an error says that the task must end. Nil: Clock is waited on.
	Pause func(d time.Duration) error
	// DeadLetter takes what the error policy DeadLetter applies to. Nil where the policy is another.
	DeadLetter func(r Rejected) error
}

// RowError says which value of which row could not be processed.
type RowError struct {
	Field   string // column or sub-expression
	Value   string // as text, cut to a short excerpt
	Place   string // where the row came from, such as "orders.jsonl line 17"
	Problem string // what is wrong; Err's text where it is empty
	Err     error  // what a Go function of the user returned; nil otherwise
}

// Unwrap gives the error of the user's function.
func (e *RowError) Unwrap() error { return e.Err }

func (e *RowError) Error() string {
	s := e.Problem
	if s == "" && e.Err != nil {
		s = e.Err.Error()
	}
	if e.Field != "" {
		s = fmt.Sprintf("%s: %s", e.Field, s)
	}
	if e.Value != "" {
		s = fmt.Sprintf("%s (value %s)", s, e.Value)
	}
	if e.Place != "" {
		s = e.Place + ": " + s
	}
	return s
}

// Counters are what one operator of one task counts beside rows in and out. Safe for concurrent use; the zero value works.
type Counters struct {
	late    atomic.Int64
	future  atomic.Int64
	lead    atomic.Int64
	unknown atomic.Int64
	drops   atomic.Int64

	mu       sync.Mutex
	dropped  map[string]int64
	lastWarn time.Time
	muted    int64
	warned   bool
}

// Reasons under which rows are dropped.
const (
	DropError         = "error"          // in error under Skip
	DropDeadLetter    = "dead_letter"    // in error under DeadLetter: it is in the dead-letter sink
	DropFiltered      = "filtered"       // a filter's condition was not true
	DropNullTimestamp = "null_timestamp" // no event time, and the late policy drops
	DropEvicted       = "evicted"        // its window was evicted at MaxBufferedKeys
	DropGap           = "gap"            // between two windows that leave gaps
	DropLate          = "late"           // late, and the late policy drops
)

// AddLate counts rows that the late policy was applied to.
func (c *Counters) AddLate(n int) { c.late.Add(int64(n)) }

// Late is the number of rows that the late policy was applied to.
func (c *Counters) Late() int64 { return c.late.Load() }

// AddUnknown counts fields of records that the schema has no column for and that were dropped; their rows go on.
func (c *Counters) AddUnknown(n int64) { c.unknown.Add(n) }

// Unknown is the number of fields that were dropped because the schema has no column for them.
func (c *Counters) Unknown() int64 { return c.unknown.Load() }

// AddFuture counts rows that were too far ahead of the clock to move the watermark (MaxFutureSkew).
func (c *Counters) AddFuture(n int) { c.future.Add(int64(n)) }

// Future is the number of rows that AddFuture counted.
func (c *Counters) Future() int64 { return c.future.Load() }

// NoteLead notes how far a row's event time was ahead of the clock, in ms.
func (c *Counters) NoteLead(ms int64) {
	if ms > c.lead.Load() {
		c.lead.Store(ms) // one goroutine writes
	}
}

// Lead is the greatest lead noted, in ms; 0 where no row was ahead of the clock.
func (c *Counters) Lead() int64 { return c.lead.Load() }

// Drop counts rows that go no further, by reason.
func (c *Counters) Drop(reason string, n int) {
	if n == 0 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.dropped == nil {
		c.dropped = map[string]int64{}
	}
	c.dropped[reason] += int64(n)
	c.drops.Add(int64(n))
}

// DroppedRows is the number of rows dropped so far, whatever the reason.
func (c *Counters) DroppedRows() int64 { return c.drops.Load() }

// Dropped gives the number of rows dropped so far, by reason.
func (c *Counters) Dropped() map[string]int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := make(map[string]int64, len(c.dropped))
	for k, v := range c.dropped {
		out[k] = v
	}
	return out
}

// WarnEvery is the least time between two warnings of one operator of one task.
const WarnEvery = 10 * time.Second

// Warn logs a warning of this operator, at most one each WarnEvery, with the number of those suppressed since.
func (c *Context) Warn(msg string, args ...any) {
	k := c.Counters
	k.mu.Lock()
	now := c.Clock.Now()
	if k.warned && now.Sub(k.lastWarn) < WarnEvery {
		k.muted++
		k.mu.Unlock()
		return
	}
	muted := k.muted
	k.warned, k.lastWarn, k.muted = true, now, 0
	k.mu.Unlock()
	c.Logger.Warn(msg, append([]any{"job", c.Job, "operator", c.Operator, "subtask", c.Subtask, "suppressed", muted}, args...)...)
}
