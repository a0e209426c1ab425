package golden

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/arkflow-go/arkflow"
	. "github.com/arkflow-go/arkflow/arkflowtest"
	"github.com/arkflow-go/arkflow/connectors/drop"
	"github.com/arkflow-go/arkflow/expr"
	"github.com/arkflow-go/arkflow/window"
	"github.com/stretchr/testify/require"
)

// lastOf applies the rows of an upsert sink: by key and window one first result, then corrections that each count more rows than the one
// before. It gives the last of each, as text.
func lastOf(t *testing.T, rows []Row) map[string]string {
	t.Helper()
	last, most, first, seen := map[string]string{}, map[string]int64{}, map[string]int{}, map[string]bool{}
	for _, r := range rows {
		id := fmt.Sprint(r["customer"], " ", r["window_start"].(time.Time).UnixMilli())
		n := r["n"].(int64)
		require.False(t, seen[fmt.Sprint(id, n)], "%s: %d rows twice", id, n)
		seen[fmt.Sprint(id, n)] = true
		if !r[window.UpdateColumn].(bool) {
			first[id]++
		}
		if n > most[id] {
			most[id], last[id] = n, fmt.Sprint(n, r["items"], r["most"], r["window_end"].(time.Time).UnixMilli())
		}
	}
	for id := range last {
		require.Equal(t, 1, first[id], "%s: first results", id)
	}
	require.Len(t, first, len(last))
	return last
}

// W4, T4: how often a window is corrected may differ; its last result does not, whatever cuts, interleaving, tasks and restores there are.
func TestW4GoldenTheLastResultOfACorrectedSlideIsTheSameInEveryRegime(t *testing.T) {
	const size, slide, lateness, disorder = 40, 20, 30, 10
	job := arkflow.NewJob("corrected")
	w := job.Source("orders", source(orderSchema), arkflow.EventTime("ts", arkflow.OutOfOrderness(disorder*msec))).
		KeyBy("customer").
		Window("w", window.Sliding(size*msec, slide*msec).Lateness(lateness*msec).Unbounded(),
			window.Count().As("n"), window.Sum("items").As("items"), window.Max("items").As("most"))
	w.Sink("out", drop.Sink{})
	w.Late().Sink("late", drop.Sink{})
	in := orders(100, 3, 9, 120, 81)
	rows := in.timed("ts", disorder)
	for i := range rows {
		rows[i].j = max(rows[i].j, math.MinInt64+lateness) - lateness // a window that has fired still takes rows
	}
	model, late := slides(rows, size, slide)
	require.NotEmpty(t, late)
	want := map[string]string{}
	for _, v := range model {
		id := fmt.Sprint(v["customer"], " ", v["window_start"].(time.Time).UnixMilli())
		want[id] = fmt.Sprint(v["n"], v["items"], v["most"], v["window_end"].(time.Time).UnixMilli())
	}
	corrected := false
	check := func(opts ...Option) []*Snapshot {
		t.Helper()
		r := Run(t, job, append(opts, in.from("orders"), Want("late", late...))...)
		got := r.Rows("out")
		require.Equal(t, want, lastOf(t, got))
		corrected = corrected || len(got) > len(want)
		return r.Snapshots()
	}
	for _, p := range []int{1, 2, 7} {
		for _, n := range []int{1, 7, 1000} {
			check(Parallelism(p), BatchRows(n), RandomPolling(uint64(n)))
		}
		check(Parallelism(p), RandomCuts(uint64(p)), LinkBatches(1))
		for _, s := range check(Parallelism(p), RandomPolling(uint64(p)), BarrierEveryRow()) {
			if s.Epoch()%4 == int64(p)%4 {
				check(Parallelism(p), Restore(s))
			}
		}
	}
	require.True(t, corrected)
}

// Aggregates that are gathered by key before an exchange, with conditions of their own, at every parallelism and after every restore.
func TestW10GoldenConditionsFirstAndLastAreGatheredBeforeTheExchange(t *testing.T) {
	const size = 100
	big, known := expr.Col("items").Ge(5), expr.Col("amount").IsNotNull()
	job := arkflow.NewJob("gathered")
	job.Source("orders", source(orderSchema), arkflow.EventTime("ts", arkflow.OutOfOrderness(300*msec))).
		KeyBy("shop").
		Window("w", window.Tumbling(size*msec), window.Count().As("rows"), window.CountIf(big).As("big"), window.Sum("items").Filter(known).As("items"),
			window.First("items").As("first"), window.Last("items").Filter(big).As("last"), window.Max("customer").Filter(known).As("most")).
		Sink("out", drop.Sink{})
	in := orders(140, 3, 4, 200, 91)
	type group struct {
		start int64
		shop  any
	}
	got := map[group][]row{}
	for _, r := range in.timed("ts", 300) {
		g := group{*r.ts - (*r.ts%size+size)%size, r.v["shop"]}
		got[g] = append(got[g], r)
	}
	var out []map[string]any
	for g, rows := range got {
		isBig := func(v map[string]any) bool { n, ok := v["items"].(int64); return ok && n >= 5 }
		isKnown := func(v map[string]any) bool { return v["amount"] != nil }
		v := map[string]any{"shop": g.shop, "window_start": time.UnixMilli(g.start), "window_end": time.UnixMilli(g.start + size),
			"rows": len(rows), "big": len(keep(rows, isBig)),
			"items": agg{fn: "sum", column: "items"}.of(t, keep(rows, isKnown)), "most": agg{fn: "max", column: "customer"}.of(t, keep(rows, isKnown)),
			"first": earliest(rows, -1), "last": earliest(keep(rows, isBig), 1)}
		out = append(out, v)
	}
	Verify(t, job, in.from("orders"), Want("out", out...), Counts("w", "out", "rows"))
	for _, p := range []int{2, 7} {
		EveryRestore(t, job, in.from("orders"), Want("out", out...), Parallelism(p), BarrierEveryBatch(), BatchRows(14))
	}
}

