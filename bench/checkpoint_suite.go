package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"gocloud.dev/blob"
	"gocloud.dev/blob/memblob"

	"github.com/arkflow-go/arkflow"
	"github.com/arkflow-go/arkflow/bench/events"
	"github.com/arkflow-go/arkflow/checkpoint/storage"
	"github.com/arkflow-go/arkflow/window"
)

// checkpointSuite is one window of a day with a million keys, and checkpoints of it in a bucket.
func checkpointSuite() []benchmark {
	return []benchmark{
		{name: "tumble_1m_10pct", n: 20_000_000, run: measureCheckpoints},
		{name: "pause_1m", n: 0, run: func(ctx context.Context, o options, _ int64) (figure, error) { return measurePause(ctx, o, 0) }},
		{name: "pause_1m_slow_bucket", n: 0, run: func(ctx context.Context, o options, _ int64) (figure, error) {
			return measurePause(ctx, o, 5*time.Second)
		}},
		{name: "delta_1pct", n: 0, run: measureDelta},
	}
}

func restoreSuite() []benchmark {
	return []benchmark{{name: "tumble_1m", n: movingKeys, run: measureRestore}}
}

const (
	leastCheckpoints = 20 // of a figure of throughput
	pauseCheckpoints = 10
	slowCheckpoints  = 2
)

// held is a job over a day's window that stands ready: all keys are loaded, no row after them has come.
type held struct {
	h      *arkflow.Handle
	in     *replay
	m      *moving
	sealed atomic.Int64
}

func holdJob(ctx context.Context, o options, b *blob.Bucket, every time.Duration, m *moving, opts ...arkflow.StartOption) (*held, error) {
	g := events.NewGenerator(movingKeys)
	x := &held{in: &replay{events: g, n: 1 << 50, splits: 1, live: o.live, moving: m}, m: m}
	job := arkflow.NewJob("day", arkflow.CheckpointEvery(every))
	job.Source("in", x.in, arkflow.EventTime("ts")).
		KeyBy("key").
		Window("window", window.Tumbling(24*time.Hour).Unbounded(), countAndSum()...).
		Sink("sink", foldWindows())
	var err error
	if x.h, err = (arkflow.Runtime{Bucket: b}).Start(ctx, job, opts...); err != nil {
		return nil, err
	}
	events := x.h.Events(ctx)
	go func() {
		for e := range events {
			if e.Kind == arkflow.EventCheckpoint {
				x.sealed.Add(1)
			}
		}
	}()
	select {
	case <-m.loaded:
		return x, nil
	case <-x.h.Done():
		return nil, errors.Join(errors.New("the job ended before its keys were loaded"), x.h.Wait(ctx))
	}
}

// directory gives a bucket of files that goes with the run.
func directory(ctx context.Context) (b *blob.Bucket, remove func(), err error) {
	dir, err := os.MkdirTemp("", "arkflow-bench-")
	if err != nil {
		return nil, nil, err
	}
	b, err = storage.OpenURL(ctx, "file://"+filepath.ToSlash(dir))
	return b, func() { _ = errors.Join(b.Close(), os.RemoveAll(dir)) }, err
}

// never is longer than any benchmark.
const never = 1000 * time.Hour

// measureCheckpoints compares rows at full speed with a checkpoint each second and without; the block of keys that change moves on each
// second.
func measureCheckpoints(ctx context.Context, o options, n int64) (f figure, err error) {
	var with, without []float64
	for range o.times {
		rows, cpu, sealed, err := checkpointRun(ctx, o, n, leastCheckpoints, time.Second)
		if err != nil {
			return f, err
		}
		with = append(with, float64(rows)/cpu.Seconds())
		f.Checkpoints = sealed
		if rows, cpu, _, err = checkpointRun(ctx, o, rows, 0, never); err != nil {
			return f, err
		}
		without = append(without, float64(rows)/cpu.Seconds())
	}
	f.RowsPerCPUS, f.Baseline = median(with), median(without)
	f.CPUNsPerRow, f.Ratio = 1e9/f.RowsPerCPUS, f.RowsPerCPUS/f.Baseline
	return f, nil
}

