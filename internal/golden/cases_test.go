package golden

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
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

var keyed = timeSchema(arrow.PrimitiveTypes.Int64)

// at gives rows of one key.
func at(key string, ts ...int64) Split {
	var rows [][]any
	for _, v := range ts {
		rows = append(rows, []any{key, v})
	}
	return Table(keyed, rows...)
}

func lateRow(key string, ts int64) map[string]any { return map[string]any{"k": key, "ts": ts} }

// tens is: rows per key and 10 ms.
func tens(d time.Duration, opts ...arkflow.TimeOption) *arkflow.Job {
	return counting(keyed, arkflow.EventTime("ts", append(opts, arkflow.OutOfOrderness(d))...), window.Tumbling(10*msec))
}

func TestB01AFragmentMovesNoWatermarkPastItsSiblings(t *testing.T) {
	rows := From("in", Script(at("A", 21), at("B", 3), at("A", 4)))
	whole := From("in", Table(keyed, []any{"A", int64(21)}, []any{"B", int64(3)}, []any{"A", int64(4)}))
	for _, in := range []Option{rows, whole} {
		Verify(t, tens(0), in, Want("out", win("A", 20, 30, 1)), Want("late", lateRow("B", 3), lateRow("A", 4)), Counts("w", "out", "rows"))
		Verify(t, tens(20*msec), in, Want("out", win("A", 0, 10, 1), win("B", 0, 10, 1), win("A", 20, 30, 1)), WantLines("late"), Counts("w", "out", "rows"))
	}
}

func TestB05LateIsJudgedByTheEndOfTheWindow(t *testing.T) {
	Verify(t, tens(0), From("in", at("a", 8, 5, 10, 9)), Want("out", win("a", 0, 10, 2), win("a", 10, 20, 1)), Want("late", lateRow("a", 9)), Counts("w", "out", "rows"))
}

func TestB09AFinishedSplitDoesNotEndTimeForAnIdleOne(t *testing.T) {
	Verify(t, tens(0, arkflow.IdleTimeout(time.Minute)),
		From("in", at("a", 1), Script(at("a", 5), Sync(), Advance(2*time.Minute), at("a", 6))),
		Want("out", win("a", 0, 10, 3)), WantLines("late"), Counts("w", "out", "rows"))
}

func TestB12SourceTasksWithoutSplitsNeitherStallNorFlood(t *testing.T) {
	j := Start(t, tens(0), From("in", at("a", 1, 11)), Parallelism(3))
	j.Settle()
	require.Equal(t, []string{`k="a" window_start=1970-01-01T00:00:00Z window_end=1970-01-01T00:00:00.01Z rows=1`}, j.Written("out"), "[0,10) fires")
	j.Send("in", at("a", 12, 13))
	j.Settle()
	require.Empty(t, j.Written("late"))
	j.EndInput("in")
	r := j.Wait()
	require.Len(t, r.Rows("out"), 2)
}

func TestB18WatermarksAndFiredWindowsAreRestored(t *testing.T) {
	in := From("in", Script(WatermarkAt(0), at("a", 3), WatermarkAt(16), Checkpoint(), WatermarkAt(12), at("a", 4), at("a", 15), WatermarkAt(17), WatermarkAt(20), at("a", 19)))
	want := []Option{in, Want("out", win("a", 0, 10, 1), win("a", 10, 20, 1)), Want("late", lateRow("a", 4), lateRow("a", 19))}
	r := Run(t, tens(0), want...)
	Run(t, tens(0), append(want, Restore(r.Snapshots()[0]))...)
	Verify(t, tens(0), want...)
}

func TestB18AWatermarkIsToldAgainAfterARestoreWhereASplitStaysSilent(t *testing.T) {
	// The first split says 50 before the epoch and is silent after it; the second one moves on after it.
	in := From("in", Script(at("a", 50), Sync(), Checkpoint(), Open()), Script(at("b", 45), Sync(), Checkpoint(), at("b", 58), Open()))
	for _, p := range []int{1, 2, 3} {
		whole := Run(t, tens(0), in, Parallelism(p), EndBy(Stop))
		require.Len(t, whole.Rows("out"), 1, "W is 50")
		again := Run(t, tens(0), in, Parallelism(p), EndBy(Stop), Restore(whole.Snapshots()[0]))
		require.Equal(t, whole.Lines("out"), again.Lines("out"))
	}
}

