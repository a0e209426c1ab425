package golden

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/arkflow-go/arkflow"
	. "github.com/arkflow-go/arkflow/arkflowtest"
	"github.com/arkflow-go/arkflow/connectors/drop"
	"github.com/arkflow-go/arkflow/window"
)

// number is a numeric column of the golden data and how its values are drawn.
type number struct {
	name string
	typ  arrow.DataType
	draw func(r *rand.Rand) any
}

var numbers = []number{
	{"i8", arrow.PrimitiveTypes.Int8, func(r *rand.Rand) any { return int64(int8(r.Uint32())) }},
	{"i16", arrow.PrimitiveTypes.Int16, func(r *rand.Rand) any { return int64(int16(r.Uint32())) }},
	{"i32", arrow.PrimitiveTypes.Int32, func(r *rand.Rand) any { return int64(int32(r.Uint32())) }},
	{"i64", arrow.PrimitiveTypes.Int64, func(r *rand.Rand) any { return r.Int64N(1<<40) - 1<<39 }},
	{"u8", arrow.PrimitiveTypes.Uint8, func(r *rand.Rand) any { return uint64(uint8(r.Uint32())) }},
	{"u16", arrow.PrimitiveTypes.Uint16, func(r *rand.Rand) any { return uint64(uint16(r.Uint32())) }},
	{"u32", arrow.PrimitiveTypes.Uint32, func(r *rand.Rand) any { return uint64(r.Uint32()) }},
	{"u64", arrow.PrimitiveTypes.Uint64, func(r *rand.Rand) any { return r.Uint64N(1 << 40) }},
	{"f32", arrow.PrimitiveTypes.Float32, func(r *rand.Rand) any { return float64(r.IntN(1000)-500) / 8 }},
	{"f64", arrow.PrimitiveTypes.Float64, func(r *rand.Rand) any { return float64(r.IntN(100_000)-50_000) / 64 }},
	{"d", &arrow.Decimal128Type{Precision: 12, Scale: 3}, func(r *rand.Rand) any { return Decimal(fmt.Sprintf("%d.%03d", r.IntN(2000)-1000, r.IntN(1000))) }},
}

// numeric gives rows of every numeric type with nulls.
func numeric(n, splits int, seed uint64) input {
	fields := []arrow.Field{field("ts", arrow.PrimitiveTypes.Int64), field("k", arrow.PrimitiveTypes.Int16)}
	for _, c := range numbers {
		fields = append(fields, field(c.name, c.typ))
	}
	r := rand.New(rand.NewPCG(seed, 3))
	in := input{schema: schemaOf(fields...), splits: make([][][]any, splits)}
	for i := range n {
		v := []any{int64(i*10 - r.IntN(40)), int64(r.IntN(4))}
		if v[1].(int64) == 3 {
			v[1] = nil
		}
		for _, c := range numbers {
			if v[1] == int64(2) || r.IntN(6) == 0 { // key 2 has nulls only
				v = append(v, nil)
			} else {
				v = append(v, c.draw(r))
			}
		}
		s := r.IntN(splits)
		in.splits[s] = append(in.splits[s], v)
	}
	return in
}

func TestW7GoldenEveryAggregateOverEveryNumericType(t *testing.T) {
	in := numeric(120, 3, 1)
	m := tumbling{size: 400, keys: []string{"k"}, aggs: []agg{{"rows", "count", ""}}}
	aggs := []window.Aggregate{window.Count().As("rows")}
	for _, c := range numbers {
		for fn, a := range map[string]window.Aggregate{"count": window.Count(c.name), "sum": window.Sum(c.name), "min": window.Min(c.name), "max": window.Max(c.name), "avg": window.Avg(c.name)} {
			as := fn + "_" + c.name
			aggs = append(aggs, a.As(as))
			m.aggs = append(m.aggs, agg{as, fn, c.name})
		}
	}
	job := arkflow.NewJob("numbers")
	job.Source("in", source(in.schema), arkflow.EventTime("ts", arkflow.OutOfOrderness(10*msec))).
		KeyBy("k").Window("w", window.Tumbling(400*msec), aggs...).Sink("out", drop.Sink{})
	out, _ := m.run(t, in.timed("ts", 10))
	Verify(t, job, in.from("in"), Want("out", out...), Counts("w", "out", "rows"))
}

