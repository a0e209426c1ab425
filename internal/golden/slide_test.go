package golden

import (
	"fmt"
	"testing"
	"time"

	"github.com/arkflow-go/arkflow"
	. "github.com/arkflow-go/arkflow/arkflowtest"
	"github.com/arkflow-go/arkflow/connectors/drop"
	"github.com/arkflow-go/arkflow/expr"
	"github.com/arkflow-go/arkflow/window"
)

// slides gives what a sliding window of sums and maxima by customer gives: a row is in every window that contains it and that what came
// before it in its split had not closed.
func slides(rows []row, size, slide int64) (out, late []map[string]any) {
	type group struct {
		start    int64
		customer any
	}
	got := map[group]map[string]any{}
	for _, r := range rows {
		taken := false
		last := *r.ts - (*r.ts%slide+slide)%slide
		for start := last; start+size > *r.ts; start -= slide {
			if start+size <= r.j {
				continue
			}
			taken = true
			g := group{start, r.v["customer"]}
			v := got[g]
			if v == nil {
				v = map[string]any{"customer": g.customer, "window_start": time.UnixMilli(start), "window_end": time.UnixMilli(start + size),
					"n": int64(0), "items": nil, "most": nil, "last": nil, "at": int64(0)}
				got[g] = v
			}
			v["n"] = v["n"].(int64) + 1
			if x := r.v["items"]; x != nil {
				n := x.(int64)
				if v["items"] == nil {
					v["items"], v["most"], v["last"], v["at"] = n, n, n, *r.ts
					continue
				}
				v["items"], v["most"] = v["items"].(int64)+n, max(v["most"].(int64), n)
				if at := v["at"].(int64); *r.ts > at || *r.ts == at && n > v["last"].(int64) {
					v["last"], v["at"] = n, *r.ts
				}
			}
		}
		if !taken {
			late = append(late, r.v)
		}
	}
	for _, v := range got {
		delete(v, "at")
		out = append(out, v)
	}
	return out, late
}

func TestGoldenSlidesDependNeitherOnCutsNorOnParallelism(t *testing.T) {
	for _, c := range []struct{ size, slide, disorder int64 }{{100, 20, 0}, {100, 70, 30}, {50, 50, 10}, {110, 25, 15}} {
		for _, sums := range []bool{false, true} {
			t.Run(fmt.Sprintf("%d every %d, sums %v", c.size, c.slide, sums), func(t *testing.T) {
				job := arkflow.NewJob("slides")
				aggs := []window.Aggregate{window.Count().As("n"), window.Sum("items").As("items")}
				if !sums {
					aggs = append(aggs, window.Max("items").As("most"), window.Last("items").As("last"))
				}
				w := job.Source("orders", source(orderSchema), arkflow.EventTime("ts", arkflow.OutOfOrderness(time.Duration(c.disorder)*msec))).
					KeyBy("customer").
					Window("w", window.Sliding(time.Duration(c.size)*msec, time.Duration(c.slide)*msec).Unbounded(), aggs...)
				w.Sink("out", drop.Sink{})
				w.Late().Sink("late", drop.Sink{})
				in := orders(90, 3, 9, 80, uint64(c.size))
				out, late := slides(in.timed("ts", c.disorder), c.size, c.slide)
				for _, v := range out {
					if sums {
						delete(v, "most")
						delete(v, "last")
					}
				}
				Verify(t, job, in.from("orders"), Want("out", out...), Want("late", late...))
			})
		}
	}
}

// TestGoldenQ7HighestBids is Nexmark's seventh query: all bids of the highest price of a window.
func TestGoldenQ7HighestBids(t *testing.T) {
	job := arkflow.NewJob("q7")
	job.Source("orders", source(orderSchema), arkflow.EventTime("ts", arkflow.OutOfOrderness(200*msec))).
		Select("one", expr.Lit(0).As("all"), "ts", "customer", "items").
		KeyBy("all").
		Window("w", window.Tumbling(100*msec), window.Max("items").As("price"), window.ArgMax("items", "customer", "ts").As("top").Ties()).
		Select("slim", "window_end", "price", "top_customer", "top_ts").
		Sink("out", drop.Sink{})
	in := orders(120, 2, 5, 30, 7)
	best := map[int64]int64{}
	rows := in.timed("ts", 200)
	end := func(r row) int64 { return *r.ts - (*r.ts%100+100)%100 + 100 }
	for _, r := range rows {
		if n, ok := r.v["items"].(int64); ok {
			best[end(r)] = max(best[end(r)], n)
		}
	}
	var out []map[string]any
	for _, r := range rows {
		if n, ok := r.v["items"].(int64); ok && n == best[end(r)] {
			out = append(out, map[string]any{"window_end": time.UnixMilli(end(r)), "price": n, "top_customer": r.v["customer"], "top_ts": r.v["ts"]})
		}
	}
	Verify(t, job, in.from("orders"), Want("out", out...))
}
