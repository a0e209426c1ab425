package arkflow_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/arkflow-go/arkflow"
	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/connectors/drop"
	"github.com/arkflow-go/arkflow/connectors/generate"
	"github.com/arkflow-go/arkflow/connectors/memory"
	"github.com/arkflow-go/arkflow/operator"
	"github.com/arkflow-go/arkflow/state"
	"github.com/arkflow-go/arkflow/window"
	"github.com/stretchr/testify/require"
)

type tick struct {
	Key string `arkflow:"key"`
	N   int64  `arkflow:"n"`
	TS  int64  `arkflow:"ts"`
}

// ticks is a source of one row each 10 ms of the clock and of event time.
func ticks(count int64) operator.Source {
	return generate.Func(func(i int64) tick { return tick{Key: "k", N: i, TS: i * 10} }, generate.Count(count), generate.Every(10*time.Millisecond, 1))
}

// E7: a failed job is restarted from its last sealed epoch; counts in windows are as if nothing had happened.
func TestE7RestartGoesOnFromTheLastSealedEpoch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var failed atomic.Bool
		out := memory.NewSink()
		job := arkflow.NewJob("j", arkflow.CheckpointEvery(100*time.Millisecond))
		job.Source("in", ticks(200), arkflow.EventTime("ts")).
			Apply("maybe", operator.MapErr(func(r tick) (tick, error) {
				if r.N == 57 && failed.CompareAndSwap(false, true) {
					return r, errors.New("out of luck")
				}
				return r, nil
			})).
			KeyBy("key").
			Window("w", window.Tumbling(time.Second), window.Count().As("n"), window.Sum("n").As("sum")).
			Sink("out", out)
		h, err := arkflow.Runtime{}.Start(t.Context(), job, arkflow.Restart(2, time.Second))
		require.NoError(t, err)
		require.NoError(t, h.Wait(t.Context()))
		require.Equal(t, 1, h.Status().Restarts)
		require.Equal(t, arkflow.Finished, h.Status().State)
		type result struct {
			N   int64 `arkflow:"n"`
			Sum int64 `arkflow:"sum"`
		}
		rows, err := memory.Collect[result](out)
		require.NoError(t, err)
		require.Equal(t, []result{{100, 4950}, {100, 14950}}, rows)
		restarts := 0
		for e := range h.Events(t.Context()) {
			if e.Kind == arkflow.EventRestart {
				restarts++
				require.Contains(t, e.Message, "out of luck")
			}
		}
		require.Equal(t, 1, restarts)
	})
}

func TestE7RestartGivesUpAfterItsMaximum(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		job := arkflow.NewJob("j")
		job.Source("in", ticks(10), arkflow.ProcessingTime()).
			Apply("never", operator.MapErr(func(r tick) (tick, error) { return r, errors.New("no") })).
			Sink("out", memory.NewSink())
		h, err := arkflow.Runtime{}.Start(t.Context(), job, arkflow.Restart(3, time.Second))
		require.NoError(t, err)
		began := time.Now()
		require.ErrorContains(t, h.Wait(t.Context()), `operator "never"`)
		require.Equal(t, 3, h.Status().Restarts)
		require.Equal(t, arkflow.Failed, h.Status().State)
		require.GreaterOrEqual(t, time.Since(began), 7*time.Second, "1 s, 2 s and 4 s of back-off")
	})
}

// A job that fails now and then, but runs for long in between, is restarted each time.
func TestE7RestartsAreCountedInARow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var made atomic.Int64
		job := arkflow.NewJob("j")
		job.Source("in", ticks(1000), arkflow.ProcessingTime()).
			Apply("sometimes", operator.MapErr(func(r tick) (tick, error) {
				if made.Add(1) == 3 {
					made.Store(0)
					return r, errors.New("no")
				}
				time.Sleep(6 * time.Minute)
				return r, nil
			})).
			Sink("out", drop.Sink{})
		h, err := arkflow.Runtime{}.Start(t.Context(), job, arkflow.Restart(1, time.Second))
		require.NoError(t, err)
		time.Sleep(time.Hour)
		s := h.Status()
		require.Equal(t, arkflow.Running, s.State)
		require.Equal(t, 4, s.Restarts)
		require.NoError(t, h.Cancel(t.Context()))
	})
}

