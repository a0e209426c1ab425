package main

import (
	"sync/atomic"
	"time"

	"github.com/arkflow-go/arkflow/bench/events"
)

const (
	movingKeys  = 1_000_000
	movingBlock = 100_000
)

// moving makes a replay load every key once, wait, and then draw keys from a block that moves on.
type moving struct {
	block    int64                 // keys of the block; all where it is 0
	step     func() int64          // how often the block has moved
	done     func(rows int64) bool // whether the rows after the load are enough
	loaded   chan struct{}         // closed when all keys are loaded
	opened   chan struct{}         // closed when the rows after them may come
	began    func()                // called before the first of them
	barriers delays                // how long rows stood still at each barrier

	load    bool // is over
	started bool
	at      time.Time    // of the last barrier
	polls   int          // since then
	pause   atomic.Int64 // ns, the greatest
}

func newMoving() *moving {
	return &moving{loaded: make(chan struct{}), opened: make(chan struct{}), began: func() {}, step: func() int64 { return 0 }, barriers: newDelays()}
}

// loadRows is the number of rows of the load, whole batches: some keys come twice.
const loadRows = (movingKeys + events.Rows - 1) / events.Rows * events.Rows

// fill sets the keys of the events from start on.
func (m *moving) fill(b *events.Batch, start int64) {
	switch {
	case start < loadRows:
		for i := range b.Key {
			b.Key[i] = (start + int64(i)) % movingKeys
		}
	case m.block > 0:
		from := m.step() * m.block % movingKeys
		for i := range b.Key {
			b.Key[i] = from + b.Key[i]%m.block
		}
	}
}

// poll says whether rows may come, and whether there are no more. It takes note of how long a barrier has kept rows.
func (m *moving) poll(at int64) (ready, over bool) {
	if !m.at.IsZero() {
		if m.polls++; m.polls == 2 { // the first batch after it has passed
			d := time.Since(m.at)
			m.barriers.add(d)
			m.pause.Store(max(m.pause.Load(), int64(d)))
			m.at = time.Time{}
		}
	}
	if at < loadRows {
		return true, false
	}
	if !m.load {
		m.load = true
		close(m.loaded)
	}
	if !m.started {
		select {
		case <-m.opened:
			m.started = true
			m.began()
		default:
			return false, false
		}
	}
	return true, m.done(at - loadRows)
}

// barrier notes that a barrier has come.
func (m *moving) barrier() {
	if m.started {
		m.at, m.polls = time.Now(), 0
	}
}
