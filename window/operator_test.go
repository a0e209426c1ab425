package window

import (
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/operator"
	"github.com/arkflow-go/arkflow/state"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestBindReportsEveryMistake(t *testing.T) {
	s := arrow.NewSchema([]arrow.Field{{Name: "customer", Type: str}, {Name: "amount", Type: f64}, {Name: "window_end", Type: i64}}, nil)
	in := operator.Stream{Schema: s, Key: []string{"customer"}}
	for _, c := range []struct {
		name string
		op   operator.Operator
		in   operator.Stream
		want []string
	}{
		{"size", New(Tumbling(0), Count()), in, []string{`window.size: size "0s" is not positive; give a size of at least 1ms`}},
		{"negative", New(Tumbling(-time.Second), Count()), in, []string{`size "-1s" is not positive`}},
		{"fraction", New(Tumbling(1500*time.Microsecond).Offset(time.Microsecond), Count()), in,
			[]string{`size "1.5ms" is not a whole number of milliseconds`, `window.offset: offset "1µs" is not a whole number`}},
		{"bound", New(Tumbling(ms).MaxBufferedKeys(0), Count()), in, []string{`window.max_buffered_keys: bound 0 is not positive; give at least 1, or Unbounded()`}},
		{"policies", New(Tumbling(ms).OnLate(9).OnFull(9), Count()), in, []string{`window.late_policy: no late policy 9`, `window.on_full: no policy 9`}},
		{"nothing", New(Tumbling(ms)), in, []string{`window.aggregates: no aggregate`}},
		{"no key", New(Tumbling(ms), Count()), operator.Stream{Schema: s}, []string{`the stream has no key; put KeyBy before the window`}},
		{"wrong key", New(Tumbling(ms), Count()), operator.Stream{Schema: s, Key: []string{"costumer"}}, []string{`key: no column "costumer"; did you mean "customer"?`}},
		{"wrong column", New(Tumbling(ms), Sum("amont")), in, []string{`window.aggregates[0]: no column "amont"; did you mean "amount"?`}},
		{"type", New(Tumbling(ms), Count(), Sum("customer"), Avg("customer")), in, []string{`window.aggregates[1]: sum of column "customer": type utf8 has none`, `window.aggregates[2]: avg`}},
		{"none", New(Tumbling(ms), Sum("")), in, []string{`sum of no column; name the column`}},
		{"many", New(Tumbling(ms), Count("customer", "amount")), in, []string{`count of 2 columns; give one column`}},
		{"twice", New(Tumbling(ms), Count(), Sum("amount").As("count"), Max("amount").As("customer"), Min("amount").As("window_start")), in,
			[]string{`window.aggregates[1]: output column "count" has the name of another aggregate; name it with As`, `has the name of a key column`, `has the name of the window's start`}},
		{"key named as an edge", New(Tumbling(ms), Count()), operator.Stream{Schema: s, Key: []string{"window_end"}}, []string{`key column "window_end" has the name of the window's end`}},
	} {
		_, err := c.op.Bind([]operator.Stream{c.in})
		for _, w := range c.want {
			require.ErrorContains(t, err, w, c.name)
		}
	}
	_, err := New(Tumbling(ms), Count()).Bind([]operator.Stream{in, in})
	require.ErrorContains(t, err, "a window reads one stream, not 2")
}

func TestW5OutputsDescribeResultsAndLateRows(t *testing.T) {
	s := arrow.NewSchema([]arrow.Field{{Name: "id", Type: arrow.PrimitiveTypes.Uint16}, {Name: "f", Type: arrow.PrimitiveTypes.Float32},
		{Name: "u", Type: arrow.PrimitiveTypes.Uint8}, {Name: "when", Type: arrow.FixedWidthTypes.Timestamp_s}, {Name: "d", Type: arrow.FixedWidthTypes.Duration_ms}}, nil)
	b, err := New(Tumbling(ms), Count(), Count("f"), Sum("f"), Avg("f"), Sum("u"), Min("when"), Max("u"), Sum("d")).Bind([]operator.Stream{{Schema: s, Key: []string{"id"}}})
	require.NoError(t, err)
	out := b.Outputs()
	var got []string
	for _, f := range out[operator.Main].Schema.Fields() {
		n := ""
		if f.Nullable {
			n = "?"
		}
		got = append(got, f.Name+" "+f.Type.String()+n)
	}
	assert.Equal(t, []string{"id uint16", "window_start timestamp[ms, tz=UTC]", "window_end timestamp[ms, tz=UTC]", "count int64", "count_f int64",
		"sum_f float32?", "avg_f float64?", "sum_u uint64?", "min_when timestamp[s, tz=UTC]?", "max_u uint8?", "sum_d duration[ms]?"}, got)
	assert.Empty(t, out[operator.Main].Key)
	assert.True(t, out[operator.Late].Schema.Equal(s))
}

func TestDescribeAndRouteLate(t *testing.T) {
	op := New(Tumbling(time.Minute).Offset(-time.Second), Count().As("n"), Max("amount"))
	assert.Equal(t, "window", op.Kind())
	assert.Equal(t, "tumbling 1m0s offset -1s: count() as n, max(amount)", op.(operator.Described).Describe())
	routed := op.(interface{ RouteLate() operator.Operator }).RouteLate()
	assert.Equal(t, Route, routed.(*description).assigner.late)
	assert.Equal(t, Drop, op.(*description).assigner.late, "the first is unchanged")
}

func TestConfigBothWays(t *testing.T) {
	for _, op := range []operator.Operator{
		New(Tumbling(time.Minute), Count()),
		New(Tumbling(time.Second).Offset(-7*ms).MaxBufferedKeys(5).OnFull(Fail).OnLate(Route), Count("a"), Sum("b").As("total"), Min("c"), Max("c"), Avg("c")),
		New(Tumbling(ms).Unbounded(), Count().As("n")),
	} {
		c, err := op.(interface {
			Config() (map[string]any, error)
		}).Config()
		require.NoError(t, err)
		direct, err := FromConfig(c)
		require.NoError(t, err)
		assert.Equal(t, op, direct)
		text, err := json.Marshal(c)
		require.NoError(t, err)
		var read map[string]any
		require.NoError(t, json.Unmarshal(text, &read))
		again, err := FromConfig(read)
		require.NoError(t, err)
		assert.Equal(t, op, again, "%s", text)
	}
	_, err := New(Tumbling(time.Microsecond), Count()).(*description).Config()
	require.ErrorContains(t, err, "whole number of milliseconds")
	n, err := FromConfig(map[string]any{"size_ms": json.Number("60000"), "max_buffered_keys": uint64(7), "offset_ms": 3})
	require.NoError(t, err)
	assert.Equal(t, Tumbling(time.Minute).Offset(3*ms).MaxBufferedKeys(7), n.(*description).assigner)
	n, err = FromConfig(map[string]any{"type": "sliding", "size_ms": "1m30s", "slide_ms": "500ms", "offset_ms": "-1s"})
	require.NoError(t, err)
	assert.Equal(t, Sliding(90*time.Second, 500*ms).Offset(-time.Second), n.(*description).assigner, "durations may be written as such")
}

func TestConfigMistakesComeBackTogether(t *testing.T) {
	_, err := FromConfig(map[string]any{"type": "tumblin", "size_ms": 1.5, "offset_ms": "x", "max_buffered_keys": 3, "on_full": "unbounded", "late_policy": "rout",
		"sice": 1, "aggregates": []any{map[string]any{"function": "summ", "column": 7, "name": "x"}, "count"}})
	for _, w := range []string{`config.type: no window type "tumblin"; did you mean "tumbling"?`, `config.size_ms: 1.5 is not a whole number`, `config.offset_ms: x is not a whole number`,
		`config.on_full: "unbounded" contradicts max_buffered_keys`, `config.late_policy: no late policy "rout"; did you mean "route"?`, `config: no field "sice"`,
		`config.aggregates[0].function: no aggregate function "summ"; did you mean "sum"?`, `config.aggregates[0].column: 7 is not a text`, `config.aggregates[0]: no field "name"`,
		`config.aggregates[1]: count is not an object`} {
		require.ErrorContains(t, err, w)
	}
	for w, c := range map[string]map[string]any{
		`config.size_ms: missing`:                             {},
		`config.late_policy: "update" needs allowed lateness`: {"size_ms": 1, "late_policy": "update"},
		`config.on_full: no policy "drop"`:                    {"size_ms": 1, "on_full": "drop"},
		`is more than 292 years`:                              {"size_ms": int64(1) << 62},
		`config.aggregates: 3 is not a list`:                  {"size_ms": 1, "aggregates": 3},
		`config.max_buffered_keys: 1e+300 is not`:             {"size_ms": 1, "max_buffered_keys": 1e300},
	} {
		_, err := FromConfig(c)
		require.ErrorContains(t, err, w)
	}
}

func TestRestoreRefusesStateThatIsNotItsOwn(t *testing.T) {
	g := newRig(t, Tumbling(10*ms), []Aggregate{Count(), Sum("b")}, str, i64)
	g.feed([]any{1, "A", 1})
	snap := state.NewSnapshot()
	require.NoError(t, g.x.Snapshot(snap))
	for want, x := range map[string]windowed{
		"state is of windows of 10 ms with offset 0 ms, the job's are windows of 20 ms with offset 0 ms": newInstanceT(t, g.ctx, g.in, Tumbling(20*ms), Count(), Sum("b")),
		"keys, aggregates or their types have changed":                                                   newInstanceT(t, g.ctx, g.in, Tumbling(10*ms), Count(), Max("b")),
	} {
		require.ErrorContains(t, x.Restore(state.Merged{Tasks: []state.Saved{snap}}), want)
	}
	other := state.NewSnapshot()
	other.Value(stateValue, []byte(`{"format":2}`))
	require.ErrorContains(t, g.x.Restore(state.Merged{Tasks: []state.Saved{other}}), "state has format 2, this version reads 1")
	broken := state.NewSnapshot()
	broken.Value(stateValue, []byte(`{`))
	require.Error(t, g.x.Restore(state.Merged{Tasks: []state.Saved{broken}}))
}

func TestErrorsOfTheOutputEndTheCall(t *testing.T) {
	boom := errors.New("boom")
	g := newRig(t, Tumbling(10*ms).OnLate(Route), []Aggregate{Count(), Max("a")}, str)
	g.feed([]any{1, "A"}, []any{11, "A"})
	_, err := g.x.OnWatermark(10, failing{boom})
	require.ErrorIs(t, err, boom)
	require.NoError(t, g.pool.Check())
	b := g.batch([]any{2, "A"})
	require.ErrorIs(t, g.x.Process(0, b, failing{boom}), boom)
	b.Times = nil
	require.ErrorIs(t, g.x.Process(0, b, g.out), errNoTimes)
	b.Release()
	require.NoError(t, g.pool.Check())
}

type failing struct{ err error }

func (f failing) Emit(int, *column.Batch) error { return f.err }

// TestP3NoAllocationOnTheRowPath: batches that only meet known keys, and firings, allocate a handful of times at most.
func TestP3NoAllocationOnTheRowPath(t *testing.T) {
	for _, c := range []struct {
		text, late bool
	}{{false, false}, {true, false}, {false, true}} {
		f := newFeed(1000, c.text, c.late)
		x := newInstance(t, benchContext(), operator.Stream{Schema: f.schema, Key: []string{"key"}}, Tumbling(time.Second), Count(), Sum("price"), Avg("price"), Max("price"))
		out := &folding{}
		step := func() {
			b := f.ring[0]
			f.fill(b)
			if err := x.Process(0, b, out); err != nil {
				t.Fatal(err)
			}
			if _, err := x.OnWatermark(int64(f.next/100)-100, out); err != nil {
				t.Fatal(err)
			}
		}
		for range 60 {
			step()
		}
		assert.LessOrEqual(t, testing.AllocsPerRun(60, step), 2.0, "%+v", c)
		assert.NotZero(t, out.rows)
	}
}
