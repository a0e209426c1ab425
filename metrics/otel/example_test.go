package otel_test

import (
	"context"
	"fmt"

	"github.com/arkflow-go/arkflow"
	"github.com/arkflow-go/arkflow/connectors/drop"
	"github.com/arkflow-go/arkflow/connectors/generate"
	"github.com/arkflow-go/arkflow/metrics/otel"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"gocloud.dev/blob/memblob"
)

func ExampleTracer() {
	seen := tracetest.NewInMemoryExporter() // a service exports to its collector
	provider := sdk.NewTracerProvider(sdk.WithSyncer(seen))
	bucket := memblob.OpenBucket(nil)
	defer bucket.Close()

	job := arkflow.NewJob("ticks")
	job.Source("in", generate.Source{Context: `{"n": 1}`, Count: 10}, arkflow.ProcessingTime()).Sink("out", drop.Sink{})
	rt := arkflow.Runtime{Bucket: bucket, Tracer: otel.Tracer(provider)}
	if err := rt.Run(context.Background(), job); err != nil {
		fmt.Println(err)
	}
	for _, span := range seen.GetSpans() {
		fmt.Println(span.Name, span.Status.Code)
	}
	// Output:
	// claim Unset
	// recovery Unset
	// seal Unset
	// checkpoint Unset
}
