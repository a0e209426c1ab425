// Package operator answers: how does code that touches rows meet the engine?
//
// A [Source] enumerates splits and opens a [Reader] over each; an [Operator] turns batches into batches; a [Sink] opens
// a [Writer]. Each of them is a description: it is checked when a job is compiled ([Operator.Bind]) and makes one instance
// a task when the job runs ([Bound.New]). The stateless operators of ArkFlow live here too:
//
//	job.Source("orders", src, arkflow.ProcessingTime()).
//		Apply("score", operator.Map(func(o Order) Scored { … }))
//
// Event times and late pairs stay with their rows through all of them (T12). The key hashes of a batch belong to the
// key of its stream: Filter, Rename and a Drop of other columns keep both, Select and Map leave the hashes behind, and Map the
// key too.
//
// An instance is driven by one goroutine and needs no lock. It gets a [Context] with what it may use of the world: clock, memory
// pool, logger, error policy, counters. The package never starts a goroutine and never imports the engine.
package operator
