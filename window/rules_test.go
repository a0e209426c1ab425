package window

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// W1: windows are half-open and s = offset + floor((ts − offset)/step)·step, before the epoch as well. The model steps to the edge.
func TestW1EdgesAreThoseOfFloorDivision(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		step := rapid.Int64Range(1, 50).Draw(t, "step")
		offset := rapid.Int64Range(-120, 120).Draw(t, "offset")
		ts := rapid.Int64Range(-500, 500).Draw(t, "ts")
		want := offset
		for want > ts {
			want -= step
		}
		for want+step <= ts {
			want += step
		}
		g := newGrid(time.Duration(step)*ms, time.Duration(step)*ms, time.Duration(offset)*ms)
		require.Equal(t, want, g.floor(ts))
	})
}

func TestW1TheStartIsInAWindowAndTheEndIsNot(t *testing.T) {
	for _, edge := range []int{-20, 0, 30} {
		g := newRig(t, Tumbling(10*ms), []Aggregate{Count()}, str)
		g.feed([]any{edge - 1, "A"}, []any{edge, "A"}, []any{edge + 9, "A"})
		assert.ElementsMatch(t, []string{fmt.Sprintf(`"A"|%d|%d|1`, edge-10, edge), fmt.Sprintf(`"A"|%d|%d|2`, edge, edge+10)}, g.end())
	}
}

// W2: a row is in every window of its size that begins at a multiple of the slide and contains it, whatever the two are.
func TestW2EveryStartThatContainsTheInstant(t *testing.T) {
	for size := 1; size <= 7; size++ {
		for slide := 1; slide <= 7; slide++ {
			for ts := -8; ts <= 8; ts++ {
				g := newRig(t, Sliding(time.Duration(size)*ms, time.Duration(slide)*ms), []Aggregate{Count()}, str)
				g.feed([]any{ts, "A"})
				var want []string
				for k := -20; k <= 20; k++ {
					if s := k * slide; s <= ts && ts < s+size {
						want = append(want, fmt.Sprintf(`"A"|%d|%d|1`, s, s+size))
					}
				}
				assert.ElementsMatch(t, want, g.end(), "size %d, slide %d, ts %d", size, slide, ts)
			}
		}
	}
}

// W3: a window fires at W >= e and not before.
func TestW3AWindowFiresWhenTheWatermarkReachesItsEnd(t *testing.T) {
	for _, a := range []Assigner{Tumbling(10 * ms), Tumbling(10 * ms).Lateness(7 * ms), Sliding(10*ms, 20*ms)} {
		g := newRig(t, a, []Aggregate{Count()}, str)
		g.feed([]any{3, "A"})
		g.watermark(9)
		assert.Empty(t, g.results(), a.String())
		g.watermark(10)
		assert.Len(t, g.results(), 1, a.String())
		g.watermark(30)
		assert.Empty(t, g.results(), a.String())
	}
}

// W3: a row is late for a window iff e + L <= max(J, W); a row that slides is late only where it is late for all of its windows, and is
// added to the others.
func TestW3ARowIsLateIffItsWindowsHaveBeenLeft(t *testing.T) {
	const ts = 3
	for _, c := range []struct{ size, slide int64 }{{10, 10}, {10, 5}, {10, 3}, {7, 4}} {
		for _, l := range []int64{0, 1, 6} {
			for w := int64(0); w <= 22; w += 2 {
				for _, j := range []int64{4, 9, 10, 11, 15, 16, 17, 21} {
					a := Sliding(time.Duration(c.size)*ms, time.Duration(c.slide)*ms).Lateness(time.Duration(l) * ms)
					if c.size == c.slide {
						a = Tumbling(time.Duration(c.size) * ms).Lateness(time.Duration(l) * ms)
					}
					g := newRig(t, a, []Aggregate{Count()}, str)
					g.watermark(w)
					b := g.batch([]any{ts, "A"})
					b.Late = append(b.Late, pairOf(0, j))
					require.NoError(t, g.x.Process(0, b, g.out))
					b.Release()
					var want []string
					for k := int64(-10); k <= 10; k++ {
						start, end := k*c.slide, k*c.slide+c.size
						if start > ts || end <= ts || end+l <= max(j, w) {
							continue
						}
						line := fmt.Sprintf(`"A"|%d|%d|1`, start, end)
						if l > 0 {
							line += "|false"
						}
						want = append(want, line)
					}
					late := int64(0)
					if len(want) == 0 {
						late = 1
					}
					what := fmt.Sprintf("%s, W = %d, J = %d", a, w, j)
					assert.Equal(t, late, g.ctx.Counters.Late(), what)
					assert.ElementsMatch(t, want, g.end(), what)
				}
			}
		}
	}
}

// W3: a window is kept until W >= e + L and then dropped: nothing of it is left.
func TestW3AWindowIsKeptForItsLateness(t *testing.T) {
	for _, a := range []Assigner{Tumbling(10 * ms), Sliding(10*ms, 20*ms)} {
		g := newRig(t, a.Lateness(5*ms), []Aggregate{Count()}, str)
		g.feed([]any{3, "A"})
		g.watermark(14)
		entries, _ := g.x.StateSize()
		assert.EqualValues(t, 1, entries, a.String())
		g.watermark(15)
		entries, _ = g.x.StateSize()
		assert.Zero(t, entries, a.String())
	}
}

// W5: windows leave in the order of their ends, and those without rows do not leave at all.
func TestW5ResultsAreInTheOrderOfTheirEnds(t *testing.T) {
	for _, a := range []Assigner{Tumbling(10 * ms), Sliding(20*ms, 10*ms), Sliding(5*ms, 10*ms)} {
		g := newRig(t, a, []Aggregate{Count()}, str)
		g.feed([]any{51, "A"}, []any{2, "B"}, []any{23, "A"}, []any{-30, "C"}, []any{2, "A"})
		g.watermark(100)
		last := int64(-1 << 62)
		require.NotEmpty(t, g.out.results)
		for _, line := range g.out.results {
			var key string
			var start, end, n int64
			_, err := fmt.Sscanf(line, `"%1s"|%d|%d|%d`, &key, &start, &end, &n)
			require.NoError(t, err, line)
			assert.GreaterOrEqual(t, end, last, "%s of %v", line, g.out.results)
			assert.Positive(t, n)
			last = end
		}
		g.end()
	}
}
