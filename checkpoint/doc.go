// Package checkpoint answers: when is an epoch complete, what does it hold, and what does a job begin with?
//
// A [Coordinator] decides, as a pure state machine: it is told of triggers, answers and time-outs and says which barriers
// to inject, what to abort and what to seal. An [Epoch] is one acknowledged cut: the position of each split, the watermark
// and the state of each operator, and what sinks have prepared. A [Store] keeps sealed epochs:
//
//	c := checkpoint.NewCoordinator("orders", tasks, 0)
//	for _, a := range c.Step(checkpoint.Trigger{}) { … } // Inject{Epoch: 1}
//
// A [Session] is a store in a bucket that one execution owns. [Open] claims a run, finds the latest sealed epoch and takes the next seal, so
// that no older execution can seal one any more; [Session.Fit] compares the plan with it ([Shape]); [Session.Seal] writes what changed in
// the state as segments, then a [Manifest] that names them all, and last the seal. [WriteSavepoint] writes a whole epoch to a place of its
// own. What is read is verified before it is decoded.
//
// [Inspect] looks into a bucket beside running jobs: runs and claims, kept epochs, their operators and positions; what it gives can be verified
// object by object, and read row by row. [Sweep] deletes what executions left that crashed.
//
// The package touches no row, and deletes nothing that a kept epoch refers to.
package checkpoint
