package arkflow_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/arkflow-go/arkflow"
	"github.com/arkflow-go/arkflow/codec"
	"github.com/arkflow-go/arkflow/connectors/drop"
	"github.com/arkflow-go/arkflow/connectors/file"
	"github.com/arkflow-go/arkflow/connectors/generate"
	"github.com/arkflow-go/arkflow/connectors/memory"
	"github.com/arkflow-go/arkflow/expr"
	"github.com/arkflow-go/arkflow/window"
	"github.com/stretchr/testify/require"
	"gocloud.dev/blob"
	"gocloud.dev/blob/memblob"
)

// version is what may differ from one version of a job to the next.
type version struct {
	name, source, window, out string
	parallelism, keyGroups    int
	sourceTasks, sinkTasks    int
	every                     time.Duration
	filter                    string // of an operator before the window; "" for none
	key                       []string
	assigner                  window.Assigner
	aggregates                []window.Aggregate
	more                      func(s arkflow.Stream)
	extra                     func(j *arkflow.Job)
}

func firstVersion() version {
	return version{name: "sales", source: "in", window: "totals", out: "out", parallelism: 2, keyGroups: 128, every: time.Second, filter: "amount >= 0",
		key: []string{"shop"}, assigner: window.Tumbling(7 * time.Second), aggregates: []window.Aggregate{window.Sum("amount").As("total")}}
}

// job makes a version of the job; all of its results that have the columns of shopTotal go to sink.
func (v version) job(sink *memory.Sink) *arkflow.Job {
	j := arkflow.NewJob(v.name, arkflow.Parallelism(v.parallelism), arkflow.MaxParallelism(v.keyGroups), arkflow.CheckpointEvery(v.every))
	var source []arkflow.SourceOption
	if v.sourceTasks > 0 {
		source = append(source, arkflow.Tasks(v.sourceTasks))
	}
	s := j.Source(v.source, generate.Func(saleOf, generate.Count(sales), generate.Rate(100), generate.Splits(3)), arkflow.EventTime("at"), source...)
	if v.more != nil {
		v.more(s)
	}
	if v.extra != nil {
		v.extra(j)
	}
	if v.filter != "" {
		s = s.Filter("clean", expr.T(v.filter))
	}
	out := s.KeyBy(v.key...).Window(v.window, v.assigner, v.aggregates...)
	var options []arkflow.SinkOption
	if v.sinkTasks > 0 {
		options = append(options, arkflow.Tasks(v.sinkTasks))
	}
	out.Sink(v.out, sink, options...)
	return j
}

// stoppedAt52 runs the first version for 5.2 s and stops it.
func stoppedAt52(t *testing.T, bucket *blob.Bucket, v version) *memory.Sink {
	out := memory.NewSink()
	h, err := arkflow.Runtime{Bucket: bucket}.Start(t.Context(), v.job(out))
	require.NoError(t, err)
	<-time.After(5*time.Second + 200*time.Millisecond) // in a bubble of synctest
	require.NoError(t, h.Stop(t.Context()))
	return out
}

// C6, C7: what a new version may change, and go on from the checkpoint of the old one with the same results.
func TestC7CompatibleUpgrades(t *testing.T) {
	for name, c := range map[string]struct {
		change  func(*version)
		options []arkflow.StartOption
	}{
		"nothing": {func(*version) {}, nil},
		"a stateless operator is added": {func(v *version) {
			v.more = func(s arkflow.Stream) { s.Select("slim", "shop").Sink("slim-out", drop.Sink{}) }
		}, nil},
		"a stateless operator is gone": {func(v *version) { v.filter = "" }, nil},
		"a stateless operator changes": {func(v *version) { v.filter = "amount > -1" }, nil},
		"more tasks of the source":     {func(v *version) { v.sourceTasks = 3 }, nil},
		"fewer tasks of the source":    {func(v *version) { v.sourceTasks = 1 }, nil},
		"more tasks of the sink":       {func(v *version) { v.sinkTasks = 5 }, nil},
		"another name of the sink":     {func(v *version) { v.out = "results" }, nil},
		"another interval":             {func(v *version) { v.every = 300 * time.Millisecond }, nil},
		"lateness":                     {func(v *version) { v.assigner = v.assigner.Lateness(time.Minute) }, nil},
		"bounds of windows":            {func(v *version) { v.assigner = v.assigner.Unbounded() }, nil},
		"a source is added": {func(v *version) {
			v.extra = func(j *arkflow.Job) {
				j.Source("others", memory.Of([]sale{saleOf(1)}), arkflow.ProcessingTime()).Sink("others-out", drop.Sink{})
			}
		}, nil},
		"a window of its own": {func(v *version) {
			v.more = func(s arkflow.Stream) {
				s.KeyBy("shop").Window("counts", window.Tumbling(time.Minute), window.Count().As("n")).Sink("counts-out", drop.Sink{})
			}
		}, nil},
		"more tasks, with Rescale":  {func(v *version) { v.parallelism = 5 }, []arkflow.StartOption{arkflow.Rescale()}},
		"fewer tasks, with Rescale": {func(v *version) { v.parallelism = 1 }, []arkflow.StartOption{arkflow.Rescale()}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				bucket := memblob.OpenBucket(nil)
				defer bucket.Close()
				first, second := stoppedAt52(t, bucket, firstVersion()), memory.NewSink()
				v := firstVersion()
				c.change(&v)
				h, err := arkflow.Runtime{Bucket: bucket}.Start(t.Context(), v.job(second), c.options...)
				require.NoError(t, err)
				require.Positive(t, h.Status().Restored.Epoch)
				require.NoError(t, h.Wait(t.Context()))
				require.Equal(t, salesTotals(), shown(t, first, second))
				require.InDelta(t, sales-520, h.Status().Operator(v.source).RowsIn, 3, "only the rest is read")
				if v.extra != nil {
					require.Equal(t, int64(1), h.Status().Operator("others").RowsIn)
				}
			})
		})
	}
}

