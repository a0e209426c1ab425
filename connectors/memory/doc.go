// Package memory answers: how do rows of this program get into a job, and results out of it?
//
// A [Source] gives fixed rows: structs ([Of]) or Arrow records ([Records]). An [Inlet] takes rows while the job runs, for a job
// within a service. A [Sink] keeps what it is given:
//
//	out := memory.NewSink()
//	job.Source("in", memory.Of(orders), arkflow.ProcessingTime()).Sink("out", out)
//	err := job.Run(ctx)
//	totals, err := memory.Collect[Total](out)
//
// The package writes nothing down: what an Inlet has handed on and no longer keeps cannot be read again.
package memory
