package window_test

import (
	"fmt"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/arkflow-go/arkflow/expr"
	"github.com/arkflow-go/arkflow/operator"
	"github.com/arkflow-go/arkflow/window"
)

func ExampleNew() {
	op := window.New(window.Tumbling(time.Minute).OnLate(window.Route), window.Count().As("orders"), window.Sum("amount").As("total"))
	orders := arrow.NewSchema([]arrow.Field{{Name: "customer", Type: arrow.BinaryTypes.String}, {Name: "amount", Type: arrow.PrimitiveTypes.Int64}}, nil)
	bound, err := op.Bind([]operator.Stream{{Schema: orders, Key: []string{"customer"}}})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, f := range bound.Outputs()[operator.Main].Schema.Fields() {
		fmt.Println(f.Name, f.Type)
	}
	// Output:
	// customer utf8
	// window_start timestamp[ms, tz=UTC]
	// window_end timestamp[ms, tz=UTC]
	// orders int64
	// total int64
}

func ExampleTumbling() {
	day := window.Tumbling(24 * time.Hour).Offset(-2 * time.Hour).MaxBufferedKeys(1_000_000).OnFull(window.Fail)
	fmt.Println(day)
	// Output: tumbling 24h0m0s offset -2h0m0s
}

func ExampleSliding() {
	fmt.Println(window.Sliding(10*time.Second, 2*time.Second).Lateness(time.Minute))
	// Output: sliding 10s every 2s lateness 1m0s
}

func ExampleAssigner_Lateness() {
	op := window.New(window.Tumbling(time.Minute).Lateness(time.Hour), window.Count())
	in := arrow.NewSchema([]arrow.Field{{Name: "customer", Type: arrow.BinaryTypes.String}}, nil)
	bound, err := op.Bind([]operator.Stream{{Schema: in, Key: []string{"customer"}}})
	if err != nil {
		fmt.Println(err)
		return
	}
	out := bound.Outputs()[operator.Main]
	fmt.Println(out.Changes, out.ChangeKey, out.Schema.Field(4).Name)
	// Output: upsert [customer window_start] __arkflow_window_update
}

func ExampleArgMax() {
	fmt.Println(window.ArgMax("price", "auction", "bidder").As("top").Ties())
	// Output: argmax(price, auction, bidder) with ties as top
}

func ExampleAggregate_Filter() {
	fmt.Println(window.Sum(expr.Col("price").Mul(2)).Filter(expr.Col("kind").Eq("sale")).As("doubled"))
	// Output: sum(price * 2) where kind = 'sale' as doubled
}

func ExampleCountIf() {
	fmt.Println(window.CountIf(expr.Col("price").Gt(100)).As("expensive"))
	// Output: count() where price > 100 as expensive
}

func ExampleFirst() {
	fmt.Println(window.First("price"), window.Last("price").As("close"))
	// Output: first(price) last(price) as close
}

func ExampleFromConfig() {
	op, err := window.FromConfig(map[string]any{
		"size_ms":    60_000,
		"aggregates": []any{map[string]any{"function": "avg", "column": "amount", "as": "mean"}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(op.(operator.Described).Describe())
	// Output: tumbling 1m0s: avg(amount) as mean
}
