package window

import (
	"fmt"
	"log/slog"
	"math"
	"sort"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/expr"
	"github.com/arkflow-go/arkflow/operator"
	"github.com/arkflow-go/arkflow/state"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

var anyTypes = []arrow.DataType{
	arrow.FixedWidthTypes.Boolean, arrow.PrimitiveTypes.Int8, arrow.PrimitiveTypes.Int16, arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Int64,
	arrow.PrimitiveTypes.Uint8, arrow.PrimitiveTypes.Uint16, arrow.PrimitiveTypes.Uint32, arrow.PrimitiveTypes.Uint64,
	arrow.PrimitiveTypes.Float32, arrow.PrimitiveTypes.Float64, arrow.BinaryTypes.String, arrow.BinaryTypes.LargeBinary,
	arrow.FixedWidthTypes.Date32, arrow.FixedWidthTypes.Date64, arrow.FixedWidthTypes.Time32s, arrow.FixedWidthTypes.Time64us,
	arrow.FixedWidthTypes.Timestamp_us, arrow.FixedWidthTypes.Duration_ns, &arrow.Decimal128Type{Precision: 20, Scale: 3},
	&arrow.Decimal128Type{Precision: 38, Scale: 2}, &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int32, ValueType: arrow.BinaryTypes.String},
}

var wordsToMeet = []string{"", "\x00", "a", "a|b", "b", "null", "exactly-15-byte", "sixteen-bytes-ok", "a string that is far longer than sixteen bytes", "another long string, of the same prefix: a"}

// value appends some value of the column's type; few different ones, extreme ones among them.
func value(t *rapid.T, a *column.Appender, wide bool) {
	if rapid.IntRange(0, 5).Draw(t, "null") == 0 {
		a.Null()
		return
	}
	n := rapid.IntRange(-3, 3).Draw(t, "n")
	extreme := wide && rapid.IntRange(0, 3).Draw(t, "extreme") == 0
	switch a.Kind() {
	case column.Bool:
		a.Bool(n > 0)
	case column.Bytes:
		a.String(rapid.SampledFrom(wordsToMeet).Draw(t, "s"))
	case column.Decimal:
		switch {
		case extreme && a.Type().(*arrow.Decimal128Type).Precision == 38 && n > 0:
			a.Decimal(0x098A224000000000-1, 0x4B3B4CA85A86C47A)
		case extreme && a.Type().(*arrow.Decimal128Type).Precision == 38:
			a.Decimal(^uint64(0x098A224000000000-1)+1, ^0x4B3B4CA85A86C47A)
		default:
			a.Decimal(uint64(int64(n)*1001), int64(n)>>63)
		}
	case column.Float32, column.Float64:
		a.Float64([]float64{math.Copysign(0, -1), 0, 1.5, -2.25, math.NaN(), math.Inf(1), 7}[n+3])
	default:
		v := int64(n)
		if extreme {
			v = []int64{math.MinInt64, math.MaxInt64, math.MinInt64 + 1, -1, math.MaxInt64, math.MaxInt64, math.MinInt64}[n+3]
		}
		a.Int64(v)
	}
}

// scenario is a stream with everything that a batch can carry.
type scenario struct {
	in     operator.Stream
	aggs   []Aggregate
	size   int64
	step   int64 // how far apart windows begin
	late   int64 // allowed lateness
	offset int64
	limit  int
	route  bool
}

// windowed is what an instance of a window operator can do.
type windowed interface {
	operator.Instance
	operator.WatermarkHandler
	operator.TimerHandler
	operator.Drainer
	operator.Stateful
	operator.Sized
}

func drawScenario(t *rapid.T) scenario {
	s := scenario{size: rapid.Int64Range(1, 12).Draw(t, "size"), offset: rapid.Int64Range(-20, 20).Draw(t, "offset")}
	s.step = s.size
	if rapid.IntRange(0, 2).Draw(t, "kind") > 0 {
		s.step = rapid.Int64Range(1, 14).Draw(t, "slide")
		s.size = rapid.Int64Range(1, 40).Draw(t, "size")
	}
	if rapid.Bool().Draw(t, "corrects") {
		s.late = rapid.Int64Range(0, 20).Draw(t, "lateness")
	}
	if s.size <= s.step && s.late == 0 && rapid.Bool().Draw(t, "bounded") {
		s.limit = rapid.IntRange(1, 12).Draw(t, "limit")
	}
	s.route = rapid.Bool().Draw(t, "route")
	var fields []arrow.Field
	for i := range rapid.IntRange(1, 3).Draw(t, "keys") {
		name := fmt.Sprintf("k%d", i)
		fields = append(fields, arrow.Field{Name: name, Type: rapid.SampledFrom(anyTypes).Draw(t, name), Nullable: true})
		s.in.Key = append(s.in.Key, name)
	}
	for i := range rapid.IntRange(1, 3).Draw(t, "values") {
		fields = append(fields, arrow.Field{Name: fmt.Sprintf("v%d", i), Type: rapid.SampledFrom(anyTypes).Draw(t, "v"), Nullable: true})
	}
	s.in.Schema = arrow.NewSchema(fields, nil)
	for i, a := range drawAggs(t, s.in.Schema, len(s.in.Key)) {
		if a.ties && s.late > 0 {
			continue
		}
		s.aggs = append(s.aggs, a.As(fmt.Sprintf("a%d", i)))
	}
	return s
}

