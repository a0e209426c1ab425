package link

import "sync/atomic"

// Activity counts the goroutines that can move: tasks that are not waiting, and messages to the master that it has not
// handled. Who wakes a waiting task counts it as moving before it does so; so the count is 0 only when nothing can move
// any more until something from outside does (a clock, a source, a caller).
type Activity struct {
	moving atomic.Int64
	Quiet  func() // called when the count reaches 0; must not block. May be nil
}

// Resume counts one more that can move.
func (a *Activity) Resume() { a.moving.Add(1) }

// Pause counts one less.
func (a *Activity) Pause() {
	if a.moving.Add(-1) == 0 && a.Quiet != nil {
		a.Quiet()
	}
}

// Add counts n more goroutines that can move.
func (a *Activity) Add(n int) {
	if a.moving.Add(int64(n)) == 0 && n < 0 && a.Quiet != nil {
		a.Quiet()
	}
}

// Moving is the count.
func (a *Activity) Moving() int64 { return a.moving.Load() }

// Set sets the count, before anybody moves.
func (a *Activity) Set(n int) { a.moving.Store(int64(n)) }
