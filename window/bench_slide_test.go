package window

import (
	"testing"
	"time"

	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/operator"
)

// BenchmarkSlide drives the operator with b.N batches of 8,192 rows of 10,000 keys; "bare" is the hand-written loop over the same
// batches: a group index, dense accumulators a pane, running totals.
func BenchmarkSlide(b *testing.B) {
	const second = time.Second
	for _, c := range []struct {
		name        string
		size, slide time.Duration
		perMilli    uint64
		aggs        []Aggregate
	}{
		{"10k", 10 * second, 500 * time.Millisecond, 100, []Aggregate{Count(), Sum("price")}},
		{"max_10k", 10 * second, 500 * time.Millisecond, 100, []Aggregate{Count(), Max("price")}},
		{"odd", 10 * second, 7001 * time.Millisecond, 100, []Aggregate{Count(), Sum("price")}},
		{"even", 10 * second, 5 * second, 100, []Aggregate{Count(), Sum("price")}},
		{"20ms", 10 * second, 20 * time.Millisecond, 20, []Aggregate{Count(), Sum("price")}},
		{"max_20ms", 10 * second, 20 * time.Millisecond, 20, []Aggregate{Count(), Max("price")}},
	} {
		b.Run(c.name+"/operator", func(b *testing.B) {
			f := newFeed(10_000, false, false)
			f.perMilli = c.perMilli
			x := newInstance(b, benchContext(), operator.Stream{Schema: f.schema, Key: []string{"key"}}, Sliding(c.size, c.slide).Unbounded(), c.aggs...)
			out := &folding{}
			run(b, f, func(t *column.Batch) {
				if err := x.Process(0, t, out); err != nil {
					b.Fatal(err)
				}
				if _, err := x.OnWatermark(t.Times[t.Rows-1], out); err != nil {
					b.Fatal(err)
				}
			}, func() {})
			b.ReportMetric(float64(out.rows)/float64(b.N*feedRows), "results/row")
		})
	}
	b.Run("10k/bare", func(b *testing.B) {
		f := newFeed(10_000, false, false)
		bare := newBareSlide(10_000)
		run(b, f, bare.batch, func() {})
	})
}

// bareSlide is windows of 10 s every 500 ms: add the newest pane, subtract the oldest.
type bareSlide struct {
	*bare
	panes [21][]bareTally
	total []bareTally
	cur   int
}

type bareTally struct{ count, sum int64 }

func newBareSlide(keys uint64) *bareSlide {
	a := &bareSlide{bare: newBare(keys, false), total: make([]bareTally, keys)}
	for i := range a.panes {
		a.panes[i] = make([]bareTally, keys)
	}
	a.end = 500
	return a
}

func (a *bareSlide) batch(b *column.Batch) {
	times, lo := b.Times, 0
	for n := len(times); lo < n; {
		hi := n
		if times[n-1] >= a.end {
			for hi = lo; times[hi] < a.end; hi++ {
			}
		}
		gid := a.gid[:hi-lo]
		a.groups(gid, column.Values[int64](&b.Cols[0])[lo:hi])
		pane, price := a.panes[a.cur], column.Values[int64](&b.Cols[1])[lo:hi]
		for i, g := range gid {
			pane[g].count++
			pane[g].sum += price[i]
		}
		if hi < n {
			a.roll()
		}
		lo = hi
	}
}

func (a *bareSlide) roll() {
	lead := a.panes[a.cur]
	a.cur = (a.cur + 1) % len(a.panes)
	trail := a.panes[a.cur]
	for g, k := range a.keys {
		t := &a.total[g]
		t.count += lead[g].count - trail[g].count
		t.sum += lead[g].sum - trail[g].sum
		trail[g] = bareTally{}
		if t.count != 0 {
			a.rows++
			a.fold += mix(uint64(k*31 + a.end*1000003 + t.count*7919 + t.sum))
		}
	}
	a.end += 500
}
