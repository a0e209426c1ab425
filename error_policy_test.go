package arkflow_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/arkflow-go/arkflow"
	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/connectors/memory"
	"github.com/arkflow-go/arkflow/expr"
	"github.com/arkflow-go/arkflow/operator"
	"github.com/stretchr/testify/require"
)

type letter struct {
	FailedAt time.Time `arkflow:"failed_at"`
	Operator string    `arkflow:"operator"`
	Phase    string    `arkflow:"phase"`
	Reason   string    `arkflow:"reason"`
	Place    *string   `arkflow:"place"`
	Record   *string   `arkflow:"record"`
}

// E6: a row in error goes to the dead-letter sink with reason, operator, phase and the row itself; the others go on, and none is lost.
func TestE6DeadLetterOfAnOperatorHoldsReasonAndRow(t *testing.T) {
	rows := []tick{{"a", 1, 0}, {"b", 0, 0}, {"c", 2, 0}, {"d", 0, 7}}
	for name, add := range map[string]func(s arkflow.Stream, p arkflow.ErrorPolicy) arkflow.Stream{
		"select": func(s arkflow.Stream, p arkflow.ErrorPolicy) arkflow.Stream {
			return s.Select("op", expr.Col("key"), expr.Lit(int64(10)).Div(expr.Col("n")).As("n")).With(arkflow.OnError(p))
		},
		"filter": func(s arkflow.Stream, p arkflow.ErrorPolicy) arkflow.Stream {
			return s.Filter("op", expr.Lit(int64(10)).Div(expr.Col("n")).Gt(0)).With(arkflow.OnError(p))
		},
		"map": func(s arkflow.Stream, p arkflow.ErrorPolicy) arkflow.Stream {
			return s.Apply("op", operator.MapErr(func(r tick) (tick, error) {
				if r.N == 0 {
					return r, errors.New("division by zero")
				}
				return r, nil
			})).With(arkflow.OnError(p))
		},
	} {
		t.Run(name, func(t *testing.T) {
			out, dead := memory.NewSink(), memory.NewSink()
			job := arkflow.NewJob("j")
			add(job.Source("in", memory.Of(rows), arkflow.ProcessingTime()), arkflow.DeadLetter(dead)).Sink("out", out)
			h, err := arkflow.Runtime{}.Start(t.Context(), job)
			require.NoError(t, err)
			require.NoError(t, h.Wait(t.Context()))
			require.Equal(t, 2, out.Len())
			letters, err := memory.Collect[letter](dead)
			require.NoError(t, err)
			require.Len(t, letters, 2)
			for i, l := range letters {
				require.Equal(t, "op", l.Operator)
				require.Equal(t, operator.PhaseProcess, l.Phase)
				require.Contains(t, l.Reason, "division by zero")
				require.JSONEq(t, []string{`{"key":"b","n":0,"ts":0}`, `{"key":"d","n":0,"ts":7}`}[i], *l.Record)
			}
			s := h.Status().Operator("op")
			require.Equal(t, map[string]int64{operator.DropDeadLetter: 2}, s.Dropped)
			require.Equal(t, s.RowsIn, s.RowsOut+2)
		})
	}
}

// shaky is a sink that fails a number of times.
type shaky struct {
	*memory.Sink
	fails *int
}

func (s shaky) Open(ctx *operator.Context, in operator.Stream) (operator.Writer, error) {
	w, err := s.Sink.Open(ctx, in)
	return shakyWriter{w, s.fails}, err
}

type shakyWriter struct {
	operator.Writer
	fails *int
}

func (w shakyWriter) Write(b *column.Batch) error {
	if *w.fails > 0 {
		*w.fails--
		return errors.New("no connection")
	}
	return w.Writer.Write(b)
}

func TestE6RetryOfASinkWaitsLongerEachTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fails := 3
		out := shaky{memory.NewSink(), &fails}
		job := arkflow.NewJob("j")
		job.Source("in", memory.Of([]tick{{}, {}}), arkflow.ProcessingTime()).Sink("out", out, arkflow.OnError(arkflow.Retry(3, time.Second)))
		began := time.Now()
		require.NoError(t, job.Run(t.Context()))
		require.Equal(t, 7*time.Second, time.Since(began))
		require.Equal(t, 2, out.Len())
	})
}

func TestE6RetryThenDeadLetterOfASink(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fails, dead := 2, memory.NewSink()
		out := shaky{memory.NewSink(), &fails}
		job := arkflow.NewJob("j")
		job.Source("in", memory.Of([]tick{{"a", 1, 2}, {"b", 3, 4}}), arkflow.ProcessingTime()).
			Sink("out", out, arkflow.OnError(arkflow.Retry(1, time.Second).Then(arkflow.DeadLetter(dead))))
		require.NoError(t, job.Run(t.Context()))
		require.Zero(t, out.Len())
		letters, err := memory.Collect[letter](dead)
		require.NoError(t, err)
		require.Len(t, letters, 2)
		require.Equal(t, operator.PhaseSink, letters[0].Phase)
		require.JSONEq(t, `{"key":"a","n":1,"ts":2}`, *letters[0].Record)
	})
}

