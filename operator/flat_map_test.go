package operator_test

import (
	"errors"
	"fmt"
	"iter"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/operator"
)

// ports keeps what an instance emits, by port.
type ports map[int]*gather

func (p ports) Emit(port int, b *column.Batch) error {
	if p[port] == nil {
		p[port] = &gather{}
	}
	return p[port].Emit(operator.Main, b)
}

func (p ports) release() {
	for _, g := range p {
		g.release()
	}
}

// hidden gives what travels beside the rows of a port.
func (p ports) hidden(port int) (out []hidden) {
	if p[port] == nil {
		return nil
	}
	for _, b := range p[port].batches {
		out = append(out, hiddenOf(b)...)
	}
	return out
}

// startAll is start for an operator of several outputs.
func startAll(t require.TestingT, op operator.Operator, ctx *operator.Context, in operator.Stream) operator.Instance {
	bound, err := op.Bind([]operator.Stream{in})
	require.NoError(t, err)
	inst, err := bound.New(ctx)
	require.NoError(t, err)
	return inst
}

type refused struct {
	ID  int64
	Why string
}

var refusals = operator.Side[refused]("refused")

// copies emits ID%4 rows, tells of rows whose ID ends in 7 beside them, and refuses those whose ID ends in 9 after it has emitted.
func copies(o order, emit func(scored), to *operator.Sides) error {
	for range o.ID % 4 {
		emit(score(o))
	}
	switch o.ID % 10 {
	case 7:
		refusals.Emit(to, refused{o.ID, "seven"})
	case 9:
		refusals.Emit(to, refused{o.ID, "nine"})
		return errors.New("nine")
	}
	return nil
}

func TestFlatMapAgreesWithTheFunctionRowByRow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pool := column.NewDebugPool()
		ctx := newContext(pool, operator.Skip())
		inst := startAll(t, operator.FlatMapSides(copies, refusals), ctx, operator.Stream{Schema: orders, Key: []string{"ID"}})
		rows := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) order {
			return order{rapid.Int64Range(0, 50).Draw(t, "id"), rapid.Ptr(rapid.String(), true).Draw(t, "tier"), 1}
		}), 1, 700).Draw(t, "rows")
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
		var from, side []uint32
		bad := 0
		for i := range b.Len() {
			o := rows[b.Row(i)]
			if o.ID%10 == 9 {
				bad++
				continue
			}
			for range o.ID % 4 {
				want, from = append(want, score(o)), append(from, uint32(b.Row(i)))
			}
			if o.ID%10 == 7 {
				side = append(side, uint32(b.Row(i)))
			}
		}
		out := ports{}
		require.NoError(t, inst.Process(0, b, out))
		var got []scored
		if out[0] != nil {
			got = readScored(t, out[0].batches)
		}
		require.Equal(t, want, got)
		require.Equal(t, wantHidden(false, from...), out.hidden(0))
		require.Equal(t, wantHidden(false, side...), out.hidden(1))
		require.Equal(t, int64(bad), ctx.Counters.Dropped()["error"])
		out.release()
		b.Release()
		noLeak(t, pool)
	})
}

func TestFlatMapHandsRowsOnWhileAFunctionMakesMany(t *testing.T) {
	type number struct{ N int64 }
	const n = 100_000
	for name, op := range map[string]operator.Operator{
		"emit": operator.FlatMap(func(_ order, emit func(number)) {
			for i := range int64(n) {
				emit(number{i})
			}
		}),
		"sequence": operator.FlatMapSeq(func(order) iter.Seq[number] {
			return func(yield func(number) bool) {
				for i := range int64(n) {
					if !yield(number{i}) {
						return
					}
				}
			}
		}),
		"may fail": operator.FlatMapErr(func(_ order, emit func(number)) error {
			for i := range int64(n) {
				emit(number{i})
			}
			return nil
		}),
	} {
		pool := column.NewDebugPool()
		inst, _ := start(t, op, newContext(pool, operator.Fail()), operator.Stream{Schema: orders})
		b := batch(pool, someOrders[:2]...)
		var g gather
		require.NoError(t, inst.Process(0, b, &g), name)
		require.Equal(t, 2*n, g.rows(), name)
		next := int64(0)
		for _, m := range g.batches {
			if name != "may fail" {
				require.LessOrEqual(t, m.Rows, 8192+256, "%s: rows leave before all are there", name)
			}
			for i := range m.Rows {
				require.Equal(t, next%n, column.Values[int64](&m.Cols[0])[i], name)
				require.Equal(t, 1000+next/n, m.Times[i], name)
				next++
			}
		}
		g.release()
		require.ErrorIs(t, inst.Process(0, b, fails{}), errDownstream, "%s: what follows fails while the function runs", name)
		b.Release()
		noLeak(t, pool)
	}
}

