package expr

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/internal/calc"
	"github.com/arkflow-go/arkflow/internal/fault"
	"github.com/arkflow-go/arkflow/internal/tree"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// wideSchema has columns of every type, each without and with nulls.
func wideSchema() *arrow.Schema {
	types := map[string]arrow.DataType{
		"b": arrow.FixedWidthTypes.Boolean, "i8": arrow.PrimitiveTypes.Int8, "i16": arrow.PrimitiveTypes.Int16, "i32": arrow.PrimitiveTypes.Int32,
		"i64": arrow.PrimitiveTypes.Int64, "u8": arrow.PrimitiveTypes.Uint8, "u16": arrow.PrimitiveTypes.Uint16, "u32": arrow.PrimitiveTypes.Uint32,
		"u64": arrow.PrimitiveTypes.Uint64, "f32": arrow.PrimitiveTypes.Float32, "f64": arrow.PrimitiveTypes.Float64,
		"d2": &arrow.Decimal128Type{Precision: 12, Scale: 2}, "d5": &arrow.Decimal128Type{Precision: 38, Scale: 5}, "d0": &arrow.Decimal128Type{Precision: 20},
		"s": arrow.BinaryTypes.String, "bin": arrow.BinaryTypes.Binary, "ls": arrow.BinaryTypes.LargeString, "sv": arrow.BinaryTypes.StringView,
		"dict": &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int32, ValueType: arrow.BinaryTypes.String},
		"ts":   &arrow.TimestampType{Unit: arrow.Second}, "tms": &arrow.TimestampType{Unit: arrow.Millisecond, TimeZone: "UTC"},
		"tus": &arrow.TimestampType{Unit: arrow.Microsecond}, "tns": &arrow.TimestampType{Unit: arrow.Nanosecond, TimeZone: "Europe/Berlin"},
		"day": arrow.FixedWidthTypes.Date32, "dms": arrow.FixedWidthTypes.Date64, "tod": arrow.FixedWidthTypes.Time32s, "todn": arrow.FixedWidthTypes.Time64ns,
		"durs": arrow.FixedWidthTypes.Duration_s, "durm": arrow.FixedWidthTypes.Duration_ms, "durn": arrow.FixedWidthTypes.Duration_ns,
	}
	var fields []arrow.Field
	for _, name := range strings.Fields("b i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 d2 d5 d0 s bin ls sv dict ts tms tus tns day dms tod todn durs durm durn") {
		fields = append(fields, arrow.Field{Name: name, Type: types[name]}, arrow.Field{Name: name + "_n", Type: types[name], Nullable: true})
	}
	return arrow.NewSchema(fields, nil)
}

var edgeInts = []int64{0, 1, -1, 2, 3, 5, 7, 10, 100, 127, -128, 255, 1000, 32767, -32768, 65535, math.MaxInt32, math.MinInt32, math.MaxUint32, 1 << 53, 1<<53 + 1,
	math.MaxInt64, math.MinInt64, math.MaxInt64 - 1, math.MinInt64 + 1, 1 << 62, -1 << 62, 86400, 9223372036, 9223372037}

func someInt(r *rand.Rand) int64 {
	switch r.IntN(4) {
	case 0:
		return edgeInts[r.IntN(len(edgeInts))]
	case 1:
		return int64(r.Uint64()) >> r.IntN(64)
	}
	return int64(r.IntN(21)) - 10
}

func someFloat(r *rand.Rand) float64 {
	edges := []float64{0, math.Copysign(0, -1), 1, -1, 0.5, 2.5, 0.1, math.NaN(), math.Inf(1), math.Inf(-1), math.MaxFloat64, 1 << 53, 1 << 63, -1 << 63, 1 << 64, 1e-300, 16777217}
	if r.IntN(3) == 0 {
		return edges[r.IntN(len(edges))]
	}
	return float64(someInt(r)) / 4
}

// someTexts are the values of texts: short and long, of no UTF-8, and of all that casts and functions read.
var someTexts = []string{"", "a", "ab", "b", "paid", "paix", "é", "a\x00", "zz", "long text of ten", "long text of tan", "long text of seventeen", "long text or seventeen",
	"\xff", "é\xc3", "Straße ÄÖ \xe2\x82", "a/b//c", " 12 ", "-7.5", "1e3", "+300", "NaN", "-inf", "1e999", "0.0449999", "true", "No", "2026-03-29 02:30:00", "2026-10-25T02:30:00+02:00", "2026-10-25 02:30:00",
	"1677-09-21T00:12:43.145224192Z", "2262-04-12", "2026-02-30", "10:30", "23:59:59.999999999", "1h30m", "-250ms", "x=1&channel_id=42&z", `{"a":{"b":[1,"x",null]},"c":"é\u00e9\n"}`, `{"a": [1, {"b": 2.50}`, `[[1],2]`,
	"18446744073709551615", "-9223372036854775808", "99999999999999999999999999999999999999.5", "12345678901234567890123456789012345678901234567890e-30"}

