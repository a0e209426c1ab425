// Package baseline answers: how fast is the same job as a loop that somebody wrote by hand for it alone?
//
// Each benchmark of the suite engine has its loop here over the same columns, in one goroutine and with no engine around. A loop does the
// whole job: it groups, ends windows, resets its tables and folds every result row. Several designs of one job stand side by side;
// the tests hold them to one checksum:
//
//	job := baseline.Tumbling(baseline.NewColumns(1000), true)
//	job.Batch(b)
//	result := job.Finish()
//
// The package is what the engine is judged against, so no loop is ever made slower, and none handles what the benchmark
// does not ask for: tables are sized beforehand, there are no nulls and no state is saved. It never measures time.
package baseline
