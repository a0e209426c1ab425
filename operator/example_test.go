package operator_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/arkflow-go/arkflow"
	"github.com/arkflow-go/arkflow/connectors/memory"
	"github.com/arkflow-go/arkflow/expr"
	"github.com/arkflow-go/arkflow/operator"
)

type sale struct {
	ID     int64 `arkflow:"id"`
	Status string
	Amount float64 `arkflow:"amount"`
}

// show runs an operator over three rows and prints what comes out.
func show(op operator.Operator, opts ...arkflow.OperatorOption) {
	sales := []sale{{1, "paid", 10}, {2, "open", 20}, {3, "paid", 2.5}}
	out := memory.NewSink()
	job := arkflow.NewJob("example")
	job.Source("sales", memory.Of(sales), arkflow.ProcessingTime()).Apply("op", op).With(opts...).Sink("out", out)
	if err := job.Run(context.Background()); err != nil {
		fmt.Println(err)
	}
	for _, row := range out.Rows() {
		fmt.Println(row)
	}
}

func ExampleFilter() {
	status := expr.Field(func(s *sale) *string { return &s.Status })
	show(operator.Filter(status.Eq("paid").And(expr.Col("amount").Gt(5))))
	// Output: map[Status:paid amount:10 id:1]
}

func ExampleSelect() {
	show(operator.Select("id", expr.Col("amount").Mul(2).As("double")))
	// Output:
	// map[double:20 id:1]
	// map[double:40 id:2]
	// map[double:5 id:3]
}

func ExampleRename() {
	show(operator.Rename(map[string]string{"id": "sale_id"}))
	// Output:
	// map[Status:paid amount:10 sale_id:1]
	// map[Status:open amount:20 sale_id:2]
	// map[Status:paid amount:2.5 sale_id:3]
}

func ExampleDrop() {
	show(operator.Drop("Status", "amount"))
	// Output:
	// map[id:1]
	// map[id:2]
	// map[id:3]
}

func ExampleMap() {
	type taxed struct {
		ID  int64 `arkflow:"id"`
		Tax float64
	}
	show(operator.Map(func(s sale) taxed { return taxed{s.ID, s.Amount / 4} }))
	// Output:
	// map[Tax:2.5 id:1]
	// map[Tax:5 id:2]
	// map[Tax:0.625 id:3]
}

func ExampleMapErr() {
	check := func(s sale) (sale, error) {
		if s.Status != "paid" {
			return sale{}, errors.New("not paid")
		}
		return s, nil
	}
	show(operator.MapErr(check), arkflow.OnError(operator.Skip()))
	// Output:
	// map[Status:paid amount:10 id:1]
	// map[Status:paid amount:2.5 id:3]
}
