package kernel

import (
	"fmt"
	"math"
	"sort"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/internal/aggregate"
	"github.com/arkflow-go/arkflow/internal/keys"
	"github.com/arkflow-go/arkflow/internal/layout"
	"github.com/arkflow-go/arkflow/state"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// resultSchemaOf is the schema of the results of a layout.
func resultSchemaOf(l *layout.Layout) *arrow.Schema {
	var fields []arrow.Field
	for _, k := range l.KeyCols {
		fields = append(fields, l.Schema.Field(k))
	}
	ts := arrow.FixedWidthTypes.Timestamp_ms
	fields = append(fields, arrow.Field{Name: "window_start", Type: ts}, arrow.Field{Name: "window_end", Type: ts})
	for _, o := range l.Outs {
		fields = append(fields, arrow.Field{Name: o.Name, Type: o.Typ, Nullable: true})
	}
	return arrow.NewSchema(fields, nil)
}

// rowsOf gives the results of a pane as sorted texts.
func rowsOf(t require.TestingT, p *Pane) (out []string) {
	pool := column.NewDebugPool()
	l := p.a.l
	r := NewResults(l, resultSchemaOf(l), pool, func(col, value, problem string) error { return nil })
	require.NoError(t, r.Write(p, 0, 10, true, func(b *column.Batch) error {
		rec := b.Record()
		defer rec.Release()
		for i := range b.Rows {
			var f []string
			for _, c := range rec.Columns() {
				f = append(f, c.ValueStr(i))
			}
			out = append(out, strings.Join(f, "|"))
		}
		return nil
	}))
	require.NoError(t, pool.Check())
	sort.Strings(out)
	return out
}

func layoutOf(t require.TestingT, s *arrow.Schema, keys int, fns ...aggregate.Func) *layout.Layout {
	var cols []int
	for i := range keys {
		cols = append(cols, i)
	}
	aggs := []aggregate.Agg{{Func: aggregate.CountRows, Names: []string{"n"}}}
	for c := keys; c < s.NumFields(); c++ {
		for _, fn := range fns {
			a := aggregate.Agg{Func: fn, Col: c, Names: []string{fmt.Sprintf("%s%d", fn, c)}}
			if _, err := a.Fields(s); err == nil {
				aggs = append(aggs, a)
			}
		}
	}
	l, err := layout.New(s, cols, aggs)
	require.NoError(t, err)
	return l
}

func fieldsOf(types ...arrow.DataType) *arrow.Schema {
	var f []arrow.Field
	for i, t := range types {
		f = append(f, arrow.Field{Name: fmt.Sprintf("c%d", i), Type: t, Nullable: true})
	}
	return arrow.NewSchema(f, nil)
}

// TestPartitionedPanesGiveWhatTablesGive: whatever happens to a pane on the way (folds, skew, nulls, sums beyond
// 64 bits, snapshots, a move into a table), its results are those of a table.
func TestPartitionedPanesGiveWhatTablesGive(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		types := []arrow.DataType{rapid.SampledFrom([]arrow.DataType{arrow.PrimitiveTypes.Int64, arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Float64}).Draw(t, "key")}
		for range rapid.IntRange(0, 3).Draw(t, "args") {
			types = append(types, rapid.SampledFrom([]arrow.DataType{arrow.PrimitiveTypes.Int64, arrow.PrimitiveTypes.Uint64, arrow.PrimitiveTypes.Float32, arrow.PrimitiveTypes.Int16, arrow.FixedWidthTypes.Boolean}).Draw(t, "arg"))
		}
		s := fieldsOf(types...)
		l := layoutOf(t, s, 1, aggregate.CountValues, aggregate.Sum, aggregate.Min, aggregate.Max, aggregate.Avg)
		parted, plain := NewAggregator(l), NewAggregator(l)
		parted.many, parted.few, parted.foldAt = 20, 5, rapid.IntRange(1, 300).Draw(t, "fold")
		plain.KeepExact()
		hot := rapid.Bool().Draw(t, "skew")
		var p, q *Pane
		for range rapid.IntRange(1, 3).Draw(t, "windows") {
			p, q = parted.Open(), plain.Open()
			for range rapid.IntRange(1, 5).Draw(t, "batches") {
				b := wordsBatch(t, s, hot)
				require.NoError(t, p.AddRange(b, 0, b.Rows))
				require.NoError(t, q.AddRange(b, 0, b.Rows))
				b.Release()
				require.GreaterOrEqual(t, p.Live(), q.Live())
				require.Equal(t, q.Rows(), p.Rows())
				switch rapid.IntRange(0, 7).Draw(t, "turn") {
				case 0:
					require.NoError(t, p.Settle())
					require.Equal(t, q.Live(), p.Live())
				case 1:
					fresh := NewAggregator(l)
					fresh.many, fresh.few, fresh.foldAt = parted.many, parted.few, parted.foldAt
					p = reload(t, fresh, p)
					parted = fresh
				}
			}
			require.Equal(t, rowsOf(t, q), rowsOf(t, p))
			p.Close()
			q.Close()
		}
	})
}

// tablesOf gives what a view gives, which is closed.
func tablesOf(t require.TestingT, v, since *View) []state.Table {
	defer v.Close()
	return eachOf(t, v, since)
}

// eachOf gives the tables of a view, which stays open.
func eachOf(t require.TestingT, v, since *View) (tables []state.Table) {
	var before state.View
	if since != nil {
		before = since
	}
	require.NoError(t, v.Each(before, func(t state.Table) error {
		tables = append(tables, t.Clone())
		return nil
	}))
	return tables
}

