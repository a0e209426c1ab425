package expr

import (
	"math"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/arkflow-go/arkflow/column"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// ints makes a batch of nullable int64 columns a and b; nil is null.
func ints(p *column.Pool, rows ...[2]any) *column.Batch {
	s := arrow.NewSchema([]arrow.Field{{Name: "a", Type: arrow.PrimitiveTypes.Int64, Nullable: true}, {Name: "b", Type: arrow.PrimitiveTypes.Int64, Nullable: true}}, nil)
	b := column.NewBuilder(p, s)
	for _, r := range rows {
		for i, v := range r {
			if v != nil {
				b.Int64(i, int64(v.(int)))
			}
		}
		b.EndRow()
	}
	return b.Finish()
}

func mustBind(t *testing.T, e Expr, s *arrow.Schema) *Program {
	t.Helper()
	p, err := e.Bind(s)
	require.NoError(t, err)
	return p
}

func TestErrorNamesSubExpressionOperationAndValues(t *testing.T) {
	pool := column.NewDebugPool()
	b := ints(pool, [2]any{1, 2}, [2]any{math.MaxInt64, 2}, [2]any{7, 0}, [2]any{math.MinInt64, -1})
	a, c := Col("a"), Col("b")
	for _, x := range []struct {
		e    Expr
		rows []uint32
		text string
	}{
		{a.Add(1).Mul(3), []uint32{1, 3}, "a + 1: 9223372036854775807 + 1 does not fit in int64"},
		{a.Sub(-1), []uint32{1}, "a - -1: 9223372036854775807 - -1 does not fit in int64"},
		{a.Mul(908), []uint32{1, 3}, "a * 908: 9223372036854775807 * 908 does not fit in int64"},
		{Lit(908).Mul(a), []uint32{1, 3}, "908 * a: 908 * 9223372036854775807 does not fit in int64"},
		{a.Mul(908).Div(1000), []uint32{1, 3}, "a * 908: 9223372036854775807 * 908 does not fit in int64"},
		{a.Div(c).Gt(3), []uint32{2, 3}, "a / b: 7 / 0: division by zero"},
		{a.Mod(c), []uint32{2}, "a % b: 7 % 0: division by zero"},
		{a.Mod(0), []uint32{0, 1, 2, 3}, "a % 0: 1 % 0: division by zero"},
		{a.Neg(), []uint32{3}, "-a: -(-9223372036854775808) does not fit in int64"},
		{Lit(uint64(math.MaxUint64)).Add(a), []uint32{0, 1, 2, 3}, "18446744073709551615: 18446744073709551615 does not fit in int64"},
	} {
		var errs Errors
		out := b.Derive()
		var col column.Column
		require.NoError(t, mustBind(t, x.e, b.Schema).New().Eval(out, &col, b, &errs))
		assert.Equal(t, x.rows, errs.Rows(), x.e.String())
		assert.EqualError(t, errs.First(), x.text)
		for i := range b.Rows {
			assert.Equal(t, contains(x.rows, i), col.IsNull(i), "a row in error is null")
		}
		out.Release()
	}
	b.Release()
	require.NoError(t, pool.Check())
}

func contains(rows []uint32, i int) bool {
	for _, r := range rows {
		if int(r) == i {
			return true
		}
	}
	return false
}

func TestNullOperandIsNoError(t *testing.T) {
	pool := column.NewDebugPool()
	b := ints(pool, [2]any{nil, 0}, [2]any{5, nil}, [2]any{math.MaxInt64, nil})
	for _, e := range []Expr{Col("a").Div(Col("b")), Col("a").Mod(Col("b")), Col("a").Mul(Col("b")), Lit(nil).Div(0).Add(Col("b"))} {
		require.Equal(t, "int64: null | null | null", describe(t, e, b), e.String())
	}
	b.Release()
	require.NoError(t, pool.Check())
}

func TestRightSideIsEvaluatedOnlyWhereTheLeftHasNotDecided(t *testing.T) {
	pool := column.NewDebugPool()
	b := ints(pool, [2]any{10, 0}, [2]any{10, 2}, [2]any{10, nil}, [2]any{nil, 0})
	a, c := Col("a"), Col("b")
	for _, x := range []struct {
		e      Expr
		values string
	}{
		{c.Ne(0).And(a.Div(c).Gt(4)), "false | true | null | false"},
		{c.Eq(0).Or(a.Div(c).Gt(4)), "true | true | null | true"},
		{Lit(false).And(Lit(1).Div(0).Eq(1)), "false | false | false | false"},
		{Lit(true).Or(Lit(1).Div(0).Eq(1)), "true | true | true | true"},
		{Lit(nil).And(a.Div(c).Gt(4)), "null | null | null | null | error: 10 / 0: division by zero"},
		{a.Div(c).Gt(4).And(c.Ne(0)), "null | true | null | false | error: 10 / 0: division by zero"},
	} {
		p := mustBind(t, x.e, b.Schema)
		got := strings.TrimPrefix(describe(t, x.e, b), "bool: ")
		require.Equal(t, x.values, got, x.e.String())
		var errs Errors
		rows, err := p.New().Rows(nil, b, &errs)
		require.NoError(t, err)
		for i, v := range strings.Split(x.values, " | ")[:4] {
			require.Equal(t, v == "true", contains(rows, i), "%s, row %d", x.e, i)
		}
	}
	b.Release()
	require.NoError(t, pool.Check())
}

func TestFirstErrorDoesNotDependOnBatchCuts(t *testing.T) {
	pool := column.NewDebugPool()
	build := column.NewBuilder(pool, arrow.NewSchema([]arrow.Field{{Name: "a", Type: arrow.PrimitiveTypes.Int64}}, nil))
	for i := range 3000 {
		build.Int64(0, int64(3000-i))
		build.EndRow()
	}
	whole := build.Finish()
	e := Col("a").Sub(1300).Mul(math.MaxInt64 / 1000).Add(Lit(5).Div(Col("a").Sub(2600)))
	ev := mustBind(t, e, whole.Schema).New()
	var want string
	for _, size := range []int{3000, 1, 7, 1000} {
		first := ""
		for at := 0; at < whole.Rows && first == ""; at += size {
			cut := whole.Derive()
			for r := at; r < min(at+size, whole.Rows); r++ {
				cut.Sel = append(cut.Sel, uint32(r))
			}
			if size == 3000 {
				cut.Sel = nil
			}
			var errs Errors
			out := cut.Derive()
			var c column.Column
			require.NoError(t, ev.Eval(out, &c, cut, &errs))
			if errs.Len() > 0 {
				first = errs.First().Error()
			}
			out.Release()
			cut.Release()
		}
		if want == "" {
			want = first
		}
		require.Equal(t, want, first, "batches of %d", size)
	}
	require.Contains(t, want, "does not fit in int64")
	whole.Release()
	require.NoError(t, pool.Check())
}

func TestFilterKeepsErrorsOutAndOwnsItsMemory(t *testing.T) {
	pool := column.NewDebugPool()
	b := ints(pool, [2]any{10, 0}, [2]any{10, 2}, [2]any{10, 5}, [2]any{1, 1})
	ev := mustBind(t, Lit(10).Div(Col("b")).Ge(2).Or(true), b.Schema).New()
	var errs Errors
	kept, err := ev.Filter(b, &errs)
	require.NoError(t, err)
	require.Equal(t, []uint32{1, 2, 3}, kept.Sel, "a row in error is not kept, though `or true` would")
	require.Equal(t, []uint32{0}, errs.Rows())

	rest := errs.Without(kept)
	require.Equal(t, kept.Sel, rest.Sel)
	rest.Release()
	rest = errs.Without(b)
	require.Equal(t, []uint32{1, 2, 3}, rest.Sel)

	errs.Reset()
	require.Zero(t, errs.Len())
	require.NoError(t, errs.First())
	all, err := ev.Filter(rest, &errs)
	require.NoError(t, err)
	require.Equal(t, 3, all.Len())
	none, err := mustBind(t, Col("a").Lt(0), b.Schema).New().Filter(all, &errs)
	require.NoError(t, err)
	require.Nil(t, none)
	for _, x := range []*column.Batch{all, rest, kept, b} {
		x.Release()
	}
	require.NoError(t, pool.Check())
}

func TestWithoutGivesNilWhereEveryRowIsInError(t *testing.T) {
	pool := column.NewDebugPool()
	b := ints(pool, [2]any{1, 0}, [2]any{2, 0})
	var errs Errors
	rows, err := mustBind(t, Col("a").Div(Col("b")).Gt(0), b.Schema).New().Rows(nil, b, &errs)
	require.NoError(t, err)
	require.Empty(t, rows)
	require.Nil(t, errs.Without(b))
	b.Release()
	require.NoError(t, pool.Check())
}

func TestBareColumnSharesMemoryOrGathers(t *testing.T) {
	pool := column.NewDebugPool()
	b := ints(pool, [2]any{1, 2}, [2]any{nil, 3}, [2]any{5, nil})
	p := mustBind(t, Col("a"), b.Schema)
	require.Equal(t, 0, p.Column())
	var errs Errors
	out := b.Derive()
	require.NoError(t, p.New().Eval(out, &out.Cols[1], b, &errs))
	require.Same(t, &b.Cols[0].Data[0], &out.Cols[1].Data[0])
	out.Release()

	d := b.Derive()
	d.Sel = []uint32{1, 2}
	dense := column.NewBatch(pool, b.Schema, 2)
	require.NoError(t, p.New().Eval(dense, &dense.Cols[0], d, &errs))
	d.Release()
	b.Release()
	require.True(t, dense.Cols[0].IsNull(0))
	require.Equal(t, int64(5), column.Values[int64](&dense.Cols[0])[1])
	dense.Release()
	require.NoError(t, pool.Check())
}

func TestBatchOfAnotherSchemaIsRefused(t *testing.T) {
	pool := column.NewDebugPool()
	b := ints(pool, [2]any{1, 2})
	other := arrow.NewSchema([]arrow.Field{{Name: "a", Type: arrow.BinaryTypes.String}}, nil)
	ev := mustBind(t, Col("a").Eq("x"), other).New()
	var errs Errors
	_, err := ev.Filter(b, &errs)
	require.ErrorContains(t, err, "was bound to the schema")
	require.ErrorContains(t, ev.Eval(b, &column.Column{}, b, &errs), "was bound to the schema")
	_, err = mustBind(t, Col("a").Add(1), b.Schema).New().Rows(nil, b, &errs)
	require.ErrorContains(t, err, "is no condition: its type is int64")
	b.Release()
	require.NoError(t, pool.Check())
}

func TestTextConstantsFillAColumn(t *testing.T) {
	pool := column.NewDebugPool()
	b := ints(pool, [2]any{1, 2}, [2]any{3, 4})
	require.Equal(t, "utf8: EUR | EUR", describe(t, Lit("EUR"), b))
	require.Equal(t, "utf8:  | ", describe(t, Lit(""), b))
	require.Equal(t, "utf8: null | null", describe(t, Null(arrow.BinaryTypes.String), b))
	var errs Errors
	out := b.Derive()
	b.Rows = 1 << 20
	err := mustBind(t, Lit(strings.Repeat("x", 4096)), b.Schema).New().Eval(out, &out.Cols[0], b, &errs)
	require.ErrorContains(t, err, "make the batch smaller")
	b.Rows = 2
	out.Release()
	b.Release()
	require.NoError(t, pool.Check())
}

// TestB51DictionaryCodesNeverStandForValues: each batch has a dictionary of its own.
func TestB51DictionaryCodesNeverStandForValues(t *testing.T) {
	pool := column.NewDebugPool()
	dt := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String}
	s := arrow.NewSchema([]arrow.Field{{Name: "k", Type: dt, Nullable: true}}, nil)
	ev := mustBind(t, Col("k").Eq("b"), s).New()
	in := mustBind(t, Col("k").In("b", "x"), s).New()
	for _, x := range []struct {
		words []string
		want  []uint32
	}{{[]string{"a", "b"}, []uint32{1}}, {[]string{"b", "c"}, []uint32{0}}, {[]string{"a", "a"}, nil}} {
		b := array.NewDictionaryBuilder(memory.DefaultAllocator, dt).(*array.BinaryDictionaryBuilder)
		for _, w := range x.words {
			require.NoError(t, b.AppendString(w))
		}
		col := b.NewArray()
		rec := array.NewRecordBatch(s, []arrow.Array{col}, 2)
		batch, err := column.FromRecord(pool, rec)
		require.NoError(t, err)
		var errs Errors
		for _, e := range []*Evaluator{ev, in} {
			rows, err := e.Rows(nil, batch, &errs)
			require.NoError(t, err)
			require.Equal(t, x.want, rows)
		}
		batch.Release()
	}
	require.NoError(t, pool.Check())
}

