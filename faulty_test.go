package arkflow_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/arkflow-go/arkflow"
	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/connectors/drop"
	"github.com/arkflow-go/arkflow/operator"
	"github.com/arkflow-go/arkflow/state"
	"github.com/arkflow-go/arkflow/window"
)

// misdeed is what user code does at one place: "panic", "error", "goexit" or "nil" (nothing, and no error).
type misdeed struct{ at, how string }

func (m misdeed) does(place string) error {
	if m.at != place {
		return nil
	}
	switch m.how {
	case "panic":
		panic("boom at " + place)
	case "error":
		return errors.New("boom at " + place)
	case "goexit":
		runtime.Goexit()
	}
	return nil
}

func (m misdeed) gives(place string) bool { return m != misdeed{place, "nil"} }

var faultySchema = arrow.NewSchema([]arrow.Field{{Name: "k", Type: arrow.PrimitiveTypes.Int64}, {Name: "t", Type: arrow.PrimitiveTypes.Int64}}, nil)

type faultySource struct{ m misdeed }

func (s faultySource) Kind() string          { _ = s.m.does("Source.Kind"); return "faulty" }
func (s faultySource) Schema() *arrow.Schema { return faultySchema }
func (s faultySource) Splits(context.Context) ([]operator.Split, error) {
	return []operator.Split{{ID: "a"}, {ID: "b"}}, s.m.does("Source.Splits")
}