// reload saves a pane and loads it into another aggregator.
func reload(t require.TestingT, a *Aggregator, p *Pane) *Pane {
	tables := tablesOf(t, p.View(7, 128, pages), nil)
	out := a.Open()
	load := NewLoad(a, state.Range{End: 128}, func(w int64) (*Pane, error) {
		require.Equal(t, int64(7), w)
		return out, nil
	})
	for _, table := range tables {
		require.NoError(t, load.Add(table))
	}
	return out
}

func wordsBatch(t *rapid.T, s *arrow.Schema, hot bool) *column.Batch {
	bl := column.NewBuilder(nil, s)
	nulls := rapid.IntRange(0, 3).Draw(t, "nulls") == 0
	large := rapid.IntRange(0, 3).Draw(t, "large") == 0
	seed := rapid.Uint64().Draw(t, "seed")
	for i := range rapid.IntRange(1, 3000).Draw(t, "rows") {
		r := keys.Mix64(seed + uint64(i))
		key := int64(r % 700)
		if hot && r>>32&3 != 0 {
			key = 1
		}
		for c := range s.NumFields() {
			a := bl.Col(c)
			v := int64(r>>40) - 1<<22
			switch {
			case nulls && r>>(20+uint(c))&15 == 0:
				a.Null()
			case c == 0:
				a.Int64(key)
			case a.Kind() == column.Bool:
				a.Bool(v > 0)
			case a.Kind() == column.Float32:
				a.Float64(float64(v % 1024))
			case large && a.Kind() == column.Int64:
				a.Int64(math.MaxInt64 - v&1023)
			case large && a.Kind() == column.Uint64:
				a.Uint64(math.MaxUint64 - uint64(v&1023))
			case a.Kind() == column.Int16:
				a.Int64(v % 30000)
			default:
				a.Int64(v & (1<<40 - 1))
			}
		}
		bl.EndRow()
	}
	return bl.Finish()
}

func TestResultBatchesHoldABoundedNumberOfStringBytes(t *testing.T) {
	s := fieldsOf(arrow.BinaryTypes.String, arrow.BinaryTypes.String)
	l := layoutOf(t, s, 1, aggregate.Max)
	p := NewAggregator(l).Open()
	var rows [][]any
	for i := range 200 {
		rows = append(rows, []any{fmt.Sprintf("key %d %s", i, strings.Repeat("k", i)), strings.Repeat("v", 2*i)})
	}
	b := batchOf(s, rows...)
	require.NoError(t, p.AddRange(b, 0, b.Rows))
	pool := column.NewDebugPool()
	r := NewResults(l, resultSchemaOf(l), pool, nil)
	r.limit = 1000
	seen, batches := 0, 0
	require.NoError(t, r.Write(p, 0, 1, false, func(b *column.Batch) error {
		batches++
		for _, c := range []int{0, 4} {
			require.True(t, len(b.Cols[c].Data) < 1000 || b.Rows == 1)
		}
		for i := range b.Rows {
			key := b.Cols[0].String(i)
			var n int
			_, err := fmt.Sscanf(key, "key %d", &n)
			require.NoError(t, err)
			require.Equal(t, rows[n][0], key)
			require.Equal(t, rows[n][1], b.Cols[4].String(i))
			seen++
		}
		return nil
	}))
	require.Equal(t, 200, seen)
	require.Greater(t, batches, 50)
	require.NoError(t, pool.Check())
}

func TestKeysStayOverWindowsOnlyWhileMostAreInUse(t *testing.T) {
	s := fieldsOf(arrow.PrimitiveTypes.Int64)
	a := NewAggregator(layoutOf(t, s, 1))
	add := func(lo, n int) (p *Pane) {
		p = a.Open()
		bl := column.NewBuilder(nil, s)
		for i := range n {
			bl.Int64(0, int64(lo+i))
			bl.EndRow()
		}
		require.NoError(t, p.AddRange(bl.Finish(), 0, n))
		require.Equal(t, n, p.Live())
		return p
	}
	add(0, 1000).Close()
	p := add(100, 1000)
	require.Equal(t, 1100, p.t.groups(), "900 of the keys were there")
	p.Close()
	p = add(5000, 1000)
	require.Equal(t, 2100, p.t.groups())
	p.Close()
	p = add(9000, 1000)
	require.Equal(t, 1000, p.t.groups(), "less than half were in use")
	require.Len(t, rowsOf(t, p), 1000)
	p.Close()
	p = add(0, 200_000)
	next := add(0, 10)
	p.Close()
	held := a.SizeBytes([]*Pane{next})
	require.Greater(t, held, 4<<20, "it serves the next window")
	next.Close()
	require.LessOrEqual(t, a.SizeBytes(nil), keptIdle, "little is kept while there is none")
}

// TestP3BytesPerKey: at most 1.3 times the bare table of 16-byte slots at half load and two arrays, and at most 80.
func TestP3BytesPerKey(t *testing.T) {
	s := fieldsOf(arrow.PrimitiveTypes.Int64, arrow.PrimitiveTypes.Int64)
	for _, keys := range []int{200_000, 700_000, 1_000_000} {
		a := NewAggregator(layoutOf(t, s, 1, aggregate.Sum))
		p := a.Open()
		b := column.NewBatch(nil, s, 8192)
		key := make([]int64, 8192)
		b.Cols[0].Data, b.Cols[1].Data = column.BytesOf(key), column.BytesOf(key)
		for i := 0; i < keys; i += len(key) {
			for j := range key {
				key[j] = int64(min(i+j, keys-1))
			}
			require.NoError(t, p.AddRange(b, 0, len(key)))
		}
		require.GreaterOrEqual(t, p.Live(), keys)
		perKey := float64(a.SizeBytes([]*Pane{p})) / float64(keys)
		require.Less(t, perKey, 80.0, "%d keys", keys)
	}
}