func TestB27BoundedInputCommitsItsTailOnce(t *testing.T) {
	for _, p := range []int{1, 2} {
		j := Start(t, tens(0), From("in", at("a", 1, 2, 3, 4, 5), at("b", 1)), Parallelism(p), CheckpointEvery(time.Hour))
		j.Settle()
		j.EndInput("in")
		r := j.Wait()
		require.Equal(t, arkflow.Finished, r.Status().State)
		require.Equal(t, []string{
			`k="a" window_start=1970-01-01T00:00:00Z window_end=1970-01-01T00:00:00.01Z rows=5`,
			`k="b" window_start=1970-01-01T00:00:00Z window_end=1970-01-01T00:00:00.01Z rows=1`}, r.Lines("out"))
		// Run again from its end it reads nothing twice.
		again := Run(t, tens(0), From("in", at("a", 1, 2, 3, 4, 5), at("b", 1)), Parallelism(p), Restore(r.Snapshot()))
		require.Equal(t, r.Lines("out"), again.Lines("out"))
	}
	r, err := Try(t.Context(), tens(0), From("in", at("a", 1, 2).Then(Open())), EndBy(Cancel))
	require.ErrorIs(t, err, arkflow.ErrCanceled)
	require.Zero(t, r.Status().Operator("w").RowsOut, "a cancel is not the end of time")
}

func TestB30RowsBehindTheBarrierStayOutOfTheSnapshot(t *testing.T) {
	schema := schemaOf(field("k", arrow.BinaryTypes.String), field("ts", arrow.PrimitiveTypes.Int64), field("n", arrow.PrimitiveTypes.Int64))
	type summand struct {
		K  string `arkflow:"k"`
		TS int64  `arkflow:"ts"`
		N  int64  `arkflow:"n"`
	}
	hold := make(chan struct{})
	job := arkflow.NewJob("sums")
	w := job.Source("in", source(schema), arkflow.EventTime("ts")).
		Apply("slow", operator.Map(func(s summand) summand {
			if s.N == 8 {
				<-hold
			}
			return s
		})).
		KeyBy("k").Window("w", window.Tumbling(time.Second), window.Sum("n").As("sum"))
	w.Sink("out", drop.Sink{})
	rows := func(ns ...int64) Split {
		var out [][]any
		for _, n := range ns {
			out = append(out, []any{"a", n, n})
		}
		return Table(schema, out...)
	}
	j := Start(t, job, From("in", rows(1, 2), rows(8)), Parallelism(2), LinkBatches(1))
	until := func(what string, done func() bool) {
		t.Helper()
		for range 100_000 {
			if done() {
				return
			}
			runtime.Gosched()
		}
		t.Fatal(what + "\n" + j.Tasks())
	}
	out := func(id string) int64 { return j.Status().Operator(id).RowsOut }
	until("rows 1 and 2 arrive", func() bool { return j.Status().Operator("w").RowsIn == 2 })
	epoch := make(chan error, 1)
	go func() {
		_, err := j.Handle().Checkpoint(context.Background())
		epoch <- err
	}()
	// The first task has the barrier once it goes on; its next row waits behind it for the other one's.
	until("the task of the first split answers", func() bool { return strings.Contains(j.Tasks(), "blocked by alignment") })
	j.Send("in", rows(4))
	until("row 4 is sent", func() bool { return out("slow") == 3 })
	require.Equal(t, int64(2), j.Status().Operator("w").RowsIn, "row 4 is not read before the barrier of the other task")
	close(hold)
	require.NoError(t, <-epoch)
	j.EndInput("in")
	whole := j.Wait()
	require.Equal(t, []Row{{"k": "a", "window_start": time.UnixMilli(0).UTC(), "window_end": time.UnixMilli(1000).UTC(), "sum": int64(15)}}, whole.Rows("out"))
	again := Run(t, job, From("in", Script(rows(1, 2), rows(4)), rows(8)), Parallelism(2), Restore(whole.Snapshots()[0]))
	require.Equal(t, whole.Lines("out"), again.Lines("out"))
	require.Equal(t, int64(1), again.Status().Operator("in").RowsIn, "only row 4 is read again")
}

