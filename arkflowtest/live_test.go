package arkflowtest_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/arkflow-go/arkflow"
	. "github.com/arkflow-go/arkflow/arkflowtest"
	"github.com/arkflow-go/arkflow/connectors/drop"
	"github.com/arkflow-go/arkflow/connectors/memory"
	"github.com/arkflow-go/arkflow/window"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestAJobIsDrivenStepByStep(t *testing.T) {
	j := Start(t, tumble(0), From("in", Rows(event{"a", 1, 2}), Split{}), Parallelism(2))
	j.Settle()
	require.Empty(t, j.Written("out"), "the second split holds the watermark back")
	j.Send("in", Rows(event{"a", 12, 3}))
	j.SendTo("in", 1, Rows(event{"b", 2, 1}, event{"b", 11, 1}))
	j.Settle()
	require.Len(t, j.Written("out"), 2)
	require.Empty(t, j.Lines("out"), "nothing is committed before an epoch is")
	require.Equal(t, int64(1), j.Checkpoint())
	require.Equal(t, j.Written("out"), j.Lines("out"))
	require.Equal(t, int64(1), j.Snapshot().Epoch())
	j.Send("in", Rows(event{"a", 15, 4}))
	j.EndInput("in")
	r := j.Wait()
	require.Equal(t, arkflow.Finished, r.Status().State)
	require.Equal(t, []counted{{"a", ms(0), ms(10), 1, 2}, {"a", ms(10), ms(20), 2, 7}, {"b", ms(0), ms(10), 1, 1}, {"b", ms(10), ms(20), 1, 1}}, RowsOf[counted](t, r, "out"))
}

func TestB7EndsDifferInWhatTheyFlush(t *testing.T) {
	for end, state := range map[End]arkflow.State{Drain: arkflow.Finished, Stop: arkflow.Suspended, Cancel: arkflow.Suspended} {
		t.Run(end.String(), func(t *testing.T) {
			in := Rows(event{"a", 1, 2}, event{"a", 12, 3})
			r, err := Try(t.Context(), tumble(0), From("in", in.Then(Open())), EndBy(end), NoLeaks())
			require.Equal(t, state, r.Status().State)
			switch end {
			case Drain:
				require.NoError(t, err)
				require.Len(t, r.Rows("out"), 2)
			case Stop:
				require.NoError(t, err)
				require.Len(t, r.Rows("out"), 1, "[10,20) stays in state")
				rest := Run(t, tumble(0), From("in", in.Then(Rows(event{"a", 13, 1}))), Restore(r.Snapshot()))
				require.Equal(t, []counted{{"a", ms(0), ms(10), 1, 2}, {"a", ms(10), ms(20), 2, 4}}, RowsOf[counted](t, rest, "out"))
			case Cancel:
				require.ErrorIs(t, err, arkflow.ErrCanceled)
				require.Empty(t, r.Rows("out"), "nothing was committed")
			}
		})
	}
}

func TestSyncAdvanceAndCheckpointAreStepsOfAScript(t *testing.T) {
	job := tumble(0, arkflow.IdleTimeout(time.Minute))
	r := Run(t, job, From("in",
		Script(Rows(event{"a", 1, 2}, event{"a", 12, 3}), Sync(), Checkpoint(), Advance(2*time.Minute), Checkpoint(), Rows(event{"a", 15, 1})),
		Script(Sync(), Sync(), Open())))
	var sizes []int
	for _, s := range r.Snapshots() {
		again := Run(t, job, From("in", Open(), Open()), Restore(s), EndBy(Stop))
		sizes = append(sizes, len(again.Rows("out")))
	}
	require.Equal(t, []int{0, 1, 2}, sizes, "the silent split holds [0,10) back until it is idle")
}

func TestWatermarksOfAScriptDecideWhatIsLate(t *testing.T) {
	opts := []Option{
		From("in", Script(Rows(event{"a", 1, 1}, event{"a", 99, 1}), WatermarkAt(10), Rows(event{"a", 9, 1}, event{"a", 10, 1}), WatermarkAt(5),
			WatermarkAt(100), Rows(event{"a", 99, 7}, event{"a", 100, 1}))),
		Want("late", event{"a", 9, 1}, event{"a", 99, 7}),
		Want("out", counted{"a", ms(0), ms(10), 1, 1}, counted{"a", ms(10), ms(20), 1, 1}, counted{"a", ms(90), ms(100), 1, 1}, counted{"a", ms(100), ms(110), 1, 1}),
		Counts("w", "out", "rows")}
	Verify(t, tumble(0), opts...)
}

func TestASourceThatMaxRateHoldsIsSettled(t *testing.T) {
	job := arkflow.NewJob("slow")
	job.Source("in", memory.Of([]event{}), arkflow.ProcessingTime(), arkflow.MaxRate(1)).Sink("out", drop.Sink{})
	j := Start(t, job, From("in", Rows(event{"a", 1, 1})))
	j.Settle()
	for range 3 {
		j.Send("in", Rows(event{"a", 2, 1}))
	}
	j.Settle() // although rows are there: the source may not read before the clock goes on
	require.Len(t, j.Written("out"), 1)
	j.Advance(time.Second)
	require.Len(t, j.Written("out"), 2)
	j.EndInput("in")
	require.Len(t, j.Wait().Rows("out"), 4)
}

