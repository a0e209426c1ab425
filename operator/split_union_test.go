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

func TestSplitSendsEachRowToTheFirstCaseThatIsTrue(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pool := column.NewDebugPool()
		ctx := newContext(pool, operator.Skip())
		rest := rapid.Bool().Draw(t, "otherwise")
		cases := []operator.SplitCase{operator.When("gold", expr.Col("Tier").Eq("gold")), operator.When("overflows", id.Mul(int64(1<<62)).Gt(5)),
			operator.When("large", amount.Gt(1))}
		if rest {
			cases = append(cases, operator.Otherwise("rest"))
		}
		inst := startAll(t, operator.SplitBy(cases...), ctx, keyed)
		rows := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) order {
			return order{rapid.Int64Range(0, 3).Draw(t, "id"), rapid.Ptr(rapid.SampledFrom([]string{"gold", "tin"}), true).Draw(t, "tier"), rapid.Float64Range(0, 2).Draw(t, "amount")}
		}), 1, 300).Draw(t, "rows")
		b := batch(pool, rows...)
		if rapid.Bool().Draw(t, "select") {
			b.Sel = []uint32{}
			for i := range rows {
				if i == 0 || rapid.Bool().Draw(t, "keep") {
					b.Sel = append(b.Sel, uint32(i))
				}
			}
		}
		want := map[int][]uint32{}
		for i := range b.Len() {
			port, o := 3, rows[b.Row(i)]
			switch {
			case o.Tier != nil && *o.Tier == "gold":
				port = 0
			case o.ID >= 2:
				port = -1 // in error
			case o.ID == 1:
				port = 1
			case o.Amount > 1:
				port = 2
			}
			want[port] = append(want[port], uint32(b.Row(i)))
		}
		out := ports{}
		require.NoError(t, inst.Process(0, b, out))
		for port := range 4 {
			if port == 3 && !rest {
				break
			}
			require.Equal(t, wantHidden(true, want[port]...), out.hidden(port), "port %d", port)
		}
		dropped := ctx.Counters.Dropped()
		require.Equal(t, int64(len(want[-1])), dropped["error"])
		if rest {
			require.Zero(t, dropped["filtered"])
		} else {
			require.Equal(t, int64(len(want[3])), dropped["filtered"])
		}
		out.release()
		b.Release()
		noLeak(t, pool)
	})
}

func TestSplitLeaksNothingWhenWhatFollowsFails(t *testing.T) {
	pool := column.NewDebugPool()
	inst := startAll(t, operator.SplitBy(operator.When("few", amount.Lt(5)), operator.When("gold", expr.Col("Tier").Eq("gold")), operator.Otherwise("rest")),
		newContext(pool, operator.Fail()), keyed)
	b := batch(pool, someOrders...)
	require.ErrorIs(t, inst.Process(0, b, fails{}), errDownstream)
	require.PanicsWithValue(t, "downstream", func() { _ = inst.Process(0, b, panics{}) })
	b.Release()
	noLeak(t, pool)
}

func TestSplitBindTellsAllFaults(t *testing.T) {
	for want, cases := range map[string][]operator.SplitCase{
		"when: there is no condition; give one case by When at least":                                {operator.Otherwise("rest")},
		`when[1].name: two outputs are named "a"; give each a tag of its own`:                        {operator.When("a", id.Gt(1)), operator.When("a", id.Gt(2))},
		`when[0].name: tag "" is not allowed; use 1 to 128 of A-Z a-z 0-9 _ -`:                       {operator.When("", id.Gt(1))},
		`when[0].where: no column "Idd"; did you mean "ID"?`:                                         {operator.When("a", expr.Col("Idd").Gt(1))},
		`when[0].where: expression ID is no condition: its type is int64; compare it with something`: {operator.When("a", id)},
		`when[1]: Otherwise stands before another case, which would get no row; put it last, once`:   {operator.When("a", id.Gt(1)), operator.Otherwise("b"), operator.When("c", id.Gt(2))},
		`when[0].where: `: {operator.When("a", nil)},
	} {
		_, err := operator.SplitBy(cases...).Bind([]operator.Stream{keyed})
		require.ErrorContains(t, err, want)
	}
}

