package engine

import (
	"errors"
	"log/slog"
	"math"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/operator"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// stageOf makes a source stage over one event-time column, outside a running job.
func stageOf(typ arrow.DataType, p operator.TimePolicy, onError operator.ErrorPolicy) (*sourceStage, *split, *column.Pool, *arrow.Schema) {
	x := &Execution{clock: operator.SystemClock{}, pool: column.NewDebugPool()}
	t := &task{exec: x, ctx: nil}
	n := &node{task: t, id: "src"}
	n.ctx = &operator.Context{Operator: "src", Clock: x.clock, Logger: slog.New(slog.DiscardHandler), OnError: onError, Counters: &n.counters}
	schema := arrow.NewSchema([]arrow.Field{{Name: "id", Type: arrow.PrimitiveTypes.Int64}, {Name: "ts", Type: typ, Nullable: true}}, nil)
	p.Kind = operator.EventTimePolicy
	return &sourceStage{task: t, node: n, policy: p, column: 1}, &split{id: "s", w: operator.MinWatermark}, x.pool, schema
}

func batchOf(pool *column.Pool, schema *arrow.Schema, times []*int64) *column.Batch {
	b := column.NewBuilder(pool, schema)
	for i, t := range times {
		b.Int64(0, int64(i))
		if t != nil {
			b.Int64(1, *t)
		}
		b.EndRow()
	}
	return b.Finish()
}

func ptrs(v ...int64) (out []*int64) {
	for i := range v {
		out = append(out, &v[i])
	}
	return out
}

// T3 and T4: the pairs (row, J) and the watermark of a split depend on the rows alone, however batches are cut.
func TestT4PairsDoNotDependOnBatchCuts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := rapid.Int64Range(0, 30).Draw(t, "delay")
		n := rapid.IntRange(1, 60).Draw(t, "rows")
		times := make([]*int64, n)
		for i := range times {
			if rapid.IntRange(0, 9).Draw(t, "null") > 0 {
				v := rapid.Int64Range(-50, 50).Draw(t, "ts")
				times[i] = &v
			}
		}
		// the model: J of a row is the greatest earlier time minus d
		want := map[int]int64{}
		var greatest *int64
		for i, ts := range times {
			if ts == nil {
				continue
			}
			if greatest != nil && *ts < *greatest-d {
				want[i] = *greatest - d
			}
			if greatest == nil || *ts > *greatest {
				greatest = ts
			}
		}
		s, sp, pool, schema := stageOf(arrow.PrimitiveTypes.Int64, operator.TimePolicy{OutOfOrderness: time.Duration(d) * time.Millisecond}, operator.Fail())
		got := map[int]int64{}
		for at := 0; at < n; {
			k := rapid.IntRange(1, n-at).Draw(t, "cut")
			b := batchOf(pool, schema, times[at:at+k])
			out, err := s.stamp(sp, b)
			b.Release()
			require.NoError(t, err)
			for _, l := range out.Late {
				got[at+int(l.Row)] = l.J
			}
			for i := range k {
				valid := out.TimeValid == nil || column.Bit(out.TimeValid, i)
				require.Equal(t, times[at+i] != nil, valid)
				if valid {
					require.Equal(t, *times[at+i], out.Times[i])
				}
			}
			out.Release()
			at += k
		}
		require.Equal(t, want, got)
		if greatest != nil {
			require.Equal(t, *greatest-d, sp.w)
		} else {
			require.Equal(t, operator.MinWatermark, sp.w, "T2: nulls move no watermark")
		}
		require.NoError(t, pool.Check())
	})
}

// T1: units are floored to ms, also before the epoch.
func TestT1EventTimeIsFlooredToMilliseconds(t *testing.T) {
	for _, c := range []struct {
		unit arrow.TimeUnit
		in   []int64
		want []int64
	}{
		{arrow.Second, []int64{2, 0, -1, math.MaxInt64 / 1000}, []int64{2000, 0, -1000, math.MaxInt64 / 1000 * 1000}},
		{arrow.Millisecond, []int64{5, -5}, []int64{5, -5}},
		{arrow.Microsecond, []int64{1999, 2000, -1, -1000, -1001, math.MinInt64}, []int64{1, 2, -1, -1, -2, -9223372036854776}},
		{arrow.Nanosecond, []int64{999_999_999, -1, math.MaxInt64}, []int64{999, -1, 9223372036854}},
	} {
		for _, zone := range []string{"", "UTC", "Europe/Berlin"} {
			s, sp, pool, schema := stageOf(&arrow.TimestampType{Unit: c.unit, TimeZone: zone}, operator.TimePolicy{}, operator.Fail())
			b := batchOf(pool, schema, ptrs(c.in...))
			out, err := s.stamp(sp, b)
			require.NoError(t, err)
			require.Equal(t, c.want, append([]int64(nil), out.Times...), "unit %s", c.unit)
			b.Release()
			out.Release()
			require.NoError(t, pool.Check())
		}
	}
}