// C7: the name of a result may change while windows are open.
func TestC7NameOfAResultMayChange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bucket := memblob.OpenBucket(nil)
		defer bucket.Close()
		got := shown(t, stoppedAt52(t, bucket, firstVersion()))
		v, out := firstVersion(), memory.NewSink()
		v.aggregates = []window.Aggregate{window.Sum("amount").As("turnover")}
		require.NoError(t, arkflow.Runtime{Bucket: bucket}.Run(t.Context(), v.job(out)))
		type turnover struct {
			Shop  string    `arkflow:"shop"`
			Start time.Time `arkflow:"window_start"`
			Total int64     `arkflow:"turnover"`
		}
		rows, err := memory.Collect[turnover](out)
		require.NoError(t, err)
		for _, r := range rows {
			got = append(got, fmt.Sprint(r.Shop, " ", r.Start.UnixMilli(), " ", r.Total))
		}
		require.ElementsMatch(t, salesTotals(), got)
	})
}

// C6, C7: what is refused, with what to do about it; the bucket stays as it was, and the first version goes on.
func TestC7IncompatibleUpgradesAreRefused(t *testing.T) {
	const tumbling = "its state is of [tumbling 7s; key shop utf8; sum(amount) int64], that of the job is of "
	for name, c := range map[string]struct {
		change func(*version)
		want   string
	}{
		"more tasks of the window": {func(v *version) { v.parallelism = 3 },
			"the tasks with state differ (added: totals/2; removed: none): give Rescale() to redistribute it, or run with the parallelism that it was taken with"},
		"fewer tasks of the window": {func(v *version) { v.parallelism = 1 }, "(added: none; removed: totals/1)"},
		"an aggregate is added":     {func(v *version) { v.aggregates = append(v.aggregates, window.Count().As("n")) }, tumbling + "[tumbling 7s; key shop utf8; sum(amount) int64; count() int64]: give the operator another ID and AllowDropped(\"totals\") to begin with empty state"},
		"an aggregate is another":   {func(v *version) { v.aggregates = []window.Aggregate{window.Max("amount").As("total")} }, tumbling},
		"the key is another":        {func(v *version) { v.key = []string{"shop", "amount"} }, tumbling},
		"windows are larger":        {func(v *version) { v.assigner = window.Tumbling(8 * time.Second) }, tumbling + "[tumbling 8s;"},
		"windows have an offset":    {func(v *version) { v.assigner = v.assigner.Offset(time.Second) }, tumbling},
		"windows slide":             {func(v *version) { v.assigner = window.Sliding(7*time.Second, time.Second) }, tumbling},
		"the window has another ID": {func(v *version) { v.window = "sums" },
			`operator "totals" (window) has state and is not in the job: put it back, or give AllowDropped("totals") to leave that behind`},
		"the source has another ID": {func(v *version) { v.source = "sales" },
			`operator "in" (generate) has positions and is not in the job: put it back, or give AllowDropped("in") to leave that behind`},
		"other key groups": {func(v *version) { v.keyGroups = 256 }, "it has 128 key groups, the job 256: set MaxParallelism(128)"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				bucket := memblob.OpenBucket(nil)
				defer bucket.Close()
				first, second := stoppedAt52(t, bucket, firstVersion()), memory.NewSink()
				v := firstVersion()
				c.change(&v)
				_, err := arkflow.Runtime{Bucket: bucket}.Start(t.Context(), v.job(memory.NewSink()), arkflow.Restart(3, time.Second))
				var incompatible *arkflow.IncompatibleError
				require.ErrorAs(t, err, &incompatible)
				require.Equal(t, "sales", incompatible.Job)
				require.Len(t, incompatible.Problems, 1)
				require.ErrorContains(t, err, `the checkpoint of job "sales", epoch `)
				require.ErrorContains(t, err, c.want)
				require.NoError(t, arkflow.Runtime{Bucket: bucket}.Run(t.Context(), firstVersion().job(second)))
				require.Equal(t, salesTotals(), shown(t, first, second))
			})
		})
	}
}

