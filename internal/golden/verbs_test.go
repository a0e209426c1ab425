package golden

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/arkflow-go/arkflow"
	. "github.com/arkflow-go/arkflow/arkflowtest"
	"github.com/arkflow-go/arkflow/connectors/drop"
	"github.com/arkflow-go/arkflow/expr"
	"github.com/arkflow-go/arkflow/operator"
	"github.com/arkflow-go/arkflow/window"
	"github.com/stretchr/testify/require"
)

// wide is an order as functions see it.
type wide struct {
	Customer *string `arkflow:"customer"`
	Shop     *int32  `arkflow:"shop"`
	Items    *int64  `arkflow:"items"`
	TS       int64   `arkflow:"ts"`
}

type unit struct {
	Customer *string `arkflow:"customer"`
	Nth      int64   `arkflow:"nth"`
}

type refusal struct {
	Why string `arkflow:"why"`
	TS  int64  `arkflow:"ts"`
}

var refused = operator.Side[refusal]("refused")

// units is a row an item, and a refusal where the number of items is not known.
func units(o wide, emit func(unit), to *operator.Sides) error {
	if o.Items == nil {
		refused.Emit(to, refusal{"no items", o.TS})
		return nil
	}
	for i := range *o.Items {
		emit(unit{o.Customer, i})
	}
	return nil
}

func unitRows(rows []row) (out, no []row) {
	for _, r := range rows {
		items, known := r.v["items"].(int64)
		if !known {
			r.v = map[string]any{"why": "no items", "ts": r.v["ts"]}
			no = append(no, r)
			continue
		}
		for i := range items {
			u := r
			u.v = map[string]any{"customer": r.v["customer"], "nth": i}
			out = append(out, u)
		}
	}
	return out, no
}

var byCustomer = tumbling{size: 100, keys: []string{"customer"}, aggs: []agg{{"rows", "count", ""}}}

// window adds a tumbling window by customer with its late rows.
func windowed(s arkflow.Stream) {
	w := s.KeyBy("customer").Window("w", window.Tumbling(100*msec), window.Count().As("rows"))
	w.Sink("out", drop.Sink{})
	w.Late().Sink("late", drop.Sink{})
}

func TestT12GoldenFlatMapRowsInheritTheirTime(t *testing.T) {
	job := arkflow.NewJob("flat-map")
	flat := job.Source("orders", source(orderSchema), arkflow.EventTime("ts", arkflow.OutOfOrderness(30*msec))).
		Apply("units", operator.FlatMapSides(units, refused))
	windowed(flat)
	no := flat.Side("refused").KeyBy("why").Window("refusals", window.Tumbling(100*msec), window.Count().As("rows"))
	no.Sink("no", drop.Sink{})
	no.Late().Sink("no-late", drop.Sink{})
	in := orders(110, 3, 12, 120, 61)
	made, refusals := unitRows(in.timed("ts", 30))
	out, late := byCustomer.run(t, made)
	noOut, noLate := tumbling{size: 100, keys: []string{"why"}, aggs: []agg{{"rows", "count", ""}}}.run(t, refusals)
	require.NotEmpty(t, late)
	require.NotEmpty(t, noLate)
	Verify(t, job, in.from("orders"), Want("out", out...), Want("late", late...), Want("no", noOut...), Want("no-late", noLate...), Counts("w", "out", "rows"))
}

