package golden

import (
	"context"
	"errors"
	"math/rand/v2"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/arkflow-go/arkflow"
	. "github.com/arkflow-go/arkflow/arkflowtest"
	"github.com/arkflow-go/arkflow/connectors/drop"
	"github.com/arkflow-go/arkflow/connectors/memory"
	"github.com/arkflow-go/arkflow/operator"
	"github.com/arkflow-go/arkflow/window"
	"github.com/stretchr/testify/require"
)

type timedKey struct {
	K  string `arkflow:"k"`
	TS int64  `arkflow:"ts"`
}

func TestB65ResultsOfAnAsyncMapLeaveBeforeTheWatermark(t *testing.T) {
	type counted struct {
		K     string    `arkflow:"k"`
		Rows  int64     `arkflow:"rows"`
		Start time.Time `arkflow:"window_start"`
	}
	jitter := func(ctx context.Context, c counted) (counted, error) {
		timer := time.NewTimer(rand.N(5 * time.Millisecond))
		defer timer.Stop()
		select {
		case <-timer.C:
			return c, nil
		case <-ctx.Done():
			return c, ctx.Err()
		}
	}
	for _, unordered := range []bool{false, true} {
		job := arkflow.NewJob("two-stages")
		first := job.Source("in", source(keyed), arkflow.EventTime("ts")).KeyBy("k").Window("first", window.Tumbling(10*msec), window.Count().As("rows"))
		second := first.Apply("async", operator.Async(jitter, operator.AsyncConfig{InFlight: 2, Unordered: unordered})).
			KeyBy("rows").Window("second", window.Tumbling(10*msec), window.Count().As("keys"))
		second.Sink("out", drop.Sink{})
		second.Late().Sink("late", drop.Sink{})
		j := Start(t, job, From("in", Script(WatermarkAt(-1), Table(keyed, []any{"a", int64(1)}, []any{"b", int64(2)}), WatermarkAt(10), Open())))
		j.Settle()
		require.Equal(t, []string{`rows=1 window_start=1970-01-01T00:00:00Z window_end=1970-01-01T00:00:00.01Z keys=2`}, j.Written("out"))
		r := j.Drain()
		require.Empty(t, r.Rows("late"))
	}
}

// gate lets calls wait until it is opened.
type gate struct {
	open    chan struct{}
	waiting atomic.Int64
}

func newGate() *gate { return &gate{open: make(chan struct{})} }

func (g *gate) call(ctx context.Context, row timedKey) (timedKey, error) {
	g.waiting.Add(1)
	defer g.waiting.Add(-1)
	select {
	case <-g.open:
		return row, nil
	case <-ctx.Done():
		return row, ctx.Err()
	}
}

// inFlight waits until so many calls wait at the gate.
func (g *gate) inFlight(t *testing.T, n int64, j *Running) {
	t.Helper()
	for range 1_000_000 {
		if g.waiting.Load() == n {
			return
		}
		runtime.Gosched()
	}
	t.Fatalf("%d calls are in flight and not %d\n%s", g.waiting.Load(), n, j.Tasks())
}

func TestB30AChainedAsyncOperatorIsDrainedBeforeTheSnapshot(t *testing.T) {
	g := newGate()
	job := arkflow.NewJob("sums")
	job.Source("in", source(keyed), arkflow.EventTime("ts")).
		Apply("async", operator.Async(g.call, operator.AsyncConfig{InFlight: 8})).
		KeyBy("k").Window("w", window.Tumbling(time.Second), window.Sum("ts").As("sum")).Sink("out", drop.Sink{})
	j := Start(t, job, From("in", at("a", 1, 2, 8)), NoLeaks())
	g.inFlight(t, 3, j)
	epoch := make(chan error, 1)
	go func() {
		_, err := j.Handle().Checkpoint(context.Background())
		epoch <- err
	}()
	for range 1000 {
		runtime.Gosched()
		require.Empty(t, epoch, "the epoch waits for the calls")
	}
	close(g.open)
	require.NoError(t, <-epoch)
	j.Send("in", at("a", 4))
	j.EndInput("in")
	whole := j.Wait()
	require.Equal(t, int64(15), whole.Rows("out")[0]["sum"])
	again := Run(t, job, From("in", Script(at("a", 1, 2, 8), at("a", 4))), Restore(whole.Snapshots()[0]))
	require.Equal(t, whole.Lines("out"), again.Lines("out"), "rows that were called for before the barrier are in the snapshot")
	require.Equal(t, int64(1), again.Status().Operator("async").RowsIn)
}

