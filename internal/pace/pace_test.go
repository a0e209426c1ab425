package pace

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestRowsPassWhenTheTimeOfThoseBeforeIsOver(t *testing.T) {
	now := time.Unix(1000, 0)
	p := Pace{PerSecond: 1000}
	require.True(t, p.Open(now), "the first rows pass at once")
	p.Passed(100, now)
	require.False(t, p.Open(now.Add(99*time.Millisecond)))
	require.True(t, p.Open(now.Add(100*time.Millisecond)))
	later := now.Add(time.Hour)
	p.Passed(1, later)
	require.True(t, p.Open(later.Add(time.Millisecond)), "time in which nothing passed is not made up for")
	require.Equal(t, 100, p.Batch())
	slow := Pace{PerSecond: 0.5}
	require.Equal(t, 1, slow.Batch())
	var none Pace
	none.Passed(1<<30, now)
	require.True(t, none.Open(now))
}