func TestE6FlatMapTakesBackWhatARowInErrorEmitted(t *testing.T) {
	type at struct{ At time.Time }
	for name, op := range map[string]operator.Operator{
		"error": operator.FlatMapErr(func(o order, emit func(at)) error {
			emit(at{time.Unix(o.ID, 0)})
			if o.ID == 3 {
				return errors.New("no")
			}
			return nil
		}),
		"a row that does not fit": operator.FlatMap(func(o order, emit func(at)) {
			emit(at{time.Unix(o.ID, 0)})
			if o.ID == 3 {
				emit(at{time.Unix(1<<50, 0)})
			}
		}),
	} {
		pool := column.NewDebugPool()
		ctx := newContext(pool, operator.Skip())
		inst, _ := start(t, op, ctx, operator.Stream{Schema: orders})
		b := batch(pool, someOrders...)
		var g gather
		require.NoError(t, inst.Process(0, b, &g), name)
		require.Equal(t, wantHidden(false, 0, 1, 3, 4), hiddenOf(g.batches[0]), name)
		requireDropped(t, ctx, map[string]int64{"error": 1})
		g.release()
		inst, _ = start(t, op, newContext(pool, operator.Fail()), operator.Stream{Schema: orders})
		require.Error(t, inst.Process(0, b, &g), name)
		require.Empty(t, g.batches)
		b.Release()
		noLeak(t, pool)
	}
}

func TestE6FlatMapTriesAgain(t *testing.T) {
	tries := 0
	op := operator.FlatMapErr(func(o order, emit func(scored)) error {
		emit(score(o))
		if tries++; tries < 3 {
			return errors.New("not now")
		}
		return nil
	})
	pool := column.NewDebugPool()
	inst, _ := start(t, op, newContext(pool, operator.Retry(2, time.Nanosecond)), operator.Stream{Schema: orders})
	b := batch(pool, someOrders[0])
	var g gather
	require.NoError(t, inst.Process(0, b, &g))
	require.Equal(t, 1, g.rows(), "what the failed tries emitted is gone")
	g.release()
	b.Release()
	noLeak(t, pool)
}

func TestSideOutputsThatTheOperatorWasNotGiven(t *testing.T) {
	type other struct{ N int64 }
	for want, emit := range map[string]func(to *operator.Sides){
		`side output "lost" was not given to the operator`:                  func(to *operator.Sides) { operator.Side[refused]("lost").Emit(to, refused{}) },
		`side output "refused" takes another type than operator_test.other`: func(to *operator.Sides) { operator.Side[other]("refused").Emit(to, other{}) },
	} {
		pool := column.NewDebugPool()
		inst := startAll(t, operator.FlatMapSides(func(_ order, _ func(scored), to *operator.Sides) error { emit(to); return nil }, refusals),
			newContext(pool, operator.Skip()), operator.Stream{Schema: orders})
		b := batch(pool, someOrders...)
		require.EqualError(t, inst.Process(0, b, ports{}), want)
		b.Release()
		noLeak(t, pool)
	}
}

