package arkflow_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/arkflow-go/arkflow"
	"github.com/arkflow-go/arkflow/checkpoint"
	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/connectors/memory"
	"github.com/arkflow-go/arkflow/internal/harness"
	"github.com/arkflow-go/arkflow/operator"
	"github.com/arkflow-go/arkflow/window"
	"github.com/stretchr/testify/require"
)

// deeds is what a job does, in order. It is a sink of two phases and a store of epochs.
type deeds struct {
	mu   sync.Mutex
	done []string
	hold <-chan struct{} // Write waits for it where it is not nil
}

func (d *deeds) add(format string, args ...any) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.done = append(d.done, fmt.Sprintf(format, args...))
}

func (*deeds) Kind() string                { return "deeds" }
func (*deeds) Check(operator.Stream) error { return nil }
func (*deeds) TwoPhase() bool              { return true }
func (d *deeds) Open(*operator.Context, operator.Stream) (operator.Writer, error) {
	d.add("open")
	return d, nil
}

func (d *deeds) Write(b *column.Batch) error {
	if d.hold != nil {
		<-d.hold
	}
	d.add("write %d", b.Len())
	return nil
}
func (d *deeds) Flush() error { d.add("flush"); return nil }
func (d *deeds) Close() error { d.add("close"); return nil }
func (d *deeds) Prepare(epoch int64) ([]byte, error) {
	d.add("prepare %d", epoch)
	return nil, nil
}

func (d *deeds) Commit(epoch int64, _ []byte) error { d.add("commit %d", epoch); return nil }
func (d *deeds) Abort(epoch int64, _ []byte) error  { d.add("abort %d", epoch); return nil }
func (d *deeds) Seal(_ context.Context, e *checkpoint.Epoch) error {
	d.add("seal %d finished %v", e.Number, e.Finished)
	return nil
}

func (d *deeds) Release(context.Context, *checkpoint.Epoch) {}

// E8: at the end of bounded input the windows are flushed, then comes the last barrier, the seal, the commit, the close.
func TestE8OrderAtTheEndOfInput(t *testing.T) {
	for name, c := range map[string]struct {
		end  func(ctx context.Context, h *arkflow.Handle) error
		want []string
	}{
		"end of input": {nil, []string{"open", "write 1", "write 1", "prepare 1", "seal 1 finished true", "commit 1", "close"}},
		"drain": {func(ctx context.Context, h *arkflow.Handle) error { return h.Drain(ctx) },
			[]string{"open", "write 1", "write 1", "prepare 1", "seal 1 finished true", "commit 1", "close"}},
		"stop is not the end of time": {func(ctx context.Context, h *arkflow.Handle) error { return h.Stop(ctx) },
			[]string{"open", "write 1", "prepare 1", "seal 1 finished false", "commit 1", "close"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := &deeds{}
				in := memory.NewInlet[tick](memory.InletConfig{})
				job := arkflow.NewJob("j", arkflow.CheckpointEvery(time.Hour))
				job.Source("in", in, arkflow.EventTime("ts")).KeyBy("key").Window("w", window.Tumbling(10*time.Millisecond), window.Count().As("n")).Sink("out", d)
				h, err := arkflow.Runtime{}.Start(t.Context(), job, arkflow.Harness(&harness.Config{Store: d}))
				require.NoError(t, err)
				require.NoError(t, in.Send(t.Context(), tick{"k", 1, 1}))
				require.NoError(t, in.Send(t.Context(), tick{"k", 2, 12}))
				synctest.Wait()
				if c.end == nil {
					require.NoError(t, in.Close())
				} else {
					require.NoError(t, c.end(t.Context(), h))
				}
				require.NoError(t, h.Wait(t.Context()))
				require.Equal(t, c.want, d.done)
			})
		})
	}
}

// place is a source or a sink that says when it is opened and closed.
type place struct {
	operator.Source
	*deeds
	name string
	fail error
}

func (p place) Kind() string { return "place" }
func (p place) note(what string) error {
	p.add("%s %s", what, p.name)
	if what == "open" {
		return p.fail
	}
	return nil
}

type sourceOf struct{ place }

func (s sourceOf) Open(ctx *operator.Context, sp operator.Split, at []byte) (operator.Reader, error) {
	if err := s.note("open"); err != nil {
		return nil, err
	}
	r, err := s.Source.Open(ctx, sp, at)
	return readerOf{r, s.place}, err
}

type readerOf struct {
	operator.Reader
	at place
}

func (r readerOf) Close() error { return errors.Join(r.at.note("close"), r.Reader.Close()) }

type sinkOf struct {
	at place
}

func (sinkOf) Kind() string                { return "place" }
func (sinkOf) Check(operator.Stream) error { return nil }
func (s sinkOf) Open(*operator.Context, operator.Stream) (operator.Writer, error) {
	return writerOf(s), s.at.note("open")
}

