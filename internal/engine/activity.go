package engine

import "sync/atomic"

// activity counts the goroutines that can move: tasks that are not waiting, and messages to the master that it has not
// handled. Who wakes a waiting task counts it as moving before it does so; so the count is 0 only when nothing can move
// any more until something from outside does (a clock, a source, a caller).
type activity struct {
	moving atomic.Int64
	quiet  func() // called when the count reaches 0; must not block. May be nil
}

func (a *activity) resume() { a.moving.Add(1) }

func (a *activity) pause() {
	if a.moving.Add(-1) == 0 && a.quiet != nil {
		a.quiet()
	}
}
