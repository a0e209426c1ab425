// Package engine answers: what runs when a job runs?
//
// [Start] opens everything a plan needs, restores it from an epoch where there is one, and starts the tasks: one
// goroutine each, which drives one chain of operators. Tasks are joined by bounded links; an inbox aligns barriers and merges
// watermarks and status. One more goroutine, the master, owns the life of the execution and its epochs:
//
//	x, err := engine.Start(ctx, engine.Config{Plan: p, Graph: g, Bind: bind})
//	err = x.Wait(ctx)
//
// What is decided rather than done (alignment, merging of watermarks, states of life) is plain functions without goroutine, clock
// or I/O. The package never looks into a row: that is what operators do.
package engine