func TestE6RetryOfAFunction(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		calls, out := 0, memory.NewSink()
		job := arkflow.NewJob("j")
		job.Source("in", memory.Of([]tick{{}}), arkflow.ProcessingTime()).
			Apply("f", operator.MapErr(func(r tick) (tick, error) {
				if calls++; calls < 3 {
					return r, errors.New("busy")
				}
				return r, nil
			})).With(arkflow.OnError(arkflow.Retry(2, time.Second))).
			Sink("out", out)
		began := time.Now()
		require.NoError(t, job.Run(t.Context()))
		require.Equal(t, 3*time.Second, time.Since(began))
		require.Equal(t, 1, out.Len())
	})
}

// flaky is a source whose polls fail a number of times.
type flaky struct {
	operator.Source
	fails *int
}

func (s flaky) Open(ctx *operator.Context, sp operator.Split, pos []byte) (operator.Reader, error) {
	r, err := s.Source.Open(ctx, sp, pos)
	return flakyReader{r, s.fails}, err
}

type flakyReader struct {
	operator.Reader
	fails *int
}

func (r flakyReader) Poll() (*column.Batch, error) {
	if *r.fails > 0 {
		*r.fails--
		return nil, errors.New("connection reset")
	}
	return r.Reader.Poll()
}

func TestE6RetryOfASourceReadsOn(t *testing.T) {
	for _, retries := range []int{2, 1} {
		synctest.Test(t, func(t *testing.T) {
			fails, out := 2, memory.NewSink()
			job := arkflow.NewJob("j")
			job.Source("in", flaky{memory.Of([]tick{{}, {}}), &fails}, arkflow.ProcessingTime(), arkflow.OnError(arkflow.Retry(retries, time.Second))).
				Sink("out", out)
			began := time.Now()
			err := job.Run(t.Context())
			if retries == 1 {
				require.ErrorContains(t, err, "connection reset")
				require.ErrorContains(t, err, `operator "in"`)
				return
			}
			require.NoError(t, err)
			require.Equal(t, 3*time.Second, time.Since(began))
			require.Equal(t, 2, out.Len())
		})
	}
}

// A dead-letter sink that cannot take its rows, or that fails, is an error: nothing is lost in silence.
func TestE6DeadLetterSinkThatFailsEndsTheJob(t *testing.T) {
	fails := 1
	job := arkflow.NewJob("j")
	job.Source("in", memory.Of([]tick{{}}), arkflow.ProcessingTime()).
		Filter("op", expr.Lit(int64(1)).Div(expr.Col("n")).Gt(0)).With(arkflow.OnError(arkflow.DeadLetter(shaky{memory.NewSink(), &fails}))).
		Sink("out", memory.NewSink())
	err := job.Run(t.Context())
	require.ErrorContains(t, err, "dead-letter sink")
	require.ErrorContains(t, err, `operator "op"`)

	job = arkflow.NewJob("j")
	job.Source("in", memory.Of([]tick{{}}), arkflow.ProcessingTime(), arkflow.OnError(arkflow.DeadLetter(nil))).
		Sink("out", memory.NewSink(), arkflow.OnError(arkflow.Retry(-1, 0)))
	require.ErrorContains(t, job.Err(), "the dead-letter sink is nil")
	require.ErrorContains(t, job.Err(), "-1 retries")
	_, err = job.Spec()
	require.Error(t, err)
	require.Equal(t, arrow.TIMESTAMP, operator.DeadLetterSchema.Field(0).Type.ID())
	require.Equal(t, "retry 2 after 1s, then dead letter", arkflow.Retry(2, time.Second).Then(arkflow.DeadLetter(memory.NewSink())).String())
}

// B3: the builder never panics, whatever a dead-letter sink does.
func TestB3ADeadLetterSinkThatPanicsIsAFault(t *testing.T) {
	job := arkflow.NewJob("j")
	job.Source("in", memory.Of([]tick{}), arkflow.ProcessingTime(), arkflow.OnError(arkflow.DeadLetter((*panicking)(nil)))).Sink("out", memory.NewSink())
	require.ErrorContains(t, job.Err(), `operator "in": on_error: dead-letter sink: check: panic: oh`)
}

// panicking is a sink that panics where it is checked.
type panicking struct{ operator.Sink }

func (*panicking) Check(operator.Stream) error { panic("oh") }
