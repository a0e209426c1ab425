// Package handover answers: how does a goroutine get done what another one does on its way sooner or later?
//
// A [Work] has numbered pieces. Who needs them asks for all and waits a while; the other one takes those that it comes by; the rest is
// done by who asked. Each piece is done once:
//
//	w := handover.New(512)
//	// the one that comes by
//	if w.Take(at) {
//		defer w.Leave(at)
//		…
//		w.Done(at)
//	}
//	// the one that asked
//	w.Wait(200*time.Millisecond, 128)
//	err := w.Finish(func(at int) error { … })
//
// The package never makes a goroutine, and what a piece is it does not know.
package handover
