package operator_test

import (
	"context"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/stretchr/testify/require"

	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/expr"
	"github.com/arkflow-go/arkflow/operator"
)

const benchRows = 8192

var benchSchema = arrow.NewSchema([]arrow.Field{{Name: "id", Type: arrow.PrimitiveTypes.Int64}, {Name: "price", Type: arrow.PrimitiveTypes.Int64},
	{Name: "tier", Type: arrow.BinaryTypes.String}}, nil)

func benchBatch() *column.Batch {
	b := column.NewBuilder(column.NewPool(), benchSchema)
	for i := range int64(benchRows) {
		b.Int64(0, i)
		b.Int64(1, i*7919%1000)
		b.String(2, "silver")
		b.Time(i, true)
		b.EndRow()
	}
	return b.Finish()
}

// run drives the batch through an operator and tells nanoseconds a row.
func run(b *testing.B, inst operator.Instance, in *column.Batch, out operator.Output) {
	b.ReportAllocs()
	for b.Loop() {
		if err := inst.Process(0, in, out); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/benchRows, "ns/row")
}

func BenchmarkFilterSelect(b *testing.B) {
	in := benchBatch()
	defer in.Release()
	b.Run("operators", func(b *testing.B) {
		ctx := newContext(in.Pool(), operator.Fail())
		first, s := start(b, operator.Filter(expr.Col("price").Mod(4).Ne(0)), ctx, operator.Stream{Schema: benchSchema})
		second, _ := start(b, operator.Select("id", expr.Col("price").Mul(908).Div(1000).As("euro")), ctx, s)
		run(b, first, in, chain{second, nothing{}})
	})
	b.Run("bare", func(b *testing.B) {
		ids, euros, times := make([]int64, benchRows), make([]int64, benchRows), make([]int64, benchRows)
		for b.Loop() {
			price, id := column.Values[int64](&in.Cols[1]), column.Values[int64](&in.Cols[0])
			k := 0
			for i, p := range price {
				if p%4 != 0 {
					ids[k], euros[k], times[k] = id[i], p*908/1000, in.Times[i]
					k++
				}
			}
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/benchRows, "ns/row")
	})
}

func BenchmarkMap(b *testing.B) {
	type numbers struct {
		ID    int64 `arkflow:"id"`
		Price int64 `arkflow:"price"`
	}
	type named struct {
		ID    int64  `arkflow:"id"`
		Price int64  `arkflow:"price"`
		Tier  string `arkflow:"tier"`
	}
	in := benchBatch()
	defer in.Release()
	ctx := newContext(in.Pool(), operator.Fail())
	s := operator.Stream{Schema: benchSchema}
	b.Run("numbers", func(b *testing.B) {
		inst, _ := start(b, operator.Map(func(n numbers) numbers { n.Price = n.Price * 908 / 1000; return n }), ctx, s)
		run(b, inst, in, nothing{})
	})
	b.Run("numbers-bare", func(b *testing.B) {
		ids, euros, times := make([]int64, benchRows), make([]int64, benchRows), make([]int64, benchRows)
		fn := func(n numbers) numbers { n.Price = n.Price * 908 / 1000; return n }
		for b.Loop() {
			price, id := column.Values[int64](&in.Cols[1]), column.Values[int64](&in.Cols[0])
			copy(times, in.Times)
			for i, p := range price {
				n := fn(numbers{id[i], p})
				ids[i], euros[i] = n.ID, n.Price
			}
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/benchRows, "ns/row")
	})
	b.Run("strings", func(b *testing.B) {
		inst, _ := start(b, operator.Map(func(n named) named { n.Price = n.Price * 908 / 1000; return n }), ctx, s)
		run(b, inst, in, nothing{})
	})
}

func TestP1TheBareLoopOfTheBenchmarkGivesTheSameRows(t *testing.T) {
	in := benchBatch()
	defer in.Release()
	ctx := newContext(in.Pool(), operator.Fail())
	first, s := start(t, operator.Filter(expr.Col("price").Mod(4).Ne(0)), ctx, operator.Stream{Schema: benchSchema})
	second, _ := start(t, operator.Select("id", expr.Col("price").Mul(908).Div(1000).As("euro")), ctx, s)
	var g gather
	require.NoError(t, first.Process(0, in, chain{second, &g}))
	defer g.release()
	k := 0
	for i, p := range column.Values[int64](&in.Cols[1]) {
		if p%4 != 0 {
			require.Equal(t, p*908/1000, column.Values[int64](g.batches[0].Column("euro"))[k])
			require.Equal(t, int64(i), g.batches[0].Times[k])
			k++
		}
	}
	require.Equal(t, k, g.rows())
}

func BenchmarkFlatMap(b *testing.B) {
	type numbers struct {
		ID    int64 `arkflow:"id"`
		Price int64 `arkflow:"price"`
	}
	in := benchBatch()
	defer in.Release()
	ctx := newContext(in.Pool(), operator.Fail())
	s := operator.Stream{Schema: benchSchema}
	b.Run("one", func(b *testing.B) { // compare with BenchmarkMap/numbers
		inst, _ := start(b, operator.FlatMap(func(n numbers, emit func(numbers)) { n.Price = n.Price * 908 / 1000; emit(n) }), ctx, s)
		run(b, inst, in, nothing{})
	})
	b.Run("half", func(b *testing.B) {
		inst, _ := start(b, operator.FlatMap(func(n numbers, emit func(numbers)) {
			if n.Price%2 == 0 {
				emit(n)
			}
		}), ctx, s)
		run(b, inst, in, nothing{})
	})
	b.Run("three", func(b *testing.B) {
		inst, _ := start(b, operator.FlatMap(func(n numbers, emit func(numbers)) { emit(n); emit(n); emit(n) }), ctx, s)
		run(b, inst, in, nothing{})
	})
}

func BenchmarkSplit(b *testing.B) {
	in := benchBatch()
	defer in.Release()
	ctx := newContext(in.Pool(), operator.Fail())
	inst := startAll(b, operator.SplitBy(operator.When("a", expr.Col("price").Lt(300)), operator.When("b", expr.Col("price").Lt(600)), operator.Otherwise("c")),
		ctx, operator.Stream{Schema: benchSchema})
	run(b, inst, in, nothing{})
}

func BenchmarkAsync(b *testing.B) {
	type numbers struct {
		ID    int64 `arkflow:"id"`
		Price int64 `arkflow:"price"`
	}
	in := benchBatch()
	defer in.Release()
	for name, cfg := range map[string]operator.AsyncConfig{"ordered": {}, "unordered": {Unordered: true}} {
		b.Run(name, func(b *testing.B) {
			inst, _ := start(b, operator.Async(func(_ context.Context, n numbers) (numbers, error) { return n, nil }, cfg), newContext(in.Pool(), operator.Fail()),
				operator.Stream{Schema: benchSchema})
			run(b, inst, in, nothing{})
			if _, err := inst.(operator.Settler).Settle(nothing{}); err != nil {
				b.Fatal(err)
			}
			if err := inst.(operator.Closer).Close(); err != nil {
				b.Fatal(err)
			}
		})
	}
}
