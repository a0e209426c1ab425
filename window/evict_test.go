package window

import (
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/arkflow-go/arkflow/operator"
	"github.com/arkflow-go/arkflow/state"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestW9EvictDropsTheOldestWindowWholeAndCountsItsRows(t *testing.T) {
	g := newRig(t, Tumbling(10*ms).MaxBufferedKeys(3), []Aggregate{Count()}, str)
	var log strings.Builder
	g.ctx.Logger = slog.New(slog.NewTextHandler(&log, nil))
	var degraded []string
	g.ctx.Degraded = func(reason string) { degraded = append(degraded, reason) }
	g.feed([]any{1, "A"}, []any{2, "B"}, []any{3, "A"}, []any{11, "A"}) // three entries
	g.feed([]any{12, "A"}, []any{4, "B"})                               // no new one
	assert.Empty(t, g.ctx.Counters.Dropped())
	g.feed([]any{13, "B"}) // the fourth: [0,10) goes, with four rows
	assert.Equal(t, map[string]int64{"evicted": 4}, g.ctx.Counters.Dropped())
	g.feed([]any{5, "A"}, []any{6, "Z"}) // its later rows
	assert.Equal(t, map[string]int64{"evicted": 6}, g.ctx.Counters.Dropped())
	g.watermark(10)
	assert.Empty(t, g.results(), "never a partial result")
	g.feed([]any{7, "A"})
	assert.Equal(t, int64(1), g.ctx.Counters.Late(), "the tombstone is gone, the row is late")
	assert.Equal(t, []string{`"A"|10|20|2`, `"B"|10|20|1`}, g.end())
	assert.Contains(t, log.String(), "window evicted at MaxBufferedKeys: it will have no result")
	assert.Contains(t, log.String(), "window_start=0 entries=2 rows=4 bound=3")
	assert.Equal(t, []string{"windows are evicted at MaxBufferedKeys (3) and have no result"}, degraded)
}

func TestW9EvictOfTheOnlyWindow(t *testing.T) {
	g := newRig(t, Tumbling(10*ms).MaxBufferedKeys(2), []Aggregate{Count()}, str)
	g.feed([]any{1, "A"}, []any{2, "B"}, []any{3, "C"}, []any{4, "A"}, []any{12, "A"})
	assert.Equal(t, map[string]int64{"evicted": 4}, g.ctx.Counters.Dropped())
	assert.Equal(t, []string{`"A"|10|20|1`}, g.end())
}

func TestW9EvictionDoesNotDependOnBatchCuts(t *testing.T) {
	var rows [][]any
	for i := range 4000 {
		rows = append(rows, []any{i/20 - i*7%40, fmt.Sprint(i * i % 331)})
	}
	var want []string
	var lost map[string]int64
	for _, size := range []int{1, 7, 1000, 4000} {
		g := newRig(t, Tumbling(50*ms).MaxBufferedKeys(200), []Aggregate{Count()}, str)
		for i := 0; i < len(rows); i += size {
			g.feed(rows[i:min(i+size, len(rows))]...)
		}
		got := g.end()
		if want == nil {
			want, lost = got, g.ctx.Counters.Dropped()
			require.NotEmpty(t, want)
			require.NotZero(t, lost["evicted"])
		}
		assert.Equal(t, want, got, "batches of %d", size)
		assert.Equal(t, lost, g.ctx.Counters.Dropped())
	}
}

func TestW9FailAtTheBoundNamesIt(t *testing.T) {
	g := newRig(t, Tumbling(10*ms).MaxBufferedKeys(2).OnFull(Fail), []Aggregate{Count()}, str)
	g.feed([]any{1, "A"}, []any{2, "B"}, []any{3, "A"})
	require.EqualError(t, g.try([]any{4, "C"}), "2 live (window, key) entries in 1 open windows are as many as MaxBufferedKeys lets this task hold (2 of 2); raise it, or let windows be evicted")
	g = newRig(t, Tumbling(10*ms), []Aggregate{Count()}, i64)
	assert.Equal(t, DefaultMaxBufferedKeys, g.x.(*instance).limit)
}

func TestW9TheBoundIsSharedByKeyGroups(t *testing.T) {
	total := 0
	for i := range 7 {
		ctx := &operator.Context{MaxParallelism: 128, KeyGroups: state.OwnedBy(i, 7, 128)}
		total += share(1000, ctx)
	}
	assert.Equal(t, 1000, total)
	assert.Equal(t, 1, share(1, &operator.Context{MaxParallelism: 128, KeyGroups: state.Range{End: 1}}), "at least one")
	assert.Zero(t, share(0, &operator.Context{MaxParallelism: 128, KeyGroups: state.Range{End: 1}}), "unbounded")
	assert.Equal(t, 10, share(10, &operator.Context{}))
}

func TestW9TombstonesGoWithTheirKeyGroups(t *testing.T) {
	a := Tumbling(10 * ms).MaxBufferedKeys(4)
	g := newRig(t, a, []Aggregate{Count()}, i64)
	half := func(r state.Range) windowed {
		c := *g.ctx
		c.KeyGroups = r
		return newInstanceT(t, &c, g.in, a, Count())
	}
	lower, upper := half(state.Range{End: 64}), half(state.Range{First: 64, End: 128})
	lower.(*instance).evicted = tombstones{{start: 0}}
	var snaps state.Merged
	for _, x := range []windowed{lower, upper} {
		s := state.NewSnapshot()
		require.NoError(t, x.Snapshot(s))
		snaps.Tasks = append(snaps.Tasks, s)
	}
	require.NoError(t, g.x.Restore(snaps))
	again := state.NewSnapshot()
	require.NoError(t, g.x.Snapshot(again))
	for table, err := range (state.Merged{Tasks: []state.Saved{again}}).Tables(stateEvicted) {
		require.NoError(t, err)
		assert.Equal(t, 64, table.Rows)
	}
	g.x = newInstanceT(t, g.ctx, g.in, Tumbling(10*ms).Unbounded(), Count())
	require.NoError(t, g.x.Restore(state.Merged{Tasks: []state.Saved{again}}))
	var rows [][]any
	for k := range 1000 {
		rows = append(rows, []any{1, k})
	}
	g.feed(rows...)
	lost := int(g.ctx.Counters.Dropped()["evicted"])
	assert.InDelta(t, 500, lost, 100)
	assert.Len(t, g.end(), 1000-lost)
}
