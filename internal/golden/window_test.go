package golden

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/arkflow-go/arkflow"
	. "github.com/arkflow-go/arkflow/arkflowtest"
	"github.com/arkflow-go/arkflow/connectors/drop"
	"github.com/arkflow-go/arkflow/expr"
	"github.com/arkflow-go/arkflow/window"
)

const msec = time.Millisecond

var orderSchema = schemaOf(field("ts", arrow.PrimitiveTypes.Int64), field("customer", arrow.BinaryTypes.String), field("status", arrow.BinaryTypes.String),
	field("amount", arrow.PrimitiveTypes.Float64), field("items", arrow.PrimitiveTypes.Int64), field("shop", arrow.PrimitiveTypes.Int32))

// orders are rows whose time goes on by about `step` ms a row and back by at most `disorder`, by a seed.
func orders(n, splits int, step, disorder int, seed uint64) input {
	r := rand.New(rand.NewPCG(seed, 11))
	in := input{schema: orderSchema, splits: make([][][]any, splits)}
	for i := range n {
		v := []any{int64(i*step - r.IntN(disorder+1)), fmt.Sprintf("c%02d", r.IntN(12)), "paid", float64(r.IntN(800)) / 4, int64(r.IntN(9)), int64(r.IntN(3))}
		if r.IntN(4) == 0 {
			v[2] = "open"
		}
		for _, k := range []int{1, 3, 4, 5} {
			if r.IntN(15) == 0 {
				v[k] = nil
			}
		}
		s := r.IntN(splits)
		in.splits[s] = append(in.splits[s], v)
	}
	return in
}

func TestGoldenOrdersRollupWithLateRoute(t *testing.T) {
	job := arkflow.NewJob("orders")
	w := job.Source("orders", source(orderSchema), arkflow.EventTime("ts", arkflow.OutOfOrderness(40*msec))).
		Filter("paid", expr.Col("status").Eq(expr.Lit("paid"))).
		KeyBy("customer").
		Window("w", window.Tumbling(100*msec), window.Count().As("orders"), window.Count("amount").As("amounts"), window.Sum("amount").As("total"),
			window.Avg("amount").As("mean"), window.Min("items").As("fewest"), window.Max("items").As("most"))
	w.Sink("out", drop.Sink{})
	w.Late().Sink("late", drop.Sink{})
	m := tumbling{size: 100, keys: []string{"customer"}, aggs: []agg{{"orders", "count", ""}, {"amounts", "count", "amount"}, {"total", "sum", "amount"},
		{"mean", "avg", "amount"}, {"fewest", "min", "items"}, {"most", "max", "items"}}}
	for splits := 1; splits <= 5; splits++ {
		t.Run(fmt.Sprintf("%d splits", splits), func(t *testing.T) {
			in := orders(110, splits, 12, 120, uint64(splits))
			out, late := m.run(t, keep(in.timed("ts", 40), func(v map[string]any) bool { return v["status"] == "paid" }))
			if len(late) == 0 {
				t.Fatal("the data has no late row")
			}
			Verify(t, job, in.from("orders"), Want("out", out...), Want("late", late...), Counts("w", "out", "orders"))
		})
	}
}

func TestGoldenLateDropWithoutAllowedDisorder(t *testing.T) {
	job := arkflow.NewJob("disorder")
	job.Source("orders", source(orderSchema), arkflow.EventTime("ts")).
		KeyBy("shop").
		Window("w", window.Tumbling(50*msec), window.Count().As("rows"), window.Sum("items").As("items")).
		Sink("out", drop.Sink{})
	m := tumbling{size: 50, keys: []string{"shop"}, aggs: []agg{{"rows", "count", ""}, {"items", "sum", "items"}}}
	for name, in := range map[string]input{"small": orders(140, 3, 5, 90, 21), "large": orders(8500, 5, 3, 200, 22)} {
		t.Run(name, func(t *testing.T) {
			out, late := m.run(t, in.timed("ts", 0))
			if len(late) == 0 {
				t.Fatal("the data has no late row")
			}
			Verify(t, job, in.from("orders"), Want("out", out...), Counts("w", "out", "rows"))
		})
	}
}

