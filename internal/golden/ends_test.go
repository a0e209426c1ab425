package golden

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"testing"
	"time"

	"github.com/arkflow-go/arkflow"
	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/connectors/drop"
	"github.com/arkflow-go/arkflow/connectors/memory"
	"github.com/arkflow-go/arkflow/operator"
	"github.com/arkflow-go/arkflow/window"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

type tick struct {
	K  string `arkflow:"k"`
	TS int64  `arkflow:"ts"`
}

type batch = column.Batch

// badSink fails where it is told to.
type badSink struct{ open, write error }

func (badSink) Kind() string                { return "bad" }
func (badSink) Check(operator.Stream) error { return nil }
func (s badSink) Open(ctx *operator.Context, in operator.Stream) (operator.Writer, error) {
	if s.open != nil {
		return nil, s.open
	}
	w, err := drop.Sink{}.Open(ctx, in)
	return badWriter{w, s.write}, err
}

type badWriter struct {
	operator.Writer
	err error
}

func (w badWriter) Write(b *batch) error {
	if w.err != nil {
		return w.err
	}
	return w.Writer.Write(b)
}

// badSource fails when it is read.
type badSource struct {
	memory.Source
	err error
}

func (s badSource) Open(ctx *operator.Context, sp operator.Split, pos []byte) (operator.Reader, error) {
	r, err := s.Source.Open(ctx, sp, pos)
	return badReader{r, s.err}, err
}

type badReader struct {
	operator.Reader
	err error
}

func (r badReader) Poll() (*batch, error) { return nil, r.err }

// ending is one way in which a job ends.
type ending struct {
	source operator.Source // nil: three rows
	live   bool            // the source stays open
	fn     func(tick) (tick, error)
	sink   operator.Sink
	end    func(ctx context.Context, h *arkflow.Handle) error
	state  arkflow.State // "": it never starts
	err    error
}

func TestE9AThousandEndsOfEachKindLeaveNothing(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	boom := errors.New("boom")
	rows := memory.Of([]tick{{"a", 1}, {"b", 12}}, []tick{{"a", 25}})
	wait := func(ctx context.Context, h *arkflow.Handle) error { return h.Wait(ctx) }
	for name, e := range map[string]ending{
		"end of input":   {end: wait, state: arkflow.Finished},
		"stop":           {live: true, end: func(ctx context.Context, h *arkflow.Handle) error { return h.Stop(ctx) }, state: arkflow.Suspended},
		"drain":          {live: true, end: func(ctx context.Context, h *arkflow.Handle) error { return h.Drain(ctx) }, state: arkflow.Finished},
		"cancel":         {live: true, end: func(ctx context.Context, h *arkflow.Handle) error { return h.Cancel(ctx) }, state: arkflow.Suspended},
		"source fails":   {source: badSource{rows, boom}, end: wait, state: arkflow.Failed, err: boom},
		"operator fails": {fn: func(tick) (tick, error) { return tick{}, boom }, end: wait, state: arkflow.Failed, err: boom},
		"sink fails":     {sink: badSink{write: boom}, end: wait, state: arkflow.Failed, err: boom},
		"panic":          {fn: func(tick) (tick, error) { panic(boom) }, end: wait, state: arkflow.Failed},
		"failed start":   {sink: badSink{open: boom}, err: boom},
	} {
		t.Run(name, func(t *testing.T) { e.repeat(t, rows) })
	}
}

func TestAnErrorThatWrapsTheEndIsNoEnd(t *testing.T) {
	err := fmt.Errorf("read the header: %w", io.EOF)
	job := arkflow.NewJob("cut")
	job.Source("in", badSource{memory.Of([]tick{{"a", 1}}), err}, arkflow.ProcessingTime()).Sink("out", drop.Sink{})
	require.ErrorIs(t, job.Run(t.Context()), err)
}

func (e ending) repeat(t *testing.T, rows memory.Source) {
	var early uint64
	for i := 1; i <= 1000; i++ {
		e.once(t, rows)
		if i == 200 {
			early = heapInUse()
		}
	}
	require.Less(t, heapInUse(), early+early/10+256<<10, "the heap grows from run to run")
}

func (e ending) once(t *testing.T, rows memory.Source) {
	t.Helper()
	var src operator.Source = rows
	switch {
	case e.source != nil:
		src = e.source
	case e.live:
		in := memory.NewInlet[tick](memory.InletConfig{})
		for _, k := range []tick{{"a", 1}, {"a", 12}} {
			require.NoError(t, in.Send(t.Context(), k))
		}
		defer func() { require.NoError(t, in.Close()) }()
		src = in
	}
	fn, sink := e.fn, e.sink
	if fn == nil {
		fn = func(k tick) (tick, error) { return k, nil }
	}
	if sink == nil {
		sink = drop.Sink{}
	}
	job := arkflow.NewJob("ends", arkflow.Parallelism(2))
	w := job.Source("in", src, arkflow.EventTime("ts"), arkflow.Tasks(1)).Apply("map", operator.MapErr(fn)).KeyBy("k").
		Window("w", window.Tumbling(10*time.Millisecond), window.Count())
	w.Sink("out", sink)
	h, err := arkflow.Runtime{}.Start(t.Context(), job)
	if e.state == "" {
		require.ErrorIs(t, err, e.err)
		return
	}
	require.NoError(t, err)
	err = e.end(t.Context(), h)
	if e.state != arkflow.Failed {
		require.NoError(t, err)
	} else {
		require.Error(t, err)
	}
	if e.err != nil {
		require.ErrorIs(t, err, e.err)
	}
	require.Equal(t, e.state, h.Status().State)
}

// heapInUse is the heap that is alive, in bytes.
func heapInUse() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
