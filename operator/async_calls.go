package operator

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"time"
)

// call is one row in flight: a slot that is used again.
type call[In, Out any] struct {
	in  In
	out Out
	err error // of the last try; nil where out is the result

	time    int64 // event time
	timed   bool
	late    int64 // J, where isLate
	isLate  bool
	segment int // of the watermark before which it leaves
	done    bool
}

// calls runs a function for slots on a fixed number of goroutines. The task gives it slots by submit and gets them back by
// take; all other state belongs to it. Its goroutines end at close.
type calls[In, Out any] struct {
	ctx   *Context
	fn    func(context.Context, In) (Out, error)
	cfg   AsyncConfig
	again ErrorPolicy // when calls are made again
	slots []call[In, Out]
	end   context.CancelCauseFunc
	limit context.Context // of all calls
	todo  chan int32      // slots to call for; never full
	group sync.WaitGroup
	alive int // goroutines started

	mu       sync.Mutex
	finished []int32 // slots whose call has ended
	waiting  bool    // the task waits for one
	ready    chan struct{}

	deadlines *deadlines // nil: no timeout
}

var errTaskEnded = errors.New("the task has ended")

func newCalls[In, Out any](ctx *Context, cfg AsyncConfig, fn func(context.Context, In) (Out, error)) *calls[In, Out] {
	c := &calls[In, Out]{ctx: ctx, fn: fn, cfg: cfg, again: cfg.retryPolicy(ctx.OnError), slots: make([]call[In, Out], cfg.InFlight), todo: make(chan int32, cfg.InFlight),
		ready: make(chan struct{}, 1), finished: make([]int32, 0, cfg.InFlight)}
	c.limit, c.end = context.WithCancelCause(ctx.Context)
	return c
}

// submit begins the call for a slot. A goroutine is started with each of the first rows, until there are inFlight.
func (c *calls[In, Out]) submit(slot int32) {
	if c.deadlines == nil && c.cfg.Timeout > 0 {
		c.deadlines = newDeadlines(c.ctx, c.cfg.Timeout)
		c.group.Go(func() { c.deadlines.watch(c.limit) })
	}
	c.moving(1)
	c.todo <- slot
	if c.alive < c.cfg.InFlight {
		c.alive++
		c.group.Go(c.work)
	}
}

func (c *calls[In, Out]) moving(n int) {
	if c.ctx.Moving != nil {
		c.ctx.Moving(n)
	}
}

// work is one goroutine: it calls for one slot after the other.
func (c *calls[In, Out]) work() {
	for c.limit.Err() == nil {
		select {
		case slot := <-c.todo:
			c.run(slot)
		case <-c.limit.Done():
			return
		}
	}
}

// run calls for a slot, again where that fails, and tells the task.
func (c *calls[In, Out]) run(slot int32) {
	s := &c.slots[slot]
	whole := false
	defer func() {
		if v := recover(); v != nil {
			s.err = &panicked{Panic{Value: v, Stack: debug.Stack()}}
		} else if !whole { // runtime.Goexit; the goroutine ends with this
			s.err = &panicked{Panic{Value: "user code ended its goroutine by runtime.Goexit, as FailNow of package testing does; return an error instead", Stack: debug.Stack()}}
		}
		c.finish(slot)
	}()
	retries, _ := c.again.Retries()
	for attempt := 0; ; attempt++ {
		s.err = c.try(s)
		if s.err == nil || attempt == retries || c.limit.Err() != nil || !c.sleep(c.again.RetryAfter(attempt)) {
			break
		}
	}
	whole = true
}

// panicked is an error that is to be a panic on the goroutine of the task.
type panicked struct{ Panic }

func (p *panicked) Error() string { return fmt.Sprintf("panic: %v", p.Value) }

// try makes one call.
func (c *calls[In, Out]) try(s *call[In, Out]) (err error) {
	if c.deadlines == nil {
		s.out, err = c.fn(c.limit, s.in)
		return err
	}
	ctx, end := context.WithCancelCause(c.limit)
	d := c.deadlines.begin(end)
	defer d.over()
	defer end(nil)
	if s.out, err = c.fn(ctx, s.in); err != nil && errors.Is(context.Cause(ctx), context.DeadlineExceeded) {
		return fmt.Errorf("timed out after %s: %w", c.cfg.Timeout, err)
	}
	return err
}

// sleep waits for d of the job's clock; false where the task ends before.
func (c *calls[In, Out]) sleep(d time.Duration) bool {
	timer := c.ctx.Clock.NewTimer(d)
	c.moving(-1)
	defer timer.Stop() // after the next: whoever watches the clock sees that somebody moves before it sees that the timer was noticed
	defer c.moving(1)
	select {
	case <-timer.C():
		return true
	case <-c.limit.Done():
		return false
	}
}

// finish gives a slot back to the task and wakes it.
func (c *calls[In, Out]) finish(slot int32) {
	c.mu.Lock()
	c.finished = append(c.finished, slot)
	wake := c.waiting
	c.waiting = false
	c.mu.Unlock()
	switch {
	case wake:
		c.moving(1)
		c.ready <- struct{}{}
	case c.ctx.Wake != nil:
		c.ctx.Wake()
	}
	c.moving(-1)
}

// take appends the slots whose calls have ended to dst.
func (c *calls[In, Out]) take(dst []int32) []int32 {
	c.mu.Lock()
	defer c.mu.Unlock()
	dst = append(dst, c.finished...)
	c.finished = c.finished[:0]
	return dst
}

// wait waits until a call has ended that was not taken, or the task ends.
func (c *calls[In, Out]) wait() error {
	c.mu.Lock()
	if len(c.finished) > 0 {
		c.mu.Unlock()
		return nil
	}
	c.waiting = true
	c.mu.Unlock()
	c.moving(-1)
	select {
	case <-c.ready:
		return nil
	case <-c.limit.Done():
	}
	c.mu.Lock()
	waiting := c.waiting
	c.waiting = false
	c.mu.Unlock()
	if waiting {
		c.moving(1)
	} else {
		<-c.ready // it was woken at the same moment, and counted
	}
	return context.Cause(c.limit)
}

// close ends the calls in flight and waits until their goroutines have ended.
func (c *calls[In, Out]) close() {
	c.end(errTaskEnded)
	c.group.Wait()
}
