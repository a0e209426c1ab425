package baseline

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/arkflow-go/arkflow/bench/events"
)

// slideModel gives each row to each of its windows.
func slideModel(g *events.Generator, n, size, step int64, top bool) (r Result) {
	type cell struct{ end, key int64 }
	groups := map[cell]*tally{}
	b := events.NewBatch(int(n))
	g.Fill(b, 0, int(n))
	for i, t := range b.Time {
		for start := t - t%step; start > t-size; start -= step {
			c := groups[cell{start + size, b.Key[i]}]
			if c == nil {
				c = &tally{}
				groups[cell{start + size, b.Key[i]}] = c
			}
			c.count++
			if top {
				c.sum = max(c.sum, b.Price[i])
			} else {
				c.sum += b.Price[i]
			}
		}
	}
	for c, t := range groups {
		r.Rows++
		r.Checksum += events.WindowTerm(c.key, c.end, t.count, t.sum)
	}
	return r
}

func TestSlidingDesignsAgreeWithTheModel(t *testing.T) {
	const n = 4_321
	for _, c := range []struct{ size, step int64 }{{1000, 100}, {1000, 700}, {1000, 1000}, {20, 1}, {100, 3}, {5000, 2500}} {
		for _, keys := range []int64{2, 100, 5_000} {
			want := slideModel(generator(keys), n, c.size, c.step, false)
			panes := int(2*c.size/c.step) + 2
			for _, rows := range []int{1, 7, 1000, events.Rows} {
				assert.Equal(t, want, run(Sliding(c.size, c.step, NewPanes(keys, panes)), generator(keys), n, rows), "%+v, %d keys, batches of %d", c, keys, rows)
				assert.Equal(t, want, run(Sliding(c.size, c.step, NewLog(keys, n)), generator(keys), n, rows), "log: %+v, %d keys, batches of %d", c, keys, rows)
			}
			if c.size%c.step == 0 {
				assert.Equal(t, slideModel(generator(keys), n, c.size, c.step, true),
					run(Sliding(c.size, c.step, NewMaxPanes(keys, panes)), generator(keys), n, 1000), "max: %+v, %d keys", c, keys)
			}
		}
	}
	assert.Panics(t, func() { run(Sliding(1000, 100, NewLog(10, 30)), generator(10), n, 1000) }, "the log is too short")
	g := generator(10)
	g.Behind = 5
	assert.Panics(t, func() { run(Sliding(1000, 100, NewLog(10, n)), g, n, 1000) }, "rows out of order")
	assert.Equal(t, Result{}, Sliding(1000, 100, NewPanes(2, 10)).Finish(), "no rows")
}

// Figures of another program for this job, over 10 M events.
func TestSlidingGivesTheKnownChecksum(t *testing.T) {
	const n = 10_000_000
	want := Result{Rows: 2_189_863, Checksum: 134449836011525308}
	assert.Equal(t, want, run(Sliding(10_000, 500, NewPanes(10_000, 20)), events.NewGenerator(10_000), n, events.Rows))
}
