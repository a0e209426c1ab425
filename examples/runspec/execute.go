package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/arkflow-go/arkflow"
	"github.com/arkflow-go/arkflow/checkpoint/storage"
)

// running is a job that was started.
type running struct {
	handle *arkflow.Handle
	meter  *meter
	ended  bool
}

// errInterrupted ends a start.
var errInterrupted = errors.New("interrupted before all jobs had started")

// execute runs the jobs at once until all have ended. A job that fails does not end the others.
func (e env) execute(o options, jobs []*arkflow.Job) int {
	ctx := context.Background()
	rt := arkflow.Runtime{Logger: slog.New(slog.NewTextHandler(e.stderr, &slog.HandlerOptions{Level: slog.LevelWarn})), Clock: e.clock}
	if o.bucket != "" {
		bucket, err := storage.OpenURL(ctx, o.bucket)
		if err != nil {
			fmt.Fprintln(e.stderr, "runspec:", err)
			return exitFailed
		}
		defer func() { _ = bucket.Close() }() // the jobs have ended, and all that they wrote is there
		rt.Bucket = bucket
		rt.Checkpoints.BucketName = storage.HideSecrets(o.bucket)
		rt.Checkpoints.Owner, _ = os.Hostname() // for people; may be empty
		if o.standby {
			rt.Checkpoints.OnClaimed = arkflow.Standby
		}
	}
	started, err := e.startAll(ctx, o, rt, jobs)
	if err != nil {
		fmt.Fprintln(e.stderr, "runspec:", err)
		for _, r := range started {
			_ = r.handle.Cancel(ctx) // the jobs belong together: what fails to start is what is told
		}
		return exitFailed
	}
	done := make(chan *running, len(jobs))
	for _, r := range started {
		go func() { <-r.handle.Done(); done <- r }()
	}
	return e.watch(ctx, o, started, done)
}

// startAll starts the jobs one after the other; with -standby that may take long, so a signal ends it. It gives those that were started.
func (e env) startAll(ctx context.Context, o options, rt arkflow.Runtime, jobs []*arkflow.Job) (started []*running, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	done := make(chan error, 1)
	go func() {
		for _, j := range jobs {
			r, err := e.start(ctx, o, rt, j)
			if err != nil {
				done <- err
				return
			}
			started = append(started, r)
		}
		done <- nil
	}()
	for {
		select {
		case err := <-done:
			return started, err
		case <-e.signals:
			cancel(errInterrupted)
		}
	}
}

func (e env) start(ctx context.Context, o options, rt arkflow.Runtime, j *arkflow.Job) (*running, error) {
	spec, err := j.Spec()
	if err != nil {
		return nil, err
	}
	if o.standby {
		fmt.Fprintf(e.stderr, "job %s: waiting until no other process runs it\n", j.Name())
	}
	h, err := rt.Start(ctx, j, o.start()...)
	if err != nil {
		return nil, err
	}
	if s := h.Status(); s.Restored.Epoch > 0 {
		fmt.Fprintf(e.stderr, "job %s: goes on from epoch %d, %d entries of state\n", j.Name(), s.Restored.Epoch, s.Restored.Entries)
	}
	return &running{handle: h, meter: newMeter(spec, e.clock.Now())}, nil
}

// start gives the options of the starts.
func (o options) start() (out []arkflow.StartOption) {
	if o.savepoint != "" {
		out = append(out, arkflow.FromSavepoint(o.savepoint))
	}
	if o.rescale {
		out = append(out, arkflow.Rescale())
	}
	if o.fresh {
		out = append(out, arkflow.StartFresh())
	}
	if o.fallback {
		out = append(out, arkflow.FallBack())
	}
	return out
}

// watch tells progress and passes signals on until all jobs have ended.
func (e env) watch(ctx context.Context, o options, jobs []*running, done <-chan *running) int {
	code, interrupts := exitOK, 0
	tick := e.clock.NewTimer(time.Second)
	defer tick.Stop()
	for left := len(jobs); left > 0; {
		select {
		case r := <-done:
			left--
			r.ended = true
			fmt.Fprintln(e.stderr, r.meter.summary(r.handle.Status()))
			if err := r.handle.Wait(ctx); err != nil {
				code = exitFailed
				e.tell(r.meter.job, err)
			}
		case <-tick.C():
			for _, r := range jobs {
				if !r.ended {
					fmt.Fprintln(e.stderr, r.meter.progress(r.handle.Status(), e.clock.Now()))
				}
			}
			tick.Reset(time.Second)
		case <-e.signals:
			interrupts++
			if interrupts > 2 { // a sink that blocks, such as a pipe that nobody reads, holds up a cancel too
				fmt.Fprintln(e.stderr, "not waiting for the jobs any more")
				return exitFailed
			}
			e.interrupt(ctx, o, jobs, interrupts)
		}
	}
	return code
}

func (e env) tell(job string, err error) {
	if errors.Is(err, arkflow.ErrCanceled) {
		fmt.Fprintf(e.stderr, "job %s was cancelled: what was in flight is lost\n", job)
		return
	}
	fmt.Fprintln(e.stderr, "runspec:", err)
}

// interrupt ends the jobs: the first one by a stop, the second by a cancel. Waiting for them is for watch, which hears of the end.
func (e env) interrupt(ctx context.Context, o options, jobs []*running, nth int) {
	switch {
	case nth > 1:
		fmt.Fprintln(e.stderr, "cancelling: what is in flight is dropped; interrupt again not to wait for that")
	case o.bucket != "":
		fmt.Fprintln(e.stderr, "stopping: rows in flight reach the sinks, open windows are not fired and stay in the bucket; interrupt again to cancel")
	default:
		fmt.Fprintln(e.stderr, "stopping: rows in flight reach the sinks, open windows are not fired and are lost with this process; interrupt again to cancel")
	}
	for _, r := range jobs {
		if r.ended {
			continue
		}
		if nth == 1 {
			go func() { _ = r.handle.Stop(ctx) }()
		} else {
			go func() { _ = r.handle.Cancel(ctx) }()
		}
	}
}
