package spans

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"runtime"
	"testing"

	"github.com/arkflow-go/arkflow/internal/report"
	"github.com/stretchr/testify/require"
)

type tracerFunc func(ctx context.Context, job, name string) (context.Context, func(report.SpanOutcome))

func (f tracerFunc) Begin(ctx context.Context, job, name string) (context.Context, func(report.SpanOutcome)) {
	return f(ctx, job, name)
}

func TestASpanIsToldWithItsContextAndOutcome(t *testing.T) {
	type key struct{}
	var got report.SpanOutcome
	s := Teller{Job: "j", Tracer: tracerFunc(func(ctx context.Context, job, name string) (context.Context, func(report.SpanOutcome)) {
		require.Equal(t, []string{"j", "seal"}, []string{job, name})
		return context.WithValue(ctx, key{}, 7), func(o report.SpanOutcome) { got = o }
	})}.Begin(t.Context(), report.SpanSeal)
	require.Equal(t, 7, s.Ctx.Value(key{}))
	want := report.SpanOutcome{Epoch: 3, Err: errors.New("no")}
	s.End(want)
	require.Equal(t, want, got)
}

func TestATracerCannotHarmAJob(t *testing.T) {
	bad := map[string]func(){"panic: boom": func() { panic("boom") }, "runtime.Goexit": runtime.Goexit}
	for why, f := range bad {
		begins := tracerFunc(func(context.Context, string, string) (context.Context, func(report.SpanOutcome)) {
			f()
			return nil, nil
		})
		ends := tracerFunc(func(context.Context, string, string) (context.Context, func(report.SpanOutcome)) {
			return nil, func(report.SpanOutcome) { f() }
		})
		for _, tracer := range []report.Tracer{begins, ends} {
			var log bytes.Buffer
			s := Teller{Tracer: tracer, Job: "j", Logger: slog.New(slog.NewTextHandler(&log, nil))}.Begin(t.Context(), report.SpanClaim)
			require.Equal(t, t.Context(), s.Ctx)
			s.End(report.SpanOutcome{})
			require.Contains(t, log.String(), why)
			require.Contains(t, log.String(), `msg="tracer failed" job=j span=claim`)
		}
	}
	for _, quiet := range []report.Tracer{nil, tracerFunc(func(context.Context, string, string) (context.Context, func(report.SpanOutcome)) { return nil, nil })} {
		s := Teller{Tracer: quiet}.Begin(t.Context(), report.SpanClaim)
		require.Equal(t, t.Context(), s.Ctx)
		s.End(report.SpanOutcome{})
	}
}
