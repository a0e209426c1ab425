package arkflowtest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/arkflow-go/arkflow"
)

// Running is a job under test that the test drives step by step. Its methods belong to one goroutine; what goes wrong fails the test.
type Running struct {
	t TB
	r *run
}

// Start starts a job whose scripted splits stay open until EndInput. The test must end it, by Drain, Stop, Cancel or EndInput and Wait.
func Start(t TB, job *arkflow.Job, opts ...Option) *Running {
	t.Helper()
	cfg := newConfig(opts)
	cfg.live = true
	r, err := start(t.Context(), job, cfg)
	if err != nil {
		t.Fatalf("%v", err)
		return nil
	}
	return &Running{t, r}
}

// Handle is that of the job.
func (j *Running) Handle() *arkflow.Handle { return j.r.handle }

// Status is the job's present status.
func (j *Running) Status() arkflow.Status { return j.r.exec.Status() }

// Tasks says of each task what it is doing.
func (j *Running) Tasks() string { return j.r.exec.Tasks() }

// Send gives the first split of a source more steps.
func (j *Running) Send(source string, s Split) {
	j.t.Helper()
	j.SendTo(source, 0, s)
}

// SendTo gives the i-th split of a source more steps. Rows must have the source's schema. A split that shall say its own watermark must have a
// WatermarkAt from the beginning (in its From).
func (j *Running) SendTo(source string, i int, s Split) {
	j.t.Helper()
	if err := j.r.feed.add(source, i, s); err != nil {
		j.t.Fatalf("send to source %q: %v", source, err)
	}
}

// EndInput ends all splits of a source.
func (j *Running) EndInput(source string) {
	j.r.feed.mu.Lock()
	defer j.r.feed.mu.Unlock()
	for _, s := range j.r.feed.splits {
		if s.source == source {
			s.open = false
			s.signalLocked()
		}
	}
}

// Settle waits until nothing in the job can move any more: what was sent has reached its sinks, or waits in an operator or at a Gate.
func (j *Running) Settle() {
	j.t.Helper()
	j.r.arm()
	if err := j.r.settle(); err != nil {
		j.t.Fatalf("%v", err)
	}
}

// Advance settles, lets the fake clock go on by d from timer to timer, and settles again.
func (j *Running) Advance(d time.Duration) {
	j.t.Helper()
	j.Settle()
	if err := j.r.advance(d); err != nil {
		j.t.Fatalf("%v", err)
	}
	j.Settle()
}

// Checkpoint takes an epoch and gives its number.
func (j *Running) Checkpoint() int64 {
	j.t.Helper()
	n, err := j.r.checkpoint()
	if err != nil {
		j.t.Fatalf("checkpoint: %v", err)
	}
	return n
}

// Snapshot is the last sealed epoch, or nil.
func (j *Running) Snapshot() *Snapshot {
	j.r.mu.Lock()
	defer j.r.mu.Unlock()
	if len(j.r.snaps) == 0 {
		return nil
	}
	return j.r.snaps[len(j.r.snaps)-1]
}

// Rows gives what a sink holds by now: what was committed.
func (j *Running) Rows(sink string) []Row { return rowsOf(j.r.into.rows(sink, false)) }

// Lines gives what a sink holds by now as Result.Lines does.
func (j *Running) Lines(sink string) []string { return linesIn(j.r.into.rows(sink, false)) }

// Written gives what has been written to a sink by now as Result.Lines does, committed or not.
func (j *Running) Written(sink string) []string { return linesIn(j.r.into.rows(sink, true)) }

// Drain settles, then ends the job for good and waits for its end.
func (j *Running) Drain() *Result { j.t.Helper(); return j.end(Drain) }

// Stop settles, then suspends the job and waits for its end.
func (j *Running) Stop() *Result { j.t.Helper(); return j.end(Stop) }

// Cancel drops what is in flight and waits for the end of the job.
func (j *Running) Cancel() *Result { j.t.Helper(); return j.end(Cancel) }

func (j *Running) end(e End) *Result {
	j.t.Helper()
	if e != Cancel {
		j.Settle()
	}
	j.r.askEnd(e)
	return j.Wait()
}

// Wait waits for the end of the job. A job that ends with an error other than arkflow.ErrCanceled fails the test; see Outcome.
func (j *Running) Wait() *Result {
	j.t.Helper()
	out := j.Outcome()
	if out.err != nil && !errors.Is(out.err, arkflow.ErrCanceled) {
		j.t.Fatalf("%v", out.err)
	}
	return out
}

// Outcome waits for the end of the job, whatever it is: Result.Err tells.
func (j *Running) Outcome() *Result {
	j.r.arm()
	err := j.r.await()
	out := j.r.result(err)
	if err == nil {
		out.err = out.check(j.r.cfg)
	}
	return out
}

// Ended waits for the end of the job for as long as ctx allows, without looking at its result.
func (j *Running) Ended(ctx context.Context) bool {
	select {
	case <-j.r.exec.Done():
		return true
	case <-ctx.Done():
		return false
	}
}

// add appends steps to a split.
func (f *feed) add(source string, i int, more Split) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	at := slices.IndexFunc(f.splits, func(s *splitRun) bool { return s.source == source && s.index == i })
	if at < 0 {
		return fmt.Errorf("there is no scripted split %d", i)
	}
	s := f.splits[at]
	if !s.open {
		return fmt.Errorf("split %d has ended", i)
	}
	for _, st := range more.steps {
		switch st.kind {
		case stepOpen:
			continue
		case stepWatermark:
			if !s.own {
				return fmt.Errorf("split %d takes its watermark from the source's policy: begin it with a WatermarkAt in From", i)
			}
		case stepRows:
			own, err := st.rows.own()
			if err != nil {
				return err
			}
			if own != nil && !own.Equal(s.schema) {
				return fmt.Errorf("the rows have another schema:\n%s\nin place of\n%s", own, s.schema)
			}
		}
		s.steps = append(s.steps, st)
	}
	s.signalLocked()
	return nil
}
