package segment

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/state"
	"github.com/stretchr/testify/require"
)

// counters gives open windows as a window operator saves them, of a count and a sum by an int64 key, or by one of about 13 bytes.
func counters(rows int, text bool) []state.Table {
	r := rand.New(rand.NewPCG(1, 2))
	names := []string{"window_start", "key", "#rows", "v#nulls", "sum(v)", "sum(v)#wraps"}
	fields := make([]arrow.Field, len(names))
	for i, n := range names {
		fields[i] = arrow.Field{Name: n, Type: arrow.PrimitiveTypes.Int64}
	}
	if text {
		fields[1].Type = arrow.BinaryTypes.String
	}
	s := arrow.NewSchema(fields, nil)
	var out []state.Table
	for rows > 0 {
		n := min(rows, 64<<10) // as many as an operator gives at a time
		b := column.NewBuilder(nil, s)
		t := state.Table{Schema: s, Rows: n, Groups: make([]uint16, n)}
		for i := range n {
			t.Groups[i] = uint16(r.IntN(128))
			count := 1 + r.Int64N(50)
			b.Int64(0, 1_700_000_000_000)
			if key := r.Int64N(10_000_000); text {
				b.String(1, fmt.Sprintf("user-%08d", key))
			} else {
				b.Int64(1, key)
			}
			b.Int64(2, count)
			b.Int64(3, 0)
			b.Int64(4, count*r.Int64N(20_000))
			b.Int64(5, 0)
			b.EndRow()
		}
		t.Cols = b.Finish().Cols
		out = append(out, t)
		rows -= n
	}
	return out
}

func size(tables []state.Table) (bytes, rows int) {
	for _, t := range tables {
		bytes += tableBytes(t, 0, t.Rows)
		rows += t.Rows
	}
	return bytes, rows
}

func write(b *testing.B, tables []state.Table) (objects [][]byte) {
	w, err := NewWriter(Options{}, func(o Object) error {
		objects = append(objects, o.Data)
		return nil
	})
	require.NoError(b, err)
	for i, t := range tables {
		require.NoError(b, w.Add(Block{"windows", int64(i), true}, t))
	}
	require.NoError(b, w.Close())
	return objects
}

func workloads(b *testing.B, run func(b *testing.B, tables []state.Table)) {
	parts := func(tables []state.Table, rows int) (out []state.Table) {
		for _, t := range tables {
			src := column.NewBatch(nil, t.Schema, t.Rows)
			copy(src.Cols, t.Cols)
			for lo := 0; lo+rows <= t.Rows; lo += rows {
				out = append(out, state.Table{Schema: t.Schema, Rows: rows, Cols: src.Slice(lo, lo+rows).Cols, Groups: t.Groups[lo : lo+rows]})
			}
		}
		return out
	}
	for _, w := range []struct {
		name   string
		tables []state.Table
	}{
		{"int64", counters(1_000_000, false)}, {"text", counters(1_000_000, true)},
		{"parts_400", parts(counters(200_000, false), 400)}, {"parts_5", parts(counters(65_536, false), 5)},
	} {
		b.Run(w.name, func(b *testing.B) { run(b, w.tables) })
	}
}

func BenchmarkWrite(b *testing.B) {
	workloads(b, func(b *testing.B, tables []state.Table) {
		bytes, rows := size(tables)
		b.SetBytes(int64(bytes))
		b.ReportAllocs()
		packed := 0
		for b.Loop() {
			packed = 0
			for _, o := range write(b, tables) {
				packed += len(o)
			}
		}
		b.ReportMetric(float64(bytes)/float64(packed), "ratio")
		b.ReportMetric(float64(packed)/float64(rows), "packed_B/row")
		b.ReportMetric(float64(rows)*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mrows/s")
	})
}

func BenchmarkRead(b *testing.B) {
	workloads(b, func(b *testing.B, tables []state.Table) {
		bytes, rows := size(tables)
		objects := write(b, tables)
		b.SetBytes(int64(bytes))
		b.ReportAllocs()
		for b.Loop() {
			n := 0
			for _, o := range objects {
				r, err := Open(o)
				require.NoError(b, err)
				for i := range r.Blocks() {
					t, err := r.Read(i)
					if err != nil {
						b.Fatal(err)
					}
					n += t.Rows
				}
			}
			require.Equal(b, rows, n)
		}
		b.ReportMetric(float64(rows)*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mrows/s")
	})
}
