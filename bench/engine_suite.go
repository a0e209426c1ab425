package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"
	"time"

	"github.com/arkflow-go/arkflow"
	"github.com/arkflow-go/arkflow/bench/baseline"
	"github.com/arkflow-go/arkflow/bench/events"
	"github.com/arkflow-go/arkflow/expr"
	"github.com/arkflow-go/arkflow/window"
)

// engineSuite is jobs through the public builder beside their bare loops.
func engineSuite() []benchmark {
	windowed := func(name string, n, keys int64, loop func() baseline.Job) benchmark {
		return engineJob{name: name, keys: keys, build: tumble, sink: foldWindows, loop: loop}.benchmark(n)
	}
	text := engineJob{name: "tumble_str_100k", keys: 100_000, text: true, build: tumble, sink: foldWindows,
		loop: func() baseline.Job { return baseline.Tumbling(baseline.NewTextColumns(100_000), true) }}
	disorder := engineJob{name: "disorder", keys: 100_000, behind: 50, build: tumble, sink: foldWindows,
		loop: func() baseline.Job { return baseline.Disordered(baseline.NewColumns(100_000)) }}
	return []benchmark{
		engineJob{name: "map", keys: 1_000, build: filterAndCompute, sink: foldValues, loop: baseline.Map}.benchmark(20_000_000),
		windowed("tumble_1k", 20_000_000, 1_000, func() baseline.Job { return baseline.Tumbling(baseline.NewColumns(1_000), true) }),
		windowed("tumble_100k", 20_000_000, 100_000, func() baseline.Job { return baseline.Tumbling(baseline.NewColumns(100_000), true) }),
		windowed("tumble_1m", 10_000_000, 1_000_000, func() baseline.Job { return baseline.Tumbling(baseline.NewParts(1_000_000), false) }),
		text.benchmark(10_000_000),
		disorder.benchmark(10_000_000),
		{name: "json_e2e", n: 500_000, run: runJSON},
		{name: "trickle", n: 3_000, run: runTrickle},
	}
}

// engineJob is a job over replayed events and the bare loop that does the same.
type engineJob struct {
	name   string
	keys   int64
	behind int64
	text   bool
	build  func(name string, p int, in *replay, out *fold, more ...window.Aggregate) *arkflow.Job
	sink   func() *fold
	loop   func() baseline.Job
}

// filterAndCompute is the job map.
func filterAndCompute(name string, p int, in *replay, out *fold, _ ...window.Aggregate) *arkflow.Job {
	job := arkflow.NewJob(name, arkflow.Parallelism(p))
	price := expr.Col("price")
	job.Source("in", in, arkflow.EventTime("ts")).
		Filter("keep", price.Mod(4).Ne(0)).
		Select("out", price.Mul(908).Div(1000).As("out")).
		Sink("sink", out)
	return job
}

// tumble is the jobs that count and sum by key over windows of 10 s.
func tumble(name string, p int, in *replay, out *fold, more ...window.Aggregate) *arkflow.Job {
	job := arkflow.NewJob(name, arkflow.Parallelism(p))
	job.Source("in", in, arkflow.EventTime("ts")).
		KeyBy("key").
		Window("window", window.Tumbling(baseline.WindowMilli*time.Millisecond).Unbounded(),
			append([]window.Aggregate{window.Count().As("count"), window.Sum("price").As("sum")}, more...)...).
		Sink("sink", out)
	return job
}

func (j engineJob) generator() *events.Generator {
	g := events.NewGenerator(j.keys)
	g.Behind = j.behind
	if j.text {
		g.WithText()
	}
	return g
}

func (j engineJob) benchmark(n int64) benchmark {
	return benchmark{name: j.name, n: n, run: j.measure}
}

// measure takes turns of the job, its bare loop, and what else was asked for.
func (j engineJob) measure(ctx context.Context, o options, n int64) (figure, error) {
	g := j.generator()
	engine := func(p int, more ...window.Aggregate) func(n int64) (measured, error) {
		return func(n int64) (measured, error) { return j.run(ctx, g, p, o.live, n, more...) }
	}
	bare := func(n int64) (measured, error) { return drive(j.loop(), g, n, o.live), nil }
	runs := []func(n int64) (measured, error){engine(o.p), bare}
	single, extra := -1, -1
	if o.p > 1 {
		single, runs = len(runs), append(runs, engine(1))
	}
	more := window.Aggregate{}
	if o.extra && j.name != "map" {
		more = oneMore()
		extra, runs = len(runs), append(runs, engine(o.p, more))
	}
	pairs, err := repeat(o.times, n, runs...)
	if err != nil {
		return figure{}, err
	}
	if err := sameResults(pairs); err != nil {
		return figure{}, err
	}
	f := summarize(pairs[0])
	first := pairs[0][0].once
	f.RowsOut, f.Late, f.Checksum = first.result.Rows, first.result.Late, strconv.FormatUint(first.result.Checksum, 10)
	if first.bytes > 0 {
		window := int64(events.PerMilli * baseline.WindowMilli)
		f.BytesPerKey = float64(first.bytes) / float64(g.DistinctKeys(0, min(n, window)))
	}
	_, f.Baseline = medians(pairs[1])
	f.Ratio = f.RowsPerCPUS / f.Baseline
	if single >= 0 {
		wall, _ := medians(pairs[single])
		f.Speedup = f.RowsPerS / wall
	}
	if extra >= 0 {
		_, cpu := medians(pairs[extra])
		f.Extra = more.String()
		f.ExtraPerColumn = f.RowsPerCPUS / cpu * 2 / 3 // two aggregates without it, three with it
	}
	return f, nil
}

// oneMore is an aggregate that none of the jobs has.
func oneMore() window.Aggregate {
	all := []window.Aggregate{window.Min("price").As("extra"), window.Max("price").As("extra"), window.Avg("price").As("extra"),
		window.Count("price").As("extra"), window.Max("ts").As("extra")}
	return all[rand.IntN(len(all))]
}

// sameResults holds the job to what the bare loop found.
func sameResults(pairs [][]pair) error {
	want := pairs[1][0]
	for _, run := range pairs {
		for _, p := range run {
			for _, got := range []struct{ m, want measured }{{p.once, want.once}, {p.twice, want.twice}} {
				if got.m.result != got.want.result {
					return fmt.Errorf("over %d rows the result is %+v, that of the bare loop %+v", got.m.n, got.m.result, got.want.result)
				}
			}
		}
	}
	return nil
}

// run runs the job once over n rows.
func (j engineJob) run(ctx context.Context, g *events.Generator, p int, live bool, n int64, more ...window.Aggregate) (measured, error) {
	in := &replay{events: g, text: j.text, n: n, splits: p, live: live}
	out := j.sink()
	m := measured{n: n}
	watch := startWatch()
	status, err := runJob(ctx, j.build(j.name, p, in, out, more...))
	if err != nil {
		return m, err
	}
	watch.read(&m, in.fillCPU())
	m.result = out.total()
	if w := status.Operator("window"); w != nil {
		m.result.Late, m.bytes = w.Late, w.PeakBytes
	}
	return m, nil
}

// runJob runs a job to the end of its input.
func runJob(ctx context.Context, job *arkflow.Job) (arkflow.Status, error) {
	h, err := arkflow.Runtime{}.Start(ctx, job)
	if err != nil {
		return arkflow.Status{}, err
	}
	if err := h.Wait(ctx); err != nil {
		return arkflow.Status{}, err
	}
	return h.Status(), nil
}
