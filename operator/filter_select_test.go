package operator_test

import (
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/expr"
	"github.com/arkflow-go/arkflow/operator"
)

var (
	id     = expr.Col("ID")
	amount = expr.Field(func(o *order) *float64 { return &o.Amount })
)

func TestFilterKeepsTheRowsForWhichTheConditionIsTrue(t *testing.T) {
	pool := column.NewDebugPool()
	ctx := newContext(pool, operator.Fail())
	inst, out := start(t, operator.Filter(expr.Col("Tier").Eq("gold").Or(amount.Gt(50))), ctx, keyed)
	require.Equal(t, keyed, out)
	b := batch(pool, someOrders...)
	var g gather
	require.NoError(t, inst.Process(0, b, &g))
	got := g.batches[0]
	require.Equal(t, []uint32{0, 4}, got.Sel)
	require.Equal(t, wantHidden(true, 0, 4), hiddenOf(got))
	require.Same(t, &b.Cols[0].Data[0], &got.Cols[0].Data[0], "no value is copied")
	requireDropped(t, ctx, map[string]int64{"filtered": 3})
	g.release()

	b.Sel = []uint32{1, 2}
	require.NoError(t, inst.Process(0, b, &g))
	require.Empty(t, g.batches, "a batch of which nothing is left is not emitted")
	requireDropped(t, ctx, map[string]int64{"filtered": 5})
	b.Release()
	noLeak(t, pool)
}

func TestFilterKeepsItsSelectionWithTheDerivedBatch(t *testing.T) {
	pool := column.NewDebugPool()
	inst, _ := start(t, operator.Filter(id.Ge(4)), newContext(pool, operator.Fail()), keyed)
	b := batch(pool, someOrders...)
	var g gather
	require.NoError(t, inst.Process(0, b, &g))
	b.Release()
	other := batch(pool, someOrders...)
	require.NoError(t, inst.Process(0, other, &g))
	require.Equal(t, []uint32{3, 4}, g.batches[0].Sel)
	other.Release()
	g.release()
	noLeak(t, pool)
}

func TestE6FilterRowsInError(t *testing.T) {
	overflow := id.Add(int64(1<<63 - 4)).Gt(0) // rows 4 and 5 overflow
	for _, policy := range []operator.ErrorPolicy{operator.Fail(), operator.Skip()} {
		pool := column.NewDebugPool()
		ctx := newContext(pool, policy)
		inst, _ := start(t, operator.Filter(overflow), ctx, keyed)
		b := batch(pool, someOrders...)
		var g gather
		err := inst.Process(0, b, &g)
		if policy.Skips() {
			require.NoError(t, err)
			require.Equal(t, []uint32{0, 1, 2}, g.batches[0].Sel)
			requireDropped(t, ctx, map[string]int64{"error": 2})
		} else {
			var row *operator.RowError
			require.ErrorAs(t, err, &row)
			require.Contains(t, row.Field, "ID")
			require.Contains(t, row.Problem, "4", "the values are told")
			require.Empty(t, g.batches)
		}
		g.release()
		b.Release()
		noLeak(t, pool)
	}
}

func TestFilterBindTellsFaults(t *testing.T) {
	_, err := operator.Filter(expr.Col("Tire").Eq("gold").And(expr.Col("Amuont").Gt(1))).Bind([]operator.Stream{keyed})
	require.ErrorContains(t, err, `no column "Tire"; did you mean "Tier"?`)
	require.ErrorContains(t, err, `no column "Amuont"; did you mean "Amount"?`)
	_, err = operator.Filter(amount.Add(1)).Bind([]operator.Stream{keyed})
	require.ErrorContains(t, err, "is no condition: its type is float64; compare it with something")
	_, err = operator.Filter(nil).Bind([]operator.Stream{keyed})
	require.ErrorContains(t, err, "no expression")
	_, err = operator.Filter(id.Gt(0)).Bind([]operator.Stream{keyed, keyed})
	require.EqualError(t, err, "a filter reads one input, it has 2")
}