func (s faultySource) Open(ctx *operator.Context, _ operator.Split, _ []byte) (operator.Reader, error) {
	if err := s.m.does("Source.Open"); err != nil || !s.m.gives("Source.Open") {
		return nil, err
	}
	if s.m.at == "Start" {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return &faultyReader{s.m, ctx, 0}, nil
}

type faultyReader struct {
	m   misdeed
	ctx *operator.Context
	n   int
}

func (r *faultyReader) Poll() (*column.Batch, error) {
	if r.n++; r.n == 3 {
		return nil, io.EOF
	}
	b := column.NewBuilder(r.ctx.Pool, faultySchema)
	for i := range int64(10) {
		b.Col(0).Int64(i)
		b.Col(1).Int64(int64(r.n)*100 + i)
		b.EndRow()
	}
	return b.Finish(), r.m.does("Reader.Poll")
}
func (r *faultyReader) Ready() <-chan struct{}    { return nil }
func (r *faultyReader) Position() ([]byte, error) { return nil, r.m.does("Reader.Position") }
func (r *faultyReader) Close() error              { return r.m.does("Reader.Close") }
func (r *faultyReader) Watermark() (int64, bool) {
	_ = r.m.does("Reader.Watermark")
	return int64(r.n) * 100, true
}

type faultyOperator struct {
	m  misdeed
	in operator.Stream
}

func (o faultyOperator) Kind() string { _ = o.m.does("Operator.Kind"); return "faulty" }
func (o faultyOperator) Bind(in []operator.Stream) (operator.Bound, error) {
	return faultyOperator{o.m, in[0]}, o.m.does("Operator.Bind")
}
func (o faultyOperator) Outputs() []operator.Stream { return []operator.Stream{o.in} }
func (o faultyOperator) New(*operator.Context) (operator.Instance, error) {
	if err := o.m.does("Bound.New"); err != nil || !o.m.gives("Bound.New") {
		return nil, err
	}
	return &faultyInstance{o.m}, nil
}

type faultyInstance struct{ m misdeed }

func (x *faultyInstance) Process(_ int, b *column.Batch, out operator.Output) error {
	if err := x.m.does("Instance.Process"); err != nil {
		return err
	}
	if !x.m.gives("Emit") {
		return out.Emit(7, b)
	}
	return out.Emit(operator.Main, b)
}
func (x *faultyInstance) OnWatermark(w int64, _ operator.Output) (int64, error) {
	return w, x.m.does("Instance.OnWatermark")
}
func (x *faultyInstance) OnDrain(operator.Output) error { return x.m.does("Instance.OnDrain") }
func (x *faultyInstance) Snapshot(state.Writer) error   { return x.m.does("Instance.Snapshot") }
func (x *faultyInstance) Restore(state.Reader) error    { return nil }
func (x *faultyInstance) StateSize() (int64, int64)     { _ = x.m.does("Instance.StateSize"); return 0, 0 }
func (x *faultyInstance) Close() error                  { return x.m.does("Instance.Close") }

type faultySink struct {
	m   misdeed
	ctx *operator.Context
}

func (s faultySink) Kind() string                { _ = s.m.does("Sink.Kind"); return "faulty" }
func (s faultySink) Check(operator.Stream) error { return s.m.does("Sink.Check") }
func (s faultySink) TwoPhase() bool              { _ = s.m.does("Sink.TwoPhase"); return false }
func (s faultySink) Open(ctx *operator.Context, _ operator.Stream) (operator.Writer, error) {
	if err := s.m.does("Sink.Open"); err != nil || !s.m.gives("Sink.Open") {
		return nil, err
	}
	return faultySink{s.m, ctx}, nil
}
func (s faultySink) Write(*column.Batch) error { return s.m.does("Writer.Write") }
func (s faultySink) Flush() error {
	if s.m.at == "EndlessFlush" {
		<-s.ctx.Done()
	}
	return s.m.does("Writer.Flush")
}
func (s faultySink) Close() error { return s.m.does("Writer.Close") }

func faultyJob(m misdeed, parallelism int) *arkflow.Job {
	j := arkflow.NewJob("faulty", arkflow.Parallelism(parallelism))
	s := j.Source("source", faultySource{m}, arkflow.EventTime("t")).Apply("operator", faultyOperator{m: m})
	s.Sink("sink", faultySink{m: m})
	s.KeyBy("k").Window("window", window.Tumbling(time.Second), window.Count()).Sink("out", drop.Sink{})
	return j
}

// E5, E7: whatever user code does at any place, the job ends with an error that names the operator, and leaves nothing behind.
func TestE5MisdeedsOfUserCode(t *testing.T) {
	places := map[string][]string{
		"source": {"Source.Kind", "Source.Splits", "Source.Open", "Reader.Poll", "Reader.Position", "Reader.Close", "Reader.Watermark"},
		"operator": {"Operator.Kind", "Operator.Bind", "Bound.New", "Emit", "Instance.Process", "Instance.OnWatermark", "Instance.OnDrain",
			"Instance.Snapshot", "Instance.StateSize", "Instance.Close"},
		"sink": {"Sink.Kind", "Sink.Check", "Sink.TwoPhase", "Sink.Open", "Writer.Write", "Writer.Flush", "Writer.Close"},
	}
	compiled := map[string]bool{"Source.Kind": true, "Operator.Kind": true, "Operator.Bind": true, "Sink.Kind": true, "Sink.Check": true, "Sink.TwoPhase": true}
	noError := map[string]bool{"Source.Kind": true, "Reader.Watermark": true, "Operator.Kind": true, "Instance.StateSize": true, "Sink.Kind": true, "Sink.TwoPhase": true}
	gives := map[string]bool{"Source.Open": true, "Bound.New": true, "Emit": true, "Sink.Open": true}
	defer goleak.VerifyNone(t)
	for id, list := range places {
		for _, at := range list {
			for _, how := range []string{"panic", "error", "goexit", "nil"} {
				switch {
				case how == "error" && noError[at], how == "goexit" && compiled[at], // compiling opens nothing
					(how == "nil") != gives[at] && (how == "nil" || at == "Emit"):
					continue
				}
				for _, p := range []int{1, 3} {
					t.Run(fmt.Sprintf("%s/%s/%d", at, how, p), func(t *testing.T) {
						err := faultyJob(misdeed{at, how}, p).Run(t.Context())
						require.ErrorContains(t, err, fmt.Sprintf("operator %q", id))
						if how == "panic" || how == "error" {
							require.ErrorContains(t, err, "boom at "+at)
						}
						var named *arkflow.OperatorError
						if how == "panic" && !compiled[at] {
							require.ErrorAs(t, err, &named)
							require.Contains(t, string(named.Stack), "faulty_test.go")
						}
					})
				}
			}
		}
	}
}

// The end of the context ends a start that waits for a system, also where it waits in Open.
func TestB7StartEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		_, err := arkflow.Runtime{}.Start(ctx, faultyJob(misdeed{at: "Start"}, 1))
		require.ErrorIs(t, err, context.DeadlineExceeded)
	})
}

// A last epoch that is never answered fails the job: it cannot end well any more.
func TestLastEpochThatTimesOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		err := faultyJob(misdeed{at: "EndlessFlush"}, 1).Run(t.Context())
		require.ErrorContains(t, err, "epoch 1, the last of the job, was not answered within 10m0s by tasks")
		require.ErrorContains(t, err, "source/0")
	})
}