func TestE7AnEndThatWasAskedForIsNotFollowedByARestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		job := arkflow.NewJob("j")
		job.Source("in", ticks(10), arkflow.ProcessingTime()).
			Apply("never", operator.MapErr(func(r tick) (tick, error) { return r, errors.New("no") })).
			Sink("out", memory.NewSink())
		h, err := arkflow.Runtime{}.Start(t.Context(), job, arkflow.Restart(3, time.Hour))
		require.NoError(t, err)
		<-time.After(time.Minute) // the clock of the bubble: the job has failed and waits
		require.Equal(t, arkflow.Starting, h.Status().State)
		_, err = h.Checkpoint(t.Context())
		require.ErrorContains(t, err, "restarted")
		require.ErrorContains(t, h.Stop(t.Context()), `operator "never"`)
		require.Equal(t, arkflow.Failed, h.Status().State)
	})
	_, err := arkflow.Runtime{}.Start(t.Context(), arkflow.NewJob("j"), arkflow.Restart(-1, 0))
	require.ErrorContains(t, err, "restart: -1 restarts")
}

func TestN1MaxRateHoldsSourcesAndSinksBack(t *testing.T) {
	for _, at := range []string{"source", "sink"} {
		synctest.Test(t, func(t *testing.T) {
			src := []arkflow.SourceOption{}
			snk := []arkflow.SinkOption{}
			if at == "source" {
				src = append(src, arkflow.MaxRate(100))
			} else {
				snk = append(snk, arkflow.MaxRate(100))
			}
			job := arkflow.NewJob("j")
			rows := make([]tick, 1000)
			job.Source("in", memory.Of(rows).InBatches(10), arkflow.ProcessingTime(), src...).Sink("out", memory.NewSink(), snk...)
			began := time.Now()
			require.NoError(t, job.Run(t.Context()))
			took := time.Since(began)
			require.GreaterOrEqual(t, took, 9900*time.Millisecond)
			require.Less(t, took, 10100*time.Millisecond)
		})
	}
	job := arkflow.NewJob("j")
	job.Source("in", memory.Of([]tick{{}}), arkflow.ProcessingTime(), arkflow.MaxRate(0)).Sink("out", memory.NewSink(), arkflow.MaxRate(-1))
	require.ErrorContains(t, job.Err(), `operator "in": max_rate: 0 rows/s`)
	require.ErrorContains(t, job.Err(), `operator "out": max_rate: -1 rows/s`)
}

// T10: a row from the future is kept and counted but does not make the rows of all others late.
func TestB62OneRowFromTheFuture(t *testing.T) {
	for skew, want := range map[time.Duration]struct{ late, future int64 }{0: {1, 0}, time.Minute: {0, 1}} {
		synctest.Test(t, func(t *testing.T) {
			now := time.Now().UnixMilli()
			var rows []tick
			for _, d := range []int64{-1000, -500, 86_400_000, -200, 200} {
				rows = append(rows, tick{Key: "k", N: 1, TS: now + d})
			}
			job := arkflow.NewJob("j")
			perSecond := job.Source("in", memory.Of(rows), arkflow.EventTime("ts", arkflow.OutOfOrderness(time.Second), arkflow.MaxFutureSkew(skew))).
				KeyBy("key").
				Window("w", window.Tumbling(time.Second), window.Count())
			perSecond.Sink("out", memory.NewSink())
			h, err := arkflow.Runtime{}.Start(t.Context(), job)
			require.NoError(t, err)
			require.NoError(t, h.Wait(t.Context()))
			s := h.Status()
			if skew == 0 {
				require.Positive(t, s.Operator("w").Late)
			} else {
				require.Equal(t, want.late, s.Operator("w").Late)
			}
			require.Equal(t, want.future, s.Operator("in").Future)
			require.Positive(t, s.Operator("in").Lead, "the lead of the last row shows in either case")
		})
	}
}