type writerOf struct{ at place }

func (writerOf) Write(*column.Batch) error { return nil }
func (writerOf) Flush() error              { return nil }
func (w writerOf) Close() error            { return w.at.note("close") }

// E7: sinks are connected before sources; what a start that fails has opened is closed in reverse order, and the job is not left running.
func TestE7SinksAreOpenedBeforeSourcesAndClosedInReverse(t *testing.T) {
	boom := errors.New("connection refused")
	for _, fail := range []error{nil, boom} {
		d := &deeds{}
		job := arkflow.NewJob("j")
		src := job.Source("in", sourceOf{place{Source: memory.Of([]tick{{"a", 1, 1}}, []tick{{"b", 1, 1}}), deeds: d, name: "in", fail: fail}}, arkflow.ProcessingTime())
		src.Sink("one", sinkOf{place{deeds: d, name: "one"}})
		src.Sink("two", sinkOf{place{deeds: d, name: "two"}})
		err := job.Run(t.Context())
		if fail == nil {
			require.NoError(t, err)
			require.Equal(t, []string{"open one", "open two", "open in", "open in"}, d.done[:4])
			require.ElementsMatch(t, []string{"close one", "close two", "close in", "close in"}, d.done[4:])
			continue
		}
		require.ErrorIs(t, err, boom)
		require.ErrorContains(t, err, `operator "in"`)
		require.Equal(t, []string{"open one", "open two", "open in", "close two", "close one"}, d.done)
	}
}

// B7: the end of the context of Run is a Stop and gives nil; one that takes longer than StopTimeout is a Cancel and gives a *StopError that
// says who held it up.
func TestB7RunEndsWithItsContext(t *testing.T) {
	for _, blocked := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			d := &deeds{}
			release := make(chan struct{})
			if blocked {
				d.hold = release
			}
			var log bytes.Buffer
			in := memory.NewInlet[tick](memory.InletConfig{})
			job := arkflow.NewJob("j", arkflow.CheckpointEvery(time.Hour))
			src := job.Source("in", in, arkflow.EventTime("ts"))
			src.Sink("out", onePhase{d})
			src.KeyBy("key").Window("w", window.Tumbling(10*time.Millisecond), window.Count().As("n")).Sink("windows", memory.NewSink())
			ended := make(chan error)
			began := time.Now()
			go func() {
				ended <- arkflow.Runtime{StopTimeout: 3 * time.Second, Logger: slog.New(slog.NewTextHandler(&log, nil))}.Run(ctx, job)
			}()
			require.NoError(t, in.Send(t.Context(), tick{"k", 1, 1}))
			synctest.Wait()
			cancel()
			synctest.Wait()
			if !blocked {
				require.NoError(t, <-ended)
				require.Contains(t, d.done, "write 1")
				require.Equal(t, 1, bytes.Count(log.Bytes(), []byte("level=WARN")), "one warning of what is lost without a bucket: %s", &log)
				return
			}
			time.Sleep(4 * time.Second)
			close(release) // user code that waits cannot be ended from outside
			var stop *arkflow.StopError
			require.ErrorAs(t, <-ended, &stop)
			require.Equal(t, "j", stop.Job)
			require.Equal(t, 3*time.Second, stop.Timeout)
			require.NotEmpty(t, stop.Blocked)
			require.GreaterOrEqual(t, time.Since(began), 3*time.Second)
			synctest.Wait()
		})
	}
}

// onePhase hides the second phase of deeds.
type onePhase struct{ d *deeds }

func (onePhase) Kind() string                { return "deeds" }
func (onePhase) Check(operator.Stream) error { return nil }
func (o onePhase) Open(*operator.Context, operator.Stream) (operator.Writer, error) {
	return struct{ operator.Writer }{o.d}, nil
}

// B8, B10: zero values work; what cannot work is told all at once.
func TestB8ZeroValuesAreUsable(t *testing.T) {
	require.NoError(t, arkflow.Runtime{}.Validate())
	full := arkflow.Runtime{}.WithDefaults()
	require.NotNil(t, full.Logger)
	require.NotNil(t, full.Clock)
	require.Equal(t, arkflow.DefaultStopTimeout, full.StopTimeout)
	require.Equal(t, full, full.WithDefaults())
	err := arkflow.Runtime{StopTimeout: -1, MemoryLimit: -1}.Validate()
	require.ErrorContains(t, err, "Runtime.StopTimeout")
	require.ErrorContains(t, err, "Runtime.MemoryLimit")

	out := memory.NewSink()
	job := arkflow.NewJob("plain")
	job.Source("in", memory.Of([]tick{{"a", 1, 1}}), arkflow.ProcessingTime()).Sink("out", out)
	require.NoError(t, arkflow.Runtime{}.Run(t.Context(), job))
	require.NoError(t, job.Run(t.Context()))
	require.Equal(t, 2, out.Len())
}
