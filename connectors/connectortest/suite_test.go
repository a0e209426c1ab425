package connectortest_test

import (
	"bytes"
	"path/filepath"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/arkflow-go/arkflow/codec"
	"github.com/arkflow-go/arkflow/connectors/connectortest"
	"github.com/arkflow-go/arkflow/connectors/drop"
	"github.com/arkflow-go/arkflow/connectors/generate"
	"github.com/arkflow-go/arkflow/connectors/memory"
	"github.com/arkflow-go/arkflow/connectors/stdout"
	"github.com/arkflow-go/arkflow/operator"
	"github.com/stretchr/testify/require"
)

type row struct {
	N int64   `arkflow:"n"`
	S *string `arkflow:"s"`
}

func rowsOf(n int) []row {
	out := make([]row, n)
	for i := range out {
		s := string(rune('a' + i%26))
		out[i] = row{int64(i), &s}
		if i%5 == 0 {
			out[i].S = nil
		}
	}
	return out
}

func TestN1Memory(t *testing.T) {
	connectortest.Source(t, connectortest.SourceCase{Source: memory.Of(rowsOf(100), rowsOf(3), rowsOf(20_000))})
	connectortest.Sink(t, connectortest.SinkCase{New: func(t *testing.T) (operator.Sink, func() []string) {
		s := memory.NewSink()
		return s, func() (rows []string) {
			recs := s.Records()
			if len(recs) == 0 {
				return nil
			}
			return connectortest.ReadAll(t, memory.Records(recs[0].Schema(), recs...))
		}
	}})
}

func TestN1Generate(t *testing.T) {
	connectortest.Source(t, connectortest.SourceCase{
		Source: generate.Func(func(i int64) row { return rowsOf(int(i%50) + 1)[i%50] }, generate.Count(20_000), generate.Splits(2)),
	})
}

func TestN1MemoryInlet(t *testing.T) {
	connectortest.Source(t, connectortest.SourceCase{Waiting: func(t *testing.T) (operator.Source, func()) {
		in := memory.NewInlet[row](memory.InletConfig{})
		return in, func() { require.NoError(t, in.Send(t.Context(), row{N: 7})) }
	}})
}

func TestN1Stdout(t *testing.T) {
	for name, format := range map[string]codec.RecordFormat{"json": codec.JSON(nil), "csv": codec.CSV(nil)} {
		t.Run(name, func(t *testing.T) {
			var schema *arrow.Schema
			connectortest.Sink(t, connectortest.SinkCase{
				New: func(t *testing.T) (operator.Sink, func() []string) {
					var out bytes.Buffer
					return checked{stdout.Sink{Format: format, Writer: stdout.Locked(&out)}, &schema}, func() []string { return decode(t, format, schema, out.Bytes()) }
				},
				Broken: []operator.Sink{stdout.Sink{Writer: closed{}}},
			})
		})
	}
}

// checked notes the schema of the rows that a sink gets.
type checked struct {
	operator.Sink
	schema **arrow.Schema
}

func (c checked) Open(ctx *operator.Context, in operator.Stream) (operator.Writer, error) {
	*c.schema = in.Schema
	return c.Sink.Open(ctx, in)
}

type closed struct{}

func (closed) Write([]byte) (int, error) { return 0, filepath.ErrBadPattern }

func decode(t *testing.T, f codec.RecordFormat, s *arrow.Schema, text []byte) []string {
	d, err := f.WithSchema(s).(codec.RecordFormat).NewDecoder(nil)
	require.NoError(t, err)
	if f.HasHeader() && len(text) > 0 {
		head, p := f.Cut(text, true)
		require.NoError(t, d.Header(head))
		text = text[p.Bytes:]
	}
	_, err = d.DecodeLines(text, true, codec.Limits{Rows: 1 << 20})
	require.NoError(t, err)
	b := d.Finish()
	defer b.Release()
	return connectortest.Texts(b)
}

func TestN1Drop(t *testing.T) {
	connectortest.Sink(t, connectortest.SinkCase{New: func(*testing.T) (operator.Sink, func() []string) { return drop.Sink{}, nil }})
}
