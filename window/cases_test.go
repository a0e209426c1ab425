package window

import (
	"fmt"
	"math"
	"sort"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/operator"
	"github.com/arkflow-go/arkflow/state"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// rig is one instance with its output, in debug memory.
type rig struct {
	t    *testing.T
	pool *column.Pool
	ctx  *operator.Context
	in   operator.Stream
	x    windowed
	out  *collect
}

func fields(types ...arrow.DataType) *arrow.Schema {
	var f []arrow.Field
	for i, t := range types {
		f = append(f, arrow.Field{Name: string(rune('a' + i)), Type: t, Nullable: true})
	}
	return arrow.NewSchema(f, nil)
}

// newRig makes an instance over columns a, b, c … of those types, keyed by a.
func newRig(t *testing.T, a Assigner, aggs []Aggregate, types ...arrow.DataType) *rig {
	g := &rig{t: t, pool: column.NewDebugPool(), in: operator.Stream{Schema: fields(types...), Key: []string{"a"}}, out: &collect{}}
	g.ctx = testContext(g.pool)
	g.ctx.OnError = operator.Fail()
	g.x = newInstanceT(t, g.ctx, g.in, a, aggs...)
	return g
}

// batch makes a batch whose rows are an event time (nil: none) and values.
func (g *rig) batch(rows ...[]any) *column.Batch {
	bl := column.NewBuilder(g.pool, g.in.Schema)
	for _, r := range rows {
		for i, v := range r[1:] {
			switch v := v.(type) {
			case nil:
				bl.Null(i)
			case bool:
				bl.Bool(i, v)
			case int:
				bl.Int64(i, int64(v))
			case float64:
				bl.Float64(i, v)
			case string:
				bl.String(i, v)
			case [2]uint64:
				bl.Col(i).Decimal(v[0], int64(v[1]))
			default:
				g.t.Fatalf("%T", v)
			}
		}
		switch ts := r[0].(type) {
		case nil:
			bl.Time(math.MaxInt64, false)
		case int:
			bl.Time(int64(ts), true)
		}
		bl.EndRow()
	}
	return bl.Finish()
}

func (g *rig) feed(rows ...[]any) {
	g.t.Helper()
	require.NoError(g.t, g.try(rows...))
}

func (g *rig) try(rows ...[]any) error {
	b := g.batch(rows...)
	defer b.Release()
	return g.x.Process(0, b, g.out)
}

func (g *rig) watermark(w int64) {
	g.t.Helper()
	f, err := g.x.OnWatermark(w, g.out)
	require.NoError(g.t, err)
	require.Equal(g.t, w, f)
}

// results gives the results so far, sorted, and forgets them; nothing may be lent any more.
func (g *rig) results() []string {
	g.t.Helper()
	require.NoError(g.t, g.pool.Check())
	r := g.out.results
	sort.Strings(r)
	g.out.results = nil
	return r
}

func (g *rig) end() []string {
	g.t.Helper()
	g.watermark(operator.MaxWatermark)
	n, _ := g.x.StateSize()
	require.Zero(g.t, n, "entries after the end")
	return g.results()
}

const ms = time.Millisecond

var str, i64, f64 = arrow.BinaryTypes.String, arrow.PrimitiveTypes.Int64, arrow.PrimitiveTypes.Float64

func TestB05LateIsJudgedByTheWindowsEnd(t *testing.T) {
	g := newRig(t, Tumbling(10*ms), []Aggregate{Count()}, str)
	g.feed([]any{8, "A"})
	g.watermark(8)
	g.feed([]any{5, "A"}) // behind W, but its window is open
	g.feed([]any{10, "A"})
	g.watermark(10)
	assert.Equal(t, []string{`"A"|0|10|2`}, g.results())
	g.feed([]any{9, "A"})
	assert.Equal(t, int64(1), g.ctx.Counters.Late())
	assert.Equal(t, []string{`"A"|10|20|1`}, g.end())
}

func TestT4LateIsAPropertyOfTheRowInItsSplitNotOfTheBatch(t *testing.T) {
	for _, cut := range []bool{false, true} {
		g := newRig(t, Tumbling(10*ms).OnLate(Route), []Aggregate{Count()}, str)
		b := g.batch([]any{21, "A"}, []any{3, "B"}, []any{4, "A"}, []any{25, "A"})
		b.Late = []column.LatePair{{Row: 1, J: 21}, {Row: 2, J: 21}}
		if cut { // the watermark of the whole came first
			g.watermark(20)
		}
		require.NoError(t, g.x.Process(0, b, g.out))
		b.Release()
		assert.Equal(t, []string{`"B"`, `"A"`}, g.out.late)
		assert.Equal(t, []string{`"A"|20|30|2`}, g.end())
	}
}

func TestB57WindowsBeforeTheEpoch(t *testing.T) {
	g := newRig(t, Tumbling(10*ms), []Aggregate{Count()}, str)
	g.feed([]any{-25, "A"}, []any{-11, "A"}, []any{-10, "A"}, []any{-1, "A"})
	assert.Equal(t, []string{`"A"|-10|0|2`, `"A"|-20|-10|1`, `"A"|-30|-20|1`}, g.end())
	g = newRig(t, Tumbling(10*ms).Offset(3*ms), []Aggregate{Count()}, str)
	g.feed([]any{2, "A"}, []any{-8, "A"})
	assert.Equal(t, []string{`"A"|-17|-7|1`, `"A"|-7|3|1`}, g.end())
}

func TestB57WindowsAtTheEndsOfTimeAreErrorsNotOtherWindows(t *testing.T) {
	for _, ts := range []int{math.MinInt64, math.MinInt64 + 7, math.MaxInt64, math.MaxInt64 - 6} {
		g := newRig(t, Tumbling(10*ms), []Aggregate{Count()}, str)
		err := g.try([]any{5, "A"}, []any{ts, "A"})
		require.ErrorContains(t, err, fmt.Sprintf("event time: the edges of its 10ms window do not fit 64 bits of milliseconds (value %d)", ts))
		g.ctx.OnError = operator.Skip()
		g.feed([]any{ts, "A"}, []any{5, "A"})
		assert.Equal(t, map[string]int64{"error": 1}, g.ctx.Counters.Dropped())
		assert.Equal(t, []string{`"A"|0|10|1`}, g.end())
	}
	g := newRig(t, Tumbling(10*ms), []Aggregate{Count()}, str)
	g.feed([]any{math.MinInt64 + 8, "A"}, []any{math.MaxInt64 - 8, "B"})
	assert.Equal(t, []string{`"A"|-9223372036854775800|-9223372036854775790|1`, `"B"|9223372036854775790|9223372036854775800|1`}, g.end())
}

func TestB59AndB60EdgesAreInMillisecondsOfTheFullRange(t *testing.T) {
	g := newRig(t, Tumbling(time.Second), []Aggregate{Count()}, str)
	g.feed([]any{1000, "A"}, []any{1999, "A"}, []any{2000, "A"}, []any{-1, "A"})
	assert.Equal(t, []string{`"A"|-1000|0|1`, `"A"|1000|2000|2`, `"A"|2000|3000|1`}, g.end())
	g = newRig(t, Tumbling(24*time.Hour), []Aggregate{Count()}, str)
	g.feed([]any{253402300799000, "A"}, []any{-30610224000000, "A"})
	assert.Equal(t, []string{`"A"|-30610224000000|-30610137600000|1`, `"A"|253402214400000|253402300800000|1`}, g.end())
}

func TestB61NullTimesFollowTheLatePolicyAndTouchNoWindow(t *testing.T) {
	for _, route := range []bool{false, true} {
		a := Tumbling(10 * ms)
		if route {
			a = a.OnLate(Route)
		}
		g := newRig(t, a, []Aggregate{Count()}, str)
		g.feed([]any{1700000000000, "A"}, []any{nil, "B"}, []any{1700000001000, "A"})
		g.feed([]any{nil, "B"}, []any{nil, "C"})
		if route {
			assert.Equal(t, []string{`"B"`, `"B"`, `"C"`}, g.out.late)
			assert.Empty(t, g.ctx.Counters.Dropped())
			assert.Equal(t, int64(3), g.ctx.Counters.Late())
		} else {
			assert.Equal(t, map[string]int64{"null_timestamp": 3}, g.ctx.Counters.Dropped())
			assert.Zero(t, g.ctx.Counters.Late())
		}
		assert.Equal(t, []string{`"A"|1700000000000|1700000000010|1`, `"A"|1700000001000|1700000001010|1`}, g.end())
	}
}

func TestB64TheLastWindowFiresAtTheEndAndOnlyThen(t *testing.T) {
	g := newRig(t, Tumbling(10*ms), []Aggregate{Count()}, str)
	for ts := 1; ts <= 25; ts++ {
		g.feed([]any{ts, "A"})
		g.watermark(int64(ts - 5))
	}
	assert.Equal(t, []string{`"A"|0|10|9`, `"A"|10|20|10`}, g.results())
	snap := state.NewSnapshot()
	require.NoError(t, g.x.Snapshot(snap)) // a stop: the open window is in state and not in the output
	g.x = newInstanceT(t, g.ctx, g.in, Tumbling(10*ms), Count())
	require.NoError(t, g.x.Restore(state.Merged{Tasks: []state.Saved{snap}}))
	assert.Empty(t, g.results())
	assert.Equal(t, []string{`"A"|20|30|6`}, g.end())
}

// What serves the next windows is kept up to a bound, so that a job that had very many keys once does not stay over its memory limit.
func TestB67LittleMemoryIsLeftWhereNoWindowIsOpen(t *testing.T) {
	for _, a := range []Assigner{Tumbling(time.Second), Sliding(time.Second, 100*time.Millisecond)} {
		for _, agg := range []Aggregate{Count(), Max("b")} {
			g := newRig(t, a.Unbounded(), []Aggregate{agg}, i64, i64)
			bl := column.NewBuilder(g.pool, g.in.Schema)
			for i := range 100_000 {
				bl.Int64(0, int64(i))
				bl.Int64(1, 1)
				bl.Time(int64(i%1000), true)
				bl.EndRow()
			}
			b := bl.Finish()
			require.NoError(t, g.x.Process(0, b, &folding0{}))
			b.Release()
			_, full := g.x.StateSize()
			_, err := g.x.OnWatermark(10_000, &folding0{})
			require.NoError(t, err)
			_, left := g.x.StateSize()
			assert.Less(t, left, int64(2<<20), "%s of %d bytes", a, full)
		}
	}
}

func TestB67NoStateIsLeftOfWindowsThatAreOver(t *testing.T) {
	g := newRig(t, Tumbling(time.Second).Unbounded(), []Aggregate{Count(), Max("b")}, i64, str)
	g.pool = column.NewPool()
	g.ctx.Pool = g.pool
	g.x = newInstanceT(t, g.ctx, g.in, Tumbling(time.Second).Unbounded(), Count(), Max("b"))
	sink := &folding0{}
	for w := range 4 {
		bl := column.NewBuilder(g.pool, g.in.Schema)
		for i := range 100_000 {
			bl.Int64(0, int64(w*100_000+i))
			bl.String(1, "some text")
			bl.Time(int64(w*1000+i%1000), true)
			bl.EndRow()
		}
		b := bl.Finish()
		require.NoError(t, g.x.Process(0, b, sink))
		b.Release()
		n, held := g.x.StateSize()
		assert.Equal(t, int64(100_000), n)
		assert.Less(t, held, int64(32<<20), "memory of windows that are over")
		_, err := g.x.OnWatermark(int64(w*1000+1000), sink)
		require.NoError(t, err)
		n, _ = g.x.StateSize()
		assert.Zero(t, n)
	}
	assert.Equal(t, int64(400_000), sink.rows)
}

type folding0 struct{ rows int64 }

func (o *folding0) Emit(_ int, b *column.Batch) error {
	o.rows += int64(b.Len())
	return nil
}

// decimal gives the words of a small decimal.
func decimal(v int64) [2]uint64 { return [2]uint64{uint64(v), uint64(v >> 63)} }

func TestB71DecimalSums(t *testing.T) {
	g := newRig(t, Tumbling(10*ms), []Aggregate{Sum("b"), Avg("b")}, str, &arrow.Decimal128Type{Precision: 4, Scale: 3})
	out := g.x.(*instance).b.Outputs()[0].Schema
	assert.Equal(t, "decimal(38, 3)", out.Field(3).Type.String())
	assert.Equal(t, "decimal(8, 7)", out.Field(4).Type.String())
	g.feed([]any{0, "A", decimal(9999)}, []any{0, "A", decimal(1234)}, []any{0, "A", decimal(1234)}, []any{0, "A", decimal(1234)},
		[]any{0, "B", decimal(-1)}, []any{0, "B", decimal(-1)}, []any{0, "B", decimal(0)})
	assert.Equal(t, []string{`"A"|0|10|13701|34252500`, `"B"|0|10|-2|-6667`}, g.end())

	m := [2]uint64{0x098A224000000000 - 1, 0x4B3B4CA85A86C47A} // 10^38 − 1
	minus := [2]uint64{^m[0] + 1, ^m[1]}
	g = newRig(t, Tumbling(10*ms), []Aggregate{Sum("b"), Avg("b"), Max("b"), Min("b")}, str, &arrow.Decimal128Type{Precision: 38})
	g.feed([]any{0, "A", m}, []any{0, "A", m}, []any{0, "A", minus}, []any{0, "A", minus})
	nines := strings.Repeat("9", 38)
	assert.Equal(t, []string{`"A"|0|10|0|0|` + nines + "|-" + nines}, g.end(), "a sum that leaves 128 bits and comes back")

	rows := make([][]any, 2470)
	for i := range rows {
		rows[i] = []any{0, "A", [2]uint64{0x2B878FE800000000, 0x13426172C74D82}}
	}
	g = newRig(t, Tumbling(10*ms), []Aggregate{Sum("b")}, str, &arrow.Decimal128Type{Precision: 38, Scale: 38})
	g.feed(rows...)
	_, err := g.x.OnWatermark(10, g.out)
	require.ErrorContains(t, err, "sum_b: sum does not fit decimal(38, 38) (value 2.47000000")
	require.NoError(t, g.pool.Check())
	g = newRig(t, Tumbling(10*ms), []Aggregate{Sum("b"), Count()}, str, &arrow.Decimal128Type{Precision: 38, Scale: 38})
	g.ctx.OnError = operator.Skip()
	g.feed(rows...)
	assert.Equal(t, []string{`"A"|0|10|null|2470`}, g.end())
	assert.Equal(t, map[string]int64{"error": 1}, g.ctx.Counters.Dropped())
}

func TestW7IntegerSumsAreExactWhateverTheOrder(t *testing.T) {
	g := newRig(t, Tumbling(10*ms), []Aggregate{Sum("b"), Avg("b")}, str, i64)
	g.feed([]any{0, "A", math.MaxInt64}, []any{0, "A", math.MaxInt64}, []any{0, "A", math.MinInt64}, []any{0, "A", math.MinInt64},
		[]any{0, "A", 6}, []any{1, "B", math.MinInt64}, []any{1, "B", -1}, []any{1, "B", 1})
	assert.Equal(t, []string{`"A"|0|10|4|0.8`, `"B"|0|10|-9223372036854775808|-3.0744573456182584e+18`}, g.end())
	g.x = newInstanceT(t, g.ctx, g.in, Tumbling(10*ms), Sum("b").As("total"))
	g.feed([]any{0, "A", math.MaxInt64}, []any{0, "A", 1})
	_, err := g.x.OnWatermark(10, g.out)
	require.EqualError(t, err, "total: sum does not fit int64 (value 9223372036854775808)")
}

func TestB72MinAndMaxOverNaNAndOverNothing(t *testing.T) {
	nan := math.NaN()
	g := newRig(t, Tumbling(10*ms), []Aggregate{Min("b"), Max("b"), Sum("b"), Avg("b")}, str, f64)
	g.feed([]any{0, "A", nan}, []any{0, "A", nan}, []any{0, "B", nan}, []any{0, "B", 1.0}, []any{0, "C", 1.0}, []any{0, "C", nan},
		[]any{0, "D", nil}, []any{0, "D", nil}, []any{0, "E", nil}, []any{0, "E", -2.5})
	assert.Equal(t, []string{`"A"|0|10|NaN|NaN|NaN|NaN`, `"B"|0|10|1|NaN|NaN|NaN`, `"C"|0|10|1|NaN|NaN|NaN`, `"D"|0|10|null|null|null|null`,
		`"E"|0|10|-2.5|-2.5|-2.5|-2.5`}, g.end())
	for _, c := range []struct {
		typ  arrow.DataType
		vals []any
		want string
	}{
		{i64, []any{nil, nil}, "null|null|0|2"},
		{i64, []any{math.MaxInt64, math.MaxInt64}, "9223372036854775807|9223372036854775807|2|2"},
		{i64, []any{math.MinInt64, nil}, "-9223372036854775808|-9223372036854775808|1|2"},
		{arrow.PrimitiveTypes.Uint8, []any{0, 255, 7}, "0|255|3|3"},
		{str, []any{"b", "", "abc", "abcdefgh1", "abcdefgh0"}, `""|"b"|5|5`},
		{str, []any{"abcdefgh1", "abcdefgh0", "abcdefgh"}, `"abcdefgh"|"abcdefgh1"|3|3`},
		{arrow.FixedWidthTypes.Boolean, []any{true, false}, "false|true|2|2"},
		{arrow.FixedWidthTypes.Timestamp_us, []any{-5, 3}, "-5|3|2|2"},
		{&arrow.Decimal128Type{Precision: 9, Scale: 2}, []any{decimal(-5), decimal(3), nil}, "-5|3|2|3"},
	} {
		g := newRig(t, Tumbling(10*ms), []Aggregate{Min("b"), Max("b"), Count("b"), Count()}, str, c.typ)
		for _, v := range c.vals {
			g.feed([]any{0, "A", v})
		}
		assert.Equal(t, []string{`"A"|0|10|` + c.want}, g.end(), "%v", c.vals)
	}
}

func TestB55SlicedArraysAreReadFromTheirOffset(t *testing.T) {
	for _, typ := range []arrow.DataType{i64, arrow.PrimitiveTypes.Int32, f64} {
		g := newRig(t, Tumbling(10*ms), []Aggregate{Sum("b"), Count("b"), Min("b"), Count()}, arrow.FixedWidthTypes.Boolean, typ)
		rb := array.NewRecordBuilder(memory.DefaultAllocator, g.in.Schema)
		rb.Field(0).(*array.BooleanBuilder).AppendValues([]bool{false, true, true, true}, nil)
		for _, v := range []string{"", "1", "2", ""} {
			if v == "" {
				rb.Field(1).AppendNull()
				continue
			}
			require.NoError(t, rb.Field(1).AppendValueFromString(v))
		}
		rec := rb.NewRecordBatch()
		slice := rec.NewSlice(1, 4)
		b, err := column.FromRecord(g.pool, slice)
		require.NoError(t, err)
		b.Times = []int64{0, 1, 2}
		require.NoError(t, g.x.Process(0, b, g.out))
		b.Release()
		assert.Equal(t, []string{"true|0|10|3|2|1|3"}, g.end())
	}
}

func TestStringsOfResultsAreCopiedOutOfBatches(t *testing.T) {
	g := newRig(t, Tumbling(time.Hour), []Aggregate{Max("b"), Min("b")}, i64, str)
	for i := range 3000 {
		g.feed([]any{0, i % 2, strings.Repeat("x", 20+i%100) + fmt.Sprint(i)}) // the debug pool poisons what was released
	}
	got := g.end()
	require.Len(t, got, 2)
	assert.Equal(t, `0|0|3600000|"`+strings.Repeat("x", 118)+`998"|"`+strings.Repeat("x", 20)+`0"`, got[0])
}

func TestHeapOfStringsIsBounded(t *testing.T) {
	g := newRig(t, Tumbling(time.Hour), []Aggregate{Max("b")}, i64, str)
	for i := range 20_000 {
		g.feed([]any{0, 1, strings.Repeat("x", i%400) + fmt.Sprintf("%09d", i) + strings.Repeat("y", i/100)})
	}
	_, size := g.x.StateSize()
	assert.Less(t, size, int64(300<<10))
	assert.Len(t, g.end(), 1)
}