func TestSelectMakesColumnsOfRowsThatAreThere(t *testing.T) {
	pool := column.NewDebugPool()
	op := operator.Select("Tier", id.As("order_id"), amount.Mul(2).As("double"), amount)
	ctx := newContext(pool, operator.Fail())
	inst, out := start(t, op, ctx, keyed)
	require.Equal(t, "Tier? utf8, order_id int64, double float64, Amount float64", describe(out.Schema))
	require.Equal(t, []string{"order_id"}, out.Key)
	b := batch(pool, someOrders...)
	var g gather
	require.NoError(t, inst.Process(0, b, &g))
	got := g.batches[0]
	require.Same(t, &b.Cols[0].Data[0], &got.Cols[1].Data[0], "a bare column is not copied")
	require.Equal(t, []float64{20, -10, 0, 5, 200}, column.Values[float64](got.Column("double")))
	require.Equal(t, wantHidden(false, 0, 1, 2, 3, 4), hiddenOf(got))
	g.release()

	for _, sel := range [][]uint32{{1, 3, 4}, {1, 4}} {
		b.Sel = sel
		require.NoError(t, inst.Process(0, b, &g))
		require.Equal(t, len(sel) == 3, g.batches[0].Sel != nil, "a selection of half of the rows stays, others are compacted")
		got = g.batches[0].Compact()
		last := len(sel) - 1
		require.Equal(t, []int64{2, 4, 5}[:last], column.Values[int64](got.Column("order_id"))[:last])
		require.EqualValues(t, 5, column.Values[int64](got.Column("order_id"))[last])
		require.Equal(t, []float64{-10, 5, 200}[:last], column.Values[float64](got.Column("double"))[:last])
		require.True(t, got.Column("Tier").IsNull(0))
		require.Equal(t, wantHidden(false, sel...), hiddenOf(got))
		got.Release()
		g.release()
	}
	b.Release()
	noLeak(t, pool)
}

func TestSelectOfComputedColumnsCompacts(t *testing.T) {
	pool := column.NewDebugPool()
	ctx := newContext(pool, operator.Fail())
	inst, _ := start(t, operator.Select(id.As("order_id"), amount.Mul(2).As("double"), amount.Add(1).As("more")), ctx, keyed)
	b := batch(pool, someOrders...)
	b.Sel = []uint32{1, 3, 4}
	var g gather
	require.NoError(t, inst.Process(0, b, &g))
	b.Release()
	got := g.batches[0]
	require.Nil(t, got.Sel)
	require.Equal(t, 3, got.Rows)
	require.Equal(t, []int64{2, 4, 5}, column.Values[int64](got.Column("order_id")))
	require.Equal(t, []float64{-10, 5, 200}, column.Values[float64](got.Column("double")))
	require.Equal(t, wantHidden(false, 1, 3, 4), hiddenOf(got))
	g.release()
	noLeak(t, pool)
}

func TestSelectOfBareColumnsAndConstantsKeepsTheSelection(t *testing.T) {
	pool := column.NewDebugPool()
	ctx := newContext(pool, operator.Fail())
	inst, _ := start(t, operator.Select(id.As("order_id"), expr.Lit("x").As("text"), expr.Lit(7).As("seven"), "Tier"), ctx, keyed)
	b := batch(pool, someOrders...)
	b.Sel = []uint32{1, 3, 4}
	var g gather
	require.NoError(t, inst.Process(0, b, &g))
	b.Release()
	got := g.batches[0]
	require.Equal(t, []uint32{1, 3, 4}, got.Sel)
	require.Nil(t, got.Hash)
	dense := got.Compact()
	require.Equal(t, []int64{2, 4, 5}, column.Values[int64](dense.Column("order_id")))
	require.Equal(t, []int64{7, 7, 7}, column.Values[int64](dense.Column("seven")))
	for i := range 3 {
		require.Equal(t, "x", dense.Column("text").String(i))
	}
	require.True(t, dense.Column("Tier").IsNull(0))
	require.Equal(t, "silver", dense.Column("Tier").String(1))
	require.Equal(t, wantHidden(false, 1, 3, 4), hiddenOf(dense))
	dense.Release()
	g.release()
	noLeak(t, pool)
}