func TestE9CancelEndsCallsInFlight(t *testing.T) {
	g := newGate()
	job := arkflow.NewJob("cancel")
	job.Source("in", source(keyed), arkflow.EventTime("ts")).
		Apply("async", operator.Async(g.call, operator.AsyncConfig{InFlight: 2, Timeout: time.Hour})).Sink("out", drop.Sink{})
	j := Start(t, job, From("in", at("a", 1, 2, 3, 4, 5)), NoLeaks())
	g.inFlight(t, 2, j)
	r := j.Cancel()
	require.ErrorIs(t, r.Err(), arkflow.ErrCanceled)
}

func TestE5APanicOfACallFailsTheJobWithItsStack(t *testing.T) {
	job := arkflow.NewJob("panics")
	job.Source("in", source(keyed), arkflow.EventTime("ts")).
		Apply("async", operator.Async(func(context.Context, timedKey) (timedKey, error) { panic("boom") }, operator.AsyncConfig{})).
		With(arkflow.OnError(arkflow.Skip())).Sink("out", drop.Sink{})
	_, err := Try(t.Context(), job, From("in", at("a", 1)), NoLeaks())
	var failed *arkflow.OperatorError
	require.ErrorAs(t, err, &failed)
	require.Equal(t, "async", failed.Operator)
	var p *arkflow.PanicError
	require.ErrorAs(t, err, &p)
	require.Equal(t, "boom", p.Value)
	require.Contains(t, string(failed.Stack), "async_test.go")
}

func TestE6AsyncErrorsFollowThePolicy(t *testing.T) {
	odd := errors.New("odd")
	op := operator.Async(func(_ context.Context, k timedKey) (timedKey, error) {
		if k.TS%2 == 1 {
			return k, odd
		}
		return k, nil
	}, operator.AsyncConfig{InFlight: 3})
	build := func(p arkflow.ErrorPolicy) *arkflow.Job {
		job := arkflow.NewJob("odd")
		job.Source("in", source(keyed), arkflow.EventTime("ts")).Apply("async", op).With(arkflow.OnError(p)).Sink("out", drop.Sink{})
		return job
	}
	_, err := Try(t.Context(), build(arkflow.Fail()), From("in", at("a", 1, 2, 3, 4)), NoLeaks())
	require.ErrorIs(t, err, odd)
	Verify(t, build(arkflow.Skip()), From("in", at("a", 1, 2, 3, 4), at("b", 5, 6)), Want("out", lateRow("a", 2), lateRow("a", 4), lateRow("b", 6)))
}

// Rows in flight when their source turns idle must not be late for it.
func TestT5AnIdleTaskHasNoCallInFlight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow, fast := memory.NewInlet[timedKey](memory.InletConfig{}), memory.NewInlet[timedKey](memory.InletConfig{})
		out := memory.NewSink()
		job := arkflow.NewJob("idle")
		calls := arkflow.Async(arkflow.As[timedKey](job.Source("slow", slow, arkflow.EventTime("ts", arkflow.IdleTimeout(time.Second)))), "async",
			func(_ context.Context, k timedKey) (timedKey, error) { <-time.After(5 * time.Second); return k, nil }, operator.AsyncConfig{})
		w := calls.Stream().Union("all", job.Source("fast", fast, arkflow.EventTime("ts"))).
			KeyBy("k").Window("w", window.Tumbling(10*msec), window.Count().As("rows"))
		w.Sink("out", out)
		w.Late().Sink("late", drop.Sink{})
		h, err := arkflow.Runtime{}.Start(t.Context(), job)
		require.NoError(t, err)
		require.NoError(t, slow.Send(t.Context(), timedKey{"a", 5}))
		<-time.After(2 * time.Second) // the source is idle by now, and its row is on its way
		require.NoError(t, fast.Send(t.Context(), timedKey{"b", 100}))
		<-time.After(10 * time.Second)
		require.NoError(t, slow.Close())
		require.NoError(t, fast.Close())
		require.NoError(t, h.Wait(t.Context()))
		require.Len(t, out.Rows(), 2)
		status := h.Status()
		require.Zero(t, status.Operator("w").Late)
	})
}