func TestT12GoldenMapBatchNamesTheRowsThatItsResultsComeFrom(t *testing.T) {
	schema := schemaOf(field("customer", arrow.BinaryTypes.String), field("nth", arrow.PrimitiveTypes.Int64))
	// A row for each item, those of the last row first.
	each := func(in arrow.RecordBatch) (arrow.RecordBatch, []int32, error) {
		names, items := in.Column(1).(*array.String), in.Column(4).(*array.Int64)
		b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
		defer b.Release()
		var rows []int32
		for i := int(in.NumRows()) - 1; i >= 0; i-- {
			for k := range items.Value(i) * int64(1-boolInt(items.IsNull(i))) {
				if names.IsNull(i) {
					b.Field(0).AppendNull()
				} else {
					b.Field(0).(*array.StringBuilder).Append(names.Value(i))
				}
				b.Field(1).(*array.Int64Builder).Append(k)
				rows = append(rows, int32(i))
			}
		}
		return b.NewRecordBatch(), rows, nil
	}
	job := arkflow.NewJob("map-batch")
	windowed(job.Source("orders", source(orderSchema), arkflow.EventTime("ts", arkflow.OutOfOrderness(30*msec))).
		Filter("paid", expr.Col("status").Eq("paid")).
		Apply("same", operator.MapBatch(nil, func(in arrow.RecordBatch) (arrow.RecordBatch, error) { in.Retain(); return in, nil })).
		Apply("each", operator.MapBatchRows(operator.Columns(schema), each)))
	in := orders(110, 3, 12, 120, 62)
	rows := keep(in.timed("ts", 30), func(v map[string]any) bool { return v["status"] == "paid" })
	made, _ := unitRows(rows)
	out, late := byCustomer.run(t, made)
	require.NotEmpty(t, late)
	Verify(t, job, in.from("orders"), Want("out", out...), Want("late", late...), Counts("w", "out", "rows"))
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

func TestGoldenUnionIsTheRowsOfAll(t *testing.T) {
	job := arkflow.NewJob("union")
	a := job.Source("a", source(orderSchema), arkflow.EventTime("ts", arkflow.OutOfOrderness(30*msec)))
	b := job.Source("b", source(orderSchema), arkflow.EventTime("ts", arkflow.OutOfOrderness(10*msec))).
		Select("turned", "items", "shop", "customer", "amount", "status", "ts")
	// The third input is one of the first's branches: a diamond.
	windowed(a.Union("all", b, a.Filter("known", expr.Col("shop").IsNotNull())))
	one, two := orders(60, 2, 12, 120, 63), orders(50, 3, 14, 90, 64)
	rows := one.timed("ts", 30)
	all := append(slices.Clone(rows), two.timed("ts", 10)...)
	all = append(all, keep(rows, func(v map[string]any) bool { return v["shop"] != nil })...)
	out, late := byCustomer.run(t, all)
	require.NotEmpty(t, late)
	Verify(t, job, one.from("a"), two.from("b"), Want("out", out...), Want("late", late...), Counts("w", "out", "rows"))
}

func TestGoldenSplitSendsEachRowOneWay(t *testing.T) {
	job := arkflow.NewJob("split")
	src := job.Source("orders", source(orderSchema), arkflow.EventTime("ts", arkflow.OutOfOrderness(30*msec)))
	parts := src.Split("by-amount", arkflow.When("large", expr.Col("amount").Ge(150.0)), arkflow.When("few", expr.Col("items").Lt(4)), arkflow.Otherwise("rest"))
	windowed(parts.Branch("large"))
	parts.Branch("few").Select("few-columns", "ts", "items").Sink("few", drop.Sink{})
	rest := parts.Branch("rest")
	rest.Sink("rest", drop.Sink{})
	some := rest.Split("again", arkflow.When("known", expr.Col("shop").IsNotNull()))
	some.Branch("known").Sink("known", drop.Sink{})

	in := orders(120, 4, 12, 120, 65)
	rows := in.timed("ts", 30)
	large := func(v map[string]any) bool { x, ok := v["amount"].(float64); return ok && x >= 150 }
	few := func(v map[string]any) bool { n, ok := v["items"].(int64); return !large(v) && ok && n < 4 }
	others := keep(rows, func(v map[string]any) bool { return !large(v) && !few(v) })
	out, late := byCustomer.run(t, keep(rows, large))
	narrow := change(keep(rows, few), func(v map[string]any) map[string]any { return map[string]any{"ts": v["ts"], "items": v["items"]} })
	Verify(t, job, in.from("orders"), Want("out", out...), Want("late", late...), Want("few", values(narrow)...), Want("rest", values(others)...),
		Want("known", values(keep(others, func(v map[string]any) bool { return v["shop"] != nil }))...), Counts("w", "out", "rows"))
}

// slow gives its argument back after some scheduling; now and then it fails once.
func slow(failures *atomic.Int64) func(context.Context, wide) (wide, error) {
	return func(ctx context.Context, o wide) (wide, error) {
		t := time.NewTimer(time.Duration(rand.N(200)) * time.Microsecond)
		defer t.Stop()
		select {
		case <-t.C:
		case <-ctx.Done():
			return o, ctx.Err()
		}
		if rand.N(20) == 0 {
			failures.Add(1)
			return o, errors.New("not now")
		}
		return o, nil
	}
}

func TestT12GoldenAsyncResultsKeepTheirTime(t *testing.T) {
	for _, unordered := range []bool{false, true} {
		t.Run(fmt.Sprintf("unordered %v", unordered), func(t *testing.T) {
			var failures atomic.Int64
			cfg := operator.AsyncConfig{InFlight: 5, Unordered: unordered, Retries: 30, Backoff: time.Nanosecond}
			job := arkflow.NewJob("async")
			windowed(job.Source("orders", source(orderSchema), arkflow.EventTime("ts", arkflow.OutOfOrderness(30*msec))).
				Apply("fetch", operator.Async(slow(&failures), cfg)).
				Drop("narrow", "items", "shop"))
			in := orders(60, 3, 12, 120, 66)
			rows := change(in.timed("ts", 30), func(v map[string]any) map[string]any { return map[string]any{"ts": v["ts"], "customer": v["customer"]} })
			out, late := byCustomer.run(t, rows)
			require.NotEmpty(t, late)
			Verify(t, job, in.from("orders"), Want("out", out...), Want("late", late...), Counts("w", "out", "rows"))
			require.NotZero(t, failures.Load(), "some calls were made again")
		})
	}
}

func TestT9GoldenWithTimestampsStartsATimeOfItsOwn(t *testing.T) {
	job := arkflow.NewJob("other-time")
	windowed(job.Source("orders", source(orderSchema), arkflow.ProcessingTime()).
		WithTimestamps("by-ts", "ts", arkflow.OutOfOrderness(20*msec)))
	in := orders(120, 1, 12, 100, 67) // one split: each task reads its rows in order
	out, late := byCustomer.run(t, in.timed("ts", 20))
	require.NotEmpty(t, late)
	Verify(t, job, in.from("orders"), Want("out", out...), Want("late", late...), Counts("w", "out", "rows"))
}

func TestB4GoldenTypedViews(t *testing.T) {
	job := arkflow.NewJob("typed")
	src := job.Source("orders", source(orderSchema), arkflow.ProcessingTime())
	known := arkflow.As[wide](src).Filter("known", func(o wide) bool { return o.Items != nil && *o.Items > 0 })
	known.Stream().Sink("whole", drop.Sink{})
	each := arkflow.FlatMap(known, "each", func(o wide, emit func(unit)) {
		for i := range *o.Items {
			emit(unit{o.Customer, i})
		}
	})
	first := arkflow.MapErr(each, "first", func(u unit) (unit, error) {
		if u.Nth > 0 {
			return u, errors.New("not the first")
		}
		return u, nil
	}).With(arkflow.OnError(arkflow.Skip()))
	arkflow.Map(first, "plus", func(u unit) unit { u.Nth++; return u }).Stream().Sink("out", drop.Sink{})
	in := orders(120, 3, 12, 100, 68)
	rows := keep(in.timed("", 0), func(v map[string]any) bool { n, ok := v["items"].(int64); return ok && n > 0 })
	Verify(t, job, in.from("orders"), Want("whole", values(rows)...),
		Want("out", values(change(rows, func(v map[string]any) map[string]any {
			return map[string]any{"customer": v["customer"], "nth": int64(1)}
		}))...))
}
