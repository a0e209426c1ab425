package main

import (
	"time"

	"github.com/arkflow-go/arkflow"
	"github.com/arkflow-go/arkflow/bench/baseline"
	"github.com/arkflow-go/arkflow/bench/events"
	"github.com/arkflow-go/arkflow/expr"
	"github.com/arkflow-go/arkflow/operator"
	"github.com/arkflow-go/arkflow/window"
)

const (
	slideKeys = 10_000
	slideSize = baseline.WindowMilli * time.Millisecond
	// fineStep and finePerMilli are those of slide_20ms: a window has 200,000 rows, a slide 400.
	fineStep     = 20
	finePerMilli = 20
)

// sliding is a job that counts and sums over windows that begin every so many ms.
func sliding(every int64) builder {
	return windowed(window.Sliding(slideSize, time.Duration(every)*time.Millisecond), countAndSum()...)
}

// slideJobs is windows that overlap.
func slideJobs() []benchmark {
	job := func(name string, every int64, loop func() baseline.Job) engineJob {
		return engineJob{name: name, keys: slideKeys, build: sliding(every), sink: foldWindows, loop: loop}
	}
	panes := func(every int64) func() baseline.Job {
		each := int(2*baseline.WindowMilli/every) + 2
		if baseline.WindowMilli%every == 0 {
			each = int(baseline.WindowMilli / every)
		}
		return func() baseline.Job {
			return baseline.Sliding(baseline.WindowMilli, every, baseline.NewPanes(slideKeys, each))
		}
	}
	top := job("slide_max_10k", 500, func() baseline.Job {
		return baseline.Sliding(baseline.WindowMilli, 500, baseline.NewMaxPanes(slideKeys, baseline.WindowMilli/500))
	})
	top.build = windowed(window.Sliding(slideSize, 500*time.Millisecond), window.Count().As("count"), window.Max("price").As("max"))
	top.sink = foldTops

	odd, even := job("slide_odd", 7_001, panes(7_001)), job("slide_5s", 5_000, panes(5_000))
	odd.beside = &even

	fine := job("slide_20ms", fineStep, func() baseline.Job {
		return baseline.Sliding(baseline.WindowMilli, fineStep, baseline.NewLog(slideKeys, finePerMilli*baseline.WindowMilli+events.Rows))
	})
	fine.shape = func(g *events.Generator) { g.PerMilli = finePerMilli }
	return []benchmark{
		job("slide_10k", 500, panes(500)).benchmark(10_000_000),
		top.benchmark(5_000_000),
		odd.benchmark(10_000_000),
		fine.benchmark(2_000_000),
	}
}

// cheapOnly is tumble_1k over the rows whose price is below 32,768.
func cheapOnly(name string, p int, in operator.Source, out *fold, more ...window.Aggregate) *arkflow.Job {
	job := arkflow.NewJob(name, arkflow.Parallelism(p))
	job.Source("in", in, arkflow.EventTime("ts")).
		Filter("cheap", expr.Col("price").Lt(1<<15)).
		KeyBy("key").
		Window("window", window.Tumbling(slideSize).Unbounded(), append(countAndSum(), more...)...).
		Sink("sink", out)
	return job
}

// wide is a job that reads three of forty columns, beside the same job over rows that have only these.
func wide() engineJob {
	loop := func() baseline.Job { return baseline.Cheap(baseline.Tumbling(baseline.NewColumns(1_000), true)) }
	narrow := engineJob{name: "narrow", keys: 1_000, build: cheapOnly, sink: foldWindows, loop: loop}
	job := narrow
	job.name, job.wide, job.beside = "wide", true, &narrow
	return job
}

// oneRow is a map and a window over batches of one row.
func oneRow() engineJob {
	build := func(name string, p int, in operator.Source, out *fold, more ...window.Aggregate) *arkflow.Job {
		job := arkflow.NewJob(name, arkflow.Parallelism(p))
		job.Source("in", in, arkflow.EventTime("ts")).
			Select("map", "key", "ts", expr.Col("price").Mul(908).Div(1000).As("price")).
			KeyBy("key").
			Window("window", window.Tumbling(slideSize).Unbounded(), append(countAndSum(), more...)...).
			Sink("sink", out)
		return job
	}
	return engineJob{name: "one_row", keys: 1_000, cut: 1, build: build, sink: foldWindows,
		loop: func() baseline.Job { return baseline.Mapped(baseline.Tumbling(baseline.NewColumns(1_000), true)) }}
}