// fillBatch makes rows of random values.
func fillBatch(p *column.Pool, s *arrow.Schema, r *rand.Rand, n int) *column.Batch {
	b := column.NewBuilder(p, s)
	for range n {
		for i, f := range s.Fields() {
			if f.Nullable && r.IntN(4) == 0 {
				continue
			}
			switch c := b.Col(i); c.Kind() {
			case column.Bool:
				c.Bool(r.IntN(2) == 0)
			case column.Bytes:
				c.String(someTexts[r.IntN(len(someTexts))])
			case column.Float32, column.Float64:
				c.Float64(someFloat(r))
			case column.Decimal:
				v := someInt(r)
				d := int128{uint64(v), uint64(v >> 63)}
				if precision := f.Type.(*arrow.Decimal128Type).Precision; precision == 38 && r.IntN(3) == 0 {
					d, _ = calc.Product(d, calc.Pow10[r.IntN(38)], 38)
				} else if precision < 19 {
					d = int128{uint64(v % 1e12), uint64(v % 1e12 >> 63)}
				}
				c.Decimal(d[0], int64(d[1]))
			default:
				c.Int64(someInt(r))
			}
		}
		b.EndRow()
	}
	batch := b.Finish()
	for i := range batch.Cols { // what stands in the place of a null must not matter
		c, w := &batch.Cols[i], batch.Cols[i].Kind.Width()
		junk := []byte{0, 0xFF, 0x80, 0x7F}[r.IntN(4)]
		for row := 0; row < n && w > 0; row++ {
			if c.IsNull(row) {
				calc.FillBytes(c.Data[row*w:(row+1)*w], junk)
			}
		}
	}
	return batch
}

// generator draws expressions that Bind should accept.
type generator struct{ t *rapid.T }

func (g generator) pick(names string) string {
	return rapid.SampledFrom(strings.Fields(names)).Draw(g.t, "pick")
}

func (g generator) col(names string) Expr {
	name := g.pick(names)
	if rapid.Bool().Draw(g.t, "nullable") {
		name += "_n"
	}
	return Col(name)
}

func (g generator) rand() *rand.Rand {
	return rand.New(rand.NewPCG(rapid.Uint64().Draw(g.t, "seed"), 0))
}

func (g generator) intLit() Expr {
	v := someInt(g.rand())
	switch g.pick("int int8 int16 int32 uint8 uint32 uint64 int64") {
	case "int8":
		return Lit(int8(v))
	case "int16":
		return Lit(int16(v))
	case "int32":
		return Lit(int32(v))
	case "uint8":
		return Lit(uint8(v))
	case "uint32":
		return Lit(uint32(v))
	case "uint64":
		return Lit(uint64(v))
	}
	return Lit(v)
}

func (g generator) number(depth int) Expr {
	if depth <= 0 {
		switch g.pick("col col col int float f32 null tnull") {
		case "int":
			return g.intLit()
		case "float":
			return Lit(someFloat(g.rand()))
		case "f32":
			return Lit(float32(someFloat(g.rand())))
		case "null":
			return Lit(nil)
		case "tnull":
			return Null(rapid.SampledFrom([]arrow.DataType{arrow.PrimitiveTypes.Int64, arrow.PrimitiveTypes.Float32, arrow.PrimitiveTypes.Uint64, &arrow.Decimal128Type{Precision: 5, Scale: 1}}).Draw(g.t, "null"))
		}
		return g.col("i8 i16 i32 i64 i64 i64 u8 u16 u32 u64 f32 f64 d2 d5 d0")
	}
	a, b := g.number(depth-1-rapid.IntRange(0, 1).Draw(g.t, "less")), g.number(depth-1-rapid.IntRange(0, 1).Draw(g.t, "less"))
	switch g.pick("add sub mul div mod neg ratio") {
	case "ratio":
		whole := g.col("i64 i64 u16 i8").Mul(rapid.SampledFrom([]int64{1, 3, 908, 1100, 1 << 40, -7}).Draw(g.t, "c"))
		return whole.Div(rapid.SampledFrom([]int64{2, 3, 1000, 1024, 1 << 41, 1<<63 - 1, -10}).Draw(g.t, "d"))
	case "add":
		return a.Add(b)
	case "sub":
		return a.Sub(b)
	case "mul":
		return a.Mul(b)
	case "div":
		return a.Div(b)
	case "mod":
		return a.Mod(b)
	}
	return a.Neg()
}

