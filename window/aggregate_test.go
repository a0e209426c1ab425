package window

import (
	"encoding/json"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/expr"
	"github.com/arkflow-go/arkflow/operator"
	"github.com/arkflow-go/arkflow/state"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// collectNothing counts rows.
type collectNothing struct{ rows int }

func (o *collectNothing) Emit(_ int, b *column.Batch) error {
	o.rows += b.Len()
	return nil
}

func pairOf(row int32, j int64) column.LatePair { return column.LatePair{Row: row, J: j} }

func TestW6FirstAndLastGoByEventTimeAndThenByValue(t *testing.T) {
	for _, order := range [][]int{{0, 1, 2, 3, 4}, {4, 3, 2, 1, 0}, {2, 4, 0, 3, 1}} {
		rows := [][]any{{1, "A", nil}, {2, "A", 7}, {2, "A", 5}, {9, "A", 3}, {9, "A", 4}}
		g := newRig(t, Tumbling(10*ms), []Aggregate{First("b"), Last("b")}, str, i64)
		for _, i := range order {
			g.feed(rows[i])
		}
		assert.Equal(t, []string{`"A"|0|10|5|4`}, g.end())
	}
}

func TestArgMaxTakesTheEarliestOfEqualRowsAndThenTheLeastValues(t *testing.T) {
	g := newRig(t, Tumbling(10*ms), []Aggregate{ArgMax("b", "c").As("top"), ArgMin("b", "c", "b")}, str, f64, str)
	g.feed([]any{5, "A", 2.0, "late"}, []any{3, "A", 2.0, "z"}, []any{3, "A", 2.0, "y"}, []any{4, "A", -1.0, "low"}, []any{1, "A", nil, "none"},
		[]any{6, "B", nil, "none"}, []any{6, "C", 1.0, nil})
	assert.Equal(t, []string{`"A"|0|10|"y"|"low"|-1`, `"B"|0|10|null|null|null`, `"C"|0|10|null|null|1`}, g.end())
	assert.Equal(t, []string{"top", "argmin_c", "argmin_b"}, names(g, 3))
}

// names gives the names of the columns from one on.
func names(g *rig, from int) (out []string) {
	b, err := New(Tumbling(10*ms), ArgMax("b", "c").As("top"), ArgMin("b", "c", "b")).Bind([]operator.Stream{g.in})
	require.NoError(g.t, err)
	for _, f := range b.Outputs()[operator.Main].Schema.Fields()[from:] {
		out = append(out, f.Name)
	}
	return out
}

func TestTiesGiveARowEach(t *testing.T) {
	for _, a := range []Assigner{Tumbling(10 * ms), Sliding(10*ms, 5*ms)} {
		g := newRig(t, a, []Aggregate{Count(), ArgMax("b", "c").Ties()}, str, str, i64)
		g.feed([]any{1, "A", "same beginning, x", 1}, []any{1, "A", "same beginning, y", 2}, []any{2, "A", "same beginning, y", 3}, []any{2, "A", "same beginning, y", 3},
			[]any{3, "A", "same", 4}, []any{3, "B", nil, 5})
		g.again(a, Count(), ArgMax("b", "c").Ties())
		g.feed([]any{4, "A", "same beginning, y", nil})
		g.watermark(10)
		var want []string
		for _, r := range g.results() {
			if r[4:8] == "0|10" {
				want = append(want, r)
			}
		}
		assert.Equal(t, []string{`"A"|0|10|6|2`, `"A"|0|10|6|3`, `"A"|0|10|6|3`, `"A"|0|10|6|null`, `"B"|0|10|1|null`}, want)
	}
}

// TestQ5HotItems is Nexmark's fifth query: the auctions with most bids over 10 s, every 2 s.
func TestQ5HotItems(t *testing.T) {
	bids := newRig(t, Sliding(10*ms, 2*ms), []Aggregate{Count().As("n")}, i64)
	bids.feed([]any{1, 7}, []any{1, 8}, []any{3, 8}, []any{3, 7}, []any{9, 9})
	b, err := New(Sliding(10*ms, 2*ms), Count().As("n")).Bind([]operator.Stream{bids.in})
	require.NoError(t, err)
	counts := b.Outputs()[operator.Main]
	columns := counts.Schema.Fields()
	columns[1].Name, columns[2].Name = "start", "end" // as Rename does
	counts.Schema, counts.Key = arrow.NewSchema(columns, nil), []string{"end"}
	hot := newInstanceT(t, bids.ctx, counts, Tumbling(2*ms), ArgMax("n", "a", "n").As("hot").Ties())
	out := &collect{}
	_, err = bids.x.OnWatermark(operator.MaxWatermark, pipe{hot, out})
	require.NoError(t, err)
	_, err = hot.OnWatermark(operator.MaxWatermark, out)
	require.NoError(t, err)
	// Results of a window have the time of its end − 1: the second window has those of one.
	assert.Contains(t, out.results, `2|0|2|7|1`)
	assert.Contains(t, out.results, `2|0|2|8|1`)
	assert.Contains(t, out.results, `10|8|10|7|2`)
	assert.Contains(t, out.results, `10|8|10|8|2`)
	assert.NotContains(t, out.results, `10|8|10|9|1`)
	assert.Contains(t, out.results, `14|12|14|9|1`)
}

// pipe hands results to another instance.
type pipe struct {
	to  operator.Instance
	out operator.Output
}

func (p pipe) Emit(_ int, b *column.Batch) error { return p.to.Process(0, b, p.out) }

func TestW6FiltersAndExpressionsAsArguments(t *testing.T) {
	b, c := expr.Col("b"), expr.Col("c")
	for _, a := range []Assigner{Tumbling(10 * ms), Sliding(10*ms, 5*ms)} {
		g := newRig(t, a, []Aggregate{Count(), CountIf(b.Gt(1)).As("large"), Sum(b.Mul(2)).As("double"), Sum("b").Filter(c.Eq("x")).Filter(b.Lt(9)), Max(c).Filter(b.Gt(100)).As("none")}, str, i64, str)
		rows := g.batch([]any{5, "A", 1, "x"}, []any{5, "A", 2, "x"}, []any{6, "A", 3, "y"}, []any{6, "A", nil, "x"}, []any{7, "A", 100, "x"}, []any{7, "A", 9, nil})
		rows.Sel = []uint32{0, 1, 2, 3, 5}
		require.NoError(t, g.x.Process(0, rows, g.out))
		rows.Release()
		g.watermark(15)
		r := g.results()
		assert.Equal(t, `"A"|`, r[len(r)-1][:4])
		assert.Contains(t, r[0], `|5|3|30|3|null`)
	}
}

func TestRowsWhoseArgumentsCannotBeComputedFollowTheErrorPolicy(t *testing.T) {
	agg := Sum(expr.Lit(12).Div(expr.Col("b"))).As("s")
	g := newRig(t, Tumbling(10*ms), []Aggregate{Count(), agg}, str, i64)
	require.ErrorContains(t, g.try([]any{1, "A", 0}), "division by zero")
	g = newRig(t, Tumbling(10*ms), []Aggregate{Count(), agg}, str, i64)
	g.ctx.OnError = operator.Skip()
	g.feed([]any{1, "A", 0}, []any{2, "A", 4}, []any{3, "A", 6})
	g.feed([]any{3, "B", 0})
	assert.Equal(t, []string{`"A"|0|10|2|5`}, g.end())
	assert.Equal(t, int64(2), g.ctx.Counters.Dropped()[operator.DropError])
}

func TestMistakesInArgumentsAreTold(t *testing.T) {
	in := operator.Stream{Schema: fields(str, i64), Key: []string{"a"}}
	for want, agg := range map[string]Aggregate{
		`window.aggregates[0].where: expression b is no condition: its type is int64`: Count().Filter(expr.Col("b")),
		`sum of the expression b * 2 has no name; name it with As`:                    Sum(expr.Col("b").Mul(2)),
		`7 (a int) is no argument`:       Sum(7).As("s"),
		`argmax of no value`:             ArgMax("b"),
		`sum has no ties`:                Sum("b").Ties(),
		`no column "bb"`:                 ArgMax("b", "bb"),
		`the condition of Filter is nil`: Count().Filter(nil),
		`type utf8 has none`:             Sum("a"),
		`window.aggregates[0]`:           Sum(expr.Col("nothing")).As("s"),
	} {
		_, err := New(Tumbling(10*ms), agg).Bind([]operator.Stream{in})
		require.ErrorContains(t, err, want)
	}
	_, err := New(Tumbling(10*ms).Lateness(ms), ArgMax("b", "a").Ties()).Bind([]operator.Stream{in})
	require.ErrorContains(t, err, "ties cannot be corrected")
	_, err = New(Tumbling(10*ms), ArgMax("b", "a").Ties(), ArgMin("b", "a").Ties()).Bind([]operator.Stream{in})
	require.ErrorContains(t, err, "two aggregates of a window have ties")
	for want, a := range map[string]Assigner{
		`window.slide: slide "0s" is not positive`:                              Sliding(ms, 0),
		`window.slide: slide "-1ms" is not positive`:                            Sliding(ms, -ms),
		`window.size: size "0s" is not positive`:                                Sliding(0, ms),
		`window.slide: slide "1ns" is not a whole number of milliseconds`:       Sliding(ms, 1),
		`window.lateness: lateness "-1ms" is negative; give 0 or more`:          Tumbling(ms).Lateness(-ms),
		`window.lateness: lateness "1ns" is not a whole number of milliseconds`: Tumbling(ms).Lateness(1),
	} {
		_, err := New(a, Count()).Bind([]operator.Stream{in})
		require.ErrorContains(t, err, want)
	}
	in.Time = operator.ProcessingTime
	_, err = New(Tumbling(ms).Lateness(ms), Count()).Bind([]operator.Stream{in})
	require.ErrorContains(t, err, "nothing is late on a processing-time stream")
}

func TestW11CorrectedWindowsAreUpsertsAndNoWindowReadsThem(t *testing.T) {
	in := operator.Stream{Schema: fields(str, i64), Key: []string{"a"}}
	b, err := New(Tumbling(10*ms).Lateness(ms), Count()).Bind([]operator.Stream{in})
	require.NoError(t, err)
	out := b.Outputs()
	assert.Equal(t, operator.Upsert, out[operator.Main].Changes)
	assert.Equal(t, []string{"a", StartColumn}, out[operator.Main].ChangeKey)
	assert.Equal(t, operator.Append, out[operator.Late].Changes)
	s := out[operator.Main].Schema
	assert.Equal(t, arrow.Field{Name: UpdateColumn, Type: arrow.FixedWidthTypes.Boolean}, s.Field(s.NumFields()-1))
	results := out[operator.Main]
	results.Key = []string{"a"}
	_, err = New(Tumbling(time10), Count()).Bind([]operator.Stream{results})
	require.ErrorContains(t, err, "rows of this stream take the place of earlier ones with the same a, window_start")
}

const time10 = 10 * ms

func TestConfigOfSlidesLatenessAndArguments(t *testing.T) {
	b := expr.Col("b")
	for _, op := range []operator.Operator{
		New(Sliding(10*ms, 3*ms).Lateness(7*ms).Offset(ms), Count().Filter(b.Gt(1)).As("n"), First("b"), Last("b").As("l")),
		New(Sliding(ms, 9*ms), Sum(b.Mul(2)).As("s"), ArgMax("b", "a", b.Add(1).As("c")).As("x").Ties(), ArgMin(b, "a")),
	} {
		c, err := op.(*description).Config()
		require.NoError(t, err)
		text, err := json.Marshal(c)
		require.NoError(t, err)
		var read map[string]any
		require.NoError(t, json.Unmarshal(text, &read))
		again, err := FromConfig(read)
		require.NoError(t, err)
		assert.Equal(t, op.(operator.Described).Describe(), again.(operator.Described).Describe(), "%s", text)
		back, err := again.(*description).Config()
		require.NoError(t, err)
		assert.Equal(t, c, back)
	}
	for want, c := range map[string]map[string]any{
		`config.slide_ms: missing`:                                              {"type": "sliding", "size_ms": 5},
		`config.slide_ms: tumbling windows have no slide`:                       {"size_ms": 5, "slide_ms": 1},
		`config.late_policy: "update" needs allowed lateness; give lateness_ms`: {"size_ms": 5, "late_policy": "update"},
		`config.aggregates[0].values: <nil> is not a list`:                      {"size_ms": 5, "aggregates": []any{map[string]any{"function": "argmax", "column": "b"}}},
		`config.aggregates[0].expr: column and expr contradict each other`:      {"size_ms": 5, "aggregates": []any{map[string]any{"function": "sum", "column": "b", "expr": map[string]any{"col": "b"}}}},
		`config.aggregates[0].ties: 1 is not true or false`:                     {"size_ms": 5, "aggregates": []any{map[string]any{"function": "argmax", "column": "b", "values": []any{"a"}, "ties": 1}}},
	} {
		_, err := FromConfig(c)
		require.ErrorContains(t, err, want)
	}
	op, err := FromConfig(map[string]any{"size_ms": 5, "lateness_ms": 5, "late_policy": "update", "aggregates": []any{map[string]any{"function": "count"}}})
	require.NoError(t, err)
	assert.Equal(t, "tumbling 5ms lateness 5ms: count()", op.(operator.Described).Describe())
}

func TestProcessingTimeKeepsTheFirstAndLastArrival(t *testing.T) {
	g, clock, _ := processingRig(t, Tumbling(10*ms))
	g.x = newInstanceT(t, g.ctx, g.in, Tumbling(10*ms), First("a").As("f"), Last("a").As("l"), CountIf(expr.Col("a").Ne("x")).As("n"))
	g.arrive("A")
	clock.now = clock.now.Add(ms)
	g.arrive("A")
	require.NoError(t, g.x.OnDrain(g.out))
	assert.Equal(t, []string{`"A"|1000|1010|"A"|"A"|2`}, g.results())
}

func TestDamagedTuplesAreRefused(t *testing.T) {
	g := newRig(t, Tumbling(10*ms), []Aggregate{Last("b")}, str, str)
	g.feed([]any{1, "A", "value"})
	s := state.NewSnapshot()
	require.NoError(t, g.x.Snapshot(s))
	var tables []state.Table
	for table, err := range (state.Merged{Tasks: []state.Saved{s}}).Tables(stateWindows) {
		require.NoError(t, err)
		tables = append(tables, table.Clone())
	}
	require.Len(t, tables, 1)
	c := &tables[0].Cols[len(tables[0].Cols)-1]
	require.Equal(t, column.Bytes, c.Kind)
	whole := append([]byte(nil), c.Data...)
	for n := range whole {
		c.Data, c.Offsets[1] = append([]byte(nil), whole[:n]...), int32(n)
		y := newInstanceT(t, g.ctx, g.in, Tumbling(10*ms), Last("b"))
		damaged := state.NewSnapshot()
		require.NoError(t, g.x.(*instance).save(damaged))
		damaged.Table(stateWindows, tables[0])
		require.Error(t, y.Restore(state.Merged{Tasks: []state.Saved{damaged}}), "%d bytes", n)
	}
}
