package arkflow_test

import (
	"bytes"
	"context"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/arkflow-go/arkflow"
	"github.com/arkflow-go/arkflow/connectors/drop"
	"github.com/arkflow-go/arkflow/connectors/generate"
	"github.com/arkflow-go/arkflow/connectors/memory"
	"github.com/arkflow-go/arkflow/operator"
	"github.com/stretchr/testify/require"
)

type numbered struct {
	N int64 `arkflow:"n"`
}

func lagOf(h *arkflow.Handle) (records int64, known bool) {
	o := h.Status().Operator("in")
	return o.SourceLag, o.HasSourceLag
}

func startLag(t *testing.T, src operator.Source, opts ...arkflow.SourceOption) *arkflow.Handle {
	j := arkflow.NewJob("lag", arkflow.Parallelism(2), arkflow.CheckpointEvery(time.Hour))
	j.Source("in", src, arkflow.ProcessingTime(), opts...).Sink("out", drop.Sink{})
	h, err := arkflow.Runtime{}.Start(t.Context(), j)
	require.NoError(t, err)
	return h
}

// What is left of all splits is added up, those that have ended and those of other tasks included.
func TestSourceLagIsWhatIsLeftOfAllSplits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := startLag(t, memory.Of(make([]numbered, 100)).InSplits(3).InBatches(1), arkflow.MaxRate(10))
		for range 5 {
			time.Sleep(time.Second)
			synctest.Wait()
			s := h.Status()
			require.True(t, s.Operator("in").HasSourceLag)
			require.Equal(t, int64(100), s.Operator("in").SourceLag+s.Operator("in").RowsIn)
			require.False(t, s.Operator("out").HasSourceLag, "it is no source")
		}
		lag, _ := lagOf(h)
		require.InDelta(t, 50, lag, 4)
		require.NoError(t, h.Wait(t.Context()))
		_, known := lagOf(h)
		require.False(t, known, "the job has ended")
	})
}

func TestSourceLagOfARateIsWhatIsDue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := generate.Func(func(i int64) numbered { return numbered{i} }, generate.Rate(100), generate.Count(700), generate.Splits(2))
		h := startLag(t, slow, arkflow.MaxRate(50))
		time.Sleep(4*time.Second + time.Millisecond)
		synctest.Wait()
		lag, known := lagOf(h)
		require.True(t, known)
		require.Equal(t, 402-h.Status().Operator("in").RowsIn, lag)
		require.Greater(t, lag, int64(100))
		time.Sleep(6 * time.Second)
		synctest.Wait()
		lag, _ = lagOf(h)
		require.Equal(t, 700-h.Status().Operator("in").RowsIn, lag, "no more than there will be")
		require.NoError(t, h.Cancel(t.Context()))
	})
}

func TestSourceLagOfAnInletIsWhatWaitsInIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in := memory.NewInlet[numbered](memory.InletConfig{})
		for i := range 9 {
			require.NoError(t, in.Send(t.Context(), numbered{int64(i)}))
		}
		h := startLag(t, in, arkflow.MaxRate(0.1))
		synctest.Wait()
		lag, known := lagOf(h)
		require.True(t, known)
		require.Equal(t, 9-h.Status().Operator("in").RowsIn, lag)
		require.Positive(t, lag)
		require.NoError(t, h.Cancel(t.Context()))
	})
}

// halfKnown is a source of two splits, one of which does not know its lag or panics when it is asked.
type halfKnown struct {
	memory.Source
	lag func() (int64, bool)
}

type halfReader struct {
	operator.Reader
	lag func() (int64, bool)
}

func (r halfReader) Lag() (int64, bool) { return r.lag() }

func (s halfKnown) Open(ctx *operator.Context, sp operator.Split, position []byte) (operator.Reader, error) {
	r, err := s.Source.Open(ctx, sp, position)
	if err == nil && sp.ID == "1" {
		r = halfReader{r, s.lag}
	}
	return r, err
}

func TestSourceLagIsUnknownWhereASplitDoesNotKnow(t *testing.T) {
	for name, lag := range map[string]func() (int64, bool){
		"unknown": func() (int64, bool) { return 7, false },
		"panic":   func() (int64, bool) { panic("a bug") },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := startLag(t, halfKnown{memory.Of(make([]numbered, 100)).InSplits(2).InBatches(1), lag}, arkflow.MaxRate(10))
				time.Sleep(time.Second)
				n, known := lagOf(h)
				require.False(t, known)
				require.Zero(t, n)
				require.NoError(t, h.Cancel(t.Context()))
			})
		})
	}
}

// badTracer panics wherever it can.
type badTracer struct{ atBegin bool }

func (b badTracer) Begin(context.Context, string, string) (context.Context, func(arkflow.SpanOutcome)) {
	if b.atBegin {
		panic("no span today")
	}
	return nil, func(arkflow.SpanOutcome) { panic("no end today") }
}

func TestATracerThatPanicsHarmsNoJob(t *testing.T) {
	for _, b := range []badTracer{{true}, {false}} {
		var log bytes.Buffer
		out := memory.NewSink()
		j := arkflow.NewJob("traced")
		j.Source("in", memory.Of(make([]numbered, 10)), arkflow.ProcessingTime()).Sink("out", out)
		rt := arkflow.Runtime{Tracer: b, Logger: slog.New(slog.NewTextHandler(&log, nil))}
		require.NoError(t, rt.Run(t.Context(), j))
		require.Equal(t, 10, out.Len())
		require.Contains(t, log.String(), `msg="tracer failed" job=traced span=checkpoint`)
		require.Contains(t, log.String(), "today")
	}
}
