package operator_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
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

func ExampleFlatMap() {
	type half struct {
		ID   int64 `arkflow:"id"`
		Half float64
	}
	show(operator.FlatMap(func(s sale, emit func(half)) {
		if s.Status == "paid" {
			emit(half{s.ID, s.Amount / 2})
			emit(half{s.ID, s.Amount / 2})
		}
	}))
	// Output:
	// map[Half:5 id:1]
	// map[Half:5 id:1]
	// map[Half:1.25 id:3]
	// map[Half:1.25 id:3]
}

func ExampleFlatMapSeq() {
	type word struct{ Word string }
	show(operator.FlatMapSeq(func(s sale) iter.Seq[word] {
		return func(yield func(word) bool) {
			for w := range strings.SplitSeq(s.Status+" sale", " ") {
				if !yield(word{w}) {
					return
				}
			}
		}
	}))
	// Output:
	// map[Word:paid]
	// map[Word:sale]
	// map[Word:open]
	// map[Word:sale]
	// map[Word:paid]
	// map[Word:sale]
}

func ExampleFlatMapErr() {
	show(operator.FlatMapErr(func(s sale, emit func(sale)) error {
		emit(s) // taken back where the row is refused
		if s.Status != "paid" {
			return errors.New("not paid")
		}
		return nil
	}), arkflow.OnError(operator.Skip()))
	// Output:
	// map[Status:paid amount:10 id:1]
	// map[Status:paid amount:2.5 id:3]
}

func ExampleFlatMapSides() {
	type open struct {
		ID int64 `arkflow:"id"`
	}
	unpaid := operator.Side[open]("unpaid")
	split := operator.FlatMapSides(func(s sale, emit func(sale), to *operator.Sides) error {
		if s.Status == "paid" {
			emit(s)
		} else {
			unpaid.Emit(to, open{s.ID})
		}
		return nil
	}, unpaid)

	paid, others := memory.NewSink(), memory.NewSink()
	job := arkflow.NewJob("example")
	sales := job.Source("sales", memory.Of([]sale{{1, "paid", 10}, {2, "open", 20}}), arkflow.ProcessingTime()).Apply("split", split)
	sales.Sink("paid", paid)
	sales.Side("unpaid").Sink("others", others)
	if err := job.Run(context.Background()); err != nil {
		fmt.Println(err)
	}
	fmt.Println(paid.Rows(), others.Rows())
	// Output: [map[Status:paid amount:10 id:1]] [map[id:2]]
}

func ExampleFilterFunc() {
	show(operator.FilterFunc(func(s sale) bool { return s.Amount > 5 }))
	// Output:
	// map[Status:paid amount:10 id:1]
	// map[Status:open amount:20 id:2]
}

func ExampleMapBatch() {
	ids := func(in *arrow.Schema) (*arrow.Schema, error) { return arrow.NewSchema(in.Fields()[:1], nil), nil }
	show(operator.MapBatch(ids, func(in arrow.RecordBatch) (arrow.RecordBatch, error) {
		return array.NewRecordBatch(arrow.NewSchema(in.Schema().Fields()[:1], nil), in.Columns()[:1], in.NumRows()), nil
	}))
	// Output:
	// map[id:1]
	// map[id:2]
	// map[id:3]
}

func ExampleMapBatchRows() {
	show(operator.MapBatchRows(nil, func(in arrow.RecordBatch) (arrow.RecordBatch, []int32, error) {
		last := in.NumRows() - 1
		return in.NewSlice(last, last+1), []int32{int32(last)}, nil
	}))
	// Output: map[Status:paid amount:2.5 id:3]
}

func ExampleAsync() {
	type priced struct {
		ID    int64 `arkflow:"id"`
		Price float64
	}
	ask := func(ctx context.Context, s sale) (priced, error) { // a service, a database
		return priced{s.ID, s.Amount / 4}, ctx.Err()
	}
	show(operator.Async(ask, operator.AsyncConfig{InFlight: 2, Timeout: time.Second, Retries: 3}))
	// Output:
	// map[Price:2.5 id:1]
	// map[Price:5 id:2]
	// map[Price:0.625 id:3]
}
