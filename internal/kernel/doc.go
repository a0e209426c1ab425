// Package kernel answers: how are columns of keys and values worked on at the speed of a hand-written loop?
//
// An [Aggregator] keeps one [Pane] for each open window: a hash table from keys to rows of accumulators, which it
// fills from batches and empties into result batches:
//
//	l, err := layout.New(schema, []int{0}, []aggregate.Agg{{Func: aggregate.CountRows, Names: []string{"n"}}})
//	agg := kernel.NewAggregator(l)
//	pane := agg.Open()
//	err = pane.AddRange(batch, 0, batch.Rows)
//
// [Pane.View] gives a pane as it is, to be saved by another goroutine, in a time that does not depend on its size.
// Where windows overlap, an [Index] numbers the keys and [Cells] keep accumulators by these numbers; they can be added to each other.
//
// Loops work on blocks of rows that stay in the first caches. They hold no batch memory after they return, and nothing
// here is safe for concurrent use. The package never knows what a window or a watermark is, and never decides a policy.
package kernel
