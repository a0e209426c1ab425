package handover

import (
	"sync/atomic"
	"time"
)

// Work is pieces of work that two goroutines share. What one of them wrote before Done the other one sees after Finish.
type Work struct {
	state []atomic.Uint32
	left  atomic.Int32  // pieces that are not done
	over  atomic.Bool   // the one that comes by does not any more
	stir  chan struct{} // has a value when left became 0, a piece was left, or over was set
}

// The states of a piece.
const (
	wanted = iota
	taken
	done
)

// New gives n pieces that nobody has taken.
func New(n int) *Work {
	w := &Work{state: make([]atomic.Uint32, n), stir: make(chan struct{}, 1)}
	w.left.Store(int32(n))
	return w
}

// Take reports whether a piece is the caller's, who must call Done or Leave.
func (w *Work) Take(at int) bool { return w.state[at].CompareAndSwap(wanted, taken) }

// Done tells that a piece that was taken is done.
func (w *Work) Done(at int) {
	w.state[at].Store(done)
	if w.left.Add(-1) == 0 {
		w.signal()
	}
}

// Leave gives up a piece that was taken, unless it is done.
func (w *Work) Leave(at int) {
	if w.state[at].CompareAndSwap(taken, wanted) {
		w.signal()
	}
}

// Abandon tells that the one that comes by will take no more.
func (w *Work) Abandon() {
	w.over.Store(true)
	w.signal()
}

// Left is how many pieces are not done.
func (w *Work) Left() int { return int(w.left.Load()) }

func (w *Work) signal() {
	select {
	case w.stir <- struct{}{}:
	default:
	}
}

// Wait waits for the one that comes by: until all is done, until it abandons the rest, or until fewer than `least` pieces were done in
// a lull.
func (w *Work) Wait(lull time.Duration, least int) {
	tick := time.NewTicker(lull)
	defer tick.Stop()
	for last := w.Left(); w.Left() > 0 && !w.over.Load(); {
		select {
		case <-w.stir:
		case <-tick.C:
			left := w.Left()
			if left > last-least {
				return
			}
			last = left
		}
	}
}

// Finish does what is left, and returns when all is done; or with the first error of do, after which it may be called again.
func (w *Work) Finish(do func(at int) error) error {
	for w.Left() > 0 {
		for at := range w.state {
			if !w.Take(at) {
				continue
			}
			if err := do(at); err != nil {
				w.Leave(at)
				return err
			}
			w.Done(at)
		}
		if w.Left() > 0 {
			<-w.stir // the other one has one
		}
	}
	return nil
}
