package memory

import (
	"context"
	"io"
	"log/slog"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/connectors"
	"github.com/arkflow-go/arkflow/operator"
)

type item struct {
	ID   int64 `arkflow:"id"`
	Name *string
	At   time.Time
}

func items(from, n int) []item {
	out := make([]item, n)
	for i := range out {
		name := "item " + strconv.Itoa(from+i)
		out[i] = item{ID: int64(from + i), At: time.UnixMicro(int64(from + i)).UTC()}
		if i%2 == 0 {
			out[i].Name = &name
		}
	}
	return out
}

func newContext(pool *column.Pool) *operator.Context {
	return &operator.Context{Context: context.Background(), Pool: pool, Clock: operator.SystemClock{}, Logger: slog.New(slog.DiscardHandler), Counters: &operator.Counters{}}
}

// ids reads the rest of a reader: the ids of its batches.
func ids(t require.TestingT, r operator.Reader) [][]int64 {
	var out [][]int64
	for {
		b, err := r.Poll()
		if err == io.EOF {
			require.Nil(t, b)
			return out
		}
		require.NoError(t, err)
		out = append(out, append([]int64(nil), column.Values[int64](b.Column("id"))...))
		b.Release()
	}
}

func flat(parts [][]int64) []int64 {
	out := []int64{}
	for _, p := range parts {
		out = append(out, p...)
	}
	return out
}

func numbers(from, n int) []int64 {
	out := make([]int64, n)
	for i := range out {
		out[i] = int64(from + i)
	}
	return out
}

func TestOfReadsEverySplitFromAnyPosition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pool := column.NewDebugPool()
		a, b := rapid.IntRange(0, 20).Draw(t, "a"), rapid.IntRange(0, 20).Draw(t, "b")
		src := Of(items(0, a), items(a, b))
		if rapid.Bool().Draw(t, "batches") {
			src = src.InBatches(rapid.IntRange(1, 7).Draw(t, "rows"))
		}
		want := [][]int64{numbers(0, a), numbers(a, b)}
		if rapid.Bool().Draw(t, "splits") {
			n := rapid.IntRange(1, 5).Draw(t, "n")
			src = src.InSplits(n)
			want = nil
			for k := range n {
				from, to := (a+b)*k/n, (a+b)*(k+1)/n
				want = append(want, numbers(from, to-from))
			}
		}
		require.NoError(t, src.Check())
		splits, err := src.Splits(context.Background())
		require.NoError(t, err)
		require.Len(t, splits, len(want))
		for k, s := range splits {
			r, err := src.Open(newContext(pool), s, nil)
			require.NoError(t, err)
			<-r.Ready()
			var positions [][]byte
			seen := []int{}
			total := 0
			for {
				p, err := r.Position()
				require.NoError(t, err)
				positions, seen = append(positions, p), append(seen, total)
				batch, err := r.Poll()
				if err == io.EOF {
					break
				}
				require.NoError(t, err)
				require.LessOrEqual(t, batch.Rows, MaxBatchRows)
				if src.batchRows > 0 {
					require.LessOrEqual(t, batch.Rows, src.batchRows)
				}
				total += batch.Len()
				batch.Release()
			}
			require.NoError(t, r.Close())
			require.Equal(t, len(want[k]), total)
			for i, p := range positions {
				again, err := src.Open(newContext(pool), s, p)
				require.NoError(t, err)
				require.Equal(t, want[k][seen[i]:], flat(ids(t, again)))
				require.NoError(t, again.Close())
			}
		}
		require.NoError(t, pool.Check())
	})
}

func TestOfGivesBatchesOfAtMost8192Rows(t *testing.T) {
	src := Of(items(0, 20000))
	r, err := src.Open(newContext(column.NewPool()), operator.Split{ID: "0"}, nil)
	require.NoError(t, err)
	parts := ids(t, r)
	require.Equal(t, numbers(0, 20000), flat(parts))
	require.Len(t, parts, 3)
	require.NoError(t, r.Close())
}

func TestBatchesOutliveTheirReader(t *testing.T) {
	pool := column.NewDebugPool()
	r, err := Of(items(0, 3)).Open(newContext(pool), operator.Split{ID: "0"}, nil)
	require.NoError(t, err)
	b, err := r.Poll()
	require.NoError(t, err)
	require.NoError(t, r.Close())
	require.Equal(t, "item 2", b.Column("Name").String(2))
	require.Same(t, pool, b.Pool())
	b.Release()
	require.NoError(t, pool.Check())
}