func TestAScriptCanFail(t *testing.T) {
	_, err := Try(t.Context(), tumble(0), From("in", Rows(event{"a", 1, 1}).Then(FailWith(errors.New("disk gone")))))
	require.ErrorContains(t, err, `operator "in"`)
	require.ErrorContains(t, err, "disk gone")
}

func TestAGateHoldsASinkUp(t *testing.T) {
	g := &Gate{}
	g.Shut()
	j := Start(t, passing(), From("in", Rows(event{"a", 1, 1})), Gated("out", g), LinkBatches(1))
	j.Settle()
	require.Empty(t, j.Written("out"))
	g.Open()
	j.Settle()
	require.Len(t, j.Written("out"), 1)
	g.Shut()
	j.Send("in", Rows(event{"b", 1, 1}))
	j.Settle()
	require.Len(t, j.Written("out"), 1)
	r := j.Cancel()
	require.Equal(t, arkflow.ErrCanceled, r.Err())
}

// passing is: rows to a sink.
func passing() *arkflow.Job {
	job := arkflow.NewJob("passing")
	job.Source("in", memory.Of[event](), arkflow.ProcessingTime()).Sink("out", drop.Sink{})
	return job
}

func TestRowsOfAnyFormAndType(t *testing.T) {
	r := Run(t, passing(), From("in", Rows(Row{"key": "a", "ts": 5, "n": int8(3)}, Row{"key": "b"})), WantLines("out", `key="a" ts=5 n=3`, `key="b" ts=null n=null`))
	require.Equal(t, []Row{{"key": "a", "ts": int64(5), "n": int64(3)}, {"key": "b", "ts": nil, "n": nil}}, r.Rows("out"))
}

func TestUserSourcesThatAreNotScriptedRunToo(t *testing.T) {
	job := arkflow.NewJob("passing")
	job.Source("in", memory.Of([]event{{"a", 1, 1}, {"b", 2, 2}}), arkflow.ProcessingTime()).Sink("out", drop.Sink{})
	job.Source("more", memory.Of[event](), arkflow.ProcessingTime()).Sink("other", drop.Sink{})
	Run(t, job, From("more", Rows(event{"c", 3, 3})), Want("out", event{"a", 1, 1}, event{"b", 2, 2}), Want("other", event{"c", 3, 3}))
}

func TestEverythingWorksInsideSynctest(t *testing.T) {
	for name, opt := range map[string][]Option{"fake clock": nil, "system clock": {SystemClock()}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				Run(t, tumble(0), append(opt, From("in", Rows(event{"a", 1, 2})), Want("out", counted{"a", ms(0), ms(10), 1, 2}))...)
			})
		})
	}
	synctest.Test(t, func(t *testing.T) {
		j := Start(t, perMinute(), From("in", Rows(event{"a", 1, 2})), SystemClock())
		<-time.After(time.Minute) // of the bubble
		synctest.Wait()
		require.Len(t, j.Written("out"), 1)
		j.Stop()
	})
}

// perMinute is: rows per key and minute of the clock.
func perMinute() *arkflow.Job {
	job := arkflow.NewJob("per-minute")
	job.Source("in", memory.Of[event](), arkflow.ProcessingTime()).KeyBy("key").
		Window("w", window.Tumbling(time.Minute), window.Count().As("rows")).Sink("out", drop.Sink{})
	return job
}

func TestProcessingTimeGoesByTheClockOfTheTest(t *testing.T) {
	j := Start(t, perMinute(), From("in", Rows(event{"a", 1, 2}, event{"a", 1, 2})))
	j.Advance(59 * time.Second)
	require.Empty(t, j.Written("out"))
	j.Send("in", Rows(event{"b", 1, 1}))
	j.Advance(time.Second)
	require.Equal(t, []string{
		`key="a" window_start=2024-01-01T00:00:00Z window_end=2024-01-01T00:01:00Z rows=2`,
		`key="b" window_start=2024-01-01T00:00:00Z window_end=2024-01-01T00:01:00Z rows=1`}, j.Written("out"))
	j.Send("in", Rows(event{"b", 1, 1}))
	r := j.Drain()
	require.Len(t, r.Rows("out"), 3)
}

func TestClockFiresTimersInOrder(t *testing.T) {
	c := NewClock(ClockStart)
	late, early, gone := c.NewTimer(2*time.Second), c.NewTimer(time.Second), c.NewTimer(time.Second)
	gone.Stop()
	c.Advance(time.Second - 1)
	select {
	case <-early.C():
		t.Fatal("too early")
	default:
	}
	c.Advance(5 * time.Second)
	assert.Equal(t, ClockStart.Add(time.Second), <-early.C())
	assert.Equal(t, ClockStart.Add(2*time.Second), <-late.C())
	late.Reset(0)
	assert.Equal(t, c.Now(), <-late.C(), "a timer of no length fires at once")
	select {
	case <-gone.C():
		t.Fatal("a stopped timer fired")
	default:
	}
}
