package connectortest

import (
	"errors"
	"slices"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/arkflow-go/arkflow/operator"
	"github.com/stretchr/testify/require"
)

// SinkCase is what a sink is checked with.
type SinkCase struct {
	// New gives a sink over a new, empty system, and what reads the rows that others can see in it, by Texts or ReadAll, in any order; nil
	// where nobody can.
	New func(t *testing.T) (s operator.Sink, read func() []string)
	// Schema is that of the rows. Defaults to an int64, a string and a float64, of which the last two may be null.
	Schema *arrow.Schema
	// Broken are sinks over systems that are not there: each must fail within two seconds, at the latest in the first Flush.
	Broken []operator.Sink
	// Stalled, which may be nil, gives a sink whose system takes no rows any more: writing to it must block or fail, and end within two
	// seconds of its context.
	Stalled func(t *testing.T) operator.Sink
}

// Sink checks a sink; each check is a subtest.
func Sink(t *testing.T, c SinkCase) {
	t.Helper()
	if c.Schema == nil {
		c.Schema = defaultSchema()
	}
	check(t, "rows can be seen after Flush", c.flush)
	check(t, "no row is lost at Close", c.close)
	check(t, "several tasks write", c.tasks)
	check(t, "writes nothing", c.nothing)
	check(t, "ends with its context", c.cancel)
	for _, s := range c.Broken {
		check(t, "tells that its system is not there", func(b *bench) { c.broken(b, s) })
	}
	if c.Stalled != nil {
		check(t, "ends while its system takes nothing", c.stalled)
	}
}

func defaultSchema() *arrow.Schema {
	return arrow.NewSchema([]arrow.Field{
		{Name: "n", Type: arrow.PrimitiveTypes.Int64},
		{Name: "s", Type: arrow.BinaryTypes.String, Nullable: true},
		{Name: "f", Type: arrow.PrimitiveTypes.Float64, Nullable: true},
	}, nil)
}

func (c SinkCase) stream() operator.Stream {
	return operator.Stream{Schema: c.Schema, Time: operator.ProcessingTime}
}

// open opens a task of the sink.
func (c SinkCase) open(b *bench, s operator.Sink, task, tasks int) operator.Writer {
	require.NoError(b.t, s.Check(c.stream()))
	ctx := *b.ctx
	ctx.Subtask, ctx.Parallelism = task, tasks
	w, err := s.Open(&ctx, c.stream())
	require.NoError(b.t, err)
	return w
}

// put writes rows, of which some are not selected, gives them back at once, and tells which they were.
func (c SinkCase) put(b *bench, w operator.Writer, from, n int) (rows []string) {
	batch := makeRows(b.ctx.Pool, c.Schema, from, n)
	if from%2 == 1 {
		batch.Sel = []uint32{}
		for r := 0; r < n; r += 2 {
			batch.Sel = append(batch.Sel, uint32(r))
		}
	}
	rows = Texts(batch)
	b.within("Write", func() error { return w.Write(batch) })
	batch.Release()
	return rows
}

func (b *bench) flush(w operator.Writer) {
	b.within("Flush", w.Flush)
}

func (b *bench) close(w operator.Writer) {
	b.within("Close", w.Close)
}

func (b *bench) sees(want []string, read func() []string) {
	b.t.Helper()
	if read == nil {
		return
	}
	got := read()
	slices.Sort(got)
	want = slices.Clone(want)
	slices.Sort(want)
	require.Equal(b.t, len(want), len(got), "rows that can be seen")
	for i := range want {
		require.Equal(b.t, want[i], got[i])
	}
}

func (c SinkCase) flush(b *bench) {
	s, read := c.New(b.t)
	w := c.open(b, s, 0, 1)
	var want []string
	for i, n := range []int{1, 7, 100, 1000, 2} {
		want = append(want, c.put(b, w, i*10_000+i, n)...)
		if i != 2 { // once over two batches
			b.flush(w)
			b.sees(want, read)
		}
	}
	b.flush(w)
	b.flush(w)
	b.close(w)
	b.sees(want, read)
}

func (c SinkCase) close(b *bench) {
	s, read := c.New(b.t)
	w := c.open(b, s, 0, 1)
	want := c.put(b, w, 0, 10)
	b.flush(w)
	want = append(want, c.put(b, w, 101, 10)...)
	b.close(w)
	b.sees(want, read)
}

func (c SinkCase) tasks(b *bench) {
	s, read := c.New(b.t)
	var want []string
	var writers []operator.Writer
	for i := range 3 {
		writers = append(writers, c.open(b, s, i, 3))
	}
	for round := range 2 {
		for i, w := range writers {
			want = append(want, c.put(b, w, 1000*i+100*round, 20)...)
		}
	}
	for _, w := range writers {
		b.flush(w)
	}
	b.sees(want, read)
	for _, w := range writers {
		b.close(w)
	}
	b.sees(want, read)
}

func (c SinkCase) nothing(b *bench) {
	s, read := c.New(b.t)
	w := c.open(b, s, 0, 1)
	b.flush(w)
	b.close(w)
	if read != nil {
		b.sees(nil, read)
	}
}

func (c SinkCase) cancel(b *bench) {
	s, _ := c.New(b.t)
	w := c.open(b, s, 0, 1)
	c.put(b, w, 0, 10)
	b.stop()
	b.within("Close after the end of the context", func() error {
		_ = w.Close() // it may fail, but not wait
		return nil
	})
}

func (c SinkCase) broken(b *bench, s operator.Sink) {
	b.within("an unreachable system", func() error {
		w, err := s.Open(b.ctx, c.stream())
		if err != nil {
			return nil
		}
		batch := makeRows(b.ctx.Pool, c.Schema, 0, 10)
		err = w.Write(batch)
		batch.Release()
		if err == nil {
			err = w.Flush()
		}
		_ = w.Close() // it may fail as well
		if err == nil {
			return errors.New("a system that is not there is no error")
		}
		return nil
	})
}

// stalled writes until a call does not come back, or fails.
func (c SinkCase) stalled(b *bench) {
	w := c.open(b, c.Stalled(b.t), 0, 1)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for b.ctx.Err() == nil {
			batch := makeRows(b.ctx.Pool, c.Schema, 0, 8192)
			err := w.Write(batch)
			batch.Release()
			if err == nil {
				err = w.Flush()
			}
			if err != nil {
				return
			}
		}
	}()
	b.stop()
	b.within("Write after the end of the context", func() error {
		<-done
		return nil
	})
	b.within("Close after the end of the context", func() error {
		_ = w.Close() // it may fail, but not wait
		return nil
	})
}
