package file

import (
	"errors"
	"io"
	"path/filepath"
	"testing"

	"github.com/arkflow-go/arkflow/codec"
	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/operator"
	"github.com/stretchr/testify/require"
)

const benchRows = 100_000

func BenchmarkSource(b *testing.B) {
	text := lines(0, benchRows)
	path := write(b, b.TempDir(), "in.jsonl", text)
	ctx := newContext(b, operator.Fail())
	ctx.Pool = column.NewPool()
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		r, err := Source{URL: path, Format: codec.JSON(schema)}.Open(ctx, operator.Split{ID: path}, nil)
		require.NoError(b, err)
		for {
			batch, err := r.Poll()
			if errors.Is(err, io.EOF) {
				break
			}
			require.NoError(b, err)
			batch.Release()
		}
		require.NoError(b, r.Close())
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/benchRows, "ns/row")
}

func BenchmarkSink(b *testing.B) {
	ctx := newContext(b, operator.Fail())
	ctx.Pool = column.NewPool()
	w, err := Sink{URL: filepath.Join(b.TempDir(), "out.jsonl")}.Open(ctx, stream)
	require.NoError(b, err)
	rows := batch(b, ctx, 0, 8192)
	b.SetBytes(int64(len(lines(0, 8192))))
	b.ReportAllocs()
	for b.Loop() {
		if err := w.Write(rows); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/8192, "ns/row")
	rows.Release()
	require.NoError(b, w.Close())
}
