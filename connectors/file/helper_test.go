package file

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/arkflow-go/arkflow/codec"
	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/operator"
	"github.com/stretchr/testify/require"
)

var schema = arrow.NewSchema([]arrow.Field{
	{Name: "i", Type: arrow.PrimitiveTypes.Int64, Nullable: true},
	{Name: "s", Type: arrow.BinaryTypes.String, Nullable: true},
}, nil)

// newContext gives the context of a task whose pool is checked at the end.
func newContext(t testing.TB, policy operator.ErrorPolicy) *operator.Context {
	pool := column.NewDebugPool()
	t.Cleanup(func() { require.NoError(t, pool.Check()) })
	return &operator.Context{Context: context.Background(), Pool: pool, Parallelism: 1, OnError: policy, Counters: &operator.Counters{},
		Clock: operator.SystemClock{}, Logger: slog.New(slog.DiscardHandler)}
}

func write(t testing.TB, dir, name, text string) string {
	path := filepath.Join(dir, name)
	require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
	return path
}

// zipped makes a gzip file of a member for each text.
func zipped(t testing.TB, texts ...string) string {
	var buf bytes.Buffer
	for _, s := range texts {
		z := gzip.NewWriter(&buf)
		_, err := io.WriteString(z, s)
		require.NoError(t, err)
		require.NoError(t, z.Close())
	}
	return buf.String()
}

// rowsOf gives the rows of a batch as "i s", and releases it.
func rowsOf(b *column.Batch) (rows []string) {
	for r := range b.Len() {
		i, s := "null", "null"
		if !b.Cols[0].IsNull(b.Row(r)) {
			i = fmt.Sprint(column.Values[int64](&b.Cols[0])[b.Row(r)])
		}
		if !b.Cols[1].IsNull(b.Row(r)) {
			s = strings.Clone(b.Cols[1].String(b.Row(r)))
		}
		rows = append(rows, i+" "+s)
	}
	b.Release()
	return rows
}

// readAll polls a reader to its end and closes it.
func readAll(t testing.TB, r operator.Reader) (rows []string, err error) {
	defer func() { require.NoError(t, r.Close()) }()
	for {
		b, err := r.Poll()
		if errors.Is(err, io.EOF) {
			require.Nil(t, b)
			return rows, nil
		}
		if err != nil {
			return rows, err
		}
		if b == nil {
			<-r.Ready()
			continue
		}
		require.NotZero(t, b.Len())
		rows = append(rows, rowsOf(b)...)
	}
}

// readSource reads all splits of a source, each to its end.
func readSource(t testing.TB, ctx *operator.Context, s Source) (rows []string, err error) {
	if s.Format == nil {
		s.Format = codec.JSON(schema)
	}
	splits, err := s.Splits(ctx)
	if err != nil {
		return nil, err
	}
	for _, sp := range splits {
		r, err := s.Open(ctx, sp, nil)
		if err != nil {
			return rows, err
		}
		got, err := readAll(t, r)
		rows = append(rows, got...)
		if err != nil {
			return rows, err
		}
	}
	return rows, nil
}

func lines(from, to int) string {
	var b strings.Builder
	for i := from; i < to; i++ {
		fmt.Fprintf(&b, "{\"i\":%d,\"s\":\"%s\"}\n", i, strings.Repeat("x", i%40))
	}
	return b.String()
}

func rows(from, to int) (out []string) {
	for i := from; i < to; i++ {
		out = append(out, fmt.Sprintf("%d %s", i, strings.Repeat("x", i%40)))
	}
	return out
}