func (g generator) duration(depth int) Expr {
	if depth <= 0 {
		if g.pick("col col lit") == "lit" {
			return Lit(time.Duration(someInt(g.rand())) * time.Duration(rapid.SampledFrom([]int64{1, 1e3, 1e6, 1e9, 60e9}).Draw(g.t, "unit")))
		}
		return g.col("durs durm durn")
	}
	switch g.pick("add sub mul div neg diff") {
	case "add":
		return g.duration(depth - 1).Add(g.duration(depth - 1))
	case "sub":
		return g.duration(depth - 1).Sub(g.duration(0))
	case "mul":
		return g.duration(depth - 1).Mul(g.col("i8 i64 u64"))
	case "div":
		return g.duration(depth - 1).Div(g.col("i8 i64"))
	case "neg":
		return g.duration(depth - 1).Neg()
	}
	return g.instant(depth - 1).Sub(g.instant(0))
}

func (g generator) instant(depth int) Expr {
	if depth <= 0 {
		if g.pick("col col col lit") == "lit" {
			return Lit(time.Unix(someInt(g.rand())%1e11, someInt(g.rand())%1e9))
		}
		return g.col("ts tms tus tns day dms")
	}
	at := g.col("ts tms tus tns")
	switch g.pick("add sub radd") {
	case "add":
		return at.Add(g.duration(depth - 1))
	case "sub":
		return at.Sub(g.duration(depth - 1))
	}
	return g.duration(depth - 1).Add(at)
}

func (g generator) text() Expr {
	switch g.pick("col col col lit bin null") {
	case "lit":
		return Lit(rapid.SampledFrom([]string{"", "a", "paid", "long text of ten", "long text of seventeen", "zzz"}).Draw(g.t, "text"))
	case "bin":
		return Lit([]byte(g.pick("a ab b paid zz")))
	case "null":
		return Null(arrow.BinaryTypes.String)
	}
	return g.col("s bin ls sv dict")
}

func (g generator) compare(a, b Expr) Expr {
	switch g.pick("eq ne lt le gt ge") {
	case "eq":
		return a.Eq(b)
	case "ne":
		return a.Ne(b)
	case "lt":
		return a.Lt(b)
	case "le":
		return a.Le(b)
	case "gt":
		return a.Gt(b)
	}
	return a.Ge(b)
}

func (g generator) condition(depth int) Expr {
	if depth <= 0 {
		switch g.pick("col lit num num num text time dur tod") {
		case "col":
			return g.col("b")
		case "lit":
			return rapid.SampledFrom([]Expr{Lit(true), Lit(false), Lit(nil)}).Draw(g.t, "truth")
		case "text":
			return g.compare(g.text(), g.text())
		case "time":
			return g.compare(g.instant(rapid.IntRange(0, 2).Draw(g.t, "deep")), g.instant(0))
		case "dur":
			return g.compare(g.duration(0), g.duration(rapid.IntRange(0, 2).Draw(g.t, "deep")))
		case "tod":
			return g.compare(g.col("tod todn"), rapid.SampledFrom([]Expr{Col("tod"), Col("todn_n"), Lit(7 * time.Second), Lit(time.Nanosecond)}).Draw(g.t, "tod"))
		}
		return g.compare(g.number(rapid.IntRange(0, 2).Draw(g.t, "deep")), g.number(rapid.IntRange(0, 1).Draw(g.t, "deep")))
	}
	switch g.pick("and or not isnull isnotnull in eq mask") {
	case "and":
		return g.condition(depth - 1).And(g.condition(depth - 1))
	case "or":
		return g.condition(depth - 1).Or(g.condition(depth - 1))
	case "not":
		return g.condition(depth - 1).Not()
	case "isnull":
		return g.number(depth).IsNull()
	case "isnotnull":
		return g.text().IsNotNull()
	case "in":
		return g.in(depth)
	case "mask":
		return g.compare(g.col("i8 i32 i64").Mod(rapid.SampledFrom([]int64{2, -2, 4, 8, 1 << 40, math.MinInt64}).Draw(g.t, "d")), Lit(someInt(g.rand())))
	}
	return g.condition(depth - 1).Eq(g.condition(0))
}

