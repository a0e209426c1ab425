package golden

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/arkflow-go/arkflow"
	"github.com/arkflow-go/arkflow/arkflowtest"
	"github.com/arkflow-go/arkflow/connectors/drop"
	"github.com/arkflow-go/arkflow/connectors/memory"
	"github.com/arkflow-go/arkflow/expr"
	"github.com/arkflow-go/arkflow/operator"
	"github.com/stretchr/testify/require"
)

// field is a nullable column.
func field(name string, t arrow.DataType) arrow.Field {
	return arrow.Field{Name: name, Type: t, Nullable: true}
}

func schemaOf(fields ...arrow.Field) *arrow.Schema { return arrow.NewSchema(fields, nil) }

// source stands for any source: every test gives the rows itself.
func source(s *arrow.Schema) operator.Source { return memory.Records(s) }

var tradeSchema = schemaOf(field("id", arrow.PrimitiveTypes.Int64), field("symbol", arrow.BinaryTypes.String), field("price", arrow.PrimitiveTypes.Float64),
	field("quantity", arrow.PrimitiveTypes.Int32), field("note", arrow.BinaryTypes.String))

// trades are rows with nulls, by a seed.
func trades(n, splits int, seed uint64) input {
	r := rand.New(rand.NewPCG(seed, 7))
	in := input{schema: tradeSchema, splits: make([][][]any, splits)}
	for i := range n {
		v := []any{int64(i), fmt.Sprintf("S%d", r.IntN(9)), float64(r.IntN(4000)) / 8, int64(r.IntN(50)), nil}
		for _, k := range []int{1, 2, 3} {
			if r.IntN(12) == 0 {
				v[k] = nil
			}
		}
		if r.IntN(2) == 0 {
			v[4] = fmt.Sprintf("note %d", i)
		}
		s := r.IntN(splits)
		in.splits[s] = append(in.splits[s], v)
	}
	return in
}

type priced struct {
	ID    int64    `arkflow:"id"`
	Price *float64 `arkflow:"unit_price"`
	Count *int32   `arkflow:"quantity"`
}

type valued struct {
	ID    int64    `arkflow:"id"`
	Value *float64 `arkflow:"value"`
}

func TestGoldenStatelessChain(t *testing.T) {
	job := arkflow.NewJob("trades")
	job.Source("trades", source(tradeSchema), arkflow.ProcessingTime()).
		Drop("no-note", "note").
		Filter("cheap", expr.Col("price").Lt(expr.Lit(400.0)).Or(expr.Col("price").IsNull())).
		Rename("unit", map[string]string{"price": "unit_price"}).
		Apply("value", operator.Map(func(p priced) valued {
			v := valued{ID: p.ID}
			if p.Price != nil && p.Count != nil {
				x := *p.Price * float64(*p.Count)
				v.Value = &x
			}
			return v
		})).
		Select("out-columns", expr.Col("value"), expr.Col("id")).
		Sink("out", drop.Sink{})
	for name, c := range map[string]struct{ rows, splits int }{"small": {120, 3}, "large": {8_500, 5}, "one-split": {60, 1}} {
		t.Run(name, func(t *testing.T) {
			in := trades(c.rows, c.splits, 1)
			rows := keep(in.timed("", 0), func(v map[string]any) bool { return v["price"] == nil || v["price"].(float64) < 400 })
			rows = change(rows, func(v map[string]any) map[string]any {
				out := map[string]any{"id": v["id"], "value": nil}
				if v["price"] != nil && v["quantity"] != nil {
					out["value"] = v["price"].(float64) * float64(v["quantity"].(int64))
				}
				return out
			})
			arkflowtest.Verify(t, job, in.from("trades"), arkflowtest.Want("out", values(rows)...))
		})
	}
}

func TestGoldenFanOutToSeveralSinks(t *testing.T) {
	in := trades(140, 4, 2)
	job := arkflow.NewJob("fan-out")
	src := job.Source("trades", source(tradeSchema), arkflow.ProcessingTime())
	src.Sink("all", drop.Sink{})
	known := src.Filter("known", expr.Col("symbol").IsNotNull())
	known.Sink("with-symbol", drop.Sink{})
	known.Sink("with-symbol-again", drop.Sink{})
	known.Select("narrow", expr.Col("symbol"), expr.Col("quantity").Mul(expr.Lit(int64(2))).As("twice")).Sink("twice", drop.Sink{})
	src.Filter("unknown", expr.Col("symbol").IsNull()).Sink("without-symbol", drop.Sink{})

	rows := in.timed("", 0)
	with := keep(rows, func(v map[string]any) bool { return v["symbol"] != nil })
	twice := change(with, func(v map[string]any) map[string]any {
		out := map[string]any{"symbol": v["symbol"], "twice": nil}
		if v["quantity"] != nil {
			out["twice"] = 2 * v["quantity"].(int64)
		}
		return out
	})
	arkflowtest.Verify(t, job, in.from("trades"),
		arkflowtest.Want("all", values(rows)...),
		arkflowtest.Want("with-symbol", values(with)...),
		arkflowtest.Want("with-symbol-again", values(with)...),
		arkflowtest.Want("twice", values(twice)...),
		arkflowtest.Want("without-symbol", values(keep(rows, func(v map[string]any) bool { return v["symbol"] == nil }))...))
}

func TestGoldenRowsInErrorAreSkippedAndCounted(t *testing.T) {
	in := trades(100, 2, 3)
	job := arkflow.NewJob("skip")
	job.Source("trades", source(tradeSchema), arkflow.ProcessingTime()).
		Apply("odd", operator.MapErr(func(p struct {
			ID int64 `arkflow:"id"`
		}) (valued, error) {
			if p.ID%3 == 0 {
				return valued{}, fmt.Errorf("%d is divisible by 3", p.ID)
			}
			return valued{ID: p.ID}, nil
		})).With(arkflow.OnError(arkflow.Skip())).
		Sink("out", drop.Sink{})
	rows := keep(in.timed("", 0), func(v map[string]any) bool { return v["id"].(int64)%3 != 0 })
	want := change(rows, func(v map[string]any) map[string]any { return map[string]any{"id": v["id"], "value": nil} })
	arkflowtest.Verify(t, job, in.from("trades"), arkflowtest.Want("out", values(want)...))
	r := arkflowtest.Run(t, job, in.from("trades"))
	status := r.Status()
	odd := status.Operator("odd")
	require.Equal(t, map[string]int64{operator.DropError: 34}, odd.Dropped)
}
