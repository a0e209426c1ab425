package main

import (
	"time"

	"github.com/arkflow-go/arkflow"
	"github.com/arkflow-go/arkflow/expr"
	"github.com/arkflow-go/arkflow/operator"
	"github.com/arkflow-go/arkflow/window"
)

// Order is a row of the input.
type Order struct {
	Customer string    `json:"customer"`
	Status   string    `json:"status"`
	Amount   float64   `json:"amount"`
	At       time.Time `json:"at"`
}

// Total is a row of the result.
type Total struct {
	Customer string    `json:"customer"`
	Start    time.Time `json:"window_start"`
	End      time.Time `json:"window_end"`
	Orders   int64     `json:"orders"`
	Amount   float64   `json:"amount"`
}

// newJob sums what each customer has paid a minute.
func newJob(source operator.Source, totals, late operator.Sink) *arkflow.Job {
	job := arkflow.NewJob("paid-orders")
	orders := job.Source("orders", source, arkflow.EventTime("at", arkflow.OutOfOrderness(2*time.Second)))
	perMinute := orders.
		Filter("paid", expr.T("status = 'paid' and amount > 0")).
		KeyBy("customer").
		Window("per-minute", window.Tumbling(time.Minute), window.Count().As("orders"), window.Sum("amount").As("amount"))
	perMinute.Sink("totals", totals)
	perMinute.Late().Sink("late", late)
	return job
}
