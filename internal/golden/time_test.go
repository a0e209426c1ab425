package golden

import (
	"math"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/arkflow-go/arkflow"
	. "github.com/arkflow-go/arkflow/arkflowtest"
	"github.com/arkflow-go/arkflow/connectors/drop"
	"github.com/arkflow-go/arkflow/operator"
	"github.com/arkflow-go/arkflow/window"
	"github.com/stretchr/testify/require"
)

// counting is: rows per key and tumbling window, late rows to a sink.
func counting(s *arrow.Schema, policy arkflow.TimePolicy, a window.Assigner) *arkflow.Job {
	job := arkflow.NewJob("counting")
	w := job.Source("in", source(s), policy).KeyBy("k").Window("w", a, window.Count().As("rows"))
	w.Sink("out", drop.Sink{})
	w.Late().Sink("late", drop.Sink{})
	return job
}

func timeSchema(t arrow.DataType) *arrow.Schema {
	return schemaOf(field("k", arrow.BinaryTypes.String), field("ts", t))
}

// stamp is t as a value of a time column: an Int64 column takes ms.
func stamp(typ arrow.DataType, t time.Time) any {
	if typ.ID() == arrow.INT64 {
		return t.UnixMilli()
	}
	return t
}

// win is a result of counting.
func win(key any, start, end, rows int64) map[string]any {
	return map[string]any{"k": key, "window_start": time.UnixMilli(start), "window_end": time.UnixMilli(end), "rows": rows}
}

func TestT1GoldenTimestampUnitsWithAndWithoutZone(t *testing.T) {
	types := map[string]arrow.DataType{
		"int64": arrow.PrimitiveTypes.Int64, "s": &arrow.TimestampType{Unit: arrow.Second}, "ms": &arrow.TimestampType{Unit: arrow.Millisecond, TimeZone: "UTC"},
		"us": &arrow.TimestampType{Unit: arrow.Microsecond, TimeZone: "Europe/Berlin"}, "ns": &arrow.TimestampType{Unit: arrow.Nanosecond},
	}
	at := func(s float64) time.Time { return time.Unix(0, int64(s*1e9)).UTC() }
	for name, typ := range types {
		t.Run(name, func(t *testing.T) {
			s := timeSchema(typ)
			in := input{schema: s, splits: [][][]any{{}, {}}}
			for i, v := range []float64{-3, -1, -2, 0, 1, 5, 4, 1e9, 1e9 + 3, -4, 1e9 + 1} {
				in.splits[i%2] = append(in.splits[i%2], []any{"a", stamp(typ, at(v))})
			}
			out, late := tumbling{size: 2000, keys: []string{"k"}, aggs: []agg{{"rows", "count", ""}}}.run(t, in.timed("ts", 1000))
			require.NotEmpty(t, late)
			Verify(t, counting(s, arkflow.EventTime("ts", arkflow.OutOfOrderness(time.Second)), window.Tumbling(2*time.Second)), in.from("in"),
				Want("out", out...), Want("late", late...), Counts("w", "out", "rows"))
		})
	}
}

func TestB57WindowsBeforeTheEpochGoldenInEveryRegime(t *testing.T) {
	s := timeSchema(arrow.PrimitiveTypes.Int64)
	rows := Table(s, []any{"a", int64(-25)}, []any{"a", int64(-11)}, []any{"a", int64(-10)}, []any{"a", int64(-1)})
	Verify(t, counting(s, arkflow.EventTime("ts"), window.Tumbling(10*msec)), From("in", rows),
		Want("out", win("a", -30, -20, 1), win("a", -20, -10, 1), win("a", -10, 0, 2)), WantLines("late"))
	Verify(t, counting(s, arkflow.EventTime("ts"), window.Tumbling(10*msec).Offset(3*msec)),
		From("in", Table(s, []any{"a", int64(-8)}, []any{"a", int64(2)})),
		Want("out", win("a", -17, -7, 1), win("a", -7, 3, 1)))
}

func TestB59BoundariesInTheUnitOfTheDataGoldenInEveryRegime(t *testing.T) {
	us := timeSchema(&arrow.TimestampType{Unit: arrow.Microsecond})
	at := func(n int64) time.Time { return time.UnixMicro(n).UTC() }
	Verify(t, counting(us, arkflow.EventTime("ts"), window.Tumbling(time.Second)),
		From("in", Table(us, []any{"a", at(-1)}, []any{"a", at(1_000_500)}, []any{"a", at(1_999_999)}, []any{"a", at(2_000_000)})),
		Want("out", win("a", -1000, 0, 1), win("a", 1000, 2000, 2), win("a", 2000, 3000, 1)))
	ns := timeSchema(&arrow.TimestampType{Unit: arrow.Nanosecond})
	Verify(t, counting(ns, arkflow.EventTime("ts"), window.Tumbling(time.Second)),
		From("in", Table(ns, []any{"a", time.Unix(0, -1)}, []any{"a", time.Unix(0, 999_999_999)})),
		Want("out", win("a", -1000, 0, 1), win("a", 0, 1000, 1)))
}