func TestB32OneHotKeyThroughLinksOfASingleBatch(t *testing.T) {
	job := arkflow.NewJob("hot")
	src := job.Source("in", source(keyed), arkflow.EventTime("ts"))
	for _, name := range []string{"a", "b"} {
		src.KeyBy("k").Window(name, window.Tumbling(100*msec), window.Count().As("rows")).
			KeyBy("rows").Window(name+"2", window.Tumbling(time.Second), window.Count().As("n")).Sink("out-"+name, drop.Sink{})
	}
	src.Sink("raw", drop.Sink{})
	ts := make([]int64, 10_000)
	for i := range ts {
		ts[i] = int64(i)
	}
	for _, p := range []int{2, 7} {
		r := Run(t, job, From("in", at("hot", ts...), Split{}), Parallelism(p), LinkBatches(1), BatchRows(10), CheckpointEvery(time.Second))
		require.Len(t, r.Rows("raw"), 10_000)
		require.Len(t, r.Rows("out-a"), 10)
		require.Equal(t, r.Lines("out-a"), r.Lines("out-b"))
	}
}

func TestB33ABlockedSinkTimesTheEpochOutAndNothingIsLost(t *testing.T) {
	g := &Gate{}
	var parts []Split
	for i := range 10 {
		parts = append(parts, at("a", int64(i)))
	}
	for _, p := range []arkflow.NodeOption{arkflow.Tasks(1), arkflow.Tasks(2)} {
		job := arkflow.NewJob("blocked")
		job.Source("in", source(keyed), arkflow.ProcessingTime(), p).Sink("out", drop.Sink{}, arkflow.Tasks(1))
		g.Shut()
		j := Start(t, job, From("in", Script(parts...), Script(parts...)), Gated("out", g), LinkBatches(1), CheckpointEvery(time.Second))
		events := j.Handle().Events(t.Context())
		j.Settle()
		j.Advance(time.Second)      // an epoch begins and cannot end
		j.Advance(11 * time.Minute) // it times out
		g.Open()
		j.Settle()
		j.Checkpoint()
		require.Len(t, j.Lines("out"), 20)
		j.EndInput("in")
		r := j.Wait()
		require.Len(t, r.Rows("out"), 20, "each row once")
		aborted := 0
		for e := range events {
			if e.Kind == arkflow.EventCheckpointAborted {
				aborted++
			}
		}
		require.Positive(t, aborted)
	}
}

func TestB64TheLastWindowFiresAtTheEndOfInputOnly(t *testing.T) {
	ts := make([]int64, 25)
	for i := range ts {
		ts[i] = int64(i + 1)
	}
	all := []Option{Want("out", win("a", 0, 10, 9), win("a", 10, 20, 10), win("a", 20, 30, 6)), WantLines("late"), Counts("w", "out", "rows")}
	Verify(t, tens(5*msec), append(all, From("in", at("a", ts...)))...)
	stopped := Run(t, tens(5*msec), From("in", at("a", ts...).Then(Open())), EndBy(Stop), Want("out", win("a", 0, 10, 9), win("a", 10, 20, 10)))
	Run(t, tens(5*msec), append(all, From("in", at("a", ts...)), Restore(stopped.Snapshot()))...)
}

func TestB65ResultsLeaveBeforeTheWatermarkThatFiresThem(t *testing.T) {
	job := arkflow.NewJob("counts-of-counts")
	first := job.Source("in", source(keyed), arkflow.EventTime("ts")).KeyBy("k").Window("first", window.Tumbling(10*msec), window.Count().As("rows"))
	second := first.KeyBy("rows").Window("second", window.Tumbling(10*msec), window.Count().As("n"))
	second.Sink("out", drop.Sink{})
	second.Late().Sink("late", drop.Sink{})
	Verify(t, job, From("in", Table(keyed, []any{"a", int64(1)}, []any{"b", int64(2)}, []any{"a", int64(10)})), WantLines("late"),
		Want("out", map[string]any{"rows": 1, "window_start": time.UnixMilli(0), "window_end": time.UnixMilli(10), "n": 2},
			map[string]any{"rows": 1, "window_start": time.UnixMilli(10), "window_end": time.UnixMilli(20), "n": 1}))
}

func TestB87ASplitThatWasHeldUpIsNotIdle(t *testing.T) {
	// Both splits in one task; the sink holds the task up for longer than the idle timeout, in its own call or by a full link.
	for name, tasks := range map[string]int{"fused sink": 1, "full link": 2} {
		t.Run(name, func(t *testing.T) {
			job := arkflow.NewJob("held-up")
			src := job.Source("in", source(keyed), arkflow.EventTime("ts", arkflow.IdleTimeout(time.Minute)), arkflow.Tasks(1))
			src.Sink("raw", drop.Sink{}, arkflow.Tasks(tasks))
			src.KeyBy("k").Window("w", window.Tumbling(10*msec), window.Count().As("rows")).Sink("out", drop.Sink{})
			g := &Gate{}
			j := Start(t, job, From("in", at("a", 1), Split{}), Gated("raw", g), LinkBatches(1), BatchRows(1))
			j.SendTo("in", 1, at("b", 2))
			j.Advance(30 * time.Second)
			g.Shut()
			for i := range int64(4) { // what the links and the sink hold, and more
				j.SendTo("in", 1, at("b", 50+2*i, 51+2*i))
				j.Settle()
			}
			j.Advance(2 * time.Minute)
			g.Open()
			j.Settle()
			require.Empty(t, j.Written("out"), "the first split was not polled for two minutes: it is not idle")
			j.Send("in", at("a", 3))
			j.EndInput("in")
			r := j.Wait()
			require.Zero(t, r.Status().Operator("w").Late)
		})
	}
}

