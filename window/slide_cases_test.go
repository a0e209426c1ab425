package window

import (
	"fmt"
	"math"
	"sort"
	"testing"
	"time"

	"github.com/arkflow-go/arkflow/operator"
	"github.com/arkflow-go/arkflow/state"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// again gives the rig an instance that was restored from the state of its own.
func (g *rig) again(a Assigner, aggs ...Aggregate) {
	g.t.Helper()
	s := state.NewSnapshot()
	require.NoError(g.t, g.x.Snapshot(s))
	g.x = newInstanceT(g.t, g.ctx, g.in, a, aggs...)
	require.NoError(g.t, g.x.Restore(state.Merged{Tasks: []state.Saved{s}}))
}

func TestW2SlidingSize5Slide2EnumeratesEveryWindow(t *testing.T) {
	g := newRig(t, Sliding(5*ms, 2*ms), []Aggregate{Count()}, str)
	g.feed([]any{3, "A"}, []any{4, "A"})
	assert.Equal(t, []string{`"A"|0|5|2`, `"A"|2|7|2`, `"A"|4|9|1`}, g.sortedByStart())
}

// sortedByStart ends the input and gives the results in the order in which they came.
func (g *rig) sortedByStart() []string {
	g.t.Helper()
	g.watermark(operator.MaxWatermark)
	r := g.out.results
	g.out.results = nil
	return r
}

func TestW2SlidesGreaterThanTheSizeLeaveGaps(t *testing.T) {
	g := newRig(t, Sliding(3*ms, 10*ms).Offset(1*ms), []Aggregate{Count()}, str)
	g.feed([]any{0, "A"}, []any{1, "A"}, []any{3, "A"}, []any{4, "A"}, []any{-7, "A"}, []any{11, "A"})
	assert.Equal(t, []string{`"A"|-9|-6|1`, `"A"|1|4|2`, `"A"|11|14|1`}, g.sortedByStart())
	assert.Equal(t, map[string]int64{operator.DropGap: 2}, g.ctx.Counters.Dropped())
}

func TestRowsInGapsAreNeverLate(t *testing.T) {
	for _, w := range []int64{operator.MinWatermark, 6, 8, 9, 30} { // before, in and after the gap
		g := newRig(t, Sliding(3*ms, 10*ms).OnLate(Route), []Aggregate{Count()}, str)
		g.watermark(w)
		b := g.batch([]any{8, "A"}, []any{7, "A"}, []any{6, "A"})
		b.Late = append(b.Late, pairOf(1, 8), pairOf(2, 30))
		require.NoError(t, g.x.Process(0, b, g.out))
		b.Release()
		assert.Empty(t, g.out.late, "W = %d", w)
		assert.Equal(t, map[string]int64{operator.DropGap: 3}, g.ctx.Counters.Dropped(), "W = %d", w)
	}
}

func TestB05ASlidingRowMayBeLateForSomeOfItsWindows(t *testing.T) {
	g := newRig(t, Sliding(10*ms, 5*ms), []Aggregate{Count()}, str)
	g.feed([]any{7, "A"})
	g.watermark(11) // [0, 10) has fired
	g.feed([]any{8, "A"})
	assert.Zero(t, g.ctx.Counters.Late())
	g.feed([]any{4, "A"})
	assert.Equal(t, int64(1), g.ctx.Counters.Late())
	assert.Equal(t, []string{`"A"|0|10|1`, `"A"|5|15|2`}, g.end())
}

func TestW3ARowThatItsOwnSplitMadeLateForAWindowIsNotInIt(t *testing.T) {
	for _, w := range []int64{0, 11} { // the operator's W does not matter
		g := newRig(t, Sliding(10*ms, 5*ms), []Aggregate{Count()}, str)
		g.feed([]any{7, "A"})
		g.watermark(w)
		b := g.batch([]any{8, "A"})
		b.Late = append(b.Late, pairOf(0, 11))
		require.NoError(t, g.x.Process(0, b, g.out))
		b.Release()
		assert.Equal(t, []string{`"A"|0|10|1`, `"A"|5|15|2`}, g.end(), "W = %d", w)
	}
}

func TestB18AWindowIsNotFiredTwiceAfterARestore(t *testing.T) {
	a := Sliding(10*ms, 5*ms).Lateness(20 * ms)
	g := newRig(t, a, []Aggregate{Count()}, str)
	g.feed([]any{3, "A"})
	g.watermark(6)
	assert.Equal(t, []string{`"A"|-5|5|1|false`}, g.results())
	g.again(a, Count())
	g.watermark(7)
	assert.Empty(t, g.results())
	g.watermark(10)
	assert.Equal(t, []string{`"A"|0|10|1|false`}, g.results())
	g.feed([]any{4, "A"})
	assert.Equal(t, []string{`"A"|-5|5|2|true`, `"A"|0|10|2|true`}, g.results())
}

func TestB57SlidingWindowsBeforeTheEpoch(t *testing.T) {
	g := newRig(t, Sliding(10*ms, 5*ms), []Aggregate{Count()}, str)
	g.feed([]any{-1, "A"})
	assert.Equal(t, []string{`"A"|-10|0|1`, `"A"|-5|5|1`}, g.sortedByStart())
	for _, ts := range []int{math.MinInt64, math.MaxInt64} {
		g := newRig(t, Sliding(10*ms, 5*ms), []Aggregate{Count()}, str)
		require.ErrorContains(t, g.try([]any{ts, "A"}), "do not fit 64 bits of milliseconds")
	}
}

func TestB66CorrectionsAreFullTotalsOfTheSameWindow(t *testing.T) {
	g := newRig(t, Tumbling(10*ms).Lateness(10*ms), []Aggregate{Count()}, str)
	g.feed([]any{1, "A"}, []any{2, "A"})
	g.watermark(10)
	assert.Equal(t, []string{`"A"|0|10|2|false`}, g.results())
	g.watermark(12)
	g.feed([]any{3, "A"})
	assert.Equal(t, []string{`"A"|0|10|3|true`}, g.results())
	g.watermark(19)
	g.feed([]any{4, "A"}, []any{20, "B"})
	assert.Equal(t, []string{`"A"|0|10|4|true`}, g.results())
	g.watermark(20)
	g.feed([]any{5, "A"})
	assert.Empty(t, g.results())
	assert.Equal(t, int64(1), g.ctx.Counters.Late())
}

func TestW4AKeyThatComesLateIsNoCorrectionTheFirstTime(t *testing.T) {
	for _, a := range []Assigner{Tumbling(10 * ms), Sliding(10*ms, 20*ms)} {
		g := newRig(t, a.Lateness(10*ms), []Aggregate{Count()}, str)
		g.watermark(15)
		g.feed([]any{3, "A"}, []any{4, "A"})
		g.feed([]any{5, "A"})
		assert.Equal(t, []string{`"A"|0|10|2|false`, `"A"|0|10|3|true`}, g.results())
	}
}

func TestW4LatenessDoesNotChangeWhichRowsAreRouted(t *testing.T) {
	g := newRig(t, Sliding(10*ms, 5*ms).Lateness(5*ms).OnLate(Route), []Aggregate{Count()}, str)
	g.watermark(19)
	g.feed([]any{4, "A"}, []any{5, "B"}, []any{nil, "C"})
	assert.Equal(t, []string{`"C"`, `"A"`}, g.out.late)
	assert.Equal(t, []string{`"B"|5|15|1|false`}, dropUnfired(g.out.results, 19))
}

// dropUnfired keeps what does not end after w.
func dropUnfired(results []string, w int64) (out []string) {
	for _, r := range results {
		var key string
		var start, end int64
		var rest string
		if _, err := fmt.Sscanf(r, "%3s|%d|%d|%s", &key, &start, &end, &rest); err == nil && end <= w {
			out = append(out, r)
		}
	}
	return out
}

func TestB67NothingIsLeftOfSlices(t *testing.T) {
	for _, aggs := range [][]Aggregate{{Count(), Sum("b")}, {Max("b")}} {
		g := newRig(t, Sliding(100*ms, 10*ms).Lateness(50*ms).Unbounded(), aggs, str, i64)
		var rows [][]any
		for i := range 100_000 {
			rows = append(rows, []any{i / 1000, fmt.Sprint("user number ", i), i})
		}
		g.feed(rows...)
		g.watermark(100_000)
		n, bytes := g.x.StateSize()
		assert.Zero(t, n)
		assert.Less(t, bytes, int64(8<<20), "memory of keys that are gone")
	}
}

func TestB69WhatLeavesLeavesNoTrace(t *testing.T) {
	g := newRig(t, Sliding(2*ms, 1*ms), []Aggregate{Avg("b")}, str, f64)
	g.feed([]any{0, "A", 1.0}, []any{1, "A", math.NaN()}, []any{2, "A", 1.0}, []any{3, "A", 2.0})
	assert.Equal(t, []string{`"A"|-1|1|1`, `"A"|0|2|NaN`, `"A"|1|3|NaN`, `"A"|2|4|1.5`, `"A"|3|5|2`}, g.sortedByStart())
	g = newRig(t, Sliding(2*ms, 1*ms), []Aggregate{Sum("b")}, str, f64)
	g.feed([]any{0, "A", 18014398509481984.0}, []any{1, "A", 1.0}, []any{2, "A", 1.0})
	assert.Equal(t, `"A"|1|3|2`, g.sortedByStart()[2])
}

func TestSlidingSumsAreExactBeyond64Bits(t *testing.T) {
	g := newRig(t, Sliding(3*ms, 1*ms), []Aggregate{Sum("b")}, str, i64)
	g.ctx.OnError = operator.Skip()
	g.feed([]any{0, "A", math.MaxInt64}, []any{1, "A", math.MaxInt64}, []any{2, "A", -5}, []any{3, "A", math.MinInt64})
	assert.Equal(t, []string{`"A"|-2|1|9223372036854775807`, `"A"|-1|2|null`, `"A"|0|3|null`, `"A"|1|4|-6`,
		`"A"|2|5|null`, `"A"|3|6|-9223372036854775808`}, g.sortedByStart())
}

// TestW7ARestoreGivesTheSameBitsOfFloatSums restores at every batch and compares sums whose rounding tells the order of additions.
func TestW7ARestoreGivesTheSameBitsOfFloatSums(t *testing.T) {
	run := func(restore bool) []string {
		a := Sliding(60*ms, 3*ms).Unbounded()
		g := newRig(t, a, []Aggregate{Sum("b")}, str, f64)
		g.ctx.OnError = operator.Skip()
		for i := range 300 {
			x := math.Float64frombits(0x3FB0000000000000 + uint64(i)*0x9E3779B97F4A7)
			g.feed([]any{i, fmt.Sprint(i % 3), x}, []any{i - i%7, fmt.Sprint(i % 2), 1 / (x + 1)})
			if i%5 == 0 {
				g.watermark(int64(i - 10))
			}
			if restore {
				g.again(a, Sum("b"))
			}
		}
		return g.sortedByStart()
	}
	want, got := run(false), run(true)
	sort.Strings(want)
	sort.Strings(got)
	assert.Equal(t, want, got)
}

func TestW9SlidingEvictGivesNoPartialResults(t *testing.T) {
	for _, cut := range []bool{false, true} {
		g := newRig(t, Sliding(10*ms, 5*ms).MaxBufferedKeys(3), []Aggregate{Count()}, str)
		g.ctx.Degraded = func(string) {}
		rows := [][]any{{1, "A"}, {6, "A"}, {6, "B"}, {7, "A"}, {8, "C"}, {2, "A"}, {9, "C"}}
		if cut {
			for _, r := range rows {
				g.feed(r)
			}
		} else {
			g.feed(rows...)
		}
		// "C" at 8 is one too many: [-5, 5) and with it... the slice [0, 5) goes when [0, 10), the last window that has it, does.
		dropped := g.ctx.Counters.Dropped()
		assert.Equal(t, map[string]int64{operator.DropEvicted: 2}, dropped, "cut %v", cut) // 1 and 2
		assert.Equal(t, []string{`"A"|5|15|2`, `"B"|5|15|1`, `"C"|5|15|2`}, g.end(), "cut %v", cut)
	}
}

func TestW9SlidingFailNamesTheBound(t *testing.T) {
	g := newRig(t, Sliding(10*ms, 5*ms).MaxBufferedKeys(1).OnFull(Fail), []Aggregate{Count()}, str)
	require.ErrorContains(t, g.try([]any{1, "A"}, []any{1, "A"}, []any{2, "B"}), "1 live (slice, key) entries in 1 slices are as many as MaxBufferedKeys lets this task hold (1 of 1)")
}

func TestT11SlidingInProcessingTimeFiresByTheClock(t *testing.T) {
	g, clock, timer := processingRig(t, Sliding(10*ms, 5*ms))
	g.arrive("A", "B")
	assert.Equal(t, time.UnixMilli(1005), *timer)
	clock.now = time.UnixMilli(1006)
	require.NoError(t, g.x.OnTimer(clock.now, g.out))
	assert.Equal(t, []string{`"A"|995|1005|1`, `"B"|995|1005|1`}, g.results())
	g.arrive("A")
	assert.Equal(t, time.UnixMilli(1010), *timer)
	require.NoError(t, g.x.OnDrain(g.out))
	assert.Equal(t, []string{`"A"|1000|1010|2`, `"A"|1005|1015|1`, `"B"|1000|1010|1`}, g.results())
}

func TestTasksWithDifferentWatermarksRestoreAtTheLeast(t *testing.T) {
	a := Sliding(10*ms, 5*ms)
	save := func(w int64, r state.Range) *state.Snapshot {
		g := newRig(t, a, []Aggregate{Count()}, str)
		c := *g.ctx
		c.KeyGroups = r
		g.x = newInstanceT(t, &c, g.in, a, Count())
		g.feed([]any{7, fmt.Sprint("key of ", r.First)})
		g.watermark(w)
		s := state.NewSnapshot()
		require.NoError(t, g.x.Snapshot(s))
		return s
	}
	// The first key's window [0, 10) has fired, and it is not fired again though W steps back.
	first, second := save(12, state.Range{End: 64}), save(3, state.Range{First: 64, End: 128})
	g := newRig(t, a, []Aggregate{Count()}, str)
	require.NoError(t, g.x.Restore(state.Merged{Tasks: []state.Saved{first, second}}))
	assert.Equal(t, []string{`"key of 0"|5|15|1`, `"key of 64"|0|10|1`, `"key of 64"|5|15|1`}, g.end())
}

func TestP3NoAllocationOnTheRowPathOfSlides(t *testing.T) {
	for _, aggs := range [][]Aggregate{{Count(), Sum("price")}, {Max("price"), First("price")}} {
		f := newFeed(1000, false, false)
		x := newInstance(t, benchContext(), operator.Stream{Schema: f.schema, Key: []string{"key"}}, Sliding(time.Second, 200*ms).Unbounded(), append(aggs, Count().As("n"), Count().As("m"))...)
		out := &collectNothing{}
		step := func() {
			b := f.ring[0]
			f.fill(b)
			require.NoError(t, x.Process(0, b, out))
			_, err := x.OnWatermark(int64(f.next/100)-100, out)
			require.NoError(t, err)
		}
		for range 200 {
			step()
		}
		assert.LessOrEqual(t, testing.AllocsPerRun(100, step), 25.0, "a slide is half of the batches")
		assert.NotZero(t, out.rows)
	}
}

func TestARestoreKeepsStragglersThatHaveComeToBeAlike(t *testing.T) {
	a := Sliding(10*ms, 2*ms)
	for _, aggs := range [][]Aggregate{{Count()}, {Count(), Last("a")}} { // what can be subtracted, and what cannot
		g := newRig(t, a, aggs, str)
		for _, j := range []int64{10, 11, 12, 12} { // [0, 10), and for the last two [2, 12), are over for their splits
			b := g.batch([]any{9, "A"})
			b.Late = append(b.Late, pairOf(0, j))
			require.NoError(t, g.x.Process(0, b, g.out))
			b.Release()
		}
		g.watermark(12)
		g.results()
		for range 2 {
			g.again(a, aggs...)
		}
		g.watermark(operator.MaxWatermark)
		require.Len(t, g.out.results, 3)
		for i, r := range g.results() {
			assert.Contains(t, r, fmt.Sprintf(`"A"|%d|%d|4`, 4+2*i, 14+2*i))
		}
	}
}
