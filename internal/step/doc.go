// Package step answers: at which points of what it writes may a test stop a process, or make a write fail?
//
// Code that writes files does each step by [Do]; a test puts a [Func] into the context that the code is given:
//
//	ctx = step.With(ctx, func(s step.Step) error { seen = append(seen, s.String()); return nil })
//	err := step.Do(ctx, "bucket", "sync piece", f.Sync) // told of "bucket: before sync piece", then of "bucket: after sync piece"
//
// Without a Func in the context, as it is outside tests, a step costs a look-up. The package never does anything by itself.
package step