func drawAggs(t *rapid.T, s *arrow.Schema, from int) []Aggregate {
	aggs := []Aggregate{Count()}
	for i := from; i < s.NumFields(); i++ {
		name := s.Field(i).Name
		other := s.Field(rapid.IntRange(from, s.NumFields()-1).Draw(t, "other")).Name
		greatest := ArgMax(name, other)
		if other != name {
			greatest = ArgMax(name, other, name)
		}
		for _, a := range []Aggregate{Count(name), Sum(name), Avg(name), Min(name), Max(name), First(name), Last(name),
			ArgMin(name, other), greatest} {
			if rapid.IntRange(0, 4).Draw(t, "filtered") == 0 {
				a = a.Filter(drawCondition(t, s))
			}
			if _, err := a.bind(newColumns(s), ""); err == nil && rapid.IntRange(0, 2).Draw(t, a.fn) > 0 {
				aggs = append(aggs, a)
			}
		}
	}
	if rapid.IntRange(0, 3).Draw(t, "ties") == 0 {
		by, value := s.Field(rapid.IntRange(from, s.NumFields()-1).Draw(t, "by")).Name, s.Field(s.NumFields()-1).Name
		a := ArgMax(by, value).Ties()
		if rapid.Bool().Draw(t, "least") {
			a.fn = "argmin"
		}
		aggs = append(aggs, a)
	}
	return aggs
}

// drawCondition gives a condition over some column.
func drawCondition(t *rapid.T, s *arrow.Schema) expr.Expr {
	c := expr.Col(s.Field(rapid.IntRange(0, s.NumFields()-1).Draw(t, "condition")).Name)
	if rapid.Bool().Draw(t, "null") {
		return c.IsNull()
	}
	return c.Eq(c)
}

// step is a batch or a watermark.
type step struct {
	b *column.Batch
	w int64
}

func (s *scenario) steps(t *rapid.T, pool *column.Pool) (out []step) {
	clock := rapid.Int64Range(-30, 30).Draw(t, "clock")
	for range rapid.IntRange(1, 8).Draw(t, "steps") {
		if rapid.IntRange(0, 3).Draw(t, "watermark") == 0 {
			out = append(out, step{w: clock - rapid.Int64Range(0, 15).Draw(t, "behind")})
			continue
		}
		bl := column.NewBuilder(pool, s.in.Schema)
		for range rapid.IntRange(1, 30).Draw(t, "rows") {
			for c := range s.in.Schema.NumFields() {
				value(t, bl.Col(c), c >= len(s.in.Key))
			}
			clock += rapid.SampledFrom([]int64{0, 0, 0, 1, 2, -3, -8}).Draw(t, "tick")
			bl.Time(clock, rapid.IntRange(0, 15).Draw(t, "timed") > 0)
			bl.EndRow()
		}
		b := bl.Finish()
		for r := range b.Rows {
			if rapid.IntRange(0, 4).Draw(t, "pair") == 0 {
				b.Late = append(b.Late, column.LatePair{Row: int32(r), J: b.Times[r] + rapid.Int64Range(1, 15).Draw(t, "j")})
			}
		}
		if rapid.IntRange(0, 2).Draw(t, "selection") == 0 {
			b.Sel = []uint32{}
			for r := range b.Rows {
				if r == 0 || rapid.Bool().Draw(t, "selected") {
					b.Sel = append(b.Sel, uint32(r))
				}
			}
		}
		out = append(out, step{b: b})
	}
	return append(out, step{w: operator.MaxWatermark})
}

func testContext(pool *column.Pool) *operator.Context {
	return &operator.Context{Operator: "w", Parallelism: 1, MaxParallelism: 128, KeyGroups: state.Range{End: 128}, Pool: pool,
		Clock: operator.SystemClock{}, Logger: slog.New(slog.DiscardHandler), OnError: operator.Skip(), Counters: &operator.Counters{}}
}