func TestW7GoldenMinAndMaxOverEveryOrderedType(t *testing.T) {
	day := func(r *rand.Rand) any { return time.Unix(int64(r.IntN(40_000)-20_000)*86400, 0).UTC() }
	instant := func(step time.Duration) func(r *rand.Rand) any {
		return func(r *rand.Rand) any { return time.Unix(0, 0).Add(time.Duration(r.IntN(2e6)-1e6) * step).UTC() }
	}
	span := func(step time.Duration) func(r *rand.Rand) any {
		return func(r *rand.Rand) any { return time.Duration(r.IntN(80_000)) * step }
	}
	word := func(r *rand.Rand) any { return fmt.Sprintf("%x", r.Uint32N(1<<uint(r.IntN(30)))) }
	columns := []number{
		{"s", arrow.BinaryTypes.String, word},
		{"ls", arrow.BinaryTypes.LargeString, word},
		{"b", arrow.BinaryTypes.Binary, func(r *rand.Rand) any { return []byte{byte(r.Uint32()), byte(r.Uint32())}[:r.IntN(3)] }},
		{"flag", arrow.FixedWidthTypes.Boolean, func(r *rand.Rand) any { return r.IntN(2) == 0 }},
		{"day", arrow.FixedWidthTypes.Date32, day},
		{"day64", arrow.FixedWidthTypes.Date64, day},
		{"at_s", &arrow.TimestampType{Unit: arrow.Second}, instant(time.Second)},
		{"at_ns", &arrow.TimestampType{Unit: arrow.Nanosecond, TimeZone: "UTC"}, instant(time.Nanosecond)},
		{"tod32", arrow.FixedWidthTypes.Time32s, span(time.Second)},
		{"tod64", arrow.FixedWidthTypes.Time64us, span(time.Microsecond)},
		{"span", arrow.FixedWidthTypes.Duration_ms, span(time.Millisecond)},
		{"d", &arrow.Decimal128Type{Precision: 38, Scale: 2}, func(r *rand.Rand) any { return Decimal(fmt.Sprintf("%d%018d.25", r.IntN(1e9)-5e8, r.IntN(1e18))) }},
		{"f", arrow.PrimitiveTypes.Float64, func(r *rand.Rand) any {
			return []any{math.NaN(), math.Inf(1), math.Inf(-1), 1.5, -2.25, 0.0}[r.IntN(6)]
		}},
	}
	fields := []arrow.Field{field("ts", arrow.PrimitiveTypes.Int64), field("k", arrow.PrimitiveTypes.Uint8)}
	m := tumbling{size: 300, keys: []string{"k"}, aggs: []agg{{"rows", "count", ""}}}
	aggs := []window.Aggregate{window.Count().As("rows")}
	for _, c := range columns {
		fields = append(fields, field(c.name, c.typ))
		aggs = append(aggs, window.Min(c.name), window.Max(c.name), window.Count(c.name))
		m.aggs = append(m.aggs, agg{"min_" + c.name, "min", c.name}, agg{"max_" + c.name, "max", c.name}, agg{"count_" + c.name, "count", c.name})
	}
	r := rand.New(rand.NewPCG(8, 8))
	in := input{schema: schemaOf(fields...), splits: make([][][]any, 2)}
	for i := range 110 {
		v := []any{int64(i * 7), uint64(r.IntN(3))}
		for _, c := range columns {
			if r.IntN(5) == 0 {
				v = append(v, nil)
			} else {
				v = append(v, c.draw(r))
			}
		}
		in.splits[i%2] = append(in.splits[i%2], v)
	}
	job := arkflow.NewJob("ordered")
	job.Source("in", source(in.schema), arkflow.EventTime("ts")).KeyBy("k").Window("w", window.Tumbling(300*msec), aggs...).Sink("out", drop.Sink{})
	out, _ := m.run(t, in.timed("ts", 0))
	Verify(t, job, in.from("in"), Want("out", out...), Counts("w", "out", "rows"))
}

