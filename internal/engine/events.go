package engine

import (
	"context"
	"slices"
	"sync"
	"time"
)

// EventKind says what an Event tells of.
type EventKind string

// The kinds of events.
const (
	EventState             EventKind = "state"
	EventCheckpoint        EventKind = "checkpoint"
	EventCheckpointAborted EventKind = "checkpoint_aborted"
	EventDegraded          EventKind = "degraded"
	EventMemory            EventKind = "memory"
	EventRestart           EventKind = "restart"
)

// Event is something that happened to a job.
type Event struct {
	Time     time.Time
	Kind     EventKind
	State    State  // EventState: the new state
	Epoch    int64  // checkpoints
	Operator string // EventDegraded
	Message  string
	Missed   int64 // events that this subscriber was too slow for, just before this one
}

// EventBuffer is how many events a subscriber may be behind; then the oldest are dropped and counted.
const EventBuffer = 256

// feed gives events to subscribers. Publishing never blocks.
type feed struct {
	mu     sync.Mutex
	subs   []*subscriber
	past   []Event // the first EventBuffer events, for those who subscribe late
	closed bool
}

type subscriber struct {
	ch     chan Event
	missed int64
	stop   func() bool // forgets its context
}

// subscribe gives the events so far and those to come; the channel is closed when the job or ctx ends.
func (f *feed) subscribe(ctx context.Context) <-chan Event {
	f.mu.Lock()
	defer f.mu.Unlock()
	s := &subscriber{ch: make(chan Event, EventBuffer)}
	for _, e := range f.past {
		s.ch <- e
	}
	if f.closed {
		close(s.ch)
		return s.ch
	}
	f.subs = append(f.subs, s)
	s.stop = context.AfterFunc(ctx, func() { f.unsubscribe(s) })
	return s.ch
}

func (f *feed) unsubscribe(s *subscriber) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if i := slices.Index(f.subs, s); i >= 0 {
		f.subs = slices.Delete(f.subs, i, i+1)
		close(s.ch)
	}
}

func (f *feed) publish(e Event) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return
	}
	if len(f.past) == EventBuffer {
		f.past = f.past[1:]
	}
	f.past = append(f.past, e)
	for _, s := range f.subs {
		s.give(e)
	}
}

// give makes room by dropping the oldest event.
func (s *subscriber) give(e Event) {
	for {
		e.Missed = s.missed
		select {
		case s.ch <- e:
			s.missed = 0
			return
		default:
		}
		select {
		case old := <-s.ch:
			s.missed += 1 + old.Missed
		default:
		}
	}
}

func (f *feed) close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return
	}
	f.closed = true
	for _, s := range f.subs {
		s.stop()
		close(s.ch)
	}
	f.subs = nil
}

// Events gives the latest events and those to come; the channel is closed when the job or ctx ends. A reader that is more than
// EventBuffer events behind loses the oldest, counted in Event.Missed.
func (x *Execution) Events(ctx context.Context) <-chan Event { return x.events.subscribe(ctx) }

func (x *Execution) emit(e Event) {
	e.Time = x.clock.Now()
	x.events.publish(e)
}

// closeEvents closes the feed where it is the execution's own.
func (x *Execution) closeEvents() {
	if x.cfg.feed == nil {
		x.events.close()
	}
}