// T13: a split that is far ahead waits for the slowest, and that is not idleness (B87).
func TestT13MaxDriftKeepsSplitsTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fast := memory.NewInlet[tick](memory.InletConfig{Capacity: 1000})
		slow := memory.NewInlet[tick](memory.InletConfig{Capacity: 1000})
		var seen [2]atomic.Int64
		job := arkflow.NewJob("j")
		for i, in := range []*memory.Inlet[tick]{fast, slow} {
			id := []string{"fast", "slow"}[i]
			job.Source(id, in, arkflow.EventTime("ts", arkflow.IdleTimeout(time.Second)), arkflow.MaxDrift(10*time.Millisecond), arkflow.Tasks(1)).
				Apply(id+"-seen", operator.Map(func(r tick) tick { seen[i].Store(r.TS); return r })).
				Sink(id+"-out", memory.NewSink())
		}
		h, err := arkflow.Runtime{}.Start(t.Context(), job)
		require.NoError(t, err)
		send := func(in *memory.Inlet[tick], ts int64) {
			require.NoError(t, in.Send(t.Context(), tick{TS: ts}))
			synctest.Wait()
		}
		send(slow, 5)
		send(fast, 6)
		send(fast, 30) // it is 6 when this is read
		send(fast, 31)
		require.Equal(t, int64(30), seen[0].Load(), "30 is more than 10 ms ahead of 5: 31 is not read")
		send(slow, 25)
		require.Equal(t, int64(31), seen[0].Load(), "25 lets it go on")
		send(fast, 60)
		require.Equal(t, int64(60), seen[0].Load())
		send(fast, 61)
		require.Equal(t, int64(60), seen[0].Load())
		<-time.After(2 * time.Second) // the slow one becomes idle and holds nobody back
		synctest.Wait()
		require.Equal(t, int64(61), seen[0].Load())
		fast.Close()
		slow.Close()
		require.NoError(t, h.Wait(t.Context()))
	})
}

// E10: over the memory limit sources pause; when that does not help the job fails and names the largest operators.
func TestE10MemoryLimitPausesThenFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		job := arkflow.NewJob("j")
		src := generate.Func(func(i int64) tick { return tick{Key: string(rune('a'+i%26)) + time.Duration(i).String(), TS: i} }, generate.Every(time.Millisecond, 100))
		job.Source("in", src, arkflow.EventTime("ts")).
			KeyBy("key").
			Window("w", window.Tumbling(24*time.Hour).Unbounded(), window.Count()).
			Sink("out", memory.NewSink())
		h, err := arkflow.Runtime{MemoryLimit: 2 << 20}.Start(t.Context(), job)
		require.NoError(t, err)
		err = h.Wait(t.Context())
		var limit *arkflow.MemoryLimitError
		require.ErrorAs(t, err, &limit)
		require.Contains(t, limit.Largest[0], `operator "w"`)
		require.Less(t, limit.Used, int64(8<<20), "sources paused")
		require.ErrorContains(t, arkflow.Runtime{MemoryLimit: -1}.Validate(), "MemoryLimit")
	})
}

// E10: what lets state go must go on while sources pause: ingestion time, and the timers of processing time. That state was let go is
// seen without a checkpoint.
func TestE10TimeGoesOnWhileSourcesPause(t *testing.T) {
	const limit = 1 << 20
	for _, policy := range []arkflow.TimePolicy{arkflow.IngestionTime(), arkflow.ProcessingTime()} {
		synctest.Test(t, func(t *testing.T) {
			in := memory.NewInlet[tick](memory.InletConfig{Capacity: 1000})
			size := &sized{}
			job := arkflow.NewJob("j", arkflow.CheckpointEvery(time.Hour))
			job.Source("in", in, policy).Apply("sized", size).Sink("out", memory.NewSink())
			h, err := arkflow.Runtime{MemoryLimit: limit}.Start(t.Context(), job)
			require.NoError(t, err)
			size.bytes.Store(2 * limit)
			size.until = time.Now().Add(5 * time.Second)
			require.NoError(t, in.Send(t.Context(), tick{N: 1}))
			<-time.After(4 * time.Second)
			require.True(t, h.Status().OverLimit)
			<-time.After(2 * time.Second)
			require.False(t, h.Status().OverLimit)
			require.NoError(t, in.Close())
			require.NoError(t, h.Wait(t.Context()))
		})
	}
}