// earliest is the value of items of the row with the least time (sign −1) or the greatest (1), of several the least or the greatest.
func earliest(rows []row, sign int64) any {
	var best *row
	for i, r := range rows {
		n, ok := r.v["items"].(int64)
		if !ok {
			continue
		}
		if best == nil || sign*(*r.ts-*best.ts) > 0 || *r.ts == *best.ts && sign*(n-best.v["items"].(int64)) > 0 {
			best = &rows[i]
		}
	}
	if best == nil {
		return nil
	}
	return best.v["items"]
}

// W9: with Fail a job of slides ends at the bound, naming it, and does not before.
func TestW9GoldenSlidesFailAtTheBound(t *testing.T) {
	build := func(bound int) *arkflow.Job {
		job := arkflow.NewJob("bounded")
		job.Source("in", source(keyed), arkflow.EventTime("ts")).KeyBy("k").
			Window("w", window.Sliding(20*msec, 10*msec).MaxBufferedKeys(bound).OnFull(window.Fail), window.Count().As("rows")).
			Sink("out", drop.Sink{})
		return job
	}
	var rows [][]any
	var want []map[string]any
	for at := int64(0); at < 200; at += 10 { // 4 keys in each slice, of which two at a time are in an open window
		for k := range 4 {
			rows = append(rows, []any{fmt.Sprint("key ", k), at + int64(k)})
		}
	}
	for k := range 4 {
		for start := int64(-10); start < 200; start += 10 {
			n := int64(2)
			if start < 0 || start == 190 {
				n = 1
			}
			want = append(want, win(fmt.Sprint("key ", k), start, start+20, n))
		}
	}
	in := From("in", Table(keyed, rows...))
	Run(t, build(12), in, BatchRows(4), Parallelism(1), Want("out", want...))
	Verify(t, build(12*128), in, Want("out", want...))
	for _, p := range []int{1, 2, 7} {
		_, err := Try(t.Context(), build(7), in, BatchRows(4), Parallelism(p))
		require.ErrorContains(t, err, `operator "w"`)
		require.ErrorContains(t, err, "are as many as MaxBufferedKeys lets this task hold")
	}
}

// Nexmark's twelfth query: bids by bidder in windows of the clock. Whatever the clock does meanwhile, each bid counts once.
func TestT11GoldenQ12BidsByBidderOfTheClock(t *testing.T) {
	bids := schemaOf(field("bidder", arrow.PrimitiveTypes.Int64), field("price", arrow.PrimitiveTypes.Int64))
	job := arkflow.NewJob("q12")
	job.Source("bids", source(bids), arkflow.ProcessingTime()).
		Select("bidders", "bidder").
		KeyBy("bidder").
		Window("w", window.Tumbling(10*time.Second), window.Count().As("bid_count")).
		Sink("out", drop.Sink{})
	want := map[string]any{}
	part := func(seed, n int) Split {
		var rows [][]any
		for i := range n {
			bidder := int64((i*i + seed) % 7)
			count, _ := want[fmt.Sprint(bidder)].(int64)
			want[fmt.Sprint(bidder)] = count + 1
			rows = append(rows, []any{bidder, int64(100 * i)})
		}
		return Table(bids, rows...)
	}
	in := From("bids", Script(part(1, 30), Advance(7*time.Second), part(2, 20), Advance(6*time.Second), part(3, 25), Advance(time.Minute), part(4, 5)),
		Script(part(5, 20), Sync(), part(6, 20)), part(7, 10))
	Verify(t, job, in, Counts("w", "out", "bid_count"))
	for _, p := range []int{1, 2, 7} {
		got, windows := map[string]any{}, map[int64]bool{}
		for _, r := range Run(t, job, in, Parallelism(p)).Rows("out") {
			count, _ := got[fmt.Sprint(r["bidder"])].(int64)
			got[fmt.Sprint(r["bidder"])] = count + r["bid_count"].(int64)
			windows[r["window_start"].(time.Time).Unix()-ClockStart.Unix()] = true
			require.Equal(t, 10*time.Second, r["window_end"].(time.Time).Sub(r["window_start"].(time.Time)))
		}
		require.Equal(t, want, got)
		require.Equal(t, map[int64]bool{0: true, 10: true, 70: true}, windows, "bids come at 0, 7, 13 and 73 s")
	}
}