// B60: seconds that do not fit into milliseconds are an error that names column and value, or are skipped and counted.
func TestB60SecondsThatDoNotFitAreAnError(t *testing.T) {
	in := ptrs(1, math.MaxInt64, 2, math.MinInt64, 3)
	s, sp, pool, schema := stageOf(&arrow.TimestampType{Unit: arrow.Second}, operator.TimePolicy{}, operator.Fail())
	b := batchOf(pool, schema, in)
	_, err := s.stamp(sp, b)
	var row *operator.RowError
	require.True(t, errors.As(err, &row))
	require.ErrorContains(t, err, `event-time column "ts"`)
	require.ErrorContains(t, err, "9223372036854775807")
	b.Release()
	require.NoError(t, pool.Check())

	s, sp, pool, schema = stageOf(&arrow.TimestampType{Unit: arrow.Second}, operator.TimePolicy{}, operator.Skip())
	b = batchOf(pool, schema, in)
	out, err := s.stamp(sp, b)
	require.NoError(t, err)
	require.Equal(t, []int64{1000, 2000, 3000}, append([]int64(nil), out.Times...))
	require.Equal(t, []int64{0, 2, 4}, append([]int64(nil), column.Values[int64](&out.Cols[0])...))
	require.Equal(t, map[string]int64{operator.DropError: 2}, s.node.counters.Dropped())
	b.Release()
	out.Release()
	require.NoError(t, pool.Check())
}

// B89: the watermark saturates; it is never the value that means "none".
func TestB89WatermarkSaturates(t *testing.T) {
	s, sp, pool, schema := stageOf(arrow.PrimitiveTypes.Int64, operator.TimePolicy{OutOfOrderness: time.Hour}, operator.Fail())
	b := batchOf(pool, schema, ptrs(math.MinInt64, math.MinInt64+1))
	out, err := s.stamp(sp, b)
	require.NoError(t, err)
	require.Equal(t, int64(math.MinInt64+1), sp.w)
	b.Release()
	out.Release()
	require.NoError(t, pool.Check())
}

func TestInOrderIsExactAtTheEndsOfTime(t *testing.T) {
	require.True(t, inOrder([]int64{math.MinInt64, 0, 0, math.MaxInt64}))
	require.False(t, inOrder([]int64{math.MaxInt64, math.MinInt64}))
	require.False(t, inOrder([]int64{1, 0}))
	require.True(t, inOrder([]int64{1}))
}

func BenchmarkStamp8192RowsInOrder(b *testing.B) {
	s, sp, _, schema := stageOf(arrow.PrimitiveTypes.Int64, operator.TimePolicy{}, operator.Fail())
	s.task.exec.pool = column.NewPool()
	v := make([]int64, 8192)
	for i := range v {
		v[i] = int64(i / 100)
	}
	batch := batchOf(s.task.exec.pool, schema, ptrs(v...))
	b.ReportAllocs()
	for b.Loop() {
		sp.has, sp.w = false, operator.MinWatermark
		out, _ := s.stamp(sp, batch)
		out.Release()
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/8192, "ns/row")
}

func TestInOrderSeesEveryStepBack(t *testing.T) {
	for n := 1; n <= 35; n++ {
		ts := make([]int64, n)
		for i := range ts {
			ts[i] = int64(i / 2) // equal times are in order
		}
		require.True(t, inOrder(ts), "%d", n)
		for i := 1; i < n; i++ {
			had := ts[i]
			ts[i] = ts[i-1] - 1
			require.False(t, inOrder(ts), "%d at %d", n, i)
			ts[i] = had
		}
	}
}