func TestAsyncTimeoutsAndRetriesGoByTheClockOfTheJob(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var tries atomic.Int64
		out := memory.NewSink()
		job := arkflow.NewJob("timeouts")
		arkflow.Async(arkflow.As[timedKey](job.Source("in", memory.Of([]timedKey{{"a", 1}, {"b", 2}}), arkflow.ProcessingTime())), "async",
			func(ctx context.Context, k timedKey) (timedKey, error) {
				if k.K == "b" && tries.Add(1) < 3 {
					<-ctx.Done()
					return k, ctx.Err()
				}
				return k, nil
			}, operator.AsyncConfig{Timeout: time.Minute, Retries: 2, Backoff: time.Second}).Stream().Sink("out", out)
		start := time.Now()
		require.NoError(t, job.Run(t.Context()))
		require.Equal(t, 2*time.Minute+3*time.Second, time.Since(start))
		require.Len(t, out.Rows(), 2)
	})
}

func TestT9AnOldWatermarkIsNotForwardedAndTheNewOneIsRestored(t *testing.T) {
	schema := schemaOf(field("k", arrow.BinaryTypes.String), field("ts", arrow.PrimitiveTypes.Int64), field("other", arrow.PrimitiveTypes.Int64))
	job := arkflow.NewJob("restored")
	w := job.Source("in", source(schema), arkflow.EventTime("ts")).WithTimestamps("other-time", "other", arkflow.OutOfOrderness(5*msec)).
		KeyBy("k").Window("w", window.Tumbling(10*msec), window.Count().As("rows"))
	w.Sink("out", drop.Sink{})
	w.Late().Sink("late", drop.Sink{})
	rows := func(ts, other int64) Split { return Table(schema, []any{"a", ts, other}) }
	// By ts time is at 1000 at once; by the other it goes from 3 to 26.
	in := From("in", Script(rows(1000, 3), rows(1001, 14), Checkpoint(), rows(1002, 12), rows(1003, 26), rows(1004, 8), Open()))
	want := []Option{in, EndBy(Drain), Want("out", win("a", 0, 10, 1), win("a", 10, 20, 2), win("a", 20, 30, 1))}
	for _, p := range []int{1, 2, 3} {
		whole := Run(t, job, append(want, Parallelism(p))...)
		require.Equal(t, []string{`k="a" ts=1004 other=8`}, whole.Lines("late"))
		again := Run(t, job, append(want, Parallelism(p), Restore(whole.Snapshots()[0]))...)
		require.Equal(t, whole.Lines("late"), again.Lines("late"))
	}
	// The first split says 50 before the epoch and is silent after it; the second one moves on. No watermark comes in, by processing time.
	job = arkflow.NewJob("silent")
	job.Source("in", source(keyed), arkflow.ProcessingTime()).WithTimestamps("time", "ts").
		KeyBy("k").Window("w", window.Tumbling(10*msec), window.Count().As("rows")).Sink("out", drop.Sink{})
	silent := From("in", Script(at("a", 50), Sync(), Checkpoint(), Open()), Script(at("b", 45), Sync(), Checkpoint(), at("b", 58), Open()))
	r := Run(t, job, silent, Parallelism(2), EndBy(Stop))
	require.Len(t, r.Rows("out"), 1, "W is 50")
	again := Run(t, job, silent, Parallelism(2), EndBy(Stop), Restore(r.Snapshots()[0]))
	require.Equal(t, r.Lines("out"), again.Lines("out"))
}
