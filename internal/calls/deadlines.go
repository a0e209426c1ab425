package calls

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// errTimeout is the cause of the end of a call's context.
var errTimeout = fmt.Errorf("the call took too long: %w", context.DeadlineExceeded)

// deadlines ends the contexts of calls that take too long. As all have the same limit, they are due in the order in which they
// began. One goroutine watches the clock.
type deadlines struct {
	cfg  *Config
	wake chan struct{} // has a value when the first deadline may have changed

	mu      sync.Mutex
	queue   []*deadline // by begin; those that are over are dropped from the front
	resting bool        // the watcher waits for a first deadline
}

// deadline is that of one try.
type deadline struct {
	of  *deadlines
	at  time.Time
	end context.CancelCauseFunc // nil once it is over
}

func newDeadlines(cfg *Config) *deadlines {
	return &deadlines{cfg: cfg, wake: make(chan struct{}, 1)}
}

// begin notes that a try begins whose context is ended by end.
func (d *deadlines) begin(end context.CancelCauseFunc) *deadline {
	d.mu.Lock()
	defer d.mu.Unlock()
	n := &deadline{of: d, at: d.cfg.Now().Add(d.cfg.Timeout), end: end}
	d.queue = append(d.queue, n)
	if d.resting {
		d.resting = false
		d.wake <- struct{}{}
	}
	return n
}

// over notes that the try has ended.
func (n *deadline) over() {
	d := n.of
	d.mu.Lock()
	defer d.mu.Unlock()
	n.end = nil
	for len(d.queue) > 0 && d.queue[0].end == nil {
		d.queue[0] = nil
		d.queue = d.queue[1:]
	}
}

// next ends what is due and gives the time of the next deadline; false where there is none, and the watcher rests.
func (d *deadlines) next() (time.Time, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	now := d.cfg.Now()
	for len(d.queue) > 0 {
		n := d.queue[0]
		if n.end != nil {
			if now.Before(n.at) {
				return n.at, true
			}
			n.end(errTimeout)
		}
		d.queue[0] = nil
		d.queue = d.queue[1:]
	}
	d.resting = true
	return time.Time{}, false
}

// watch runs until ctx ends.
func (d *deadlines) watch(ctx context.Context) {
	var timer Timer
	defer func() {
		if timer != nil {
			timer.Stop()
		}
	}()
	for {
		at, some := d.next()
		if !some {
			if timer != nil {
				timer.Stop()
			}
			select {
			case <-d.wake:
				continue
			case <-ctx.Done():
				return
			}
		}
		wait := max(0, at.Sub(d.cfg.Now()))
		if timer == nil {
			timer = d.cfg.NewTimer(wait)
		} else {
			timer.Reset(wait)
		}
		select {
		case <-timer.C():
		case <-ctx.Done():
			return
		}
	}
}