func (s *scenario) assigner() Assigner {
	a := Tumbling(time.Duration(s.size) * time.Millisecond)
	if s.step != s.size {
		a = Sliding(time.Duration(s.size)*time.Millisecond, time.Duration(s.step)*time.Millisecond)
	}
	a = a.Offset(time.Duration(s.offset) * time.Millisecond).Unbounded().Lateness(time.Duration(s.late) * time.Millisecond)
	if s.limit > 0 {
		a = a.MaxBufferedKeys(s.limit)
	}
	if s.route {
		a = a.OnLate(Route)
	}
	return a
}

// modelOf feeds the steps to the model.
func (s *scenario) modelOf(steps []step) *model {
	m := newModel(s.size, s.offset, s.limit, s.in.Key, s.aggs)
	m.step, m.lateness = s.step, s.late
	for _, st := range steps {
		if st.b == nil {
			m.advance(st.w)
			continue
		}
		for i := range st.b.Len() {
			r := st.b.Row(i)
			j := int64(math.MinInt64)
			for _, p := range st.b.Late {
				if int(p.Row) == r {
					j = p.J
				}
			}
			m.row(st.b, r, st.b.Times[r], st.b.TimeValid == nil || column.Bit(st.b.TimeValid, r), j)
		}
		m.correct()
	}
	return m
}

// TestAnyStreamGivesWhatTheModelGives runs any stream, with a snapshot and a restore wherever chance has it, and compares results,
// late rows and counts with those of the model that takes one row at a time.
func TestAnyStreamGivesWhatTheModelGives(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pool := column.NewDebugPool()
		s := drawScenario(t)
		steps := s.steps(t, pool)
		m := s.modelOf(steps)
		ctx := testContext(pool)
		x := newInstanceT(t, ctx, s.in, s.assigner(), s.aggs...)
		out := &collect{}
		rows := 0
		for _, st := range steps {
			if st.b == nil {
				_, err := x.OnWatermark(st.w, out)
				require.NoError(t, err)
			} else {
				rows += st.b.Len()
				require.NoError(t, x.Process(0, st.b, out))
			}
			if rapid.IntRange(0, 1).Draw(t, "restore") == 0 {
				x = restored(t, x, ctx, s)
			}
		}
		sort.Strings(m.results)
		ends := append([]int64(nil), out.ends...)
		sort.Slice(ends, func(i, j int) bool { return ends[i] < ends[j] })
		if s.late == 0 {
			require.Equal(t, ends, out.ends, "order of window ends")
		}
		sort.Strings(out.results)
		require.Equal(t, m.results, out.results)
		dropped := ctx.Counters.Dropped()
		require.Equal(t, m.lost, int(dropped[operator.DropEvicted]))
		require.Equal(t, m.gaps, int(dropped[operator.DropGap]))
		if s.route {
			require.Equal(t, m.late+m.nulls, int(ctx.Counters.Late()))
			require.Len(t, out.late, m.late+m.nulls)
		} else {
			require.Equal(t, m.late, int(ctx.Counters.Late()))
			require.Equal(t, m.nulls, int(dropped[operator.DropNullTimestamp]))
		}
		entries, _ := x.StateSize()
		require.Zero(t, entries)
		for _, st := range steps {
			if st.b != nil {
				st.b.Release()
			}
		}
		require.NoError(t, pool.Check())
	})
}

func newInstanceT(t require.TestingT, ctx *operator.Context, in operator.Stream, a Assigner, aggs ...Aggregate) windowed {
	b, err := New(a, aggs...).Bind([]operator.Stream{in})
	require.NoError(t, err)
	x, err := b.New(ctx)
	require.NoError(t, err)
	return x.(windowed)
}

// restored gives an instance with the state of another, by way of two tasks that each own half of the key groups.
func restored(t require.TestingT, x windowed, ctx *operator.Context, s scenario) windowed {
	one := state.NewSnapshot()
	require.NoError(t, x.Snapshot(one))
	half := func(r state.Range) *state.Snapshot {
		c := *ctx
		c.KeyGroups = r
		y := newInstanceT(t, &c, s.in, s.assigner(), s.aggs...)
		require.NoError(t, y.Restore(state.Merged{Tasks: []state.Saved{one}}))
		out := state.NewSnapshot()
		require.NoError(t, y.Snapshot(out))
		return out
	}
	y := newInstanceT(t, ctx, s.in, s.assigner(), s.aggs...)
	require.NoError(t, y.Restore(state.Merged{Tasks: []state.Saved{half(state.Range{End: 50}), half(state.Range{First: 50, End: 128})}}))
	return y
}
