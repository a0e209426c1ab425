// Command testing is a job of a service and, beside it, the unit tests of that job: see orders_test.go.
//
//	go run ./examples/testing -in 'orders/*.jsonl'
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"time"

	"github.com/arkflow-go/arkflow"
	"github.com/arkflow-go/arkflow/codec"
	"github.com/arkflow-go/arkflow/connectors/file"
	"github.com/arkflow-go/arkflow/connectors/stdout"
	"github.com/arkflow-go/arkflow/expr"
	"github.com/arkflow-go/arkflow/window"
)

// Order is a line of the input.
type Order struct {
	Customer string    `arkflow:"customer_id"`
	Status   string    `arkflow:"status"`
	Amount   float64   `arkflow:"amount"`
	At       time.Time `arkflow:"ts"`
}

// newJob sums what each customer has paid a minute.
func newJob(in, late string) *arkflow.Job {
	status := expr.Field(func(o *Order) *string { return &o.Status })

	job := arkflow.NewJob("orders", arkflow.Parallelism(4))
	perMinute := job.Source("orders", file.Source{URL: in, Format: codec.JSONOf[Order]()},
		arkflow.EventTime("ts", arkflow.OutOfOrderness(2*time.Second))).
		Filter("paid", status.Eq("paid")).
		KeyBy("customer_id").
		Window("per-minute", window.Tumbling(time.Minute), window.Count().As("orders"), window.Sum("amount").As("total"))
	perMinute.Sink("out", stdout.Sink{})
	perMinute.Late().Sink("late", file.Sink{URL: late})
	return job
}

func main() {
	in := flag.String("in", "orders/*.jsonl", "the files to read")
	late := flag.String("late", "late.jsonl", "where late orders go")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := newJob(*in, *late).Run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "testing:", err)
		os.Exit(1)
	}
}
