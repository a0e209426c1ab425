package main

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/arkflow-go/arkflow"
	"github.com/arkflow-go/arkflow/expr"
	"github.com/arkflow-go/arkflow/operator"
)

// nexmarkSuite is the queries of Nexmark through the public builder.
func nexmarkSuite() []benchmark {
	feeds := sync.OnceValue(newNexmarkFeeds)
	var list []benchmark
	for _, q := range queries() {
		list = append(list, benchmark{q.name, q.n, func(ctx context.Context, o options, n int64) (figure, error) {
			return measureJob(ctx, o, n, q.processing, func(p int, n int64) (*arkflow.Job, *ring, *foldRows) {
				in, out := feeds().source(n, p, o.live), &foldRows{columns: q.fold, counts: q.processing}
				return q.job(p, in, out), in, out
			})
		}})
	}
	return list
}

// job is the query over a source of events.
func (q query) job(p int, in operator.Source, out operator.Sink) *arkflow.Job {
	job := arkflow.NewJob(q.name, arkflow.Parallelism(p))
	policy := arkflow.EventTime("date_time", arkflow.OutOfOrderness(4*time.Second))
	if q.processing {
		policy = arkflow.ProcessingTime()
	}
	q.build(job.Source("events", in, policy).Filter("bids", expr.T("event_type = 2"))).Sink("out", out)
	return job
}

// measureJob runs a job over rows of a ring, and beside it one of parallelism 1 where there are more. The number of result rows may differ
// from run to run where the windows go by the clock.
func measureJob(ctx context.Context, o options, n int64, byClock bool, make func(p int, n int64) (*arkflow.Job, *ring, *foldRows)) (figure, error) {
	run := func(p int) func(n int64) (measured, error) {
		return func(n int64) (measured, error) {
			job, in, out := make(p, n)
			m := measured{n: n}
			watch := startWatch()
			if _, err := runJob(ctx, job); err != nil {
				return m, err
			}
			watch.read(&m, in.fillCPU())
			m.result = out.total()
			return m, nil
		}
	}
	runs := []func(n int64) (measured, error){run(o.p)}
	if o.p > 1 {
		runs = append(runs, run(1))
	}
	pairs, err := repeat(o.times, n, runs...)
	if err != nil {
		return figure{}, err
	}
	want := pairs[0][0]
	for _, list := range pairs {
		for _, p := range list {
			for _, got := range []struct{ m, want measured }{{p.once, want.once}, {p.twice, want.twice}} {
				if got.m.result.Checksum != got.want.result.Checksum || got.m.result.Rows != got.want.result.Rows && !byClock {
					return figure{}, fmt.Errorf("over %d rows one run gives %+v, another %+v", got.m.n, got.want.result, got.m.result)
				}
			}
		}
	}
	f := summarize(pairs[0])
	f.RowsOut, f.Checksum = want.once.result.Rows, strconv.FormatUint(want.once.result.Checksum, 10)
	if o.p > 1 {
		wall, _ := medians(pairs[1])
		f.Speedup = f.RowsPerS / wall
	}
	return f, nil
}
