package operator_test

import (
	"math"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/operator"
	"github.com/arkflow-go/arkflow/state"
)

// timesOf makes a batch of one column of that type; a nil is a null. Every row is late by J = 5 in the time that it had before.
func timesOf(pool *column.Pool, t arrow.DataType, values ...*int64) *column.Batch {
	b := column.NewBuilder(pool, arrow.NewSchema([]arrow.Field{{Name: "at", Type: t, Nullable: true}}, nil))
	for _, v := range values {
		if v != nil {
			b.Int64(0, *v)
		}
		b.Time(1, true)
		b.EndRow()
	}
	out := b.Finish()
	for i := range values {
		out.Late = append(out.Late, column.LatePair{Row: int32(i), J: 5})
	}
	return out
}

func some(values ...int64) (out []*int64) {
	for _, v := range values {
		out = append(out, &v)
	}
	return out
}

func by(p operator.TimePolicy) operator.Operator {
	p.Kind, p.Column = operator.EventTimePolicy, "at"
	return operator.WithTimestamps(p)
}

func TestT9WithTimestampsJudgesRowsByTheOnesBeforeThem(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pool := column.NewDebugPool()
		delay := rapid.Int64Range(0, 30).Draw(t, "delay")
		op := by(operator.TimePolicy{OutOfOrderness: time.Duration(delay) * time.Millisecond})
		in := operator.Stream{Schema: timesOf(pool, arrow.PrimitiveTypes.Int64).Schema, Time: operator.ProcessingTime}
		inst, out := start(t, op, newContext(pool, operator.Fail()), in)
		require.Equal(t, operator.EventTime, out.Time)
		keeper := inst.(operator.Timekeeper)
		require.Equal(t, operator.MinWatermark, keeper.Watermark())
		w := operator.MinWatermark
		for range rapid.IntRange(1, 4).Draw(t, "batches") {
			values := rapid.SliceOfN(rapid.Ptr(rapid.Int64Range(0, 100), true), 1, 30).Draw(t, "values")
			b := timesOf(pool, arrow.PrimitiveTypes.Int64, values...)
			var want []hidden
			for i, v := range values {
				if rapid.IntRange(0, 5).Draw(t, "drop") == 0 {
					continue
				}
				b.Sel = append(b.Sel, uint32(i))
				h := hidden{-1, -1, -1}
				if v != nil {
					if h.time = *v; *v < w {
						h.late = w
					}
					w = max(w, *v-delay)
				}
				want = append(want, h)
			}
			if len(b.Sel) > 0 {
				var g gather
				require.NoError(t, inst.Process(0, b, &g))
				require.Equal(t, want, hiddenOf(g.batches[0]))
				g.release()
			}
			b.Release()
			require.Equal(t, w, keeper.Watermark())
			snap := state.NewSnapshot()
			require.NoError(t, inst.(operator.Stateful).Snapshot(snap))
			inst, _ = start(t, op, newContext(pool, operator.Fail()), in)
			keeper = inst.(operator.Timekeeper)
			require.NoError(t, inst.(operator.Stateful).Restore(state.Merged{Tasks: []state.Saved{snap}}))
			require.Equal(t, w, keeper.Watermark())
		}
	})
}

func TestT1WithTimestampsTakesEveryUnit(t *testing.T) {
	for _, c := range []struct {
		typ  arrow.DataType
		in   []int64
		want []int64
	}{
		{arrow.PrimitiveTypes.Int64, []int64{-5, 7}, []int64{-5, 7}},
		{&arrow.TimestampType{Unit: arrow.Millisecond, TimeZone: "UTC"}, []int64{-5, 7}, []int64{-5, 7}},
		{&arrow.TimestampType{Unit: arrow.Second}, []int64{-5, 7}, []int64{-5000, 7000}},
		{&arrow.TimestampType{Unit: arrow.Microsecond}, []int64{-1, 1999}, []int64{-1, 1}},
		{&arrow.TimestampType{Unit: arrow.Nanosecond}, []int64{-1_000_001, 1_999_999}, []int64{-2, 1}},
	} {
		pool := column.NewDebugPool()
		b := timesOf(pool, c.typ, some(c.in...)...)
		inst, _ := start(t, by(operator.TimePolicy{}), newContext(pool, operator.Fail()), operator.Stream{Schema: b.Schema})
		var g gather
		require.NoError(t, inst.Process(0, b, &g))
		require.Equal(t, c.want, g.batches[0].Times, "%s", c.typ)
		require.Empty(t, g.batches[0].Late, "what was late before is forgotten")
		g.release()
		b.Release()
		noLeak(t, pool)
	}
}

