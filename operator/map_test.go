package operator_test

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/operator"
)

type scored struct {
	ID    int64 `arkflow:"id"`
	Label string
	Score *float64
}

func score(o order) scored {
	s := scored{ID: o.ID, Label: "none"}
	if o.Tier != nil {
		s.Label = *o.Tier + "!"
		v := o.Amount * 2
		s.Score = &v
	}
	return s
}

func readScored(t require.TestingT, bs []*column.Batch) []scored {
	var out []scored
	for _, b := range bs {
		require.Nil(t, b.Sel)
		for i := range b.Rows {
			s := scored{ID: column.Values[int64](&b.Cols[0])[i], Label: strings.Clone(b.Cols[1].String(i))}
			if c := &b.Cols[2]; !c.IsNull(i) {
				v := column.Values[float64](c)[i]
				s.Score = &v
			}
			out = append(out, s)
		}
	}
	return out
}

func TestB4MapAgreesWithTheFunctionRowByRow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pool := column.NewDebugPool()
		policy := operator.Skip()
		ctx := newContext(pool, policy)
		refuse := rapid.Bool().Draw(t, "refuse")
		fn := func(o order) (scored, error) {
			if refuse && o.ID%3 == 0 {
				return scored{}, errors.New("refused")
			}
			return score(o), nil
		}
		inst, out := start(t, operator.MapErr(fn), ctx, operator.Stream{Schema: orders, Key: []string{"ID"}})
		require.Nil(t, out.Key)
		require.Equal(t, "id int64, Label utf8, Score? float64", describe(out.Schema))
		for range rapid.IntRange(1, 2).Draw(t, "batches") {
			rows := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) order {
				return order{rapid.Int64Range(0, 20).Draw(t, "id"), rapid.Ptr(rapid.String(), true).Draw(t, "tier"), rapid.Float64Range(-9, 9).Draw(t, "amount")}
			}), 1, 600).Draw(t, "rows")
			b := batch(pool, rows...)
			if rapid.Bool().Draw(t, "select") {
				b.Sel = []uint32{}
				for i := range rows {
					if i == 0 || rapid.Bool().Draw(t, "keep") {
						b.Sel = append(b.Sel, uint32(i))
					}
				}
			}
			var want []scored
			var kept []uint32
			for i := range b.Len() {
				if s, err := fn(rows[b.Row(i)]); err == nil {
					want, kept = append(want, s), append(kept, uint32(b.Row(i)))
				}
			}
			before := ctx.Counters.Dropped()["error"]
			var g gather
			require.NoError(t, inst.Process(0, b, &g))
			require.Equal(t, int64(b.Len()-len(want)), ctx.Counters.Dropped()["error"]-before)
			require.Equal(t, want, readScored(t, g.batches))
			var beside []hidden
			for _, m := range g.batches {
				beside = append(beside, hiddenOf(m)...)
			}
			require.Equal(t, wantHidden(false, kept...), beside)
			g.release()
			b.Release()
		}
		noLeak(t, pool)
	})
}

func describe(s *arrow.Schema) string {
	var parts []string
	for _, f := range s.Fields() {
		n := ""
		if f.Nullable {
			n = "?"
		}
		parts = append(parts, f.Name+n+" "+f.Type.String())
	}
	return strings.Join(parts, ", ")
}

func TestE6MapUnderFailTellsTheFirstRowOfTheBatch(t *testing.T) {
	pool := column.NewDebugPool()
	broken := errors.New("no such customer")
	inst, _ := start(t, operator.MapErr(func(o order) (scored, error) {
		if o.ID >= 3 {
			return scored{}, fmt.Errorf("look up: %w", broken)
		}
		return score(o), nil
	}), newContext(pool, operator.Fail()), operator.Stream{Schema: orders})
	b := batch(pool, someOrders...)
	var g gather
	err := inst.Process(0, b, &g)
	require.ErrorIs(t, err, broken)
	require.ErrorContains(t, err, "look up: no such customer (value {ID:3 Tier:0x")
	require.Empty(t, g.batches)
	b.Release()
	noLeak(t, pool)
}

func TestE6MapRefusesANullForAFieldThatIsNoPointer(t *testing.T) {
	type strict struct{ Tier string }
	same := func(s strict) strict { return s }
	for _, policy := range []operator.ErrorPolicy{operator.Fail(), operator.Skip()} {
		pool := column.NewDebugPool()
		ctx := newContext(pool, policy)
		inst, _ := start(t, operator.Map(same), ctx, operator.Stream{Schema: orders})
		b := batch(pool, someOrders...)
		var g gather
		err := inst.Process(0, b, &g)
		if policy.Skips() {
			require.NoError(t, err)
			requireDropped(t, ctx, map[string]int64{"error": 1})
			require.Equal(t, 4, g.rows())
			require.Equal(t, wantHidden(false, 0, 2, 3, 4), hiddenOf(g.batches[0]))
		} else {
			require.EqualError(t, err, `Tier: field "Tier" is null; make the field a pointer to take nulls`)
		}
		g.release()
		b.Release()
		noLeak(t, pool)
	}
}

func TestMapRefusesAnInstantThatItsColumnCannotHold(t *testing.T) {
	type at struct{ At time.Time }
	pool := column.NewDebugPool()
	inst, _ := start(t, operator.Map(func(o order) at { return at{time.Unix(1<<50, 0)} }), newContext(pool, operator.Fail()), operator.Stream{Schema: orders})
	b := batch(pool, someOrders...)
	err := inst.Process(0, b, &gather{})
	require.ErrorContains(t, err, `At: field "At" does not fit a Timestamp(µs) (value`)
	b.Release()
	noLeak(t, pool)
}

