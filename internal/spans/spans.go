package spans

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"

	"github.com/arkflow-go/arkflow/internal/report"
)

// Teller begins the spans of a job. It is safe for concurrent use; without a Tracer it does nothing.
type Teller struct {
	Tracer report.Tracer // may be nil
	Job    string
	Logger *slog.Logger
}

// Span is a span that has begun: Ctx is the context within it. End is safe to be called by another goroutine.
type Span struct {
	Ctx context.Context
	end func(report.SpanOutcome) // nil: nobody wants to know
}

// Begin begins a span. The context within it is ctx itself where the tracer gives none.
func (t Teller) Begin(ctx context.Context, name string) Span {
	s := Span{Ctx: ctx}
	if t.Tracer == nil {
		return s
	}
	t.harmless(name, func() {
		within, end := t.Tracer.Begin(ctx, t.Job, name)
		if within != nil {
			s.Ctx = within
		}
		if end != nil {
			s.end = func(o report.SpanOutcome) { t.harmless(name, func() { end(o) }) }
		}
	})
	return s
}

// End ends the span. It is called once.
func (s Span) End(o report.SpanOutcome) {
	if s.end != nil {
		s.end(o)
	}
}

var errGoexit = errors.New("it ended its goroutine by runtime.Goexit, as FailNow of package testing does")

// harmless calls code of the tracer on a goroutine of its own, so that neither a panic nor a Goexit reaches the caller.
func (t Teller) harmless(name string, f func()) {
	result := make(chan error, 1)
	go func() {
		err := errGoexit
		defer func() {
			if v := recover(); v != nil {
				err = fmt.Errorf("panic: %v\n%s", v, debug.Stack())
			}
			result <- err
		}()
		f()
		err = nil
	}()
	if err := <-result; err != nil {
		t.Logger.Warn("tracer failed", "job", t.Job, "span", name, "error", err)
	}
}