func TestB60UnitConversionNeverWraps(t *testing.T) {
	sec := timeSchema(&arrow.TimestampType{Unit: arrow.Second})
	job := counting(sec, arkflow.EventTime("ts"), window.Tumbling(time.Second))
	Run(t, job, From("in", Table(sec, []any{"a", time.Unix(253402300799, 0)})), Want("out", win("a", 253402300799000, 253402300800000, 1)))
	ms := timeSchema(&arrow.TimestampType{Unit: arrow.Millisecond})
	Run(t, counting(ms, arkflow.EventTime("ts"), window.Tumbling(time.Second)), From("in", Table(ms, []any{"a", time.UnixMilli(-30610224000000)})),
		Want("out", win("a", -30610224000000, -30610223999000, 1)))
	// Seconds that do not fit into ms are an error that names operator, column and row.
	_, err := Try(t.Context(), job, From("in", Table(sec, []any{"a", time.Unix(math.MaxInt64/1000+1, 0)})))
	require.ErrorContains(t, err, `operator "in"`)
	require.ErrorContains(t, err, `"ts"`)
	require.ErrorContains(t, err, "row 0")
	// At the ends of int64 there is no window: an error, or a row that is dropped and counted, never a window elsewhere.
	ints := timeSchema(arrow.PrimitiveTypes.Int64)
	for _, v := range []int64{math.MaxInt64, math.MinInt64, math.MinInt64 + 1, math.MaxInt64 - 1} {
		r, err := Try(t.Context(), counting(ints, arkflow.EventTime("ts", arkflow.OutOfOrderness(time.Second)), window.Tumbling(10*msec)), From("in", Table(ints, []any{"a", v})))
		if err != nil {
			require.ErrorContains(t, err, `operator "w"`, "ts %d", v)
			continue
		}
		for _, row := range r.Rows("out") {
			start, end := row["window_start"].(time.Time).UnixMilli(), row["window_end"].(time.Time).UnixMilli()
			require.True(t, start <= v && v < end, "ts %d in [%d, %d)", v, start, end)
		}
	}
}

// nullable gives a record whose null time slots hold garbage.
func nullable(t testing.TB, times []int64, valid []bool) arrow.RecordBatch {
	t.Helper()
	mem := memory.DefaultAllocator
	keys := array.NewStringBuilder(mem)
	for range times {
		keys.Append("a")
	}
	bits := memory.NewResizableBuffer(mem)
	bits.Resize((len(times) + 7) / 8)
	clear(bits.Bytes())
	nulls := 0
	for i, ok := range valid {
		if ok {
			bits.Bytes()[i/8] |= 1 << (i % 8)
		} else {
			nulls++
		}
	}
	data := array.NewData(arrow.PrimitiveTypes.Int64, len(times), []*memory.Buffer{bits, memory.NewBufferBytes(arrow.Int64Traits.CastToBytes(times))}, nil, nulls, 0)
	return array.NewRecordBatch(timeSchema(arrow.PrimitiveTypes.Int64), []arrow.Array{keys.NewArray(), array.NewInt64Data(data)}, int64(len(times)))
}