func TestE6WithTimestampsRefusesSecondsThatDoNotFit(t *testing.T) {
	pool := column.NewDebugPool()
	b := timesOf(pool, &arrow.TimestampType{Unit: arrow.Second}, append(some(1, math.MaxInt64/1000+1, 3, math.MinInt64), nil)...)
	inst, _ := start(t, by(operator.TimePolicy{}), newContext(pool, operator.Fail()), operator.Stream{Schema: b.Schema})
	require.EqualError(t, inst.Process(0, b, &gather{}), `event-time column "at": seconds do not fit into int64 milliseconds (value 9223372036854776)`)
	ctx := newContext(pool, operator.Skip())
	inst, _ = start(t, by(operator.TimePolicy{}), ctx, operator.Stream{Schema: b.Schema})
	var g gather
	require.NoError(t, inst.Process(0, b, &g))
	require.Equal(t, []hidden{{1000, -1, -1}, {3000, -1, -1}, {-1, -1, -1}}, hiddenOf(g.batches[0]))
	requireDropped(t, ctx, map[string]int64{"error": 2})
	g.release()
	b.Sel = []uint32{1, 3}
	require.NoError(t, inst.Process(0, b, &g))
	require.Empty(t, g.batches)
	b.Release()
	noLeak(t, pool)
}

func TestT10WithTimestampsIgnoresClocksThatAreAhead(t *testing.T) {
	pool := column.NewDebugPool()
	ctx := newContext(pool, operator.Fail())
	now := time.Now().UnixMilli()
	b := timesOf(pool, arrow.PrimitiveTypes.Int64, some(now, now+3_600_000, now-1)...)
	inst, _ := start(t, by(operator.TimePolicy{MaxFutureSkew: time.Minute}), ctx, operator.Stream{Schema: b.Schema})
	var g gather
	require.NoError(t, inst.Process(0, b, &g))
	require.Equal(t, now, inst.(operator.Timekeeper).Watermark())
	require.Equal(t, int64(1), ctx.Counters.Future())
	require.Equal(t, []column.LatePair{{Row: 2, J: now}}, g.batches[0].Late)
	g.release()
	b.Release()
	noLeak(t, pool)
}

func TestWithTimestampsBindTellsAllFaults(t *testing.T) {
	_, err := operator.WithTimestamps(operator.TimePolicy{Kind: operator.EventTimePolicy, Column: "Amonut", OutOfOrderness: -1, MaxFutureSkew: -1, IdleTimeout: 1}).
		Bind([]operator.Stream{keyed})
	for _, want := range []string{`column: no column "Amonut"; did you mean "Amount"?`, "out_of_orderness: -1ns is negative", "max_future_skew: -1ns is negative",
		"idle_timeout: an operator is idle where its input is; give the IdleTimeout to the source"} {
		require.ErrorContains(t, err, want)
	}
	_, err = operator.WithTimestamps(operator.TimePolicy{Column: "Amount"}).Bind([]operator.Stream{keyed})
	require.ErrorContains(t, err, "policy: is none of event time")
	require.ErrorContains(t, err, `column "Amount" is float64, which is no event time`)
}

func TestWithTimestampsIsConfigured(t *testing.T) {
	for _, config := range []map[string]any{
		{"column": "at"},
		{"column": "at", "out_of_orderness_ms": int64(2000), "max_future_skew_ms": int64(5)},
		{"column": "at", "out_of_orderness_ms": "1.5ms"},
	} {
		op, err := operator.TimestampsFromConfig(config)
		require.NoError(t, err)
		back, err := op.(interface {
			Config() (map[string]any, error)
		}).Config()
		require.NoError(t, err)
		require.Equal(t, config, back)
	}
	_, err := operator.TimestampsFromConfig(map[string]any{"column": 5, "out_of_orderness_ms": 1.5, "max_future_skew_ms": "soon", "idle": 1})
	for _, want := range []string{"config.column: want a name, not 5", "config.out_of_orderness_ms: want milliseconds, not 1.5", "config.max_future_skew_ms: want milliseconds, not soon",
		`config.idle: unknown field "idle"`} {
		require.ErrorContains(t, err, want)
	}
	require.ErrorContains(t, inst(t).Restore(short{}), "the greatest time is 3 bytes and not 8")
}

func inst(t *testing.T) operator.Stateful {
	i, _ := start(t, by(operator.TimePolicy{}), newContext(column.NewPool(), operator.Fail()),
		operator.Stream{Schema: arrow.NewSchema([]arrow.Field{{Name: "at", Type: arrow.PrimitiveTypes.Int64}}, nil)})
	return i.(operator.Stateful)
}

type short struct{ state.Reader }

func (short) Values(string) [][]byte { return [][]byte{{1, 2, 3}} }
