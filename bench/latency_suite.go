package main

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/arkflow-go/arkflow/bench/baseline"
)

// openPerMilli is the rate of the latency suite: a million events a second.
const openPerMilli = 1_000

// latencySuite is open loops: rows come when they are due, whether or not the job has kept up. Ten minutes by default, 30,000 windows.
func latencySuite() []benchmark {
	return []benchmark{{name: "slide_20ms", n: 600_000_000, run: runOpenSlide}}
}

// runOpenSlide measures from the moment at which the row that ends a window was due to the arrival of the last of its results. The sender
// does not wait for the job, so that a stall shows in every window that it delays. Windows that the end of input ends do not count.
func runOpenSlide(ctx context.Context, o options, n int64) (figure, error) {
	in := newPaced(slideKeys, n, openPerMilli)
	out := foldWindows()
	ended := (n - 1) / openPerMilli / fineStep // windows that a row has ended: the first ends at fineStep
	last := make([]time.Time, ended)           // when the last result came
	out.received = func(end int64, _ int, at time.Time) {
		if i := end/fineStep - 1; i < ended {
			last[i] = at
		}
	}
	m := measured{n: n}
	watch := startWatch()
	if _, err := runJob(ctx, sliding(fineStep)("slide_20ms", 1, in, out)); err != nil {
		return figure{}, err
	}
	watch.read(&m, 0)
	result := out.total()
	loop := baseline.Sliding(baseline.WindowMilli, fineStep, baseline.NewPanes(slideKeys, baseline.WindowMilli/fineStep))
	if want := drive(loop, in.events, n, true).result; result != want {
		return figure{}, fmt.Errorf("over %d rows the result is %+v, that of the bare loop %+v", n, result, want)
	}
	late := newDelays()
	for i, at := range last {
		late.add(at.Sub(in.due(int64(i+1) * fineStep)))
	}
	f := figure{RowsOut: result.Rows, Checksum: strconv.FormatUint(result.Checksum, 10), Firings: ended}
	f.RowsPerS = float64(n) / m.wall.Seconds()
	f.RowsPerCPUS = float64(n) / m.cpu.Seconds()
	f.CPUNsPerRow = 1e9 / f.RowsPerCPUS
	f.quantiles(late)
	return f, nil
}