func TestT2B61NullEventTimesGoldenInEveryRegime(t *testing.T) {
	s := timeSchema(arrow.PrimitiveTypes.Int64)
	rec := nullable(t, []int64{1_700_000_000_000, math.MaxInt64, 1_700_000_001_000, math.MinInt64, 5}, []bool{true, false, true, false, true})
	nulls := nullable(t, []int64{math.MaxInt64, 7}, []bool{false, false})
	policy := arkflow.EventTime("ts", arkflow.OutOfOrderness(time.Second))
	want := Want("out", win("a", 1_700_000_000_000, 1_700_000_001_000, 1), win("a", 1_700_000_001_000, 1_700_000_002_000, 1))
	isNull := map[string]any{"k": "a", "ts": nil}

	// Route: rows without time leave with the late ones, as they are; they pass stateless operators and sinks.
	job := arkflow.NewJob("nulls")
	src := job.Source("in", source(s), policy)
	src.Sink("all", drop.Sink{})
	w := src.KeyBy("k").Window("w", window.Tumbling(time.Second), window.Count().As("rows"))
	w.Sink("out", drop.Sink{})
	w.Late().Sink("late", drop.Sink{})
	Verify(t, job, From("in", Records(nulls, rec), Records(nulls)), want, Counts("w", "out", "rows"),
		Want("late", isNull, isNull, isNull, isNull, isNull, isNull, map[string]any{"k": "a", "ts": int64(5)}))

	// Drop: they are counted by reason.
	job = arkflow.NewJob("nulls")
	job.Source("in", source(s), policy).KeyBy("k").Window("w", window.Tumbling(time.Second), window.Count().As("rows")).Sink("out", drop.Sink{})
	Verify(t, job, From("in", Records(rec)), want, Counts("w", "out", "rows"))
	status := Run(t, job, From("in", Records(rec))).Status().Operator("w")
	require.Equal(t, map[string]int64{operator.DropNullTimestamp: 2}, status.Dropped)
	require.Equal(t, int64(1), status.Late)

	// A batch of nulls moves no watermark, but it is activity: it does not let the split fall idle.
	job = counting(s, arkflow.EventTime("ts", arkflow.IdleTimeout(time.Minute)), window.Tumbling(10*msec))
	j := Start(t, job, From("in", Table(s, []any{"a", int64(1)}), Split{}))
	j.SendTo("in", 1, Table(s, []any{"a", int64(2)}))
	for range 5 { // split 1 goes on, split 0 has nulls only
		j.Advance(50 * time.Second)
		j.Send("in", Records(nulls))
		j.SendTo("in", 1, Table(s, []any{"b", int64(100)}))
		j.Settle()
	}
	require.Len(t, j.Written("out"), 0, "split 0 is active and holds W at 1")
	j.Advance(50 * time.Second)
	j.SendTo("in", 1, Table(s, []any{"b", int64(100)}))
	j.Advance(11 * time.Second)
	require.Len(t, j.Written("out"), 1, "split 0 is idle: W is 100")
	j.Drain()
}

func TestT11GoldenIngestionTimeByAFixedClock(t *testing.T) {
	s := timeSchema(arrow.PrimitiveTypes.Int64)
	job := counting(s, arkflow.IngestionTime(), window.Tumbling(time.Minute))
	some := func(keys ...string) Split {
		var rows [][]any
		for _, k := range keys {
			rows = append(rows, []any{k, nil})
		}
		return Table(s, rows...)
	}
	from := ClockStart.UnixMilli()
	Verify(t, job, From("in",
		Script(some("a", "b", "a"), Advance(59*time.Second), some("a"), Advance(time.Second), some("b", "b"), Advance(3*time.Minute), some("a")),
		Script(some("c"), Sync(), some("c", "c", "a"))),
		Want("out", win("a", from, from+60_000, 4), win("b", from, from+60_000, 1), win("c", from, from+60_000, 3), win("b", from+60_000, from+120_000, 2),
			win("a", from+240_000, from+300_000, 1)),
		WantLines("late"), Counts("w", "out", "rows"))
}

func TestT11GoldenProcessingTimeByAFixedClock(t *testing.T) {
	s := timeSchema(arrow.PrimitiveTypes.Int64)
	job := counting(s, arkflow.ProcessingTime(), window.Tumbling(time.Minute))
	from := ClockStart.UnixMilli()
	key := func(k string) []any { return []any{k, int64(-5)} }
	Verify(t, job, From("in",
		Script(Table(s, key("a"), key("b"), key("a")), Advance(70*time.Second), Table(s, key("a"), key("a")), Advance(time.Hour), Table(s, key("b"))),
		Table(s, key("c"), key("c"))),
		Want("out", win("a", from, from+60_000, 2), win("b", from, from+60_000, 1), win("c", from, from+60_000, 2), win("a", from+60_000, from+120_000, 2),
			win("b", from+3_660_000, from+3_720_000, 1)),
		WantLines("late"), Counts("w", "out", "rows"))
}

func TestGoldenASplitThatFallsIdleLetsOthersGoOn(t *testing.T) {
	s := timeSchema(arrow.PrimitiveTypes.Int64)
	job := counting(s, arkflow.EventTime("ts", arkflow.IdleTimeout(time.Minute)), window.Tumbling(10*msec))
	r := func(ts ...int64) Split {
		var rows [][]any
		for _, v := range ts {
			rows = append(rows, []any{"a", v})
		}
		return Table(s, rows...)
	}
	// The first split is silent for longer than its timeout; W goes on to 41, and what it has to say afterwards is late by W.
	Verify(t, job, From("in",
		Script(r(5), Sync(), Advance(2*time.Minute), Sync(), r(33, 45, 39)),
		Script(r(1, 12, 41), Sync(), Sync(), Sync(), Sync(), r(50))),
		Want("out", win("a", 0, 10, 2), win("a", 10, 20, 1), win("a", 40, 50, 2), win("a", 50, 60, 1)),
		Want("late", map[string]any{"k": "a", "ts": int64(33)}, map[string]any{"k": "a", "ts": int64(39)}),
		Counts("w", "out", "rows"))
}