func (g generator) in(depth int) Expr {
	x, of := g.number(depth-1), func() Expr { return g.number(rapid.IntRange(0, depth-1).Draw(g.t, "deep")) }
	switch g.pick("col num text time") {
	case "col":
		x, of = g.col("i8 i64 u64 f32 f64 u32"), func() Expr { return rapid.SampledFrom([]Expr{g.intLit(), Lit(someFloat(g.rand()))}).Draw(g.t, "item") }
	case "text":
		x, of = g.text(), g.text
	case "time":
		x, of = g.instant(0), func() Expr { return g.instant(0) }
	}
	var items []any
	for range rapid.IntRange(0, 12).Draw(g.t, "items") {
		items = append(items, of())
	}
	return x.In(items...)
}

func (g generator) any(depth int) Expr {
	switch g.pick("number number condition condition condition instant duration text") {
	case "number":
		return g.number(depth)
	case "instant":
		return g.instant(depth)
	case "duration":
		return g.duration(depth)
	case "text":
		return g.text()
	}
	return g.condition(depth)
}

// refusals are the faults that a random expression may meet.
func mayRefuse(err error) bool {
	var f *fault.Fault
	if !errors.As(err, &f) {
		return false
	}
	for _, text := range []string{"decimals have no", "digits after the point", "digits apart", "null has no type here", "is no group", "is no regular expression"} {
		if strings.Contains(err.Error(), text) {
			return true
		}
	}
	return false
}

func TestRandomExpressionsEqualTheModel(t *testing.T) {
	s := wideSchema()
	rapid.Check(t, func(t *rapid.T) {
		g := generator{t}
		pool := column.NewDebugPool()
		n := rapid.SampledFrom([]int{1, 3, 64, 200, 2100}).Draw(t, "rows")
		batch := fillBatch(pool, s, g.rand(), n)
		batch = cutBatch(t, pool, batch)
		for range 6 {
			e := g.any(rapid.IntRange(0, 3).Draw(t, "depth"))
			p, err := e.Bind(s)
			if err != nil {
				require.True(t, mayRefuse(err), "%s: %v", e, err)
				continue
			}
			checkProgram(t, p, batch)
			checkSpec(t, e)
		}
		batch.Release()
		require.NoError(t, pool.Check())
	})
}

// cutBatch views part of a batch by way of a sliced record, or by a selection.
func cutBatch(t *rapid.T, pool *column.Pool, b *column.Batch) *column.Batch {
	if rapid.Bool().Draw(t, "slice") {
		rec := b.Record()
		from := rapid.IntRange(0, b.Rows-1).Draw(t, "from")
		part := rec.NewSlice(int64(from), int64(rapid.IntRange(from, b.Rows).Draw(t, "to")))
		cut, err := column.FromRecord(pool, part)
		require.NoError(t, err)
		part.Release()
		rec.Release()
		b.Release()
		b = cut
	}
	if rapid.Bool().Draw(t, "select") {
		d := b.Derive()
		b.Release()
		sel := column.Alloc[uint32](d, d.Rows+1)[:0]
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		keep := 1 + r.IntN(4)
		for i := range d.Rows {
			if r.IntN(4) < keep {
				sel = append(sel, uint32(i))
			}
		}
		d.Sel = sel
		b = d
	}
	return b
}

// checkProgram compares everything that a program gives for a batch with the model.
func checkProgram(t require.TestingT, p *Program, b *column.Batch) {
	e := p.Expr()
	m := modelOf(e.node(), p.schema)
	if !m.t.same(p.Type()) && !m.lit {
		require.Fail(t, "wrong type", "%s: model %+v, program %s", e, m.t, p.Type())
	}
	var wantRows []uint32
	want := make([]any, b.Len())
	wantErr := map[int]string{}
	for i := range want {
		v, err := m.eval(b, b.Row(i))
		if err != nil {
			wantErr[b.Row(i)] = err.Error()
			continue
		}
		if want[i] = v; v == true {
			wantRows = append(wantRows, uint32(b.Row(i)))
		}
	}
	var errs Errors
	ev := p.New()
	for range 2 { // the second time with used scratch memory
		errs.Reset()
		out := b.Derive()
		var got column.Column
		require.NoError(t, ev.Eval(out, &got, b, &errs))
		checkColumn(t, e, &got, want, wantErr, b)
		checkErrors(t, e, &errs, wantErr)
		if !p.Nullable() && len(wantErr) == 0 {
			assert.Zero(t, got.Nulls, "%s is not nullable", e)
		}
		out.Release()
	}
	if p.Type().ID() != arrow.BOOL {
		return
	}
	errs.Reset()
	rows, err := ev.Rows(nil, b, &errs)
	require.NoError(t, err)
	if len(rows)+len(wantRows) > 0 {
		require.Equal(t, wantRows, rows, "rows of %s", e)
	}
	checkErrors(t, e, &errs, wantErr)
}

