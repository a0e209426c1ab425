package main

import (
	"testing"
	"time"

	"github.com/arkflow-go/arkflow/arkflowtest"
	"github.com/arkflow-go/arkflow/connectors/drop"
	"github.com/arkflow-go/arkflow/connectors/memory"
)

func TestPaidOrdersAreSummedByMinute(t *testing.T) {
	at := func(seconds int64) time.Time { return time.Unix(seconds, 0) }
	job := newJob(memory.Of[Order](), drop.Sink{}, drop.Sink{})

	arkflowtest.Verify(t, job,
		arkflowtest.From("orders", arkflowtest.Rows(
			Order{"ada", "paid", 10, at(5)},
			Order{"bob", "open", 99, at(6)},   // not paid
			Order{"ada", "paid", 4, at(61)},   // the next minute
			Order{"ada", "paid", 2.5, at(59)}, // behind by 2 s: on time
			Order{"ada", "paid", 1, at(70)},   // the watermark is 68 s: the first minute is over
			Order{"ada", "paid", 7, at(58)})), // late
		arkflowtest.Want("totals",
			Total{"ada", at(0), at(60), 2, 12.5},
			Total{"ada", at(60), at(120), 2, 5}),
		arkflowtest.Want("late", Order{"ada", "paid", 7, at(58)}),
		arkflowtest.Counts("per-minute", "totals", "orders"))
}
