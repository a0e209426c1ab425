// Package supervise answers: what happens to a job when an execution of it fails?
//
// [Start] starts a job; where an execution fails, a [Run] starts the next one from the last sealed epoch, as often as its [Policy] says:
//
//	run, err := supervise.Start(ctx, cfg, supervise.Policy{Max: 3, Backoff: time.Second}, nil)
//	err = run.Wait(ctx)
//
// The package never touches a row: the engine drives each execution.
package supervise