// E10: a job that has settled just below its limit goes on.
func TestE10JustBelowTheLimitIsNotOverIt(t *testing.T) {
	const limit = 1 << 20
	synctest.Test(t, func(t *testing.T) {
		in := memory.NewInlet[tick](memory.InletConfig{Capacity: 1000})
		size := &sized{}
		job := arkflow.NewJob("j")
		job.Source("in", in, arkflow.ProcessingTime()).Apply("sized", size).Sink("out", memory.NewSink())
		h, err := arkflow.Runtime{MemoryLimit: limit}.Start(t.Context(), job)
		require.NoError(t, err)
		size.bytes.Store(limit + 1)
		require.NoError(t, in.Send(t.Context(), tick{N: 1}))
		<-time.After(time.Second)
		require.True(t, h.Status().OverLimit)
		size.bytes.Store(limit - limit/20)
		_, err = h.Checkpoint(t.Context())
		require.NoError(t, err)
		<-time.After(2 * time.Minute)
		require.False(t, h.Status().OverLimit)
		require.NoError(t, in.Close())
		require.NoError(t, h.Wait(t.Context()))
	})
}

// sized is an operator that passes rows on and says how large it is: nothing once time has come to until.
type sized struct {
	bytes atomic.Int64
	until time.Time
}

func (*sized) Kind() string { return "sized" }
func (s *sized) Bind(in []operator.Stream) (operator.Bound, error) {
	return &sizedBound{s, in}, nil
}

type sizedBound struct {
	*sized
	in []operator.Stream
}

func (b *sizedBound) Outputs() []operator.Stream { return b.in }
func (b *sizedBound) New(ctx *operator.Context) (operator.Instance, error) {
	return &sizedTask{b.sized, ctx}, nil
}

type sizedTask struct {
	*sized
	ctx *operator.Context
}

func (s *sizedTask) Process(_ int, b *column.Batch, out operator.Output) error {
	if !s.until.IsZero() {
		s.ctx.SetTimer(s.until)
	}
	return out.Emit(operator.Main, b)
}

func (s *sizedTask) OnTimer(now time.Time, _ operator.Output) error {
	s.look(now)
	return nil
}

func (s *sizedTask) OnWatermark(w int64, _ operator.Output) (int64, error) {
	s.look(time.UnixMilli(w))
	return w, nil
}

func (s *sizedTask) look(now time.Time) {
	if !s.until.IsZero() && !now.Before(s.until) {
		s.bytes.Store(0)
	}
}
func (s *sizedTask) StateSize() (entries, bytes int64) { return 1, s.bytes.Load() }
func (*sizedTask) Snapshot(state.Writer) error         { return nil }
func (*sizedTask) Restore(state.Reader) error          { return nil }

// E7: a start that does not come to its end holds up no end of the job.
func TestE7AnEndThatIsAskedForDuringARestart(t *testing.T) {
	boom := errors.New("boom")
	for name, end := range map[string]func(context.Context, *arkflow.Handle) error{
		"stop":   func(ctx context.Context, h *arkflow.Handle) error { return h.Stop(ctx) },
		"drain":  func(ctx context.Context, h *arkflow.Handle) error { return h.Drain(ctx) },
		"cancel": func(ctx context.Context, h *arkflow.Handle) error { return h.Cancel(ctx) },
	} {
		synctest.Test(t, func(t *testing.T) {
			src := &unreachable{Source: memory.Of([]tick{{N: 1}}), err: boom}
			job := arkflow.NewJob("j")
			job.Source("in", src, arkflow.ProcessingTime()).Sink("out", memory.NewSink())
			h, err := arkflow.Runtime{}.Start(t.Context(), job, arkflow.Restart(3, time.Second))
			require.NoError(t, err)
			<-time.After(time.Minute)
			require.Equal(t, arkflow.Starting, h.Status().State, name)
			require.ErrorIs(t, end(t.Context(), h), boom, name)
			require.Equal(t, arkflow.Failed, h.Status().State, name)
		})
	}
}

// unreachable is a source that fails when it is read, and cannot be opened again.
type unreachable struct {
	memory.Source
	err    error
	opened bool
}

func (u *unreachable) Open(ctx *operator.Context, sp operator.Split, at []byte) (operator.Reader, error) {
	if u.opened {
		<-ctx.Done()
		return nil, context.Cause(ctx)
	}
	u.opened = true
	r, err := u.Source.Open(ctx, sp, at)
	return unreadable{r, u.err}, err
}

type unreadable struct {
	operator.Reader
	err error
}

func (r unreadable) Poll() (*column.Batch, error) { return nil, r.err }