func checkpointRun(ctx context.Context, o options, n, least int64, every time.Duration) (rows int64, cpu time.Duration, sealed int64, err error) {
	b, remove, err := directory(ctx)
	if err != nil {
		return 0, 0, 0, err
	}
	defer remove()
	m := newMoving()
	var x *held
	var watch stopwatch
	var filled, began time.Duration
	m.block, m.step = movingBlock, func() int64 { return int64((sinceStart() - began) / time.Second) }
	m.began = func() {
		filled, began = x.in.fillCPU(), sinceStart()
		watch = startWatch()
	}
	m.done = func(r int64) bool {
		if r < n || x.sealed.Load() < least {
			return false
		}
		var got measured
		watch.read(&got, x.in.fillCPU()-filled)
		rows, cpu, sealed = r, got.cpu, x.sealed.Load()
		return true
	}
	if x, err = holdJob(ctx, o, b, every, m); err != nil {
		return 0, 0, 0, err
	}
	if _, err := x.h.Checkpoint(ctx); err != nil { // the base
		return 0, 0, 0, err
	}
	close(m.opened)
	return rows, cpu, sealed, x.h.Wait(ctx)
}

var processStart = time.Now()

func sinceStart() time.Duration { return time.Since(processStart) }

// measurePause gives the longest time from a barrier until the first batch after it has passed; after the first checkpoints the bucket
// takes delay for each call.
func measurePause(ctx context.Context, o options, delay time.Duration) (f figure, err error) {
	slow := &slowBucket{inner: memblob.OpenBucket(nil), delay: delay}
	b := blob.NewBucket(slow)
	defer b.Close()
	wanted := int64(pauseCheckpoints)
	if delay > 0 {
		wanted = slowCheckpoints
	}
	m := newMoving()
	var x *held
	m.block = movingBlock
	if x, err = holdJob(ctx, o, b, time.Second, m); err != nil {
		return f, err
	}
	if _, err := x.h.Checkpoint(ctx); err != nil {
		return f, err
	}
	had := x.sealed.Load()
	m.done = func(int64) bool { return x.sealed.Load() >= wanted+had }
	slow.slow.Store(delay > 0)
	close(m.opened)
	<-x.h.Done()
	slow.slow.Store(false)
	if err := x.h.Wait(ctx); err != nil {
		return f, err
	}
	f.Checkpoints = x.sealed.Load()
	f.quantiles(m.barriers)
	return f, nil
}

// measureDelta compares the bytes of a checkpoint of which 1 % of the keys have changed with those of a whole one.
func measureDelta(ctx context.Context, o options, _ int64) (f figure, err error) {
	m := newMoving()
	m.block = movingKeys / 100
	gate := make(chan struct{})
	came, all := make(chan struct{}), false
	m.done = func(rows int64) bool {
		if rows >= 20*movingBlock && !all { // every key of the block
			all = true
			close(came)
		}
		select {
		case <-gate:
			return true
		default:
			return false
		}
	}
	b := memblob.OpenBucket(nil)
	defer b.Close()
	x, err := holdJob(ctx, o, b, never, m)
	if err != nil {
		return f, err
	}
	bytes := func() (float64, error) {
		if _, err := x.h.Checkpoint(ctx); err != nil {
			return 0, err
		}
		return float64(x.h.Status().Checkpoints.LastBytes), nil
	}
	base, err := bytes()
	if err != nil {
		return f, err
	}
	close(m.opened)
	select {
	case <-came:
	case <-x.h.Done():
		return f, errors.Join(errors.New("the job ended before its keys had changed"), x.h.Wait(ctx))
	}
	delta, err := bytes()
	if err != nil {
		return f, err
	}
	close(gate)
	f.BytesRatio = delta / base
	return f, x.h.Wait(ctx)
}

// measureRestore starts a job from a checkpoint of a million keys.
func measureRestore(ctx context.Context, o options, n int64) (f figure, err error) {
	b, remove, err := directory(ctx)
	if err != nil {
		return f, err
	}
	defer remove()
	m := newMoving()
	m.done = func(int64) bool { return true }
	x, err := holdJob(ctx, o, b, never, m)
	if err != nil {
		return f, err
	}
	if _, err := x.h.Checkpoint(ctx); err != nil {
		return f, err
	}
	if err := x.h.Cancel(ctx); err != nil {
		return f, err
	}
	var rates []float64
	for range o.times {
		again := newMoving()
		again.done = m.done
		watch := startWatch()
		job, err := holdJob(ctx, o, b, never, again)
		if err != nil {
			return f, err
		}
		var got measured
		watch.read(&got, 0)
		rates = append(rates, float64(job.h.Status().Restored.Entries)/got.cpu.Seconds())
		if err := job.h.Cancel(ctx); err != nil {
			return f, err
		}
	}
	f.EntriesPerCPUS = median(rates)
	return f, nil
}