func checkColumn(t require.TestingT, e Expr, got *column.Column, want []any, wantErr map[int]string, b *column.Batch) {
	nulls := 0
	for i, w := range want {
		if _, failed := wantErr[b.Row(i)]; failed {
			if got.IsNull(i) {
				nulls++
			}
			continue
		}
		g := modelValue(got, i)
		if g == nil {
			nulls++
		}
		if !sameValue(w, g) {
			require.Fail(t, "wrong value", "%s, row %d: want %v, got %v\n%s", e, i, w, g, describeRow(e, b, b.Row(i)))
		}
	}
	require.Equal(t, nulls, got.Nulls, "nulls of %s", e)
}

func describeRow(e Expr, b *column.Batch, row int) string {
	var lines []string
	for _, name := range e.Columns() {
		lines = append(lines, fmt.Sprintf("%s = %v", name, modelValue(b.Column(name), row)))
	}
	return strings.Join(lines, "\n")
}

func checkErrors(t require.TestingT, e Expr, errs *Errors, want map[int]string) {
	got := map[int]string{}
	for i, row := range errs.Rows() {
		var re *RowError
		require.ErrorAs(t, errs.At(i), &re)
		require.EqualValues(t, row, re.Row)
		got[re.Row] = re.Expr
		require.NotEmpty(t, re.Problem)
	}
	require.Equal(t, want, got, "errors of %s", e)
	require.Equal(t, len(want), errs.Len())
}

// checkSpec compares an expression with what its structured form gives back.
func checkSpec(t require.TestingT, e Expr) {
	spec, err := ToSpec(e)
	require.NoError(t, err)
	back, err := FromSpec(spec)
	require.NoError(t, err)
	require.Equal(t, e.String(), back.String())
	again, err := ToSpec(back)
	require.NoError(t, err)
	require.Equal(t, spec, again)
}

func generatorRand() *rand.Rand { return rand.New(rand.NewPCG(1, 2)) }

// TestEveryColumnAgainstConstantsAndColumns goes over each operator between each column and constants and columns of its class.
func TestEveryColumnAgainstConstantsAndColumns(t *testing.T) {
	pool := column.NewDebugPool()
	s := wideSchema()
	whole := fillBatch(pool, s, generatorRand(), 40)
	some := whole.Derive()
	for i := range whole.Rows {
		if i%3 != 0 {
			some.Sel = append(some.Sel, uint32(i))
		}
	}
	numbers := []any{0, 1, -1, 7, 300, int64(math.MaxInt64), uint64(math.MaxUint64), 2.5, -0.1, math.NaN(), math.Inf(1), math.Inf(-1), 1e300, float32(0.1), Col("i64_n"), Col("u64"), Col("f64_n"), Col("f32"), Col("d2_n"), Col("i8")}
	texts := []any{"", "a", "paid", "long text of ten", "long text of seventeen", []byte("zz"), Col("s_n"), Col("dict")}
	others := map[tree.Class][]any{
		tree.ClassBool: {true, false, Col("b_n")}, tree.ClassInt: numbers, tree.ClassFloat: numbers, tree.ClassDecimal: numbers, tree.ClassText: texts,
		tree.ClassInstant:   {time.Unix(5, 0), time.Unix(-9, 999), time.Unix(86400*7, 0), time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(-250000, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(300000, 1, 1, 0, 0, 0, 0, time.UTC), Col("ts_n"), Col("tus"), Col("tns"), Col("day_n"), Col("dms")},
		tree.ClassTimeOfDay: {7 * time.Second, time.Nanosecond, -time.Hour, Col("tod_n"), Col("todn")},
		tree.ClassDuration:  {7 * time.Second, time.Nanosecond, -time.Hour, Col("durs"), Col("durm_n"), Col("durn")},
	}
	for _, f := range s.Fields() {
		x := Col(f.Name)
		for _, y := range others[tree.ClassOf(f.Type)] {
			for i, e := range []Expr{x.Eq(y), x.Ne(y), x.Lt(y), x.Le(y), x.Gt(y), x.Ge(y), Lit(y).Lt(x), x.In(y, nil), x.In(y, y), x.Add(y), x.Sub(y), Lit(y).Sub(x), x.Mul(y), x.Div(y), x.Mod(y), x.Mod(4).Eq(y), x.IsNull().Or(x.Gt(y))} {
				p, err := e.Bind(s)
				if err != nil {
					continue
				}
				checkProgram(t, p, []*column.Batch{whole, some}[i%2])
				if i < 6 { // conditions have other loops for selections
					checkProgram(t, p, some)
				}
			}
		}
	}
	some.Release()
	whole.Release()
	require.NoError(t, pool.Check())
}