func TestPeekShowsRowsThatPass(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		job := arkflow.NewJob("j")
		job.Source("in", ticks(0), arkflow.EventTime("ts")).Sink("out", memory.NewSink())
		h, err := arkflow.Runtime{}.Start(t.Context(), job)
		require.NoError(t, err)
		p, err := h.Peek(t.Context(), "in", 3)
		require.NoError(t, err)
		require.Len(t, p.Times, 3)
		rows := int64(0)
		for _, r := range p.Records {
			rows += r.NumRows()
			require.Equal(t, []string{"key", "n", "ts"}, []string{r.ColumnName(0), r.ColumnName(1), r.ColumnName(2)})
		}
		require.Equal(t, int64(3), rows)
		_, err = h.Peek(t.Context(), "inn", 3)
		require.ErrorContains(t, err, `no operator "inn"; did you mean "in"`)
		_, err = h.Peek(t.Context(), "in", 0)
		require.ErrorContains(t, err, "ask for 1 or more")
		ctx, cancel := context.WithTimeout(t.Context(), 95*time.Millisecond)
		defer cancel()
		p, err = h.Peek(ctx, "in", 1000)
		require.NoError(t, err)
		require.NotEmpty(t, p.Times)
		require.NoError(t, h.Cancel(t.Context()))
	})
}

// Status says which split holds the watermark back, and since when.
func TestStatusSaysWhoHoldsTheWatermarkBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := memory.NewInlet[tick](memory.InletConfig{}), memory.NewInlet[tick](memory.InletConfig{})
		job := arkflow.NewJob("j")
		job.Source("a", a, arkflow.EventTime("ts")).Sink("oa", memory.NewSink())
		job.Source("b", b, arkflow.EventTime("ts")).Sink("ob", memory.NewSink())
		h, err := arkflow.Runtime{}.Start(t.Context(), job)
		require.NoError(t, err)
		require.NoError(t, a.Send(t.Context(), tick{TS: 17}))
		synctest.Wait()
		at := time.Now()
		<-time.After(time.Minute)
		s := h.Status()
		require.Len(t, s.HeldBack, 2)
		held := s.HeldBack[0]
		require.Equal(t, "a", held.Operator)
		require.Contains(t, held.By, "split")
		require.Equal(t, int64(17), held.Watermark)
		require.Equal(t, at.UnixMilli(), held.Since.UnixMilli())
		require.Equal(t, time.Minute, s.Operator("a").Idle.Round(time.Second))
		require.Equal(t, at.Add(time.Minute).Sub(time.UnixMilli(17)).Round(time.Second), s.Operator("a").Lag.Round(time.Second))
		a.Close()
		b.Close()
		require.NoError(t, h.Wait(t.Context()))
		require.Empty(t, h.Status().HeldBack)
	})
}

// §14: bytes of batches, and how long tasks waited for a barrier on their other inputs.
func TestStatusTellsBytesAndAlignment(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		job := arkflow.NewJob("j")
		fast := job.Source("fast", ticks(20), arkflow.ProcessingTime())
		slow := job.Source("slow", ticks(2), arkflow.ProcessingTime()).
			Apply("slowly", operator.MapErr(func(r tick) (tick, error) {
				time.Sleep(5 * time.Second)
				return r, nil
			}))
		fast.Union("all", slow).Sink("out", drop.Sink{})
		h, err := arkflow.Runtime{}.Start(t.Context(), job)
		require.NoError(t, err)
		time.Sleep(time.Second)
		_, err = h.Checkpoint(t.Context())
		require.NoError(t, err)
		s := h.Status()
		require.GreaterOrEqual(t, s.Checkpoints.LastAligned, 3*time.Second)
		require.LessOrEqual(t, s.Checkpoints.LastAligned, s.Checkpoints.LastDuration)
		require.NoError(t, h.Wait(t.Context()))
		s = h.Status()
		require.Equal(t, int64(22), s.Operator("out").RowsIn)
		require.Equal(t, s.Operator("all").BytesOut, s.Operator("out").BytesIn)
		require.GreaterOrEqual(t, s.Operator("out").BytesIn, int64(22*(8+8+1)))
		require.Equal(t, s.Operator("slow").BytesOut, s.Operator("slowly").BytesIn)
	})
}
