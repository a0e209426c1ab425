package expr

import (
	"fmt"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/arkflow-go/arkflow/column"
	"github.com/stretchr/testify/require"
)

const benchRows = 8192

// benchBatch has prices as those of the benchmark events, a float, a string and nullable columns.
func benchBatch(p *column.Pool) *column.Batch {
	s := arrow.NewSchema([]arrow.Field{
		{Name: "price", Type: arrow.PrimitiveTypes.Int64}, {Name: "other", Type: arrow.PrimitiveTypes.Int64},
		{Name: "small", Type: arrow.PrimitiveTypes.Int32}, {Name: "ratio", Type: arrow.PrimitiveTypes.Float64},
		{Name: "name", Type: arrow.BinaryTypes.String}, {Name: "maybe", Type: arrow.PrimitiveTypes.Int64, Nullable: true},
		{Name: "signed", Type: arrow.PrimitiveTypes.Int64},
	}, nil)
	b := column.NewBuilder(p, s)
	x := uint64(1)
	for i := range benchRows {
		x = x*6364136223846793005 + 1442695040888963407
		v := int64(x >> 48)
		b.Int64(0, v)
		b.Int64(1, v>>3+1)
		b.Int64(2, v)
		b.Float64(3, float64(v)/7)
		b.String(4, fmt.Sprintf("name-%08d", v%100))
		if i%8 != 0 {
			b.Int64(5, v)
		}
		b.Int64(6, v-32768)
		b.EndRow()
	}
	return b.Finish()
}

// bareMap is the hand-written form of the job: a filter without a branch and a projection, fused, without an overflow check.
func bareMap(price []int64, out *[benchRows]int64) int {
	n := 0
	for _, p := range price {
		out[n&(benchRows-1)] = int64(uint64(p) * 908 / 1000)
		n += int(uint64((p&3)+3) >> 2)
	}
	return n
}

// BenchmarkMapJob keeps price % 4 <> 0 and computes price * 908 / 1000, beside the bare loop over the same rows in turns.
func BenchmarkMapJob(b *testing.B) {
	pool := column.NewPool()
	batch := benchBatch(pool)
	defer batch.Release()
	filter, err := Col("price").Mod(4).Ne(0).Bind(batch.Schema)
	require.NoError(b, err)
	project, err := Col("price").Mul(908).Div(1000).Bind(batch.Schema)
	require.NoError(b, err)
	outSchema := arrow.NewSchema([]arrow.Field{{Name: "out", Type: project.Type()}}, nil)
	keep, compute := filter.New(), project.New()
	var errs Errors
	run := func() int {
		kept, err := keep.Filter(batch, &errs)
		if err != nil || errs.Len() > 0 {
			b.Fatal(err, errs.First())
		}
		out := column.NewBatch(pool, outSchema, kept.Len())
		if err := compute.Eval(out, &out.Cols[0], kept, &errs); err != nil {
			b.Fatal(err)
		}
		n := out.Rows
		out.Release()
		kept.Release()
		return n
	}
	var out [benchRows]int64
	price := column.Values[int64](batch.Column("price"))
	require.Equal(b, bareMap(price, &out), run())
	b.Run("expr", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			run()
		}
		perRow(b)
	})
	b.Run("bare", func(b *testing.B) {
		for b.Loop() {
			bareMap(price, &out)
		}
		perRow(b)
	})
}

func perRow(b *testing.B) {
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/benchRows, "ns/row")
}

// BenchmarkKernels evaluates one expression each over a whole batch.
func BenchmarkKernels(b *testing.B) {
	pool := column.NewPool()
	batch := benchBatch(pool)
	defer batch.Release()
	price, other := Col("price"), Col("other")
	for _, c := range []struct {
		name string
		e    Expr
	}{
		{"add_const", price.Add(5)}, {"mul_const", price.Mul(908)}, {"div_const", price.Div(1000)}, {"div_const_signed", Col("signed").Div(1000)},
		{"div_power", price.Div(1024)}, {"mod_const", price.Mod(1000)}, {"mod_power", price.Mod(8)}, {"mul_div", price.Mul(908).Div(1000)},
		{"mul_div_signed", Col("signed").Mul(908).Div(1000)},
		{"add", price.Add(other)}, {"mul", price.Mul(other)}, {"div", price.Div(other)}, {"float_mul", Col("ratio").Mul(0.5)},
		{"int_float", price.Mul(0.5)}, {"int32_add", Col("small").Add(1)}, {"null_add", Col("maybe").Add(1)},
		{"chain_of_five", price.Mul(3).Add(7).Mul(5).Sub(other).Mod(1000)},
		{"lt_const", price.Lt(30000)}, {"mod_eq", price.Mod(4).Ne(0)}, {"int32_eq", Col("small").Eq(5)}, {"float_gt", Col("ratio").Gt(3000)},
		{"float_pair", Col("ratio").Gt(Col("ratio"))}, {"null_lt", Col("maybe").Lt(30000)}, {"text_eq", Col("name").Eq("name-00000017")},
		{"text_in", Col("name").In("name-00000017", "name-00000018", "x")}, {"int_in", price.In(1, 2, 3, 4, 5)},
		{"and", price.Gt(10000).And(other.Lt(4000))}, {"or", price.Gt(60000).Or(other.Lt(100))}, {"guarded", other.Ne(0).And(price.Div(other).Gt(5))},
	} {
		p, err := c.e.Bind(batch.Schema)
		require.NoError(b, err)
		b.Run(c.name, func(b *testing.B) {
			ev := p.New()
			var errs Errors
			rows := make([]uint32, 0, benchRows)
			s := arrow.NewSchema([]arrow.Field{{Name: "out", Type: p.Type(), Nullable: true}}, nil)
			b.ReportAllocs()
			for b.Loop() {
				if p.Type().ID() == arrow.BOOL {
					rows, _ = ev.Rows(rows[:0], batch, &errs)
					continue
				}
				out := column.NewBatch(pool, s, batch.Len())
				if err := ev.Eval(out, &out.Cols[0], batch, &errs); err != nil {
					b.Fatal(err)
				}
				out.Release()
			}
			perRow(b)
		})
	}
}