func TestSplitIsConfigured(t *testing.T) {
	op := operator.SplitBy(operator.When("gold", expr.Col("Tier").Eq("gold")), operator.Otherwise("rest"))
	require.Equal(t, "split", op.Kind())
	require.Equal(t, []string{"gold", "rest"}, op.(operator.Tagged).Tags())
	config, err := op.(interface {
		Config() (map[string]any, error)
	}).Config()
	require.NoError(t, err)
	back, err := operator.SplitFromConfig(config)
	require.NoError(t, err)
	require.Equal(t, op.(operator.Described).Describe(), back.(operator.Described).Describe())
	again, err := back.(interface {
		Config() (map[string]any, error)
	}).Config()
	require.NoError(t, err)
	require.Equal(t, config, again)
	where := config["when"].([]any)[0].(map[string]any)["where"]
	for want, bad := range map[string]map[string]any{
		"config.when: is missing":                                        {},
		"config.when: want a list of {name: tag, where: condition}":      {"when": "x"},
		"config.when[0]: want {name: tag, where: condition}, not 5":      {"when": []any{5}},
		"config.when[0].where: is missing":                               {"when": []any{map[string]any{"name": "a"}}},
		"config.when[0].name: is missing":                                {"when": []any{map[string]any{"where": where}}},
		"config.when[0].name: want a name, not 5":                        {"when": []any{map[string]any{"name": 5, "where": where}}},
		`config.other: unknown field "other"; did you mean "otherwise"?`: {"other": "x", "when": []any{}},
		"config.otherwise: want a name, not 7":                           {"otherwise": 7, "when": []any{}},
	} {
		_, err := operator.SplitFromConfig(bad)
		require.ErrorContains(t, err, want)
	}
}

func TestUnionMatchesColumnsByName(t *testing.T) {
	turned := arrow.NewSchema([]arrow.Field{orders.Field(2), {Name: "ID", Type: arrow.PrimitiveTypes.Int64, Nullable: true}, orders.Field(1)}, nil)
	bound, err := operator.Union().Bind([]operator.Stream{keyed, {Schema: turned}})
	require.NoError(t, err)
	out := bound.Outputs()[0]
	require.Equal(t, "ID? int64, Tier? utf8, Amount float64", describe(out.Schema))
	require.Nil(t, out.Key)
	pool := column.NewDebugPool()
	inst, err := bound.New(newContext(pool, operator.Fail()))
	require.NoError(t, err)
	b := batch(pool, someOrders...)
	second := b.Derive()
	second.Schema = turned
	second.Cols[0], second.Cols[1], second.Cols[2] = b.Cols[2], b.Cols[0], b.Cols[1]
	var g gather
	require.NoError(t, inst.Process(0, b, &g))
	require.NoError(t, inst.Process(1, second, &g))
	require.Equal(t, g.batches[0].Cols, g.batches[1].Cols)
	require.Equal(t, wantHidden(false, 0, 1, 2, 3, 4), hiddenOf(g.batches[1]), "hashes of different keys are left behind")
	g.release()
	second.Release()
	b.Release()
	noLeak(t, pool)
}

func TestUnionTellsHowColumnsDiffer(t *testing.T) {
	other := arrow.NewSchema([]arrow.Field{{Name: "ID", Type: arrow.PrimitiveTypes.Int32}, {Name: "Teir", Type: arrow.BinaryTypes.String}, orders.Field(2)}, nil)
	_, err := operator.Union().Bind([]operator.Stream{{Schema: orders}, {Schema: other, Time: operator.ProcessingTime}})
	for _, want := range []string{
		`input 1: column "ID" is int32, in input 0 it is int64; make them the same by a Select with a cast`,
		`input 1: no column "Tier"; did you mean "Teir"?`,
		`input 1: has columns that input 0 has not: "Teir"; leave them out by a Select or Drop before the union`,
		`input 1: is a stream of processing time, input 0 one of event time`,
	} {
		require.ErrorContains(t, err, want)
	}
	_, err = operator.Union().Bind([]operator.Stream{keyed})
	require.ErrorContains(t, err, "a union reads two inputs or more, it has 1")
	_, err = operator.UnionFromConfig(map[string]any{"x": 1})
	require.ErrorContains(t, err, `config.x: unknown field "x"`)
	op, err := operator.UnionFromConfig(nil)
	require.NoError(t, err)
	require.Equal(t, "union", op.Kind())
}
