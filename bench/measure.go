package main

import (
	"runtime"
	"runtime/metrics"
	"time"

	"github.com/arkflow-go/arkflow/bench/baseline"
	"github.com/arkflow-go/arkflow/bench/events"
)

// measured is one run over n rows.
type measured struct {
	n      int64
	wall   time.Duration
	cpu    time.Duration // of the process, without the making of events
	allocs int64
	result baseline.Result
	bytes  int64 // greatest state of the window operator
}

// stopwatch reads wall, CPU and allocations together.
type stopwatch struct {
	wall   time.Time
	cpu    time.Duration
	allocs int64
}

// startWatch collects garbage first, so that a run does not pay for the one before it.
func startWatch() stopwatch {
	runtime.GC()
	return stopwatch{allocs: allocated(), wall: time.Now(), cpu: processCPU()}
}

// read fills in what has passed; filling is the CPU time that does not count.
func (s stopwatch) read(m *measured, filling time.Duration) {
	m.cpu = processCPU() - s.cpu - filling
	m.wall = time.Since(s.wall)
	m.allocs = allocated() - s.allocs
}

func allocated() int64 {
	s := []metrics.Sample{{Name: "/gc/heap/allocs:objects"}}
	metrics.Read(s)
	return int64(s[0].Value.Uint64())
}

// pair is a run over n rows and one over 2n: what start and end cost falls out of their difference.
type pair struct{ once, twice measured }

// rates gives rows a second and rows a CPU-second.
func (p pair) rates() (wall, cpu float64) {
	n := float64(p.once.n)
	return rate(n, p.twice.wall-p.once.wall, p.twice.wall), rate(n, p.twice.cpu-p.once.cpu, p.twice.cpu)
}

// rate is n rows in the time d. Where noise has made d meaningless, which happens with few rows, it is that of the
// whole run over 2n.
func rate(n float64, d, whole time.Duration) float64 {
	if d <= 0 || d*8 < whole {
		return 2 * n / max(whole, 1).Seconds()
	}
	return n / d.Seconds()
}

// allocsPerBatch is the number of allocations for each batch of the second n rows.
func (p pair) allocsPerBatch() float64 {
	batches := float64(p.once.n+events.Rows-1) / events.Rows
	return max(0, float64(p.twice.allocs-p.once.allocs)/batches)
}

// budget is how long the repetitions of one benchmark may take: the first is always made.
const budget = 45 * time.Second

// repeat makes pairs by turns of each of the runs, so that all meet the same noise.
func repeat(times int, n int64, runs ...func(n int64) (measured, error)) ([][]pair, error) {
	pairs := make([][]pair, len(runs))
	began := time.Now()
	for round := range times {
		for i, run := range runs {
			once, err := run(n)
			if err != nil {
				return nil, err
			}
			twice, err := run(2 * n)
			if err != nil {
				return nil, err
			}
			pairs[i] = append(pairs[i], pair{once, twice})
		}
		if spent := time.Since(began); spent+spent/time.Duration(round+1) > budget {
			break
		}
	}
	return pairs, nil
}

// medians gives the middle rate over wall and over CPU time.
func medians(pairs []pair) (wall, cpu float64) {
	var walls, cpus []float64
	for _, p := range pairs {
		w, c := p.rates()
		walls, cpus = append(walls, w), append(cpus, c)
	}
	return median(walls), median(cpus)
}

// summarize gives the figure of pairs of one job.
func summarize(pairs []pair) figure {
	var f figure
	f.RowsPerS, f.RowsPerCPUS = medians(pairs)
	f.CPUNsPerRow = 1e9 / f.RowsPerCPUS
	var allocs []float64
	for _, p := range pairs {
		allocs = append(allocs, p.allocsPerBatch())
	}
	f.AllocsPerBatch = median(allocs)
	return f
}

// drive runs a bare loop over n rows as the source does it: a few batches are made, then the loop takes them.
func drive(job baseline.Job, g *events.Generator, n int64, live bool) measured {
	var ring [ringBatches]*events.Batch
	for i := range ring {
		ring[i] = events.NewBatch(events.Rows)
	}
	m := measured{n: n}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	watch, filling := startWatch(), time.Duration(0)
	for at := int64(0); at < n; {
		began := threadCPU()
		k := 0
		for ; k < len(ring) && at < n; k++ {
			rows := min(events.Rows, n-at)
			g.Fill(ring[k], at, int(rows))
			at += rows
		}
		filling += threadCPU() - began
		for _, b := range ring[:k] {
			job.Batch(b)
		}
	}
	m.result = job.Finish()
	if live {
		filling = 0
	}
	watch.read(&m, filling)
	return m
}
