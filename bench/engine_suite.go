package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"time"

	"github.com/arkflow-go/arkflow"
	"github.com/arkflow-go/arkflow/bench/baseline"
	"github.com/arkflow-go/arkflow/bench/events"
	"github.com/arkflow-go/arkflow/expr"
	"github.com/arkflow-go/arkflow/operator"
	"github.com/arkflow-go/arkflow/window"
)

// engineSuite is jobs through the public builder beside their bare loops.
func engineSuite() []benchmark {
	tumble := windowed(window.Tumbling(baseline.WindowMilli*time.Millisecond), countAndSum()...)
	tumbling := func(name string, n, keys int64, loop func() baseline.Job) benchmark {
		return engineJob{name: name, keys: keys, build: tumble, sink: foldWindows, loop: loop}.benchmark(n)
	}
	columns := func() baseline.Job { return baseline.Tumbling(baseline.NewColumns(100_000), true) }
	text := engineJob{name: "tumble_str_100k", keys: 100_000, text: true, build: tumble, sink: foldWindows,
		loop: func() baseline.Job { return baseline.Tumbling(baseline.NewTextColumns(100_000), true) }}
	disorder := engineJob{name: "disorder", keys: 100_000, shape: func(g *events.Generator) { g.Behind = 50 }, build: tumble, sink: foldWindows,
		loop: func() baseline.Job { return baseline.Disordered(baseline.NewColumns(100_000)) }}
	skew := engineJob{name: "skew", keys: 100_000, shape: func(g *events.Generator) { g.Hot = true }, build: tumble, sink: foldWindows, loop: columns}
	out := []benchmark{
		engineJob{name: "map", keys: 1_000, build: filterAndCompute, sink: foldValues, loop: baseline.Map}.benchmark(20_000_000),
		tumbling("tumble_1k", 20_000_000, 1_000, func() baseline.Job { return baseline.Tumbling(baseline.NewColumns(1_000), true) }),
		tumbling("tumble_100k", 20_000_000, 100_000, columns),
		tumbling("tumble_1m", 10_000_000, 1_000_000, func() baseline.Job { return baseline.Tumbling(baseline.NewParts(1_000_000), false) }),
		text.benchmark(10_000_000),
		disorder.benchmark(10_000_000),
		skew.benchmark(10_000_000),
	}
	out = append(out, slideJobs()...)
	out = append(out, wide().benchmark(4_000_000), oneRow().benchmark(500_000))
	return append(out,
		benchmark{name: "json_e2e", n: 500_000, run: runJSON},
		benchmark{name: "trickle", n: 3_000, run: runTrickle},
		benchmark{name: "cold_start", n: 1, run: runColdStart})
}

// builder makes a job from a source to a sink; more are aggregates besides those that it has.
type builder func(name string, p int, in operator.Source, out *fold, more ...window.Aggregate) *arkflow.Job

// engineJob is a job over replayed events and the bare loop that does the same.
type engineJob struct {
	name  string
	keys  int64
	shape func(g *events.Generator) // what is not as usual about the events
	text  bool
	wide  bool
	cut   int
	build builder
	sink  func() *fold
	loop  func() baseline.Job
	// beside is the job to which the ratio is given, in place of the bare loop.
	beside *engineJob
}

// filterAndCompute is the job map.
func filterAndCompute(name string, p int, in operator.Source, out *fold, _ ...window.Aggregate) *arkflow.Job {
	job := arkflow.NewJob(name, arkflow.Parallelism(p))
	price := expr.Col("price")
	job.Source("in", in, arkflow.EventTime("ts")).
		Filter("keep", price.Mod(4).Ne(0)).
		Select("out", price.Mul(908).Div(1000).As("out")).
		Sink("sink", out)
	return job
}

// windowed is the jobs that aggregate by key over windows.
func windowed(a window.Assigner, aggs ...window.Aggregate) builder {
	return func(name string, p int, in operator.Source, out *fold, more ...window.Aggregate) *arkflow.Job {
		job := arkflow.NewJob(name, arkflow.Parallelism(p))
		job.Source("in", in, arkflow.EventTime("ts")).
			KeyBy("key").
			Window("window", a.Unbounded(), slices.Concat(aggs, more)...).
			Sink("sink", out)
		return job
	}
}

func countAndSum() []window.Aggregate {
	return []window.Aggregate{window.Count().As("count"), window.Sum("price").As("sum")}
}

func (j engineJob) generator() *events.Generator {
	g := events.NewGenerator(j.keys)
	if j.shape != nil {
		j.shape(g)
	}
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
	single, extra, beside := -1, -1, -1
	if o.p > 1 {
		single, runs = len(runs), append(runs, engine(1))
	}
	more := window.Aggregate{}
	if o.extra && j.name != "map" {
		more = oneMore()
		extra, runs = len(runs), append(runs, engine(o.p, more))
	}
	if j.beside != nil {
		beside, runs = len(runs), append(runs, func(n int64) (measured, error) { return j.beside.run(ctx, g, o.p, o.live, n) })
	}
	pairs, err := repeat(o.times, n, runs...)
	if err != nil {
		return figure{}, err
	}
	if err := j.sameResults(pairs, beside, g); err != nil {
		return figure{}, err
	}
	f := summarize(pairs[0])
	first := pairs[0][0].once
	f.RowsOut, f.Late, f.Checksum = first.result.Rows, first.result.Late, strconv.FormatUint(first.result.Checksum, 10)
	if first.bytes > 0 {
		window := g.PerMilli * baseline.WindowMilli
		f.BytesPerKey = float64(first.bytes) / float64(g.DistinctKeys(0, min(n, window)))
	}
	against := 1
	if beside >= 0 {
		against = beside
	}
	_, f.Baseline = medians(pairs[against])
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

// sameResults holds each run to what its bare loop found.
func (j engineJob) sameResults(pairs [][]pair, beside int, g *events.Generator) error {
	if beside < 0 {
		return sameResults(pairs)
	}
	other := pairs[beside]
	want := pair{drive(j.beside.loop(), g, other[0].once.n, true), drive(j.beside.loop(), g, other[0].twice.n, true)}
	if err := sameResults([][]pair{other, {want}}); err != nil {
		return fmt.Errorf("%s beside it: %w", j.beside.name, err)
	}
	return sameResults(slices.Delete(slices.Clone(pairs), beside, beside+1))
}

// sameResults holds the runs to what the second one found, the bare loop.
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
	in := &replay{events: g, text: j.text, wide: j.wide, cut: j.cut, n: n, splits: p, live: live}
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