// TestB55SlicedRecordsAreReadFromTheirOwnBeginning: [null,1,2,null], rows 1..3 kept.
func TestB55SlicedRecordsAreReadFromTheirOwnBeginning(t *testing.T) {
	pool := column.NewDebugPool()
	whole := ints(pool, [2]any{nil, 1}, [2]any{1, nil}, [2]any{2, 2}, [2]any{nil, nil})
	rec := whole.Record()
	whole.Release()
	for _, x := range []struct {
		from, to int64
		want     string
	}{{1, 4, "int64: 11 | 12 | null"}, {0, 2, "int64: null | 11"}, {3, 4, "int64: null"}, {2, 2, "int64: "}} {
		part := rec.NewSlice(x.from, x.to)
		b, err := column.FromRecord(pool, part)
		require.NoError(t, err)
		require.Equal(t, x.want, describe(t, Col("a").Add(10), b))
		b.Release()
		part.Release()
	}
	rec.Release()
	require.NoError(t, pool.Check())
}

// TestB72NaNIsTheGreatestFloatAndEqualToItself in comparisons of every form.
func TestB72NaNIsTheGreatestFloatAndEqualToItself(t *testing.T) {
	pool := column.NewDebugPool()
	nan, inf := math.NaN(), math.Inf(1)
	s := arrow.NewSchema([]arrow.Field{{Name: "x", Type: arrow.PrimitiveTypes.Float64}, {Name: "y", Type: arrow.PrimitiveTypes.Float64}, {Name: "f", Type: arrow.PrimitiveTypes.Float32}, {Name: "n", Type: arrow.PrimitiveTypes.Int64}}, nil)
	build := column.NewBuilder(pool, s)
	for _, v := range [][2]float64{{nan, nan}, {nan, inf}, {inf, nan}, {1, nan}, {math.Copysign(0, -1), 0}} {
		build.Float64(0, v[0])
		build.Float64(1, v[1])
		build.Float64(2, v[1])
		build.Int64(3, 1)
		build.EndRow()
	}
	b := build.Finish()
	x, y, n := Col("x"), Col("y"), Col("n")
	for _, c := range []struct {
		e    Expr
		want string
	}{
		{x.Eq(y), "true false false false true"},
		{x.Gt(y), "false true false false false"},
		{x.Le(y), "true false true true true"},
		{x.Lt(Col("f")), "false false true true false"},
		{x.Eq(nan), "true true false false false"},
		{x.Lt(nan), "false false true true true"},
		{x.Ge(nan), "true true false false false"},
		{x.Gt(inf), "true true false false false"},
		{x.Gt(5), "true true true false false"},
		{x.Le(5), "false false false true true"},
		{x.In(nan, 1.0), "true true false true false"},
		{x.In(0), "false false false false true"},
		{n.Lt(y), "true true true true false"},
		{n.Lt(nan), "true true true true true"},
		{n.Ge(nan), "false false false false false"},
		{n.Gt(math.Inf(-1)), "true true true true true"},
		{Lit(nan).Eq(Lit(-nan)), "true true true true true"},
		{Lit(nan).Gt(Lit(inf)), "true true true true true"},
	} {
		require.Equal(t, "bool: "+strings.ReplaceAll(c.want, " ", " | "), describe(t, c.e, b), c.e.String())
	}
	b.Release()
	require.NoError(t, pool.Check())
}

