// Package spans answers: how does a job tell a tracer of its spans without being harmed by it?
//
//	t := spans.Teller{Tracer: tracer, Job: "orders", Logger: log}
//	s := t.Begin(ctx, report.SpanSeal)
//	err := seal(s.Ctx)
//	s.End(report.SpanOutcome{Epoch: 7, Err: err})
//
// What the tracer does wrong is logged, and is as if there were none. The package never waits for a tracer beyond its calls, nor takes the time
// itself.
package spans