func TestW8GoldenNaNIsContagiousInSumsAndNullsAreSkipped(t *testing.T) {
	schema := schemaOf(field("ts", arrow.PrimitiveTypes.Int64), field("k", arrow.BinaryTypes.String), field("f", arrow.PrimitiveTypes.Float64), field("g", arrow.PrimitiveTypes.Float32))
	in := input{schema: schema, splits: [][][]any{
		{{int64(1), "nan", 1.5, 1.5}, {int64(2), "nan", math.NaN(), 2.0}, {int64(3), "nan", 2.0, nil}, {int64(4), "null", nil, nil}},
		{{int64(1), "inf", math.Inf(1), 1.0}, {int64(2), "inf", 1.0, math.Inf(-1)}, {int64(3), "both", math.Inf(1), 1.0}, {int64(3), "both", math.Inf(-1), 1.0}, {int64(5), "nan", 1.0, math.NaN()}},
	}}
	m := tumbling{size: 10, keys: []string{"k"}, aggs: []agg{{"rows", "count", ""}, {"sum_f", "sum", "f"}, {"avg_f", "avg", "f"}, {"sum_g", "sum", "g"}, {"avg_g", "avg", "g"}, {"max_f", "max", "f"}}}
	out, _ := m.run(t, in.timed("ts", 0))
	job := arkflow.NewJob("nan")
	job.Source("in", source(schema), arkflow.EventTime("ts")).KeyBy("k").
		Window("w", window.Tumbling(10*msec), window.Count().As("rows"), window.Sum("f"), window.Avg("f"), window.Sum("g"), window.Avg("g"), window.Max("f")).
		Sink("out", drop.Sink{})
	Verify(t, job, in.from("in"), Want("out", out...), Counts("w", "out", "rows"))
}

func TestW7GoldenSumsOf128BitsWhateverTheOrder(t *testing.T) {
	schema := schemaOf(field("ts", arrow.PrimitiveTypes.Int64), field("k", arrow.BinaryTypes.String), field("i", arrow.PrimitiveTypes.Int64), field("u", arrow.PrimitiveTypes.Uint64))
	in := input{schema: schema, splits: [][][]any{
		{{int64(1), "a", int64(math.MaxInt64), uint64(math.MaxUint64)}, {int64(2), "a", int64(math.MaxInt64), uint64(0)}},
		{{int64(3), "a", int64(math.MinInt64), nil}, {int64(4), "a", int64(math.MinInt64), nil}},
		{{int64(5), "a", int64(7), nil}, {int64(5), "b", int64(math.MinInt64), uint64(1)}, {int64(6), "b", int64(-1), uint64(2)}, {int64(7), "b", int64(1), uint64(3)}},
	}}
	m := tumbling{size: 10, keys: []string{"k"}, aggs: []agg{{"rows", "count", ""}, {"sum_i", "sum", "i"}, {"sum_u", "sum", "u"}, {"min_i", "min", "i"}}}
	out, _ := m.run(t, in.timed("ts", 0))
	job := arkflow.NewJob("wide")
	job.Source("in", source(schema), arkflow.EventTime("ts")).KeyBy("k").
		Window("w", window.Tumbling(10*msec), window.Count().As("rows"), window.Sum("i"), window.Sum("u"), window.Min("i")).
		Sink("out", drop.Sink{})
	Verify(t, job, in.from("in"), Want("out", out...), Counts("w", "out", "rows"))
}