func TestMapLeaksNothingWhenTheFunctionOrWhatFollowsPanics(t *testing.T) {
	pool := column.NewDebugPool()
	inst, _ := start(t, operator.Map(func(o order) scored {
		if o.ID == 4 {
			panic("boom")
		}
		return score(o)
	}), newContext(pool, operator.Fail()), operator.Stream{Schema: orders})
	b := batch(pool, someOrders...)
	require.PanicsWithValue(t, "boom", func() { _ = inst.Process(0, b, &gather{}) })
	inst, _ = start(t, operator.Map(score), newContext(pool, operator.Fail()), operator.Stream{Schema: orders})
	require.PanicsWithValue(t, "downstream", func() { _ = inst.Process(0, b, panics{}) })
	require.ErrorIs(t, inst.Process(0, b, fails{}), errDownstream)
	b.Release()
	noLeak(t, pool)
}

type panics struct{}

func (panics) Emit(int, *column.Batch) error { panic("downstream") }

type fails struct{}

var errDownstream = errors.New("downstream failed")

func (fails) Emit(int, *column.Batch) error { return errDownstream }

func TestMapCutsBatchesWhoseStringsGrowLarge(t *testing.T) {
	type long struct{ Text string }
	pool := column.NewDebugPool()
	big := strings.Repeat("x", 100<<10)
	inst, _ := start(t, operator.Map(func(o order) long { return long{big} }), newContext(pool, operator.Fail()), operator.Stream{Schema: orders})
	rows := make([]order, 1000)
	var all []uint32
	for i := range rows {
		rows[i].ID = int64(i)
		all = append(all, uint32(i))
	}
	b := batch(pool, rows...)
	var g gather
	require.NoError(t, inst.Process(0, b, &g))
	require.Greater(t, len(g.batches), 1)
	var beside []hidden
	for _, m := range g.batches {
		require.LessOrEqual(t, len(m.Cols[0].Data), 90<<20)
		beside = append(beside, hiddenOf(m)...)
	}
	require.Equal(t, wantHidden(false, all...), beside)
	g.release()
	b.Release()
	noLeak(t, pool)
}

func TestMapBindTellsAllFaults(t *testing.T) {
	type in struct {
		Amuont float64
		ID     string
	}
	type out struct {
		M map[string]any
	}
	_, err := operator.Map[in, out](nil).Bind([]operator.Stream{{Schema: orders}})
	for _, want := range []string{"the function is nil", `no column "Amuont"; did you mean "Amount"?`, `column "ID" has type int64, the field has type string`,
		`type map[string]interface {} is no column`} {
		require.ErrorContains(t, err, want)
	}
	_, err = operator.Map(score).Bind(nil)
	require.EqualError(t, err, "a map reads one input, it has 0")
}

func TestMapHasANameInSpecs(t *testing.T) {
	m := operator.Map(score)
	require.Equal(t, "map", m.Kind())
	require.Equal(t, "operator_test.order to operator_test.scored", m.Describe())
	_, err := m.Config()
	require.EqualError(t, err, "function: the function has no name; give it one by Named and register it under that name")
	named := m.Named("score/v1")
	require.Empty(t, m.Name())
	require.Equal(t, "score/v1", named.Name())
	require.Equal(t, "score/v1: operator_test.order to operator_test.scored", named.Describe())
	c, err := named.Config()
	require.NoError(t, err)
	require.Equal(t, map[string]any{"function": "score/v1"}, c)

	lookup := func(name string) (operator.Operator, error) {
		if name != "score/v1" {
			return nil, &operator.Fault{Problem: "not registered"}
		}
		return m, nil
	}
	op, err := operator.MapFromConfig(c, lookup)
	require.NoError(t, err)
	require.Equal(t, "score/v1", op.(*operator.MapOperator).Name())
	for _, bad := range []struct {
		config map[string]any
		want   string
	}{
		{map[string]any{"function": "other"}, "config.function: not registered"},
		{map[string]any{"function": 5}, "config.function: want the name of a function, not 5"},
		{map[string]any{}, "config.function: is missing"},
		{map[string]any{"functoin": "x", "function": "score/v1"}, `config.functoin: unknown field "functoin"; did you mean "function"?`},
	} {
		_, err := operator.MapFromConfig(bad.config, lookup)
		require.ErrorContains(t, err, bad.want)
	}
	_, err = operator.MapFromConfig(c, nil)
	require.ErrorContains(t, err, "without a registry")
}

func TestP3MapAllocatesPerBatchOnly(t *testing.T) {
	type in struct {
		ID     int64
		Amount float64
	}
	pool := column.NewPool()
	inst, _ := start(t, operator.Map(func(o in) in { o.Amount = math.Abs(o.Amount); return o }), newContext(pool, operator.Fail()), operator.Stream{Schema: orders})
	b := batch(pool, make([]order, 4096)...)
	defer b.Release()
	b.Late = nil
	n := testing.AllocsPerRun(20, func() {
		if err := inst.Process(0, b, nothing{}); err != nil {
			t.Error(err)
		}
	})
	require.LessOrEqual(t, n, 3.0)
}

type nothing struct{}

func (nothing) Emit(int, *column.Batch) error { return nil }
