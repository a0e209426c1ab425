package arkflowtest

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/arkflow-go/arkflow/operator"
)

// ClockStart is what the clock of a test shows at first: 2024-01-01T00:00:00Z.
var ClockStart = time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)

// Clock is an operator.Clock that goes on only when told to. Safe for concurrent use.
type Clock struct {
	mu     sync.Mutex
	now    time.Time
	timers []*fakeTimer // armed
	fired  []*fakeTimer // whose owner may not have noticed yet
	notify func()       // told when an owner has noticed. May be nil
	stirs  atomic.Int64 // timers that fired, and that were noticed; see atRest
}

// NewClock gives a clock that shows a time.
func NewClock(now time.Time) *Clock { return &Clock{now: now} }

// Now gives the time that the clock shows.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// NewTimer gives a timer that fires when the clock has gone on by d; at once where d is not positive.
func (c *Clock) NewTimer(d time.Duration) operator.Timer {
	t := &fakeTimer{clock: c, c: make(chan time.Time, 1)}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.armLocked(t, d)
	return t
}

// Advance lets the clock go on by d. Timers fire in the order in which they are due, each at its own time; nobody is waited for
// in between.
func (c *Clock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.toLocked(c.now.Add(d))
}

// toLocked lets the clock go on to a time. It holds mu.
func (c *Clock) toLocked(to time.Time) {
	for {
		at, ok := c.nextLocked()
		if !ok || at.After(to) {
			break
		}
		if at.After(c.now) {
			c.now = at
		}
		for _, t := range slices.Clone(c.timers) {
			if !t.at.After(c.now) {
				c.fireLocked(t)
			}
		}
	}
	if to.After(c.now) {
		c.now = to
	}
}

// nextLocked is when the next timer is due. It holds mu.
func (c *Clock) nextLocked() (at time.Time, ok bool) {
	for _, t := range c.timers {
		if !ok || t.at.Before(at) {
			at, ok = t.at, true
		}
	}
	return at, ok
}

// next is when the next timer is due.
func (c *Clock) next() (time.Time, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.nextLocked()
}

// to lets the clock go on to a time.
func (c *Clock) to(at time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.toLocked(at)
}

// How long, of the machine's time, a timer that fired may be unnoticed. Its owner shows by Stop or Reset that it has noticed, as the
// engine always does, however long a busy machine keeps it from running; others may take the time and say nothing, or never look. These
// limits are for the others only, so they are far beyond what a busy machine does to the engine.
const (
	noticeTaken = 2 * time.Second
	noticeNever = 5 * time.Second
)

// unnoticed reports whether a timer has fired and its owner may not have noticed yet.
func (c *Clock) unnoticed() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.fired = slices.DeleteFunc(c.fired, func(t *fakeTimer) bool {
		limit := noticeNever
		if len(t.c) == 0 {
			limit = noticeTaken
		}
		return !t.waiting || time.Since(t.firedAt) > limit
	})
	return len(c.fired) > 0
}

func (c *Clock) armLocked(t *fakeTimer, d time.Duration) {
	t.at = c.now.Add(d)
	c.timers = append(c.timers, t)
	if d <= 0 {
		c.fireLocked(t)
	}
}

func (c *Clock) fireLocked(t *fakeTimer) {
	c.stirs.Add(1)
	c.disarmLocked(t)
	t.c <- c.now
	t.waiting, t.firedAt = true, time.Now()
	c.fired = append(c.fired, t)
}

func (c *Clock) disarmLocked(t *fakeTimer) {
	c.timers = slices.DeleteFunc(c.timers, func(o *fakeTimer) bool { return o == t })
}

type fakeTimer struct {
	clock   *Clock
	c       chan time.Time
	at      time.Time
	waiting bool // fired, and the owner has not shown that it noticed
	firedAt time.Time
}

func (t *fakeTimer) C() <-chan time.Time { return t.c }

func (t *fakeTimer) Reset(d time.Duration) {
	t.quiet(func() { t.clock.armLocked(t, d) })
}

func (t *fakeTimer) Stop() { t.quiet(func() {}) }

// quiet disarms the timer and takes back what was not received, then does what follows under the clock's lock.
func (t *fakeTimer) quiet(then func()) {
	c := t.clock
	c.mu.Lock()
	c.stirs.Add(1)
	c.disarmLocked(t)
	select {
	case <-t.c:
	default:
	}
	noticed := t.waiting
	t.waiting = false
	c.fired = slices.DeleteFunc(c.fired, func(o *fakeTimer) bool { return o == t })
	then()
	notify := c.notify
	c.mu.Unlock()
	if noticed && notify != nil {
		notify()
	}
}
