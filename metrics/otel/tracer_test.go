package otel

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/arkflow-go/arkflow"
	"github.com/arkflow-go/arkflow/checkpoint"
	"github.com/arkflow-go/arkflow/connectors/drop"
	"github.com/arkflow-go/arkflow/connectors/generate"
	"github.com/arkflow-go/arkflow/internal/harness"
	"github.com/arkflow-go/arkflow/operator"
	"github.com/arkflow-go/arkflow/window"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"
	"gocloud.dev/blob/memblob"
)

type tick struct {
	N  int64     `arkflow:"n"`
	At time.Time `arkflow:"at"`
}

// ticks reads ten rows a second, a minute long, into windows of an hour; each row passes f.
func ticks(parallelism int, f func(tick) tick) *arkflow.Job {
	j := arkflow.NewJob("ticks", arkflow.Parallelism(parallelism), arkflow.CheckpointEvery(10*time.Second))
	make := func(i int64) tick { return tick{i % 7, time.UnixMilli(i * 100)} }
	j.Source("in", generate.Func(make, generate.Count(600), generate.Rate(10)), arkflow.EventTime("at")).
		Apply("pass", operator.Map(f)).
		KeyBy("n").
		Window("w", window.Tumbling(time.Hour), window.Count()).
		Sink("out", drop.Sink{})
	return j
}

func same(t tick) tick { return t }

// watch gives a runtime whose spans are recorded.
func watch() (arkflow.Runtime, *tracetest.SpanRecorder, trace.Tracer) {
	r := tracetest.NewSpanRecorder()
	provider := sdk.NewTracerProvider(sdk.WithSpanProcessor(r))
	return arkflow.Runtime{Tracer: Tracer(provider)}, r, provider.Tracer("test")
}

// named gives the spans of a name, all of which have ended.
func named(t *testing.T, r *tracetest.SpanRecorder, name string) (out []sdk.ReadOnlySpan) {
	require.Len(t, r.Ended(), len(r.Started()), "every span ends, once")
	for _, s := range r.Ended() {
		require.Contains(t, s.Attributes(), Job.String("ticks"))
		if s.Name() == name {
			out = append(out, s)
		}
	}
	return out
}

func number(s sdk.ReadOnlySpan, key attribute.Key) int64 {
	for _, a := range s.Attributes() {
		if a.Key == key {
			return a.Value.AsInt64()
		}
	}
	return 0
}

func length(s sdk.ReadOnlySpan) time.Duration { return s.EndTime().Sub(s.StartTime()) }

func TestSpansOfAJobThatSucceeds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rt, r, tracer := watch()
		rt.Bucket = memblob.OpenBucket(nil)
		defer rt.Bucket.Close()
		ctx, around := tracer.Start(t.Context(), "service")
		h, err := rt.Start(ctx, ticks(1, same))
		require.NoError(t, err)
		require.NoError(t, h.Wait(t.Context()))

		require.Len(t, r.Ended(), len(r.Started())-1, "that of the service goes on")
		around.End()
		r2 := r.Ended()[:len(r.Ended())-1]
		epochs := map[trace.SpanID]int64{}
		for _, s := range r2 {
			require.Equal(t, codes.Unset, s.Status().Code)
			require.Equal(t, int64(1), number(s, Run))
			require.Equal(t, Scope, s.InstrumentationScope().Name)
			if s.Name() != arkflow.SpanCheckpoint {
				continue
			}
			require.False(t, s.Parent().IsValid(), "a checkpoint is a trace of its own")
			require.NotEqual(t, around.SpanContext().TraceID(), s.SpanContext().TraceID())
			require.Equal(t, around.SpanContext(), s.Links()[0].SpanContext)
			epochs[s.SpanContext().SpanID()] = number(s, Epoch)
			require.Positive(t, number(s, Bytes))
			if number(s, Epoch) < 6 {
				require.Equal(t, int64(7), number(s, Entries), "groups of the window")
			}
		}
		require.Len(t, epochs, 6, "five on the way and the last")
		seals, recoveries := 0, 0
		for _, s := range r2 {
			switch s.Name() {
			case arkflow.SpanSeal:
				seals++
				require.Equal(t, epochs[s.Parent().SpanID()], number(s, Epoch))
			case arkflow.SpanRecovery:
				recoveries++
				require.Equal(t, around.SpanContext().SpanID(), s.Parent().SpanID())
				require.Zero(t, number(s, Epoch), "it begins afresh")
			}
		}
		require.Equal(t, []int{6, 1}, []int{seals, recoveries})
	})
}