func TestK1GoldenKeysOfEveryType(t *testing.T) {
	zero := 0.0
	keys := map[string]struct {
		typ    arrow.DataType
		values []any
	}{
		"bool":      {arrow.FixedWidthTypes.Boolean, []any{true, false, nil}},
		"int8":      {arrow.PrimitiveTypes.Int8, []any{int64(-128), int64(127), int64(0), nil}},
		"uint64":    {arrow.PrimitiveTypes.Uint64, []any{uint64(math.MaxUint64), uint64(0), uint64(1), nil}},
		"float64":   {arrow.PrimitiveTypes.Float64, []any{0.0, -zero, math.Copysign(0, -1), math.NaN(), math.Float64frombits(0x7ff8000000000001), math.Inf(1), 1.5, nil}},
		"float32":   {arrow.PrimitiveTypes.Float32, []any{math.Copysign(0, -1), 0.0, math.NaN(), 2.5, nil}},
		"string":    {arrow.BinaryTypes.String, []any{"", "a", "a\x00", "null", nil}},
		"binary":    {arrow.BinaryTypes.Binary, []any{[]byte{}, []byte{0}, []byte{0, 0}, nil}},
		"timestamp": {&arrow.TimestampType{Unit: arrow.Microsecond}, []any{time.UnixMicro(-1).UTC(), time.UnixMicro(0).UTC(), time.UnixMicro(1).UTC(), nil}},
		"date":      {arrow.FixedWidthTypes.Date32, []any{time.Unix(0, 0).UTC(), time.Unix(-86400, 0).UTC(), nil}},
		"decimal":   {&arrow.Decimal128Type{Precision: 20, Scale: 2}, []any{Decimal("1.00"), Decimal("-1.00"), Decimal("0.01"), nil}},
	}
	for name, c := range keys {
		t.Run(name, func(t *testing.T) {
			schema := schemaOf(field("ts", arrow.PrimitiveTypes.Int64), field("k", c.typ))
			r := rand.New(rand.NewPCG(9, uint64(len(name))))
			in := input{schema: schema, splits: make([][][]any, 2)}
			for i := range 45 {
				in.splits[i%2] = append(in.splits[i%2], []any{int64(i), c.values[r.IntN(len(c.values))]})
			}
			out, _ := tumbling{size: 20, keys: []string{"k"}, aggs: []agg{{"rows", "count", ""}}}.run(t, in.timed("ts", 0))
			Verify(t, counting(schema, arkflow.EventTime("ts"), window.Tumbling(20*msec)), in.from("in"), Want("out", out...), WantLines("late"), Counts("w", "out", "rows"))
		})
	}
}

func TestGoldenDictionariesViewsAndSlicesOfRecords(t *testing.T) {
	mem := memory.DefaultAllocator
	dict := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String}
	schema := schemaOf(field("ts", &arrow.TimestampType{Unit: arrow.Millisecond, TimeZone: "UTC"}), field("k", dict), field("view", arrow.BinaryTypes.StringView), field("n", arrow.PrimitiveTypes.Int64))
	in := input{schema: schema, splits: make([][][]any, 1)}
	var recs []arrow.RecordBatch
	r := rand.New(rand.NewPCG(4, 4))
	for part := range 4 {
		b := array.NewRecordBuilder(mem, schema)
		for i := range 30 {
			ts, key, view := int64(part*300+i*10), fmt.Sprintf("key-%d", r.IntN(4)), fmt.Sprintf("a text that is longer than a view holds %d", r.IntN(5))
			row := []any{time.UnixMilli(ts).UTC(), key, view, int64(i)}
			b.Field(0).(*array.TimestampBuilder).Append(arrow.Timestamp(ts))
			if i%7 == 0 {
				row[1] = nil
				b.Field(1).AppendNull()
			} else if err := b.Field(1).(*array.BinaryDictionaryBuilder).AppendString(key); err != nil {
				t.Fatal(err)
			}
			if i%5 == 0 {
				row[2] = nil
				b.Field(2).AppendNull()
			} else {
				b.Field(2).(*array.StringViewBuilder).Append(view)
			}
			b.Field(3).(*array.Int64Builder).Append(int64(i))
			if i >= 3 && i < 28 {
				in.splits[0] = append(in.splits[0], row)
			}
		}
		recs = append(recs, b.NewRecordBatch().NewSlice(3, 28))
	}
	m := tumbling{size: 200, keys: []string{"k"}, aggs: []agg{{"rows", "count", ""}, {"least", "min", "view"}, {"sum", "sum", "n"}}}
	out, _ := m.run(t, in.timed("ts", 0))
	job := arkflow.NewJob("layouts")
	src := job.Source("in", source(schema), arkflow.EventTime("ts"))
	src.Sink("all", drop.Sink{})
	src.KeyBy("k").Window("w", window.Tumbling(200*msec), window.Count().As("rows"), window.Min("view").As("least"), window.Sum("n").As("sum")).Sink("out", drop.Sink{})
	Verify(t, job, From("in", Records(recs...)), Want("out", out...), Want("all", values(in.timed("ts", 0))...), Counts("w", "out", "rows"))
}