func TestRecordsMayBeReadByManyTasksAtOnce(t *testing.T) {
	mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
	s := arrow.NewSchema([]arrow.Field{{Name: "id", Type: arrow.PrimitiveTypes.Int64}, {Name: "d", Nullable: true,
		Type: &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String}}}, nil)
	bld := array.NewRecordBuilder(mem, s)
	for i := range 9 {
		bld.Field(0).(*array.Int64Builder).Append(int64(i))
		if i%2 == 0 {
			bld.Field(1).AppendNull()
		} else {
			require.NoError(t, bld.Field(1).AppendValueFromString("x"))
		}
	}
	rec := bld.NewRecordBatch()
	bld.Release()
	part := rec.NewSlice(2, 9) // whose nulls Arrow has not counted yet
	src := Records(s, part, rec)
	require.NoError(t, src.Check())
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			r, err := src.Open(newContext(column.NewPool()), operator.Split{ID: "0"}, nil)
			if err != nil {
				t.Error(err)
				return
			}
			got := flat(ids(t, r))
			if len(got) != 16 || got[0] != 2 || got[15] != 8 {
				t.Errorf("rows %v", got)
			}
			_ = r.Close()
		})
	}
	wg.Wait()
	part.Release()
	rec.Release()
	mem.AssertSize(t, 0)
}

func TestSourceTellsWhatIsWrong(t *testing.T) {
	type bad struct{ M map[string]any }
	s := arrow.NewSchema([]arrow.Field{{Name: "id", Type: arrow.PrimitiveTypes.Int64}}, nil)
	list := arrow.NewSchema([]arrow.Field{{Name: "l", Type: arrow.FixedSizeListOf(2, arrow.PrimitiveTypes.Int64)}}, nil)
	other := array.NewRecordBatch(list, []arrow.Array{array.NewFixedSizeListBuilder(memory.DefaultAllocator, 2, arrow.PrimitiveTypes.Int64).NewArray()}, 0)
	for want, src := range map[string]Source{
		`field "M" of memory.bad`:                               Of([]bad{{}}),
		`split 0, row 1: column "At": field "At": does not fit`: Of([]item{{}, {At: time.Unix(1<<50, 0)}}),
		"the schema is nil":                                     Records(nil),
		`column "l": type fixed_size_list<`:                     Records(list),
		"record 0: has the schema":                              Records(s, other),
		"0 splits":                                              Of(items(0, 1)).InSplits(0).InBatches(-1),
		"batch_rows: 0 is not within":                           Of(items(0, 1)).InBatches(0),
		"batch_rows: 8193":                                      Of(items(0, 1)).InBatches(8193),
	} {
		require.ErrorContains(t, src.Check(), want)
		_, err := src.Splits(context.Background())
		require.ErrorContains(t, err, want)
		_, err = src.Open(newContext(nil), operator.Split{ID: "0"}, nil)
		require.ErrorContains(t, err, want)
		_, err = src.Infer(context.Background())
		require.ErrorContains(t, err, want)
		_, _, err = src.Config()
		require.ErrorContains(t, err, want)
	}
	src := Of(items(0, 3))
	for position, want := range map[string]string{"4": "it has fewer rows", "x": `"x" is no position`, "-1": "is no position"} {
		_, err := src.Open(newContext(nil), operator.Split{ID: "0"}, []byte(position))
		require.ErrorContains(t, err, want)
	}
	_, err := src.Open(newContext(nil), operator.Split{ID: "7"}, nil)
	require.ErrorContains(t, err, `open split "7": the source has the splits 0 to 0`)
}

func params(config map[string]any) connectors.Params {
	return connectors.Params{Path: "jobs[0].sources[0]", Config: config}
}