func TestSpanOfARecovery(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rt, _, _ := watch()
		rt.Bucket = memblob.OpenBucket(nil)
		defer rt.Bucket.Close()
		h, err := rt.Start(t.Context(), ticks(2, same))
		require.NoError(t, err)
		time.Sleep(25 * time.Second)
		require.NoError(t, h.Stop(t.Context()))

		refused, r, _ := watch()
		refused.Bucket = rt.Bucket
		_, err = refused.Start(t.Context(), ticks(3, same))
		require.ErrorContains(t, err, "Rescale()")
		s := named(t, r, arkflow.SpanRecovery)
		require.Len(t, s, 1)
		require.Equal(t, codes.Error, s[0].Status().Code)
		require.Contains(t, s[0].Status().Description, "Rescale()")
		require.Equal(t, "exception", s[0].Events()[0].Name)
		require.Equal(t, codes.Error, named(t, r, arkflow.SpanClaim)[0].Status().Code, "it is compared before it claims")

		again, r, tracer := watch()
		again.Bucket = rt.Bucket
		ctx, around := tracer.Start(t.Context(), "start", trace.WithAttributes(Job.String("ticks")))
		around.End() // as that of a restart long after: what is over gets no children
		h, err = again.Start(ctx, ticks(2, same))
		require.NoError(t, err)
		require.NoError(t, h.Wait(t.Context()))
		s = named(t, r, arkflow.SpanRecovery)
		require.Len(t, s, 1)
		require.False(t, s[0].Parent().IsValid())
		require.Equal(t, around.SpanContext(), s[0].Links()[0].SpanContext)
		require.Equal(t, int64(3), number(s[0], Epoch))
		require.Equal(t, int64(2), number(s[0], Run), "the one that was refused has claimed nothing")
		require.Equal(t, h.Status().Restored.Bytes, number(s[0], Bytes))
		require.Equal(t, h.Status().Restored.Entries, number(s[0], Entries))
		require.Positive(t, number(s[0], Entries))
		require.Equal(t, s[0].SpanContext().SpanID(), named(t, r, arkflow.SpanClaim)[0].Parent().SpanID())
	})
}

func TestSpanOfARestartInMemory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rt, r, _ := watch()
		var crashed atomic.Bool
		h, err := rt.Start(t.Context(), ticks(1, func(row tick) tick {
			if row.At.UnixMilli() == 15_000 && crashed.CompareAndSwap(false, true) {
				panic("a bug")
			}
			return row
		}), arkflow.Restart(1, time.Second))
		require.NoError(t, err)
		require.NoError(t, h.Wait(t.Context()))
		s := named(t, r, arkflow.SpanRecovery)
		require.Len(t, s, 1, "the first start had nothing to go on from")
		require.Equal(t, int64(1), number(s[0], Epoch))
		require.Equal(t, int64(7), number(s[0], Entries))
		require.Empty(t, named(t, r, arkflow.SpanClaim))
	})
}

func TestSpanOfAnEpochThatTimesOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rt, r, _ := watch()
		rt.Checkpoints.Timeout = 2 * time.Second
		h, err := rt.Start(t.Context(), ticks(1, func(row tick) tick {
			if row.At.UnixMilli() == 9_900 {
				time.Sleep(5 * time.Second) // over the barrier of the tenth second
			}
			return row
		}))
		require.NoError(t, err)
		require.NoError(t, h.Wait(t.Context()))
		s := named(t, r, arkflow.SpanCheckpoint)
		require.Equal(t, codes.Error, s[0].Status().Code)
		require.Equal(t, "epoch 1 aborted: timed out", s[0].Status().Description)
		require.Equal(t, 2*time.Second, length(s[0]))
		require.Equal(t, int64(1), number(s[0], Epoch))
		require.Zero(t, number(s[0], Entries))
		for _, later := range s[1:] {
			require.Equal(t, codes.Unset, later.Status().Code)
		}
		require.Len(t, named(t, r, arkflow.SpanSeal), len(s)-1)
	})
}

// fullStore refuses the first epoch after 3 s and takes the others at once.
type fullStore struct{ seals int }

func (s *fullStore) Seal(ctx context.Context, _ *checkpoint.Epoch) error {
	if s.seals++; s.seals > 1 {
		return nil
	}
	select {
	case <-time.After(3 * time.Second):
		return errors.New("the disk is full")
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (s *fullStore) Release(context.Context, *checkpoint.Epoch) {}

func TestSpanOfASealThatFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rt, r, _ := watch()
		h, err := rt.Start(t.Context(), ticks(1, same), arkflow.Harness(&harness.Config{Store: &fullStore{}}))
		require.NoError(t, err)
		require.NoError(t, h.Wait(t.Context()))
		seal, whole := named(t, r, arkflow.SpanSeal)[0], named(t, r, arkflow.SpanCheckpoint)[0]
		require.Equal(t, whole.SpanContext().SpanID(), seal.Parent().SpanID())
		require.Equal(t, "the disk is full", seal.Status().Description)
		require.Equal(t, "epoch 1: seal: the disk is full", whole.Status().Description)
		require.Equal(t, 3*time.Second, length(seal))
		require.Equal(t, codes.Unset, named(t, r, arkflow.SpanCheckpoint)[1].Status().Code)
	})
}

// A job that is cancelled while an epoch is being sealed leaves no span open.
func TestSpansEndWithTheJob(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rt, r, _ := watch()
		h, err := rt.Start(t.Context(), ticks(1, same), arkflow.Harness(&harness.Config{Store: &fullStore{}}))
		require.NoError(t, err)
		time.Sleep(11 * time.Second)
		require.NoError(t, h.Cancel(t.Context()))
		s := named(t, r, arkflow.SpanCheckpoint)
		require.Len(t, s, 1)
		require.Equal(t, codes.Error, s[0].Status().Code)
		require.Equal(t, time.Second, length(s[0]))
		require.Equal(t, codes.Error, named(t, r, arkflow.SpanSeal)[0].Status().Code)
	})
}

func TestNoProviderIsTheGlobalOne(t *testing.T) {
	ctx, end := Tracer(nil).Begin(t.Context(), "ticks", arkflow.SpanCheckpoint)
	require.False(t, trace.SpanFromContext(ctx).IsRecording(), "nobody has set one")
	end(arkflow.SpanOutcome{Epoch: 1, Err: errors.New("no")})
}