// shuffled lists the splits of a source in another order each time.
type shuffled struct{ operator.Source }

func (s shuffled) Splits(ctx context.Context) ([]operator.Split, error) {
	out, err := s.Source.Splits(ctx)
	rand.Shuffle(len(out), func(i, k int) { out[i], out[k] = out[k], out[i] })
	return out, err
}

func TestB88EverySplitHasOneReaderHoweverTheyAreListed(t *testing.T) {
	type row struct {
		N int64 `arkflow:"n"`
	}
	var parts [][]row
	want := map[string]int{}
	for i := range int64(7) {
		parts = append(parts, []row{{10 * i}, {10*i + 1}})
		want[fmt.Sprintf("n=%d", 10*i)]++
		want[fmt.Sprintf("n=%d", 10*i+1)]++
	}
	job := arkflow.NewJob("listed")
	job.Source("in", shuffled{memory.Of(parts...).InBatches(1)}, arkflow.ProcessingTime()).Sink("out", drop.Sink{})
	check := func(r *Result) {
		t.Helper()
		got := map[string]int{}
		for _, l := range r.Lines("out") {
			got[l]++
		}
		require.Equal(t, want, got)
	}
	var some *Snapshot
	for range 50 {
		r := Run(t, job, Parallelism(3), BarrierEveryBatch())
		check(r)
		some = r.Snapshots()[len(r.Snapshots())/2]
		check(Run(t, job, Parallelism(2), Restore(some)))
	}
}

func TestT3B89NoWatermarkBeforeOneIsKnown(t *testing.T) {
	j := Start(t, tens(time.Second), From("in", Split{}), Parallelism(2))
	j.Advance(time.Hour)
	for _, o := range j.Status().Operators {
		require.False(t, o.HasWatermark, o.ID)
	}
	j.Send("in", at("a", math.MinInt64+1000))
	j.Settle()
	in := j.Status().Operator("w")
	require.GreaterOrEqual(t, in.Watermark, int64(math.MinInt64), "MinInt64 + 1000 − 1 s saturates")
	require.Less(t, in.Watermark, int64(math.MinInt64+1000))
	j.Cancel()
}

func TestB92FailuresAtEveryPointGiveEverythingBack(t *testing.T) {
	boom := errors.New("boom")
	points := map[string]func(n int) Option{
		"poll":          func(n int) Option { return FailPoll("in", n, boom) },
		"poll panics":   func(n int) Option { return FailPoll("in", n, Panic("boom")) },
		"write":         func(n int) Option { return FailWrite("out", n, boom) },
		"write panics":  func(n int) Option { return FailWrite("late", n, Panic("boom")) },
		"prepare":       func(n int) Option { return FailPrepare("out", n, boom) },
		"commit panics": func(n int) Option { return FailCommit("out", n, Panic("boom")) },
		"seal":          func(n int) Option { return FailSeal(n, boom) },
		"open":          func(n int) Option { return FailOpen("out", n, boom) },
		"open panics":   func(n int) Option { return FailOpen("in", n, Panic("boom")) },
		"close panics":  func(n int) Option { return FailClose("out", n, Panic("boom")) },
	}
	in := From("in", at("a", 1, 12, 3, 25, 31, 22, 44, 50), at("b", 2, 13, 1, 24, 33, 47))
	for name, fail := range points {
		t.Run(name, func(t *testing.T) {
			failed := 0
			for n := range 12 {
				_, err := Try(t.Context(), tens(0), in, fail(n), Parallelism(2), LinkBatches(1), BarrierEveryRow(), NoLeaks())
				if err != nil {
					require.ErrorContains(t, err, "boom", "n = %d", n)
					require.NotContains(t, err.Error(), "column pool", "n = %d", n)
					failed++
				}
			}
			require.Positive(t, failed)
		})
	}
}
