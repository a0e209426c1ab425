package report

import (
	"context"
	"time"
)

// The names of spans.
const (
	// SpanCheckpoint is an epoch, from its barriers until its commits are done or it is given up. All that SpanOutcome has but Run may be set.
	SpanCheckpoint = "checkpoint"
	// SpanSeal, within a SpanCheckpoint, is the time in which the epoch becomes durable.
	SpanSeal = "seal"
	// SpanRecovery is the start of an execution that has a bucket or state to begin with, from the claim until all state is restored. Epoch, Entries and
	// Bytes are what was restored; Epoch is 0 where it began afresh.
	SpanRecovery = "recovery"
	// SpanClaim, within a SpanRecovery, is the time until the execution holds the job: under Standby it waits here.
	SpanClaim = "claim"
)

// Tracer is what stands between jobs and a system that shows spans of time. Its methods, and the functions that they return, are called from
// several goroutines at once, among them one that all epochs of the job wait for: they must return at once. A panic of one is logged and costs the span.
type Tracer interface {
	// Begin begins a span of that name, within the span that ctx carries if it carries one: a SpanCheckpoint and a SpanRecovery get the values of the
	// context that the job was started with. It gives the context, made of ctx, for what happens within the span (nil stands for ctx), and the function
	// that is called once when the span ends; nil where nobody wants to know.
	Begin(ctx context.Context, job, name string) (within context.Context, end func(SpanOutcome))
}

// SpanOutcome is what became of a span; a field is zero where the span has nothing to say of it.
type SpanOutcome struct {
	Run     int64         // number of the execution in its bucket
	Epoch   int64         // number of the epoch
	Entries int64         // rows of state tables
	Bytes   int64         // written to the bucket, or read from it
	Aligned time.Duration // the longest that a task waited for the barrier on its other inputs
	Err     error         // why it failed or was given up; nil where all went well
}
