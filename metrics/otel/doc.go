// Package otel answers: how do the checkpoints and recoveries of jobs get into OpenTelemetry?
//
// A [Tracer] makes a span of each: how long it took, what it moved, why it failed. Give it the provider of the program:
//
//	rt := arkflow.Runtime{Bucket: bucket, Tracer: otel.Tracer(provider)}
//
// The spans are checkpoint, with seal in it, and recovery, with claim in it; their attributes begin with arkflow. and are those of
// arkflow.SpanOutcome. The package makes no span for a row or a batch, never sets a global provider, and only a program that imports it asks for spans.
package otel
