package main

import (
	"context"
	"strconv"
	"time"

	"github.com/arkflow-go/arkflow"
	"github.com/arkflow-go/arkflow/expr"
	"github.com/arkflow-go/arkflow/window"
)

const (
	trickleKeys   = 10
	trickleWindow = 100 * time.Millisecond
)

// runTrickle sends a row a millisecond through source, map, key, window and sink, and measures from the moment at which
// the row that ends a window was due to the arrival of each of its results. The sender does not wait for the job, so
// that a stall shows in every result that it delays.
func runTrickle(ctx context.Context, _ options, n int64) (figure, error) {
	in := newPaced(trickleKeys, n, 1)
	out := foldWindows()
	late := newDelays()
	out.received = func(end int64, rows int, at time.Time) {
		for range rows {
			if end < n { // the last window is ended by the end of input
				late.add(at.Sub(in.due(end)))
			}
		}
	}
	job := arkflow.NewJob("trickle")
	price := expr.Col("price")
	job.Source("in", in, arkflow.EventTime("ts")).
		Select("map", expr.Col("key"), price.Mul(908).Div(1000).As("price")).
		KeyBy("key").
		Window("window", window.Tumbling(trickleWindow).Unbounded(), window.Count().As("count"), window.Sum("price").As("sum")).
		Sink("sink", out)
	m := measured{n: n}
	watch := startWatch()
	if _, err := runJob(ctx, job); err != nil {
		return figure{}, err
	}
	watch.read(&m, 0)
	result := out.total()
	f := figure{RowsOut: result.Rows, Checksum: strconv.FormatUint(result.Checksum, 10)}
	f.RowsPerS = float64(n) / m.wall.Seconds()
	f.RowsPerCPUS = float64(n) / m.cpu.Seconds()
	f.CPUNsPerRow = 1e9 / f.RowsPerCPUS
	f.AllocsPerBatch = float64(m.allocs) / float64(n) // here a batch is a row
	f.quantiles(late)
	return f, nil
}