func TestGoldenCompositeNullableKeys(t *testing.T) {
	job := arkflow.NewJob("composite")
	w := job.Source("orders", source(orderSchema), arkflow.EventTime("ts", arkflow.OutOfOrderness(20*msec))).
		Rename("names", map[string]string{"customer": "who"}).
		KeyBy("who", "shop", "status").
		Window("w", window.Tumbling(200*msec).Offset(30*msec), window.Count().As("rows"), window.Min("amount").As("low"), window.Max("who").As("same"))
	w.Sink("out", drop.Sink{})
	w.Late().Drop("narrow", "amount", "items").Sink("late", drop.Sink{})
	in := orders(130, 4, 9, 60, 31)
	rows := change(in.timed("ts", 20), func(v map[string]any) map[string]any {
		return map[string]any{"ts": v["ts"], "who": v["customer"], "status": v["status"], "amount": v["amount"], "items": v["items"], "shop": v["shop"]}
	})
	out, late := tumbling{size: 200, offset: 30, keys: []string{"who", "shop", "status"},
		aggs: []agg{{"rows", "count", ""}, {"low", "min", "amount"}, {"same", "max", "who"}}}.run(t, rows)
	for _, v := range late {
		delete(v, "amount")
		delete(v, "items")
	}
	Verify(t, job, in.from("orders"), Want("out", out...), Want("late", late...), Counts("w", "out", "rows"))
}

func TestGoldenFanOutToWindowsOfDifferentKeys(t *testing.T) {
	job := arkflow.NewJob("two-windows")
	src := job.Source("orders", source(orderSchema), arkflow.EventTime("ts", arkflow.OutOfOrderness(10*msec)))
	a := src.KeyBy("shop").Window("by-shop", window.Tumbling(80*msec), window.Count().As("rows"))
	b := src.KeyBy("customer").Window("by-customer", window.Tumbling(120*msec), window.Count().As("rows"), window.Sum("amount").As("total"))
	a.Sink("shops", drop.Sink{})
	b.Sink("customers", drop.Sink{})
	b.Late().Sink("late", drop.Sink{})
	// A second window over the results of the first, by another key.
	b.KeyBy("rows").Window("by-rows", window.Tumbling(240*msec), window.Count().As("groups")).Sink("histogram", drop.Sink{})

	in := orders(120, 3, 10, 50, 41)
	rows := in.timed("ts", 10)
	shops, _ := tumbling{size: 80, keys: []string{"shop"}, aggs: []agg{{"rows", "count", ""}}}.run(t, rows)
	customers, late := tumbling{size: 120, keys: []string{"customer"}, aggs: []agg{{"rows", "count", ""}, {"total", "sum", "amount"}}}.run(t, rows)
	var second []row
	for _, v := range customers {
		ts := v["window_end"].(time.Time).UnixMilli() - 1
		second = append(second, row{v: map[string]any{"rows": v["rows"]}, ts: &ts, j: -1 << 63})
	}
	histogram, _ := tumbling{size: 240, keys: []string{"rows"}, aggs: []agg{{"groups", "count", ""}}}.run(t, second)
	Verify(t, job, in.from("orders"), Want("shops", shops...), Want("customers", customers...), Want("late", late...), Want("histogram", histogram...),
		Counts("by-shop", "shops", "rows"), Counts("by-customer", "customers", "rows"), Counts("by-rows", "histogram", "groups"))
}

func TestGoldenManyIntegerKeys(t *testing.T) {
	schema := schemaOf(field("ts", arrow.PrimitiveTypes.Int64), field("k", arrow.PrimitiveTypes.Int64), field("n", arrow.PrimitiveTypes.Uint32))
	r := rand.New(rand.NewPCG(5, 5))
	in := input{schema: schema, splits: make([][][]any, 3)}
	for i := range 3000 {
		s := r.IntN(3)
		in.splits[s] = append(in.splits[s], []any{int64(i - r.IntN(30)), int64(r.Uint64()) % 700, uint64(r.Uint32())})
	}
	job := arkflow.NewJob("many-keys")
	job.Source("in", source(schema), arkflow.EventTime("ts", arkflow.OutOfOrderness(30*msec))).
		KeyBy("k").Window("w", window.Tumbling(time.Second), window.Count().As("rows"), window.Sum("n").As("sum"), window.Avg("n").As("mean")).
		Sink("out", drop.Sink{})
	out, _ := tumbling{size: 1000, keys: []string{"k"}, aggs: []agg{{"rows", "count", ""}, {"sum", "sum", "n"}, {"mean", "avg", "n"}}}.run(t, in.timed("ts", 30))
	Verify(t, job, in.from("in"), Want("out", out...), Counts("w", "out", "rows"))
}