// C7: the order of aggregates is part of the state.
func TestC7OrderOfAggregatesIsKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bucket := memblob.OpenBucket(nil)
		defer bucket.Close()
		v := firstVersion()
		v.aggregates = []window.Aggregate{window.Sum("amount").As("total"), window.Count().As("n")}
		stoppedAt52(t, bucket, v)
		v.aggregates = []window.Aggregate{v.aggregates[1], v.aggregates[0]}
		_, err := arkflow.Runtime{Bucket: bucket}.Start(t.Context(), v.job(memory.NewSink()))
		require.ErrorContains(t, err, "its state is of [tumbling 7s; key shop utf8; sum(amount) int64; count() int64]")
		v.aggregates = v.aggregates[1:]
		_, err = arkflow.Runtime{Bucket: bucket}.Start(t.Context(), v.job(memory.NewSink()))
		require.ErrorContains(t, err, "that of the job is of [tumbling 7s; key shop utf8; sum(amount) int64]")
	})
}

// A window that is named anew begins with empty state once the old one may be left behind; positions stay.
func TestC7DroppedStateIsLeftBehind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bucket := memblob.OpenBucket(nil)
		defer bucket.Close()
		stoppedAt52(t, bucket, firstVersion())
		v := firstVersion()
		v.window, v.assigner = "totals-8s", window.Tumbling(8*time.Second)
		h, err := arkflow.Runtime{Bucket: bucket}.Start(t.Context(), v.job(memory.NewSink()), arkflow.AllowDropped("totals"))
		require.NoError(t, err)
		require.NoError(t, h.Wait(t.Context()))
		require.InDelta(t, sales-520, h.Status().Operator("in").RowsIn, 3)
	})
}

// C5: a job of another name does not know of the checkpoints of the old one; a savepoint carries them over.
func TestC5RenamedJobBeginsWithASavepoint(t *testing.T) {
	url := "file://" + filepath.ToSlash(t.TempDir()) + "/sales"
	synctest.Test(t, func(t *testing.T) {
		bucket := memblob.OpenBucket(nil)
		defer bucket.Close()
		first, second := memory.NewSink(), memory.NewSink()
		rt := arkflow.Runtime{Bucket: bucket}
		h, err := rt.Start(t.Context(), firstVersion().job(first))
		require.NoError(t, err)
		time.Sleep(5*time.Second + 200*time.Millisecond)
		_, err = h.Savepoint(t.Context(), url)
		require.NoError(t, err)
		require.NoError(t, h.Cancel(t.Context()))

		v := firstVersion()
		v.name = "turnover"
		_, err = rt.Start(t.Context(), v.job(memory.NewSink()), arkflow.FromSavepoint(url))
		require.ErrorContains(t, err, `it is of another job than "turnover": give AllowJob("sales") to begin a new lineage from it`)
		h, err = rt.Start(t.Context(), v.job(second), arkflow.FromSavepoint(url, arkflow.AllowJob("sales")))
		require.NoError(t, err)
		time.Sleep(3 * time.Second)
		require.NoError(t, h.Stop(t.Context()))
		require.NoError(t, rt.Run(t.Context(), v.job(second)), "it has checkpoints of its own now")
		require.Equal(t, salesTotals(), shown(t, first, second))

		v.name = "afresh"
		h, err = rt.Start(t.Context(), v.job(memory.NewSink()))
		require.NoError(t, err)
		require.Zero(t, h.Status().Restored.Epoch)
		require.NoError(t, h.Cancel(t.Context()))
	})
}

// A sink that commits in two phases is not left out silently: what it has prepared may not be visible yet.
func TestC7SinkWithPreparedRowsIsNotLeftOut(t *testing.T) {
	dir := filepath.ToSlash(t.TempDir())
	synctest.Test(t, func(t *testing.T) {
		bucket := memblob.OpenBucket(nil)
		defer bucket.Close()
		v := firstVersion()
		v.more = func(s arkflow.Stream) {
			s.Sink("archive", file.Sink{URL: dir + "/rows.jsonl", Format: codec.JSON(nil), ExactlyOnce: true, Rotate: &file.Rotation{Rows: 1 << 20}})
		}
		stoppedAt52(t, bucket, v)
		_, err := arkflow.Runtime{Bucket: bucket}.Start(t.Context(), firstVersion().job(memory.NewSink()))
		require.ErrorContains(t, err, `operator "archive" (file) has prepared rows and is not in the job: put it back, or give AllowDropped("archive")`)
		h, err := arkflow.Runtime{Bucket: bucket}.Start(t.Context(), firstVersion().job(memory.NewSink()), arkflow.AllowDropped("archive"))
		require.NoError(t, err)
		require.NoError(t, h.Cancel(t.Context()))
	})
	parts, err := filepath.Glob(dir + "/rows-*.jsonl")
	require.NoError(t, err)
	require.NotEmpty(t, parts)
	hidden, err := filepath.Glob(dir + "/.arkflow-*")
	require.NoError(t, err)
	require.Empty(t, hidden, "after a clean stop all was committed: %s", strings.Join(hidden, " "))
}
