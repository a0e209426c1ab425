package otel

import (
	"context"

	"github.com/arkflow-go/arkflow"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
)

// Scope is the name of the instrumentation scope of the spans.
const Scope = "github.com/arkflow-go/arkflow"

// Attributes of spans. Those of an outcome are absent where they are 0.
const (
	Job       = attribute.Key("arkflow.job")        // name of the job
	Run       = attribute.Key("arkflow.run")        // number of the execution in its bucket
	Epoch     = attribute.Key("arkflow.epoch")      // number of the epoch
	Entries   = attribute.Key("arkflow.entries")    // rows of state tables
	Bytes     = attribute.Key("arkflow.bytes")      // written to the bucket, or read from it
	AlignedMs = attribute.Key("arkflow.aligned_ms") // the longest that a task waited for the barrier on its other inputs, in ms
)

// Tracer gives the spans of jobs to a provider; nil stands for the global one at the time of the call. An error is the status of its span and an
// event in it.
//
// A checkpoint is the root of a trace of its own, so that a job that runs for months makes no trace without end; it is linked to the span
// in the context that the job was started with. A recovery is a child of that span while that is recorded, else a root too.
func Tracer(provider trace.TracerProvider) arkflow.Tracer {
	if provider == nil {
		provider = otel.GetTracerProvider()
	}
	return tracer{provider.Tracer(Scope)}
}

type tracer struct{ spans trace.Tracer }

// Begin implements arkflow.Tracer.
func (t tracer) Begin(ctx context.Context, job, name string) (context.Context, func(arkflow.SpanOutcome)) {
	opts := []trace.SpanStartOption{trace.WithAttributes(Job.String(job))}
	around := trace.SpanFromContext(ctx)
	if name == arkflow.SpanCheckpoint || name == arkflow.SpanRecovery && !around.IsRecording() {
		opts = append(opts, trace.WithNewRoot())
		if around.SpanContext().IsValid() {
			opts = append(opts, trace.WithLinks(trace.LinkFromContext(ctx)))
		}
	}
	ctx, span := t.spans.Start(ctx, name, opts...)
	return ctx, func(o arkflow.SpanOutcome) {
		for _, a := range []attribute.KeyValue{Run.Int64(o.Run), Epoch.Int64(o.Epoch), Entries.Int64(o.Entries), Bytes.Int64(o.Bytes),
			AlignedMs.Int64(o.Aligned.Milliseconds())} {
			if a.Value.AsInt64() != 0 {
				span.SetAttributes(a)
			}
		}
		if o.Err != nil {
			span.RecordError(o.Err)
			span.SetStatus(codes.Error, o.Err.Error())
		}
		span.End()
	}
}