func TestConstantsThatDoNotFitAreComparedExactly(t *testing.T) {
	pool := column.NewDebugPool()
	b := fillBatch(pool, wideSchema(), generatorRand(), 300)
	for _, e := range []Expr{
		Col("i8").Lt(1000), Col("i8").Gt(-1000), Col("i8").Ne(300), Col("u8").Ge(-1), Col("u64").Gt(-1), Col("i64").Lt(uint64(math.MaxUint64)),
		Col("i32").Lt(math.Inf(1)), Col("day").Lt(time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)), Col("i64").Ne(0.5),
	} {
		got := describe(t, e, b)
		require.NotContains(t, got, "null", e.String())
		if e.n.Args[0].Name != "day" {
			require.NotContains(t, got, "false", e.String())
		}
		checkProgram(t, mustBind(t, e, b.Schema), b)
	}
	b.Release()
	require.NoError(t, pool.Check())
}

func TestProgramIsSharedByEvaluators(t *testing.T) {
	pool := column.NewDebugPool()
	b := fillBatch(pool, wideSchema(), generatorRand(), 3000)
	p := mustBind(t, Col("i64").Mul(3).Div(7).Gt(Col("i32_n")).And(Col("s").In("a", "paid")).Or(Col("f64_n").Add(1).IsNull()), b.Schema)
	var group sync.WaitGroup
	got := make([][]uint32, 4)
	for i := range got {
		group.Go(func() {
			var errs Errors
			ev := p.New()
			for range 20 {
				got[i], _ = ev.Rows(nil, b, &errs)
			}
		})
	}
	group.Wait()
	for _, rows := range got {
		require.Equal(t, got[0], rows)
	}
	b.Release()
	require.NoError(t, pool.Check())
}

func TestEvaluationAllocatesNothingButPooledMemory(t *testing.T) {
	pool := column.NewPool()
	b := benchBatch(pool)
	defer b.Release()
	var errs Errors
	filter := mustBind(t, Col("price").Mod(4).Ne(0).And(Col("name").Ne("x")).And(Col("price").Div(Col("other")).Ge(0)), b.Schema).New()
	project := mustBind(t, Col("price").Mul(908).Div(1000).Add(Col("maybe")), b.Schema).New()
	s := arrow.NewSchema([]arrow.Field{{Name: "out", Type: arrow.PrimitiveTypes.Int64}}, nil)
	run := func() {
		kept, _ := filter.Filter(b, &errs)
		out := column.NewBatch(pool, s, kept.Len())
		_ = project.Eval(out, &out.Cols[0], kept, &errs)
		out.Release()
		kept.Release()
	}
	run()
	require.Zero(t, testing.AllocsPerRun(20, run))
	require.Zero(t, errs.Len())
}
