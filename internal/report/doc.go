// Package report answers: what can be said of a job at one moment?
//
// A [Status] is a copy of what an execution counts, made when somebody asks:
//
//	for _, o := range s.Operators { fmt.Println(o.ID, o.RowsIn, o.RowsOut) }
//
// Beside it stands the contract of a [Tracer], which is told what happens over time. The package holds data and contracts only, which the engine fills
// in; it never reads anything off a job itself.
package report
