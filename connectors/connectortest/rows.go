package connectortest

import (
	"encoding/hex"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/operator"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

// patience is how long a connector may take to answer, and to end after its context has.
const patience = 2 * time.Second

// longPatience is for calls whose speed is not in question, on a machine that is busy with other things.
const longPatience = 20 * time.Second

// bench is what a check runs on: a context of the engine whose memory is looked at, and the goroutines that there were.
type bench struct {
	t    *testing.T
	ctx  *operator.Context
	stop func()
	// patience is how long within waits.
	patience time.Duration
}

// check runs one check as a subtest, and sees to it at its end that memory came back and goroutines ended.
func check(t *testing.T, name string, f func(b *bench)) {
	t.Helper()
	t.Run(name, func(t *testing.T) {
		before := goleak.IgnoreCurrent()
		b := &bench{t: t, patience: patience}
		pool := column.NewDebugPool()
		b.ctx, b.stop = newContext(t, pool)
		f(b)
		b.stop()
		require.NoError(t, pool.Check())
		require.NoError(t, goleak.Find(before))
	})
}

func newContext(t *testing.T, pool *column.Pool) (*operator.Context, func()) {
	ctx, cancel := contextOf(t)
	return &operator.Context{Context: ctx, Job: "conformance", Operator: "connector", Parallelism: 1, Pool: pool, Counters: &operator.Counters{},
		Clock: operator.SystemClock{}, Logger: slog.New(slog.DiscardHandler)}, cancel
}

// within fails where f fails or does not return in time. f runs in a goroutine of its own: it must not end the test.
func (b *bench) within(what string, f func() error) {
	b.t.Helper()
	done := make(chan error, 1)
	go func() { done <- f() }()
	timeout := time.NewTimer(b.patience)
	defer timeout.Stop()
	select {
	case err := <-done:
		require.NoError(b.t, err, what)
	case <-timeout.C:
		require.FailNow(b.t, fmt.Sprintf("%s took more than %s", what, b.patience))
	}
}

// Texts gives the rows that are there as texts that tell rows apart.
func Texts(b *column.Batch) []string {
	out := make([]string, b.Len())
	for k := range out {
		var s strings.Builder
		for i := range b.Cols {
			c, r := &b.Cols[i], b.Row(k)
			s.WriteString(b.Schema.Field(i).Name + "=")
			switch {
			case c.IsNull(r):
				s.WriteString("null ")
			case c.Kind == column.Bool:
				fmt.Fprint(&s, c.Bool(r), " ")
			case c.Kind == column.Bytes:
				fmt.Fprintf(&s, "%q ", c.String(r))
			default:
				w := c.Kind.Width()
				s.WriteString(hex.EncodeToString(c.Data[r*w:(r+1)*w]) + " ")
			}
		}
		out[k] = s.String()
	}
	return out
}

// ReadAll gives the rows of all splits of a source that ends.
func ReadAll(t *testing.T, s operator.Source) (rows []string) {
	t.Helper()
	ctx, stop := newContext(t, nil)
	defer stop()
	s = inferred(t, ctx, s)
	splits, err := s.Splits(ctx)
	require.NoError(t, err)
	for _, sp := range splits {
		r, err := s.Open(ctx, sp, nil)
		require.NoError(t, err)
		rows = append(rows, readOn(t, r)...)
		require.NoError(t, r.Close())
	}
	return rows
}

// inferred gives the source with its schema, as the engine finds it.
func inferred(t *testing.T, ctx *operator.Context, s operator.Source) operator.Source {
	t.Helper()
	in, ok := s.(operator.Inferrer)
	if s.Schema() != nil || !ok {
		return s
	}
	schema, err := in.Infer(ctx)
	require.NoError(t, err)
	require.NotNil(t, schema, "the case has no rows")
	return in.WithSchema(schema)
}

// readOn polls a reader to its end.
func readOn(t *testing.T, r operator.Reader) (rows []string) {
	t.Helper()
	for {
		b := pollWithin(t, r, longPatience)
		if b == nil {
			if l, ok := r.(operator.LagReader); ok {
				lag, known := l.Lag()
				require.True(t, !known || lag == 0, "at the end of the split %d records are said to be left", lag)
			}
			return rows
		}
		rows = append(rows, Texts(b)...)
		b.Release()
	}
}

// pollOne polls until there are rows, which the caller owns; nil at the end.
func pollOne(t *testing.T, r operator.Reader) *column.Batch {
	t.Helper()
	return pollWithin(t, r, patience)
}

// pollWithin is pollOne where no call may take longer than that.
func pollWithin(t *testing.T, r operator.Reader, limit time.Duration) *column.Batch {
	t.Helper()
	for {
		began := time.Now()
		b, err := r.Poll()
		require.Less(t, time.Since(began), limit, "Poll waits")
		switch {
		case err == io.EOF: //nolint:errorlint // the end is io.EOF itself
			require.Nil(t, b, "no rows come with io.EOF")
			return nil
		case err != nil:
			require.NoError(t, err)
		case b != nil:
			require.Positive(t, b.Len(), "a batch without rows")
			return b
		}
		await(t, r, limit)
	}
}

// await waits until a reader says that there may be more.
func await(t *testing.T, r operator.Reader, limit time.Duration) {
	t.Helper()
	timeout := time.NewTimer(limit)
	defer timeout.Stop()
	select {
	case <-r.Ready():
	case <-timeout.C:
		require.FailNow(t, "Ready does not wake after Poll gave nothing")
	}
}

// Context gives the context of a task for tests of one's own: the system's clock, memory of the garbage collector, and a policy that fails.
func Context(t *testing.T) *operator.Context {
	ctx, stop := newContext(t, nil)
	t.Cleanup(stop)
	return ctx
}

// Rows gives n rows of a schema, numbered from a number on, with nulls where they may be.
func Rows(s *arrow.Schema, from, n int) *column.Batch { return makeRows(nil, s, from, n) }

// makeRows gives n rows of a schema, numbered from a number on, with a null here and there.
func makeRows(p *column.Pool, s *arrow.Schema, from, n int) *column.Batch {
	b := column.NewBuilder(p, s)
	for r := from; r < from+n; r++ {
		for i, f := range s.Fields() {
			switch a := b.Col(i); {
			case f.Nullable && (r+i)%5 == 4:
				b.Null(i)
			case a.Kind() == column.Bool:
				a.Bool(r%2 == 0)
			case a.Kind() == column.Bytes:
				a.String(fmt.Sprintf("row %d, \"é\"\n", r))
			case a.Kind() == column.Decimal:
				a.Decimal(uint64(r), 0)
			case a.Kind() == column.Float64 || a.Kind() == column.Float32:
				a.Float64(float64(r) / 2)
			default:
				a.Int64(int64(r % 100))
			}
		}
		b.EndRow()
	}
	return b.Finish()
}
