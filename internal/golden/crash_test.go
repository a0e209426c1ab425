package golden

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/arkflow-go/arkflow"
	. "github.com/arkflow-go/arkflow/arkflowtest"
	"github.com/arkflow-go/arkflow/codec"
	"github.com/arkflow-go/arkflow/connectors/file"
	"github.com/arkflow-go/arkflow/expr"
	"github.com/arkflow-go/arkflow/window"
	"github.com/stretchr/testify/require"
)

// kills is how often each job is killed: ARKFLOW_KILLS times, as `make soak` sets it.
func kills(t *testing.T, n int) int {
	if text := os.Getenv("ARKFLOW_KILLS"); text != "" {
		var err error
		n, err = strconv.Atoi(text)
		require.NoError(t, err, "ARKFLOW_KILLS")
	}
	return n
}

// linesOf reads the lines of all files that match.
func linesOf(pattern string) func(dir string) ([]string, error) {
	return func(dir string) (out []string, err error) {
		names, err := filepath.Glob(filepath.Join(dir, pattern))
		for _, name := range names {
			text, err := os.ReadFile(name)
			if err != nil {
				return nil, err
			}
			for line := range strings.Lines(string(text)) {
				out = append(out, filepath.Base(name)[:3]+" "+line)
			}
		}
		return out, err
	}
}

// crashJob writes tumbling windows and late rows exactly once, sliding windows at least once.
func crashJob(dir string) *arkflow.Job {
	path := func(name string) string { return filepath.Join(dir, name) }
	job := arkflow.NewJob("crash")
	paid := job.Source("orders", file.Source{URL: path("part-*.csv"), Format: codec.CSV(orderSchema), BatchRows: 8},
		arkflow.EventTime("ts", arkflow.OutOfOrderness(20*msec))).
		Filter("paid", expr.Col("status").Eq("paid")).
		Select("priced", "ts", "customer", "items", expr.Col("amount").Mul(expr.Lit(2.0)).As("amount"))
	w := paid.KeyBy("customer").Window("w", window.Tumbling(100*msec), window.Count().As("orders"), window.Sum("amount").As("total"), window.Max("items").As("most"))
	w.Sink("out", file.Sink{URL: path("out.jsonl"), Rotate: &file.Rotation{}, ExactlyOnce: true})
	w.Late().Sink("late", file.Sink{URL: path("late.jsonl"), Rotate: &file.Rotation{Rows: 3}, ExactlyOnce: true})
	paid.KeyBy("items").Window("slide", window.Sliding(200*msec, 50*msec), window.Count().As("orders"), window.Sum("amount").As("total")).
		Sink("slides", file.Sink{URL: path("sli.jsonl")})
	return job
}

// The crash matrix: the job is killed at each step of what it writes and at random moments, and goes on with other numbers of tasks.
func TestC12GoldenCrashMatrix(t *testing.T) {
	in := orders(160, 3, 12, 200, 101)
	r := Crash(t, CrashJob{
		Input:   func(dir string) error { in.writeCSV(t, dir); return nil },
		Job:     crashJob,
		Output:  linesOf("[ol][ua]t*.jsonl"),
		Repeats: linesOf("sli*.jsonl"),
		Tasks:   []int{2, 1, 3},
		Kills:   kills(t, 130),
	})
	require.Empty(t, r.Missed)
	for _, step := range []string{
		"bucket: before publish claim", "bucket: after publish epoch", "bucket: before publish seal", "bucket: after delete piece",
		"out: before prepare part", "out: after publish part", "late: before remove part", "late: after name part", "slides: before sync",
	} {
		require.Contains(t, r.Steps, step)
	}
}
