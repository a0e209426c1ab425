package generate

import (
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/operator"
)

// readFor reads until the source ends or d has passed: how many rows came at which time since the start.
func readFor(t *testing.T, s Source, d time.Duration) map[time.Duration]int {
	r := open(t, s, newContext(column.NewPool()), "0", nil)
	start := time.Now()
	end := time.NewTimer(d)
	defer end.Stop()
	got := map[time.Duration]int{}
	for {
		b, err := r.Poll()
		if err == io.EOF {
			break
		}
		require.NoError(t, err)
		if b != nil {
			got[time.Since(start)] += b.Rows
			b.Release()
			continue
		}
		select {
		case <-r.Ready():
		case <-end.C:
			require.NoError(t, r.Close()) // with a timer under way: nothing is left behind
			return got
		}
	}
	require.NoError(t, r.Close())
	return got
}

func TestIntervalGivesABatchAtOnceAndThenOneEachInterval(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := Source{Context: sample, Interval: 500 * time.Millisecond, BatchSize: 3, Count: 10}
		require.Equal(t, map[time.Duration]int{0: 3, 500 * time.Millisecond: 3, time.Second: 3, 1500 * time.Millisecond: 1}, readFor(t, s, time.Hour))
		s = Source{Context: sample, Interval: time.Second}
		require.Equal(t, map[time.Duration]int{0: 1, time.Second: 1, 2 * time.Second: 1}, readFor(t, s, 2500*time.Millisecond))
	})
}

func TestABatchOfMoreThan8192RowsComesInParts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := Source{Context: `{"a":1}`, Interval: time.Second, BatchSize: 20000}
		require.Equal(t, map[time.Duration]int{0: 20000, time.Second: 20000}, readFor(t, s, 1500*time.Millisecond))
		r := open(t, s, newContext(column.NewPool()), "0", nil)
		for _, want := range []int{8192, 8192, 3616} {
			b, err := r.Poll()
			require.NoError(t, err)
			require.Equal(t, want, b.Rows)
			b.Release()
		}
		require.NoError(t, r.Close())
	})
}

func TestRateKeepsTheAverage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, c := range []struct {
			rate   float64
			splits int
			rows   int
		}{{1000, 1, 2001}, {4, 1, 9}, {0.5, 1, 2}, {100_000, 1, 200_001}, {1000, 4, 501}} {
			total, polls := 0, 0
			for _, n := range readFor(t, Source{Context: `{"a":1}`, Rate: c.rate, NumSplits: c.splits}, 2*time.Second+time.Microsecond) {
				total += n
				polls++
			}
			require.InDelta(t, c.rows, total, max(1, c.rate/1000), "%v rows/s", c.rate)
			require.LessOrEqual(t, polls, 2_001, "a high rate does not wake up for every row")
		}
		got := readFor(t, Func(makeEvent, Rate(1000), Count(3)), time.Hour)
		require.Len(t, got, 3)
		for at := range got {
			require.Less(t, at%time.Millisecond, time.Microsecond, "each row comes when it is due: %s", at)
		}
	})
}

func TestRateCatchesUpAndIntervalDoesNot(t *testing.T) {
	start := time.Unix(100, 0)
	p := newPace(Source{Rate: 100, BatchSize: 4096, NumSplits: 1}, start)
	n, _ := p.due(start)
	require.Equal(t, 1, n)
	p.took(n)
	n, wait := p.due(start)
	require.Zero(t, n)
	require.InDelta(t, 10*time.Millisecond, wait, 2)
	n, _ = p.due(start.Add(5 * time.Second))
	require.Equal(t, 500, n)

	p = newPace(Source{Interval: time.Second, BatchSize: 2, NumSplits: 1}, start)
	n, _ = p.due(start)
	p.took(n)
	n, _ = p.due(start.Add(10 * time.Second))
	require.Equal(t, 2, n)
	p.took(n)
	n, wait = p.due(start.Add(10 * time.Second))
	require.Zero(t, n)
	require.Equal(t, time.Second, wait)
}

func TestAPaceNeverWaitsForNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := Source{Rate: rapid.Float64Range(1e-9, 1e9).Draw(t, "rate"), NumSplits: 1, BatchSize: rapid.IntRange(1, 9000).Draw(t, "batch")}
		now := time.Unix(0, 0)
		p := newPace(s, now)
		for range 50 {
			n, wait := p.due(now)
			if n == 0 {
				require.Positive(t, wait)
				require.LessOrEqual(t, wait, 24*time.Hour)
				now = now.Add(wait)
				continue
			}
			require.LessOrEqual(t, n, MaxBatchRows)
			p.took(n)
			require.LessOrEqual(t, float64(p.taken), now.Sub(p.start).Seconds()*s.Rate*(1+1e-9)+1)
		}
	})
}

func TestEveryAndOptions(t *testing.T) {
	s := Func(makeEvent, Every(time.Minute, 5), Count(7), Splits(2))
	require.Equal(t, time.Minute, s.Interval)
	require.Equal(t, 5, s.BatchSize)
	require.Equal(t, int64(7), s.Count)
	require.Equal(t, 2, s.NumSplits)
	require.Equal(t, "5 rows each 1m0s, 7 rows", s.Describe())
}

func TestLimitRowsMakesBatchesSmallerAndLosesNone(t *testing.T) {
	for _, s := range []Source{{Context: `{"a":1}`, Count: 10}, Func(func(i int64) struct{ A int64 } { return struct{ A int64 }{i} }, Count(10))} {
		pool := column.NewDebugPool()
		r := open(t, s, newContext(pool), "0", nil)
		r.(operator.RowLimiter).LimitRows(4)
		var got []int
		for {
			b, err := r.Poll()
			if err == io.EOF {
				break
			}
			require.NoError(t, err)
			got = append(got, b.Len())
			b.Release()
		}
		require.Equal(t, []int{4, 4, 2}, got)
		require.NoError(t, r.Close())
		require.NoError(t, pool.Check())
	}
}

func TestLagIsWhatIsDueOrLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lag := func(r operator.Reader) any {
			n, ok := r.(operator.LagReader).Lag()
			if !ok {
				return "unknown"
			}
			return n
		}
		for _, c := range []struct {
			s                    Source
			position             string
			first, later, polled any
		}{
			{Source{Context: sample, Rate: 10}, "5", int64(1), int64(31), int64(0)},
			{Source{Context: sample, Rate: 10, Count: 20}, "5", int64(1), int64(15), int64(0)},
			{Source{Context: sample, Count: 20}, "5", int64(15), int64(15), int64(0)},
			{Source{Context: sample, Count: 20}, "30", int64(0), int64(0), int64(0)},
			{Source{Context: sample}, "5", "unknown", "unknown", "unknown"},
			{Source{Context: sample, Interval: time.Second, Count: 20}, "5", "unknown", "unknown", "unknown"},
		} {
			r := open(t, c.s, newContext(column.NewPool()), "0", []byte(c.position))
			require.Equal(t, c.first, lag(r), c.s.Describe())
			time.Sleep(3 * time.Second)
			require.Equal(t, c.later, lag(r), c.s.Describe())
			if b, err := r.Poll(); err == nil {
				b.Release()
			}
			require.Equal(t, c.polled, lag(r), c.s.Describe())
			require.NoError(t, r.Close())
			require.NotPanics(t, func() { lag(r) })
		}
	})
}
