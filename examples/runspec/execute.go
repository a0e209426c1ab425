package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/arkflow-go/arkflow"
)

// running is a job that was started.
type running struct {
	handle *arkflow.Handle
	meter  *meter
	ended  bool
}

// execute runs the jobs at once until all have ended. A job that fails does not end the others.
func (e env) execute(jobs []*arkflow.Job) int {
	ctx := context.Background()
	log := slog.New(slog.NewTextHandler(e.stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	var started []*running
	done := make(chan *running, len(jobs))
	for _, j := range jobs {
		r, err := e.start(ctx, j, log)
		if err != nil {
			fmt.Fprintln(e.stderr, "runspec:", err)
			for _, r := range started {
				_ = r.handle.Cancel(ctx) // the jobs belong together: what fails to start is what is told
			}
			return exitFailed
		}
		started = append(started, r)
	}
	for _, r := range started {
		go func() { <-r.handle.Done(); done <- r }()
	}
	return e.watch(ctx, started, done)
}

func (e env) start(ctx context.Context, j *arkflow.Job, log *slog.Logger) (*running, error) {
	spec, err := j.Spec()
	if err != nil {
		return nil, err
	}
	h, err := arkflow.Runtime{Logger: log, Clock: e.clock}.Start(ctx, j)
	if err != nil {
		return nil, err
	}
	return &running{handle: h, meter: newMeter(spec, e.clock.Now())}, nil
}

// watch tells progress and passes signals on until all jobs have ended.
func (e env) watch(ctx context.Context, jobs []*running, done <-chan *running) int {
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
			e.interrupt(ctx, jobs, interrupts)
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
func (e env) interrupt(ctx context.Context, jobs []*running, nth int) {
	if nth == 1 {
		fmt.Fprintln(e.stderr, "stopping: rows in flight reach the sinks, open windows are not fired and are lost with this process; interrupt again to cancel")
	} else {
		fmt.Fprintln(e.stderr, "cancelling: what is in flight is dropped; interrupt again not to wait for that")
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
