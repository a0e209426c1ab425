package life

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

// Feed gives events to subscribers. The zero value is ready; publishing never blocks.
type Feed struct {
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

// Subscribe gives the events so far and those to come; the channel is closed when the job or ctx ends.
func (f *Feed) Subscribe(ctx context.Context) <-chan Event {
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

func (f *Feed) unsubscribe(s *subscriber) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if i := slices.Index(f.subs, s); i >= 0 {
		f.subs = slices.Delete(f.subs, i, i+1)
		close(s.ch)
	}
}

// Publish gives an event to everybody; after Close to nobody.
func (f *Feed) Publish(e Event) {
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

// Close ends every subscription.
func (f *Feed) Close() {
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