func TestFlatMapBindTellsAllFaults(t *testing.T) {
	type bad struct{ C chan int }
	_, err := operator.FlatMapSides[order, bad](nil).Bind([]operator.Stream{{Schema: orders}})
	require.ErrorContains(t, err, "the function is nil")
	require.ErrorContains(t, err, "type chan int is no column")
	_, err = operator.FlatMapSides(copies, refusals, refusals, operator.Side[bad]("b"), operator.Side[refused]("main"), operator.Side[refused]("a b"), nil).
		Bind([]operator.Stream{{Schema: orders}})
	for _, want := range []string{`two outputs are named "refused"`, "side output b: field", `two outputs are named "main"`, `tag "a b" is not allowed`, "is nil"} {
		require.ErrorContains(t, err, want)
	}
	for _, op := range []operator.Operator{operator.FlatMap[order, scored](nil), operator.FlatMapErr[order, scored](nil), operator.FlatMapSeq[order, scored](nil)} {
		_, err = op.Bind([]operator.Stream{{Schema: orders}})
		require.EqualError(t, err, "function: the function is nil")
	}
	require.Nil(t, operator.FlatMap(func(order, func(scored)) {}).Tags())
	require.Equal(t, []string{"main", "refused"}, operator.FlatMapSides(copies, refusals).Tags())
}

func TestP3FlatMapAllocatesPerBatchOnly(t *testing.T) {
	type in struct {
		ID     int64
		Amount float64
	}
	pool := column.NewPool()
	inst, _ := start(t, operator.FlatMap(func(o in, emit func(in)) { emit(o); emit(o) }), newContext(pool, operator.Fail()), operator.Stream{Schema: orders})
	b := batch(pool, make([]order, 4000)...)
	defer b.Release()
	b.Late = nil
	require.NoError(t, inst.Process(0, b, nothing{}))
	n := testing.AllocsPerRun(20, func() {
		if err := inst.Process(0, b, nothing{}); err != nil {
			t.Error(err)
		}
	})
	require.LessOrEqual(t, n, 4.0)
}

func TestFilterFuncKeepsWholeRows(t *testing.T) {
	type view struct{ Tier *string }
	pool := column.NewDebugPool()
	ctx := newContext(pool, operator.Fail())
	inst, out := start(t, operator.FilterFunc(func(v view) bool { return v.Tier != nil && strings.HasPrefix(*v.Tier, "g") }), ctx, keyed)
	require.Equal(t, keyed, out)
	b := batch(pool, someOrders...)
	var g gather
	require.NoError(t, inst.Process(0, b, &g))
	require.Equal(t, []uint32{0, 4}, g.batches[0].Sel)
	require.Equal(t, wantHidden(true, 0, 4), hiddenOf(g.batches[0]))
	requireDropped(t, ctx, map[string]int64{"filtered": 3})
	g.release()
	b.Sel = []uint32{1, 2}
	require.NoError(t, inst.Process(0, b, &g))
	require.Empty(t, g.batches)
	b.Release()
	type strict struct{ Tier string }
	ctx = newContext(pool, operator.Skip())
	inst, _ = start(t, operator.FilterFunc(func(strict) bool { return true }), ctx, keyed)
	b = batch(pool, someOrders...)
	require.NoError(t, inst.Process(0, b, &g))
	require.Equal(t, 4, g.rows())
	requireDropped(t, ctx, map[string]int64{"error": 1})
	g.release()
	b.Release()
	noLeak(t, pool)
	_, err := operator.FilterFunc[order](nil).Bind([]operator.Stream{keyed})
	require.ErrorContains(t, err, "the function is nil")
}

func TestFunctionsAreLookedUpByTheirKind(t *testing.T) {
	registered := map[string]operator.Operator{
		"map": operator.Map(score), "flat": operator.FlatMapSides(copies, refusals), "keep": operator.FilterFunc(func(order) bool { return true }),
	}
	lookup := func(name string) (operator.Operator, error) {
		if op, ok := registered[name]; ok {
			return op, nil
		}
		return nil, fmt.Errorf("no function %q", name)
	}
	op, err := operator.FlatMapFromConfig(map[string]any{"function": "flat"}, lookup)
	require.NoError(t, err)
	require.Equal(t, "flat: operator_test.order to any number of operator_test.scored", op.(operator.Described).Describe())
	op, err = operator.FilterFuncFromConfig(map[string]any{"function": "keep"}, lookup)
	require.NoError(t, err)
	require.Equal(t, "keep: function of operator_test.order", op.(operator.Described).Describe())
	_, err = operator.FlatMapFromConfig(map[string]any{"function": "map"}, lookup)
	require.EqualError(t, err, `config.function: function "map" is registered as a map, this is a flat_map; write kind: map, or name another function`)
}
