package window

import (
	"testing"
	"time"

	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/operator"
	"github.com/arkflow-go/arkflow/state"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

type handClock struct {
	operator.SystemClock
	now time.Time
}

func (c *handClock) Now() time.Time { return c.now }

func processingRig(t *testing.T, a Assigner) (*rig, *handClock, *time.Time) {
	clock := &handClock{now: time.UnixMilli(1003)}
	timer := new(time.Time)
	g := &rig{t: t, pool: column.NewDebugPool(), in: operator.Stream{Schema: fields(str), Key: []string{"a"}, Time: operator.ProcessingTime}, out: &collect{}}
	g.ctx = testContext(g.pool)
	g.ctx.Clock, g.ctx.OnError = clock, operator.Fail()
	g.ctx.SetTimer = func(at time.Time) { *timer = at }
	g.x = newInstanceT(t, g.ctx, g.in, a, Count())
	return g, clock, timer
}

func (g *rig) arrive(keys ...string) {
	g.t.Helper()
	bl := column.NewBuilder(g.pool, g.in.Schema)
	for _, k := range keys {
		bl.String(0, k)
		bl.EndRow()
	}
	b := bl.Finish()
	defer b.Release()
	require.NoError(g.t, g.x.Process(0, b, g.out))
}

func TestT11ProcessingTimeAssignsAndFiresByTheClock(t *testing.T) {
	g, clock, timer := processingRig(t, Tumbling(10*ms))
	assert.Equal(t, operator.ProcessingTime, g.x.(*instance).b.Outputs()[0].Time)
	g.arrive("A", "B", "A")
	assert.Equal(t, time.UnixMilli(1010), *timer)
	clock.now = time.UnixMilli(1012)
	g.arrive("A")
	clock.now = time.UnixMilli(1001) // the clock goes back: windows do not
	g.arrive("C")
	require.NoError(t, g.x.OnTimer(time.UnixMilli(1015), g.out))
	assert.Equal(t, []string{`"A"|1000|1010|2`, `"B"|1000|1010|1`}, g.results())
	assert.Empty(t, g.out.ends, "no event time")
	assert.Equal(t, time.UnixMilli(1020), *timer)
	require.NoError(t, g.x.OnTimer(time.UnixMilli(1019), g.out))
	assert.Empty(t, g.results())
	f, err := g.x.OnWatermark(5000, g.out)
	require.NoError(t, err)
	assert.Equal(t, int64(5000), f)
	assert.Empty(t, g.results(), "watermarks mean nothing here")

	snap := state.NewSnapshot()
	require.NoError(t, g.x.Snapshot(snap))
	*timer = time.Time{}
	g.x = newInstanceT(t, g.ctx, g.in, Tumbling(10*ms), Count())
	require.NoError(t, g.x.Restore(state.Merged{Tasks: []state.Saved{snap}}))
	assert.Equal(t, time.UnixMilli(1020), *timer, "the timer is asked for again")
	require.NoError(t, g.x.OnDrain(g.out))
	assert.Equal(t, []string{`"A"|1010|1020|1`, `"C"|1010|1020|1`}, g.results())
	assert.Zero(t, g.ctx.Counters.Late())
}

func TestProcessingTimeHonoursTheBound(t *testing.T) {
	g, clock, _ := processingRig(t, Tumbling(10*ms).MaxBufferedKeys(2))
	g.arrive("A", "B", "A", "C", "A")
	assert.Equal(t, map[string]int64{"evicted": 5}, g.ctx.Counters.Dropped())
	clock.now = time.UnixMilli(1025)
	g.arrive("A")
	require.NoError(t, g.x.OnTimer(time.UnixMilli(1030), g.out))
	assert.Equal(t, []string{`"A"|1020|1030|1`}, g.results())
	assert.Empty(t, g.x.(*instance).evicted)
}

func TestProcessingTimeBeyondTheRangeOfWindowsIsAnError(t *testing.T) {
	g, clock, _ := processingRig(t, Tumbling(10*ms))
	clock.now = time.UnixMilli(1<<63 - 1)
	b := g.batch([]any{0, "A"})
	defer b.Release()
	require.ErrorContains(t, g.x.Process(0, b, g.out), "processing time: the edges of its window do not fit")
}
