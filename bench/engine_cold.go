package main

import (
	"context"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/arkflow-go/arkflow"
	"github.com/arkflow-go/arkflow/bench/events"
	"github.com/arkflow-go/arkflow/expr"
	"github.com/arkflow-go/arkflow/window"
)

// coldOperators is how many operators the job of cold_start has, source and sink among them.
const coldOperators = 100

// runColdStart measures from before a job is built and compiled to the arrival of its first result. The figure is the greatest of all rounds,
// as the first in a process is the one that users wait for.
func runColdStart(ctx context.Context, o options, _ int64) (f figure, err error) {
	g := events.NewGenerator(1_000)
	for range o.times {
		in := &replay{events: g, n: events.Rows, splits: o.p, live: o.live}
		out := foldWindows()
		var first atomic.Int64
		began := time.Now()
		out.received = func(_ int64, _ int, at time.Time) { first.CompareAndSwap(0, int64(at.Sub(began))) }
		job := coldJob(o.p, in, out)
		if _, err := job.Compile(); err != nil {
			return f, err
		}
		if _, err := runJob(ctx, job); err != nil {
			return f, err
		}
		result := out.total()
		f.RowsOut, f.Checksum = result.Rows, strconv.FormatUint(result.Checksum, 10)
		f.MS = max(f.MS, float64(first.Load())/float64(time.Millisecond))
	}
	return f, nil
}

// coldJob filters and computes in turn; windows of a millisecond give results with the first batch.
func coldJob(p int, in *replay, out *fold) *arkflow.Job {
	job := arkflow.NewJob("cold_start", arkflow.Parallelism(p))
	s := job.Source("in", in, arkflow.EventTime("ts"))
	price := expr.Col("price")
	for i := range coldOperators - 3 {
		if i%2 == 0 {
			s = s.Filter("keep-"+strconv.Itoa(i), price.Gt(i))
		} else {
			s = s.Select("add-"+strconv.Itoa(i), "key", "ts", price.Add(1).As("price"))
		}
	}
	s.KeyBy("key").
		Window("window", window.Tumbling(time.Millisecond).Unbounded(), countAndSum()...).
		Sink("sink", out)
	return job
}
