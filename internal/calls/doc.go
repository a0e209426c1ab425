// Package calls answers: how are many calls of a slow function made at once, by few goroutines, for one caller?
//
// A [Pool] has a fixed number of slots and as many goroutines. The caller, one goroutine, fills a slot, submits it, and gets
// it back by Take when its call has ended, with the result or the error of the last try:
//
//	p := calls.New(calls.Config{Context: ctx, InFlight: 8, Timeout: time.Second, NewTimer: newTimer, Now: time.Now}, fetch)
//	p.Slot(0).In = row
//	p.Submit(0)
//	err := p.Wait()
//	ended = p.Take(ended[:0])
//
// The package never makes a goroutine or allocates for a call, but for the context of a call that has a timeout. It knows no row and
// no operator, and never drops a result.
package calls
