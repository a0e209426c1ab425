package calls

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"time"
)

// Timer is a timer of the job's clock, as *time.Timer is.
type Timer interface {
	C() <-chan time.Time
	Reset(d time.Duration)
	Stop()
}

// Config says how calls are made.
type Config struct {
	Context    context.Context // of all calls
	InFlight   int             // slots, and goroutines
	Timeout    time.Duration   // of each try; 0 means no limit
	Retries    int             // further tries of a call that has failed
	RetryAfter func(attempt int) time.Duration
	Now        func() time.Time
	NewTimer   func(d time.Duration) Timer
	Moving     func(n int) // told of n more goroutines that can move by themselves. May be nil
	Wake       func()      // called when a call has ended and nobody waits. May be nil
}

// Slot is one call.
type Slot[In, Out any] struct {
	In  In
	Out Out
	Err error // of the last try; nil where Out is the result
}

// Panic is the Err of a call whose function panicked, or ended its goroutine. It is not tried again.
type Panic struct {
	Value any
	Stack []byte
}

func (p *Panic) Error() string { return fmt.Sprintf("panic: %v", p.Value) }

// Pool runs a function for slots. Its methods belong to one goroutine, the caller's.
type Pool[In, Out any] struct {
	cfg   Config
	fn    func(context.Context, In) (Out, error)
	slots []Slot[In, Out]
	ctx   context.Context // of all calls
	end   context.CancelCauseFunc
	todo  chan int32 // slots to call for; never full
	group sync.WaitGroup
	alive int // goroutines started

	mu       sync.Mutex
	finished []int32 // slots whose call has ended
	waiting  bool    // the caller waits for one
	ready    chan struct{}

	deadlines *deadlines // nil: no timeout, or no call yet
}

var errClosed = errors.New("the calls were closed")

// New makes a pool. It starts no goroutine before the first Submit.
func New[In, Out any](cfg Config, fn func(context.Context, In) (Out, error)) *Pool[In, Out] {
	p := &Pool[In, Out]{cfg: cfg, fn: fn, slots: make([]Slot[In, Out], cfg.InFlight), todo: make(chan int32, cfg.InFlight),
		ready: make(chan struct{}, 1), finished: make([]int32, 0, cfg.InFlight)}
	p.ctx, p.end = context.WithCancelCause(cfg.Context)
	return p
}

// Slot gives a slot. It is the caller's but from Submit to Take.
func (p *Pool[In, Out]) Slot(i int32) *Slot[In, Out] { return &p.slots[i] }

// Submit begins the call for a slot. With each of the first ones a goroutine is started, until there are InFlight.
func (p *Pool[In, Out]) Submit(slot int32) {
	if p.deadlines == nil && p.cfg.Timeout > 0 {
		p.deadlines = newDeadlines(&p.cfg)
		p.group.Go(func() { p.deadlines.watch(p.ctx) })
	}
	p.moving(1)
	p.todo <- slot
	if p.alive < p.cfg.InFlight {
		p.alive++
		p.group.Go(p.work)
	}
}

func (p *Pool[In, Out]) moving(n int) {
	if p.cfg.Moving != nil {
		p.cfg.Moving(n)
	}
}

// work is one goroutine: it calls for one slot after the other.
func (p *Pool[In, Out]) work() {
	for p.ctx.Err() == nil {
		select {
		case slot := <-p.todo:
			p.run(slot)
		case <-p.ctx.Done():
			return
		}
	}
}

// run calls for a slot, again where that fails, and tells the caller.
func (p *Pool[In, Out]) run(slot int32) {
	s := &p.slots[slot]
	whole := false
	defer func() {
		if v := recover(); v != nil {
			s.Err = &Panic{Value: v, Stack: debug.Stack()}
		} else if !whole { // runtime.Goexit; the goroutine ends with this
			s.Err = &Panic{Value: "user code ended its goroutine by runtime.Goexit, as FailNow of package testing does; return an error instead", Stack: debug.Stack()}
		}
		p.finish(slot)
	}()
	for attempt := 0; ; attempt++ {
		s.Err = p.try(s)
		if s.Err == nil || attempt >= p.cfg.Retries || p.ctx.Err() != nil || !p.sleep(p.cfg.RetryAfter(attempt)) {
			break
		}
	}
	whole = true
}

// try makes one call.
func (p *Pool[In, Out]) try(s *Slot[In, Out]) (err error) {
	if p.deadlines == nil {
		s.Out, err = p.fn(p.ctx, s.In)
		return err
	}
	ctx, end := context.WithCancelCause(p.ctx)
	d := p.deadlines.begin(end)
	defer end(nil)
	defer d.over()
	if s.Out, err = p.fn(ctx, s.In); err != nil && errors.Is(context.Cause(ctx), errTimeout) {
		return fmt.Errorf("timed out after %s: %w", p.cfg.Timeout, err)
	}
	return err
}

// sleep waits for d of the job's clock; false where the pool is closed before.
func (p *Pool[In, Out]) sleep(d time.Duration) bool {
	timer := p.cfg.NewTimer(d)
	p.moving(-1)
	defer timer.Stop() // after the next: whoever drives the clock sees that somebody moves before it sees that the timer was noticed
	defer p.moving(1)
	select {
	case <-timer.C():
		return true
	case <-p.ctx.Done():
		return false
	}
}

// finish gives a slot back to the caller and wakes it. Whoever is woken counts as moving before this goroutine ceases to.
func (p *Pool[In, Out]) finish(slot int32) {
	p.mu.Lock()
	p.finished = append(p.finished, slot)
	wake := p.waiting
	p.waiting = false
	p.mu.Unlock()
	switch {
	case wake:
		p.moving(1)
		p.ready <- struct{}{}
	case p.cfg.Wake != nil:
		p.cfg.Wake()
	}
	p.moving(-1)
}

// Take appends the slots whose calls have ended since the last Take to dst.
func (p *Pool[In, Out]) Take(dst []int32) []int32 {
	p.mu.Lock()
	defer p.mu.Unlock()
	dst = append(dst, p.finished...)
	p.finished = p.finished[:0]
	return dst
}

// Wait waits until a call has ended that was not taken. There must be one in flight. The error is the cause of the context's end.
func (p *Pool[In, Out]) Wait() error {
	p.mu.Lock()
	if len(p.finished) > 0 {
		p.mu.Unlock()
		return nil
	}
	p.waiting = true
	p.mu.Unlock()
	p.moving(-1)
	select {
	case <-p.ready:
		return nil
	case <-p.ctx.Done():
	}
	p.mu.Lock()
	waiting := p.waiting
	p.waiting = false
	p.mu.Unlock()
	if waiting {
		p.moving(1)
	} else {
		<-p.ready // it was woken at the same moment, and counted
	}
	return context.Cause(p.ctx)
}

// Close ends the contexts of the calls in flight and waits until all goroutines have ended.
func (p *Pool[In, Out]) Close() {
	p.end(errClosed)
	p.group.Wait()
}
