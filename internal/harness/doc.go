// Package harness answers: how does the test kit get at what a job's user must not touch?
//
// A [Config] replaces sources and sinks of a graph, sets its parallelism, and hooks into the engine. Package arkflowtest makes one and
// gives it to the runtime as a start option:
//
//	h := &harness.Config{Parallelism: 2, Hooks: engine.Hooks{DebugPool: true}}
//	rt.Start(ctx, job, arkflow.Harness(h))
//
// The package never runs anything.
package harness
