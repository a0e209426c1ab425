// Package checkpoint answers: when is an epoch complete, and what does it hold?
//
// A [Coordinator] decides, as a pure state machine: it is told of triggers, answers and time-outs and says which barriers
// to inject, what to abort and what to seal. An [Epoch] is one acknowledged cut: the position of each split, the watermark
// and the state of each operator, and what sinks have prepared. A [Store] keeps sealed epochs:
//
//	c := checkpoint.NewCoordinator("orders", tasks, 0)
//	for _, a := range c.Step(checkpoint.Trigger{}) { … } // Inject{Epoch: 1}
//
// The package never starts a goroutine, reads no clock, and touches no row.
package checkpoint
