package arkflowtest_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/arkflow-go/arkflow"
	"github.com/arkflow-go/arkflow/arkflowtest"
	"github.com/arkflow-go/arkflow/codec"
	"github.com/arkflow-go/arkflow/connectors/file"
	"github.com/arkflow-go/arkflow/window"
	"github.com/stretchr/testify/require"
)

// watched is a test that fails in silence.
type watched struct {
	*testing.T
	fatal string
}

func (w *watched) Fatalf(format string, args ...any) { w.fatal = fmt.Sprintf(format, args...) }

// writeOrders writes two files of 30 orders each.
func writeOrders(dir string) error {
	var err error
	for f := range 2 {
		var text strings.Builder
		for i := range 30 {
			fmt.Fprintf(&text, "{\"customer\":\"c%d\",\"ts\":%d,\"amount\":%d}\n", i%3, i*10_000+f, i)
		}
		err = errors.Join(err, os.WriteFile(filepath.Join(dir, fmt.Sprintf("in-%d.jsonl", f)), []byte(text.String()), 0o666))
	}
	return err
}

type fileOrder struct {
	Customer string  `arkflow:"customer"`
	TS       int64   `arkflow:"ts"`
	Amount   float64 `arkflow:"amount"`
}

// ordersPerMinute adds up orders by customer and minute, from files to files.
func ordersPerMinute(sink file.Sink) func(dir string) *arkflow.Job {
	return func(dir string) *arkflow.Job {
		sink := sink
		sink.URL = filepath.Join(dir, "out.jsonl")
		job := arkflow.NewJob("orders-per-minute")
		job.Source("orders", file.Source{URL: filepath.Join(dir, "in-*.jsonl"), Format: codec.JSONOf[fileOrder](), BatchRows: 8}, arkflow.EventTime("ts")).
			KeyBy("customer").
			Window("per-minute", window.Tumbling(time.Minute), window.Count().As("orders"), window.Sum("amount").As("total")).
			Sink("out", sink)
		return job
	}
}

// readLines reads what the sink has written and nobody will take back.
func readLines(dir string) (lines []string, err error) {
	names, err := filepath.Glob(filepath.Join(dir, "out*.jsonl"))
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		lines = append(lines, strings.Fields(string(text))...)
	}
	return lines, err
}

var exactly = file.Sink{Rotate: &file.Rotation{}, ExactlyOnce: true}

// exampleT is what a test has as its *testing.T.
type exampleT struct{ name string }

func (t exampleT) Name() string                    { return t.name }
func (exampleT) Context() context.Context          { return context.Background() }
func (exampleT) Helper()                           {}
func (exampleT) Logf(string, ...any)               {}
func (exampleT) Errorf(format string, args ...any) { fmt.Printf(format+"\n", args...) }
func (exampleT) Fatalf(format string, args ...any) { fmt.Printf(format+"\n", args...) }

func ExampleCrash() {
	t := exampleT{"ExampleCrash"} // in a test, the *testing.T
	r := arkflowtest.Crash(t, arkflowtest.CrashJob{
		Input:  writeOrders, // func(dir string) error
		Job:    ordersPerMinute(file.Sink{Rotate: &file.Rotation{}, ExactlyOnce: true}),
		Output: readLines, // func(dir string) ([]string, error)
		Tasks:  []int{1, 2},
		Kills:  10, // for this example; at least 50 show more
	})
	fmt.Println("kills:", r.Kills, "steps:", len(r.Steps))
	// Output: kills: 10 steps: 10
}

// A seed gives the same moments; rows that are there twice are found, and the trace says what was done.
func TestCrashTellsOfRowsThatAreThereTwice(t *testing.T) {
	w := &watched{T: t}
	arkflowtest.Crash(w, arkflowtest.CrashJob{Input: writeOrders, Job: ordersPerMinute(file.Sink{}), Output: readLines, Kills: 60, Seed: 1})
	require.Contains(t, w.fatal, "seed 1: round ")
	require.Contains(t, w.fatal, "output of exactly once: ")
	require.Contains(t, w.fatal, "too often: {\"customer\":")
	require.Contains(t, w.fatal, "killed ")
	dir := w.fatal[strings.Index(w.fatal, "kept in ")+len("kept in ") : len(w.fatal)-1]
	require.DirExists(t, dir)
	require.NoError(t, os.RemoveAll(dir))
}

// Rows of a sink that delivers at least once may be there several times; none may be missing, and no other ones.
func TestCrashTakesRepeats(t *testing.T) {
	r := arkflowtest.Crash(t, arkflowtest.CrashJob{Input: writeOrders, Job: ordersPerMinute(file.Sink{}), Repeats: readLines, Kills: 10, Every: time.Millisecond})
	require.Equal(t, 10, r.Kills)
	require.Len(t, r.Steps, 10)
	require.Positive(t, r.Rounds)
	require.Contains(t, append(r.Missed, r.Steps...), "out: after sync")
	require.Contains(t, append(r.Missed, r.Steps...), "bucket: before publish seal")
}

func TestCrashTellsOfJobsThatFail(t *testing.T) {
	w := &watched{T: t}
	arkflowtest.Crash(w, arkflowtest.CrashJob{Job: ordersPerMinute(exactly), Output: readLines})
	require.Contains(t, w.fatal, "uninterrupted run: the job failed: ")
	require.Contains(t, w.fatal, "in-*.jsonl")
	require.NoError(t, os.RemoveAll(w.fatal[strings.Index(w.fatal, "kept in ")+len("kept in "):len(w.fatal)-1]))
}

func TestCrashTellsOfProcessesThatEndByThemselves(t *testing.T) {
	w := &watched{T: t}
	arkflowtest.Crash(w, arkflowtest.CrashJob{Input: writeOrders, Output: readLines, Job: func(string) *arkflow.Job { panic("no such job") }})
	require.Contains(t, w.fatal, "an execution ended by itself")
	require.Contains(t, w.fatal, "no such job")
	require.NoError(t, os.RemoveAll(w.fatal[strings.Index(w.fatal, "kept in ")+len("kept in "):len(w.fatal)-1]))
}

func TestCrashSaysWhatIsMissing(t *testing.T) {
	for want, job := range map[string]arkflowtest.CrashJob{
		"CrashJob.Job is nil":       {Output: readLines},
		"neither Output nor Repeat": {Job: ordersPerMinute(exactly)},
		"0 tasks":                   {Job: ordersPerMinute(exactly), Output: readLines, Tasks: []int{1, 0}},
		"kills -1":                  {Job: ordersPerMinute(exactly), Output: readLines, Kills: -1},
		"timeout -1s":               {Job: ordersPerMinute(exactly), Output: readLines, Timeout: -time.Second},
	} {
		w := &watched{T: t}
		arkflowtest.Crash(w, job)
		require.Contains(t, w.fatal, want)
	}
}