func TestE6SelectRowsInError(t *testing.T) {
	for _, policy := range []operator.ErrorPolicy{operator.Fail(), operator.Skip()} {
		for _, sel := range [][]uint32{nil, {0, 2, 3, 4}, {3, 4}} {
			pool := column.NewDebugPool()
			ctx := newContext(pool, policy)
			inst, _ := start(t, operator.Select("ID", id.Add(int64(1<<63-4)).As("more"), id.Mul(id.Add(int64(1<<62))).As("most")), ctx, keyed)
			b := batch(pool, someOrders...)
			b.Sel = sel
			var g gather
			err := inst.Process(0, b, &g)
			if !policy.Skips() {
				var row *operator.RowError
				require.ErrorAs(t, err, &row)
			} else {
				require.NoError(t, err)
				var want []uint32 // only ID 1 passes both
				for i := range b.Len() {
					if b.Row(i) == 0 {
						want = append(want, 0)
					}
				}
				require.Equal(t, len(want), g.rows())
				requireDropped(t, ctx, map[string]int64{"error": int64(b.Len() - len(want))})
				for _, m := range g.batches {
					require.Equal(t, wantHidden(false, want...), hiddenOf(m))
					require.Equal(t, int64(1), column.Values[int64](m.Column("ID"))[0])
				}
			}
			g.release()
			b.Release()
			noLeak(t, pool)
		}
	}
}

func TestSelectBindTellsAllFaults(t *testing.T) {
	_, err := operator.Select("Tire", amount.Add(1), id.As("x"), amount.As("x"), 42, expr.Col("Tier").Add(1).As("y")).Bind([]operator.Stream{keyed})
	for _, want := range []string{`columns[0]`, `no column "Tire"; did you mean "Tier"?`, `columns[1]: expression`, `has no name; add .As("name")`,
		`columns[3]: two columns are named "x"`, `columns: 42 (a int) is no column`, `columns[4]`} {
		require.ErrorContains(t, err, want)
	}
	_, err = operator.Select().Bind([]operator.Stream{keyed})
	require.ErrorContains(t, err, "no column is selected")
	_, err = operator.Select("ID").Bind(nil)
	require.EqualError(t, err, "a select reads one input, it has 0")
	_, err = operator.Select(42).(interface {
		Config() (map[string]any, error)
	}).Config()
	require.ErrorContains(t, err, "is no column")
}

func TestFilterAndSelectInSpecs(t *testing.T) {
	where := expr.Col("Tier").Eq("gold").And(amount.Gt(50))
	spec, err := expr.ToSpec(where)
	require.NoError(t, err)
	requireRoundTrip(t, operator.Filter(where), operator.FilterFromConfig, map[string]any{"where": spec})
	double, err := expr.ToSpec(amount.Mul(2))
	require.NoError(t, err)
	bare, err := expr.ToSpec(id)
	require.NoError(t, err)
	requireRoundTrip(t, operator.Select("Tier", amount.Mul(2).As("double"), id.As("key")), operator.SelectFromConfig, map[string]any{"columns": []any{
		"Tier", map[string]any{"as": "double", "expr": double}, map[string]any{"as": "key", "expr": bare}}})
	require.Equal(t, "filter", operator.Filter(where).Kind())
	require.Equal(t, "select", operator.Select().Kind())

	for want, config := range map[string]map[string]any{
		"config.where: is missing":                                   {},
		`config.wehre: unknown field "wehre"; did you mean "where"?`: {"wehre": spec},
		`config.were: unknown field "were"; did you mean "where"?`:   {"were": spec, "where": spec},
		"config.where": {"where": []any{}},
	} {
		_, err := operator.FilterFromConfig(config)
		require.ErrorContains(t, err, want)
	}
	for want, columns := range map[string]any{
		"config.columns: want a list, not a":                                           "a",
		"config.columns[1]: want a column name or {as: name, expr: expression}, not 5": []any{"a", 5},
		"config.columns[0].as: is missing":                                             []any{map[string]any{"expr": bare}},
		"config.columns[0].expr: is missing":                                           []any{map[string]any{"as": "x"}},
		"config.columns[0].as: want a column name, not 1":                              []any{map[string]any{"as": 1, "expr": bare}},
		`config.columns[0].name: unknown field "name"`:                                 []any{map[string]any{"as": "x", "expr": bare, "name": "x"}},
		"config.columns[0].expr":                                                       []any{map[string]any{"as": "x", "expr": []any{}}},
	} {
		_, err := operator.SelectFromConfig(map[string]any{"columns": columns})
		require.ErrorContains(t, err, want)
	}
}

