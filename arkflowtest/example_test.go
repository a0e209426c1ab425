package arkflowtest_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/arkflow-go/arkflow"
	"github.com/arkflow-go/arkflow/arkflowtest"
	"github.com/arkflow-go/arkflow/connectors/drop"
	"github.com/arkflow-go/arkflow/connectors/memory"
	"github.com/arkflow-go/arkflow/window"
)

type Order struct {
	Customer string    `arkflow:"customer"`
	At       time.Time `arkflow:"ts"`
	Amount   float64   `arkflow:"amount"`
}

type PerMinute struct {
	Customer string    `arkflow:"customer"`
	From     time.Time `arkflow:"window_start"`
	To       time.Time `arkflow:"window_end"`
	Orders   int64     `arkflow:"orders"`
	Total    float64   `arkflow:"total"`
}

// OrdersPerMinute is a job as a program builds it, with its real source and sinks.
func OrdersPerMinute() *arkflow.Job {
	job := arkflow.NewJob("orders-per-minute")
	perMinute := job.Source("orders", memory.Of[Order](), arkflow.EventTime("ts", arkflow.OutOfOrderness(2*time.Second))).
		KeyBy("customer").
		Window("per-minute", window.Tumbling(time.Minute), window.Count().As("orders"), window.Sum("amount").As("total"))
	perMinute.Sink("out", drop.Sink{})
	perMinute.Late().Sink("late", drop.Sink{})
	return job
}

func at(s int) time.Time { return time.Unix(int64(s), 0).UTC() }

// TestOrdersPerMinute is the complete test of a job that the package's documentation shows.
func TestOrdersPerMinute(t *testing.T) {
	minute := func(customer string, from int, orders int64, total float64) PerMinute {
		return PerMinute{customer, at(from), at(from + 60), orders, total}
	}
	arkflowtest.Verify(t, OrdersPerMinute(),
		arkflowtest.From("orders",
			arkflowtest.Rows(Order{"ada", at(5), 10}, Order{"bob", at(70), 1}, Order{"bob", at(8), 7}),
			arkflowtest.Rows(Order{"ada", at(59), 2.5}, Order{"ada", at(61), 4})),
		arkflowtest.Want("out", minute("ada", 0, 2, 12.5), minute("bob", 60, 1, 1), minute("ada", 60, 1, 4)),
		arkflowtest.Want("late", Order{"bob", at(8), 7}),
		arkflowtest.Counts("per-minute", "out", "orders"))
}

func ExampleTry() {
	r, err := arkflowtest.Try(context.Background(), OrdersPerMinute(),
		arkflowtest.From("orders", arkflowtest.Rows(Order{"ada", at(5), 10}, Order{"ada", at(59), 2.5}, Order{"bob", at(70), 1})))
	fmt.Println(err)
	for _, line := range r.Lines("out") {
		fmt.Println(line)
	}
	// Output:
	// <nil>
	// customer="ada" window_start=1970-01-01T00:00:00Z window_end=1970-01-01T00:01:00Z orders=2 total=12.5
	// customer="bob" window_start=1970-01-01T00:01:00Z window_end=1970-01-01T00:02:00Z orders=1 total=1
}

func ExampleFailWrite() {
	r, err := arkflowtest.Try(context.Background(), OrdersPerMinute(),
		arkflowtest.From("orders", arkflowtest.Rows(Order{"ada", at(5), 10})),
		arkflowtest.FailWrite("out", 1, fmt.Errorf("disk full")))
	fmt.Println(r.Status().State)
	fmt.Println(err)
	// Output:
	// Failed
	// job "orders-per-minute": operator "out" (task orders/0): disk full
}

func ExampleRestore() {
	script := arkflowtest.Script(
		arkflowtest.Rows(Order{"ada", at(5), 10}), arkflowtest.Checkpoint(),
		arkflowtest.Rows(Order{"ada", at(6), 5}))
	first, _ := arkflowtest.Try(context.Background(), OrdersPerMinute(), arkflowtest.From("orders", script))
	again, _ := arkflowtest.Try(context.Background(), OrdersPerMinute(), arkflowtest.From("orders", script),
		arkflowtest.Restore(first.Snapshots()[0]))
	fmt.Println(again.Status().Operator("orders").RowsIn, "row read after the restore")
	fmt.Println(again.Lines("out"))
	// Output:
	// 1 row read after the restore
	// [customer="ada" window_start=1970-01-01T00:00:00Z window_end=1970-01-01T00:01:00Z orders=2 total=15]
}

func ExampleClock() {
	clock := arkflowtest.NewClock(arkflowtest.ClockStart)
	timer := clock.NewTimer(time.Minute)
	clock.Advance(time.Hour)
	fmt.Println((<-timer.C()).Format(time.TimeOnly), clock.Now().Format(time.TimeOnly))
	// Output: 00:01:00 01:00:00
}
