package blocktest

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/arkflow-go/arkflow/codec"
	"github.com/arkflow-go/arkflow/column"
	"github.com/stretchr/testify/require"
)

// Types names the types that a column may have.
var Types = []string{
	"bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32", "float64",
	"string", "large_string", "string_view", "binary", "large_binary", "binary_view", "date32", "date64",
	"time32[s]", "time32[ms]", "time64[us]", "time64[ns]",
	"timestamp[s]", "timestamp[ms]", "timestamp[us]", "timestamp[ns]", "timestamp[s,UTC]", "timestamp[ms,UTC]", "timestamp[us,Europe/Berlin]", "timestamp[ns,UTC]",
	"duration[s]", "duration[ms]", "duration[us]", "duration[ns]", "decimal(10,2)", "decimal(38,0)", "decimal(38,38)", "decimal(7,-3)",
	"dictionary[int32,string]", "dictionary[int8,int64]",
}

// Schema gives a schema of nullable columns of these types, each called like its type.
func Schema(t testing.TB, types ...string) *arrow.Schema {
	fields := make([]arrow.Field, len(types))
	for i, name := range types {
		typ, err := codec.ParseType(name)
		require.NoError(t, err)
		fields[i] = arrow.Field{Name: name, Type: typ, Nullable: true}
	}
	return arrow.NewSchema(fields, nil)
}

// Rows gives n rows of any schema, numbered from `from`; every seventh value is null where it may be.
func Rows(p *column.Pool, s *arrow.Schema, from, n int) *column.Batch {
	b := column.NewBuilder(p, s)
	for r := from; r < from+n; r++ {
		for i, f := range s.Fields() {
			if f.Nullable && (r+i)%7 == 6 {
				b.Null(i)
				continue
			}
			value(b.Col(i), int64(r))
		}
		b.EndRow()
	}
	return b.Finish()
}

func value(a *column.Appender, v int64) {
	switch a.Kind() {
	case column.Bool:
		a.Bool(v%3 == 0)
	case column.Bytes:
		a.String(fmt.Sprintf("%d %s", v, strings.Repeat("é", int((v%9+9)%9))))
	case column.Float64, column.Float32:
		a.Float64(float64(v) / 4)
	case column.Decimal:
		a.Decimal(uint64(v), 0)
	case column.Int8, column.Uint8:
		a.Int64(v % 100)
	default:
		if a.Type().ID() == arrow.DATE64 {
			v *= 86_400_000
		}
		a.Int64(v)
	}
}

// Texts gives the rows that are there as texts.
func Texts(b *column.Batch) []string {
	out := make([]string, b.Len())
	for k := range out {
		r := b.Row(k)
		var s strings.Builder
		for i := range b.Cols {
			c := &b.Cols[i]
			switch {
			case c.IsNull(r):
				s.WriteString("null|")
			case c.Kind == column.Bool:
				fmt.Fprint(&s, c.Bool(r), "|")
			case c.Kind == column.Bytes:
				s.WriteString(c.String(r) + "|")
			default:
				w := c.Kind.Width()
				fmt.Fprintf(&s, "%x|", c.Data[r*w:(r+1)*w])
			}
		}
		out[k] = s.String()
	}
	return out
}

// Write makes a file of batches, which are released.
func Write(t testing.TB, f codec.BlockFormat, s *arrow.Schema, batches ...*column.Batch) []byte {
	var out bytes.Buffer
	w, err := f.CreateBlocks(&out, s)
	require.NoError(t, err)
	for _, b := range batches {
		require.NoError(t, w.Write(b))
		b.Release()
	}
	require.NoError(t, w.Close())
	require.Zero(t, w.Buffered())
	return out.Bytes()
}

// Open opens a file whose batches have at most rows rows.
func Open(f codec.BlockFormat, p *column.Pool, file []byte, rows int, limit int64) (codec.BlockReader, error) {
	return f.OpenBlocks(context.Background(), bytes.NewReader(file), int64(len(file)), codec.BlockOptions{Pool: p, Rows: rows, MaxBytes: limit})
}

// ReadAll reads what is left.
func ReadAll(r codec.BlockReader) (rows []string, err error) {
	for {
		b, err := r.Next()
		if err == io.EOF { //nolint:errorlint // the end is io.EOF itself
			return rows, nil
		}
		if err != nil {
			return rows, err
		}
		rows = append(rows, Texts(b)...)
		b.Release()
	}
}

// noLimit is more than any test needs.
const noLimit = math.MaxInt32
