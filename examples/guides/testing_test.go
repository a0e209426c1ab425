package guides_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/arkflow-go/arkflow"
	"github.com/arkflow-go/arkflow/arkflowtest"
	"github.com/arkflow-go/arkflow/connectors/drop"
	"github.com/arkflow-go/arkflow/connectors/memory"
	"github.com/arkflow-go/arkflow/window"
)

// The programs of docs/testing.md.

type Visit struct {
	Page string    `arkflow:"page"`
	At   time.Time `arkflow:"at"`
}

type Visits struct {
	Page  string    `arkflow:"page"`
	Start time.Time `arkflow:"window_start"`
	End   time.Time `arkflow:"window_end"`
	N     int64     `arkflow:"n"`
}

// NewVisits is the job as the program builds it; sources and sinks are replaced in the tests.
func NewVisits() *arkflow.Job {
	job := arkflow.NewJob("visits")
	perMinute := job.Source("visits", memory.Of[Visit](), arkflow.EventTime("at", arkflow.IdleTimeout(time.Minute))).
		KeyBy("page").
		Window("per-minute", window.Tumbling(time.Minute), window.Count().As("n"))
	perMinute.Sink("out", drop.Sink{})
	perMinute.Late().Sink("late", drop.Sink{})
	return job
}

func at(seconds int64) time.Time { return time.Unix(seconds, 0).UTC() }

func TestVisitsAreCountedHoweverTheyCome(t *testing.T) {
	arkflowtest.Verify(t, NewVisits(),
		arkflowtest.From("visits",
			arkflowtest.Rows(Visit{"home", at(5)}, Visit{"home", at(65)}, Visit{"home", at(7)}),
			arkflowtest.Rows(Visit{"home", at(50)}, Visit{"help", at(61)})),
		arkflowtest.Want("out",
			Visits{"home", at(0), at(60), 2},
			Visits{"home", at(60), at(120), 1},
			Visits{"help", at(60), at(120), 1}),
		arkflowtest.Want("late", Visit{"home", at(7)}),
		arkflowtest.Counts("per-minute", "out", "n"))
}

func TestAWatermarkSaysWhatIsLate(t *testing.T) {
	r := arkflowtest.Run(t, NewVisits(),
		arkflowtest.From("visits", arkflowtest.Script(
			arkflowtest.Rows(Visit{"home", at(5)}, Visit{"home", at(500)}), // the split says its watermark itself: 500 s moves none
			arkflowtest.WatermarkAt(60_000),
			arkflowtest.Rows(Visit{"home", at(59)}, Visit{"home", at(60)}))),
		arkflowtest.WantLines("late", `page="home" at=1970-01-01T00:00:59Z`))
	window := r.Status().Operator("per-minute")
	require.Equal(t, int64(4), window.RowsIn)
	require.Equal(t, int64(1), window.Late)
}

func TestASilentSplitIsIdleAfterAMinute(t *testing.T) {
	j := arkflowtest.Start(t, NewVisits(), arkflowtest.From("visits",
		arkflowtest.Rows(Visit{"home", at(5)}, Visit{"home", at(65)}),
		arkflowtest.Rows(Visit{"home", at(1)})))
	j.Settle()
	require.Empty(t, j.Written("out"), "the second split stands at 1 s")
	require.Equal(t, `split "split-001"`, j.Status().HeldBack[0].By)

	j.Advance(time.Minute)
	require.Equal(t, []string{`page="home" window_start=1970-01-01T00:00:00Z window_end=1970-01-01T00:01:00Z n=2`}, j.Written("out"))
	require.Empty(t, j.Lines("out"), "nothing is committed before an epoch is")
	j.Checkpoint()
	require.Len(t, j.Lines("out"), 1)
	j.Drain()
}

func TestAnOpenWindowComesBackAfterARestore(t *testing.T) {
	visits := arkflowtest.Rows(Visit{"home", at(5)}, Visit{"home", at(6)})
	first := arkflowtest.Run(t, NewVisits(), arkflowtest.EndBy(arkflowtest.Stop),
		arkflowtest.From("visits", visits.Then(arkflowtest.Open())))
	require.Empty(t, first.Rows("out"))

	arkflowtest.Run(t, NewVisits(), arkflowtest.Restore(first.Snapshot()), arkflowtest.Parallelism(3),
		arkflowtest.From("visits", visits.Then(arkflowtest.Rows(Visit{"home", at(7)}))),
		arkflowtest.Want("out", Visits{"home", at(0), at(60), 3}))
}

func TestAFullDiskEndsTheJob(t *testing.T) {
	full := errors.New("no space left on device")
	r, err := arkflowtest.Try(t.Context(), NewVisits(),
		arkflowtest.From("visits", arkflowtest.Rows(Visit{"home", at(5)})),
		arkflowtest.FailWrite("out", 1, full))
	require.ErrorIs(t, err, full)
	require.ErrorContains(t, err, `operator "out"`)
	require.Equal(t, arkflow.Failed, r.Status().State)
}

func TestALiveJobNeedsNoSleeping(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		visits, out := memory.NewInlet[Visit](memory.InletConfig{}), memory.NewSink()
		job := arkflow.NewJob("live")
		job.Source("visits", visits, arkflow.IngestionTime()).
			KeyBy("page").
			Window("per-second", window.Tumbling(time.Second), window.Count().As("n")).
			Sink("out", out)
		h, err := arkflow.Runtime{}.Start(t.Context(), job)
		require.NoError(t, err)
		require.NoError(t, visits.Send(t.Context(), Visit{Page: "home"}))
		time.Sleep(2 * time.Second) // of the test's time: it passes at once
		synctest.Wait()
		require.Equal(t, 1, out.Len(), "the second is over")
		require.NoError(t, visits.Close())
		require.NoError(t, h.Wait(t.Context()))
		rows, err := memory.Collect[Visits](out)
		require.NoError(t, err)
		require.Len(t, rows, 1)
	})
}