func TestSourceInSpecs(t *testing.T) {
	src, err := SourceFromParams(params(nil))
	require.NoError(t, err)
	require.Nil(t, src.Schema())
	schema, err := src.(operator.Inferrer).Infer(context.Background())
	require.NoError(t, err)
	require.Nil(t, schema)
	splits, err := src.Splits(context.Background())
	require.NoError(t, err)
	require.Empty(t, splits)
	config, codec, err := src.(connectors.Configured).Config()
	require.NoError(t, err)
	require.Empty(t, config)
	require.Nil(t, codec)

	rows := []any{
		map[string]any{"id": 1, "price": 2, "name": "a", "ok": true},
		map[string]any{"id": int64(2), "price": 2.5, "name": nil},
		map[string]any{"id": uint64(3), "price": uint64(4), "name": "c", "ok": false},
	}
	src, err = SourceFromParams(params(map[string]any{"rows": rows}))
	require.NoError(t, err)
	require.Equal(t, "memory", src.Kind())
	f := src.Schema().Fields()
	require.Equal(t, []arrow.Field{{Name: "id", Type: arrow.PrimitiveTypes.Int64}, {Name: "name", Type: arrow.BinaryTypes.String, Nullable: true},
		{Name: "ok", Type: arrow.FixedWidthTypes.Boolean, Nullable: true}, {Name: "price", Type: arrow.PrimitiveTypes.Float64}}, f)
	r, err := src.Open(newContext(column.NewPool()), operator.Split{ID: "0"}, nil)
	require.NoError(t, err)
	b, err := r.Poll()
	require.NoError(t, err)
	sink := NewSink()
	w, err := sink.Open(nil, operator.Stream{})
	require.NoError(t, err)
	require.NoError(t, w.Write(b))
	require.Equal(t, []map[string]any{{"id": int64(1), "name": "a", "ok": true, "price": 2.0}, {"id": int64(2), "name": nil, "ok": nil, "price": 2.5},
		{"id": int64(3), "name": "c", "ok": false, "price": 4.0}}, sink.Rows())
	b.Release()
	require.NoError(t, r.Close())
	config, _, err = src.(connectors.Configured).Config()
	require.NoError(t, err)
	require.Equal(t, map[string]any{"rows": rows}, config)
	_, _, err = Of(items(0, 1)).Config()
	require.ErrorContains(t, err, "rows that are given in Go cannot be written in a spec")
}

func TestSourceInSpecsTellsFaults(t *testing.T) {
	for want, config := range map[string]map[string]any{
		`jobs[0].sources[0].config.row: unknown field "row"; did you mean "rows"?`:             {"row": 1},
		`jobs[0].sources[0].config.rows[1].a: x (a string) does not go with a column of int64`: {"rows": []any{map[string]any{"a": 1}, map[string]any{"a": "x"}}},
		`config.rows[0].a: [1] (a []interface {}) does not go with any column`:                 {"rows": []any{map[string]any{"a": []any{1}}}},
		`config.rows[0].a: 18446744073709551615 (a uint64) does not go with any column`:        {"rows": []any{map[string]any{"a": uint64(1<<64 - 1)}}},
		`config.rows: column "a" has no value, so no type; give it a value, or leave it out`:   {"rows": []any{map[string]any{"a": nil, "b": 1}}},
		`config.rows: the rows have no column`:                                                 {"rows": []any{map[string]any{}}},
	} {
		_, err := SourceFromParams(params(config))
		require.ErrorContains(t, err, want)
	}
	p := params(nil)
	p.Codec = map[string]any{"type": "json"}
	_, err := SourceFromParams(p)
	require.ErrorContains(t, err, "jobs[0].sources[0].codec: a memory source has no codec")
	_, err = SinkFromParams(p)
	require.ErrorContains(t, err, "jobs[0].sources[0].codec: a memory sink has no codec")
}

func TestLimitRowsMakesBatchesSmaller(t *testing.T) {
	rows := make([]struct{ ID int64 }, 10)
	sizes := func(src operator.Source) (out []int) {
		ctx := &operator.Context{Context: t.Context(), Pool: column.NewDebugPool()}
		r, err := src.Open(ctx, operator.Split{ID: "0"}, nil)
		require.NoError(t, err)
		r.(operator.RowLimiter).LimitRows(4)
		for {
			b, err := r.Poll()
			if err != nil {
				require.NoError(t, r.Close())
				require.NoError(t, ctx.Pool.Check())
				return out
			}
			out = append(out, b.Len())
			b.Release()
		}
	}
	require.Equal(t, []int{4, 4, 2}, sizes(Of(rows)))
	require.Equal(t, []int{3, 3, 3, 1}, sizes(Of(rows).InBatches(3)))
	in := NewInlet[struct{ ID int64 }](InletConfig{})
	for _, r := range rows {
		require.NoError(t, in.Send(t.Context(), r))
	}
	require.NoError(t, in.Close())
	require.Equal(t, []int{4, 4, 2}, sizes(in))
}