// TestStatelessChainsAgreeWithAModel drives batches through filter, select and map as one.
func TestStatelessChainsAgreeWithAModel(t *testing.T) {
	type picked struct {
		Key   int64 `arkflow:"key"`
		Plus  float64
		Label *string `arkflow:"Tier"`
	}
	rapid.Check(t, func(t *rapid.T) {
		pool := column.NewDebugPool()
		ctx := newContext(pool, operator.Skip())
		limit := rapid.Float64Range(-9, 9).Draw(t, "limit")
		first, s1 := start(t, operator.Filter(amount.Gt(limit)), ctx, keyed)
		second, s2 := start(t, operator.Select(id.As("key"), amount.Add(1).As("Plus"), "Tier"), ctx, s1)
		third, s3 := start(t, operator.Filter(expr.Col("key").Lt(10)), ctx, s2)
		fourth, s4 := start(t, operator.Map(func(p picked) picked { p.Key++; return p }), ctx, s3)
		require.Equal(t, "key int64, Plus float64, Tier? utf8", describe(s4.Schema))
		rows := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) order {
			return order{rapid.Int64Range(0, 20).Draw(t, "id"), rapid.Ptr(rapid.StringN(0, 3, 9), true).Draw(t, "tier"), rapid.Float64Range(-9, 9).Draw(t, "amount")}
		}), 1, 50).Draw(t, "rows")
		b := batch(pool, rows...)
		var g gather
		require.NoError(t, first.Process(0, b, chain{second, chain{third, chain{fourth, &g}}}))
		b.Release()
		var kept []uint32
		for i, r := range rows {
			if r.Amount > limit && r.ID < 10 {
				kept = append(kept, uint32(i))
			}
		}
		require.Equal(t, len(kept), g.rows())
		require.Equal(t, int64(len(rows)-len(kept)), ctx.Counters.Dropped()[operator.DropFiltered])
		for _, m := range g.batches {
			require.Equal(t, wantHidden(false, kept...), hiddenOf(m))
			for i, r := range kept {
				require.Equal(t, rows[r].ID+1, column.Values[int64](&m.Cols[0])[i])
				require.Equal(t, rows[r].Amount+1, column.Values[float64](&m.Cols[1])[i])
				require.Equal(t, rows[r].Tier == nil, m.Cols[2].IsNull(i))
				if rows[r].Tier != nil {
					require.Equal(t, *rows[r].Tier, m.Cols[2].String(i))
				}
			}
		}
		g.release()
		noLeak(t, pool)
	})
}

// chain hands on to the next operator.
type chain struct {
	to  operator.Instance
	out operator.Output
}

func (c chain) Emit(_ int, b *column.Batch) error { return c.to.Process(0, b, c.out) }

func TestP3FilterAndSelectAllocatePerBatchOnly(t *testing.T) {
	pool := column.NewPool()
	ctx := newContext(pool, operator.Fail())
	first, s := start(t, operator.Filter(amount.Ge(0).And(id.Lt(2000))), ctx, keyed)
	second, _ := start(t, operator.Select("ID", amount.Mul(2).As("double")), ctx, s)
	rows := make([]order, 4096)
	for i := range rows {
		rows[i].ID = int64(i)
	}
	b := batch(pool, rows...)
	defer b.Release()
	b.Late = nil
	out := operator.Output(chain{second, nothing{}})
	n := testing.AllocsPerRun(20, func() {
		if err := first.Process(0, b, out); err != nil {
			t.Error(err)
		}
	})
	require.LessOrEqual(t, n, 4.0)
}

func TestSelectKeepsTheMetadataOfColumns(t *testing.T) {
	meta := arrow.NewMetadata([]string{"unit"}, []string{"€"})
	s := arrow.NewSchema([]arrow.Field{{Name: "a", Type: arrow.PrimitiveTypes.Int64, Metadata: meta}}, nil)
	_, out := start(t, operator.Select(expr.Col("a").As("b"), expr.Lit(1).As("one")), newContext(nil, operator.Fail()), operator.Stream{Schema: s})
	require.True(t, out.Schema.Field(0).Metadata.Equal(meta))
	require.Equal(t, "b int64, one int64", describe(out.Schema))
}
