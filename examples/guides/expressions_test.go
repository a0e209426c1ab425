package guides_test

import (
	"context"
	"fmt"
	"time"

	"github.com/arkflow-go/arkflow"
	"github.com/arkflow-go/arkflow/connectors/memory"
	"github.com/arkflow-go/arkflow/connectors/stdout"
	"github.com/arkflow-go/arkflow/expr"
	"github.com/arkflow-go/arkflow/window"
)

// The program of docs/expressions.md.

func Example_expressions() {
	type Order struct {
		Customer string    `arkflow:"customer"`
		Status   string    `arkflow:"status"`
		Amount   float64   `arkflow:"amount"`
		Props    string    `arkflow:"props"`
		At       time.Time `arkflow:"at"`
	}
	at := time.Date(2026, 3, 1, 12, 34, 56, 0, time.UTC)
	rows := []Order{
		{"Ada", "paid", 12.5, `{"shop": {"id": 7}}`, at},
		{"bob", "open", 99, `{}`, at},
		{"ada", "paid", 0, `{"shop": {"id": 8}}`, at},
	}
	status := expr.Field(func(o *Order) *string { return &o.Status }) // a selector: it survives a rename of the field

	job := arkflow.NewJob("expressions")
	paid := job.Source("orders", memory.Of(rows), arkflow.EventTime("at")).
		Filter("paid", status.Eq("paid").And(expr.Col("amount").Ge(0))) // as expr.T("status = 'paid' and amount >= 0")
	slim := paid.Select("slim",
		expr.T("lower(customer)").As("customer"),
		expr.T("props -> 'shop' ->> 'id'").As("shop"),
		expr.T("case when amount > 10 then 'large' else 'small' end").As("size"),
		expr.T("date_trunc('hour', at)").As("hour"),
		"amount")
	slim.Sink("rows", stdout.Sink{})
	slim.KeyBy("customer").
		Window("per-hour", window.Tumbling(time.Hour), window.CountIf(expr.T("size = 'large'")).As("large"), window.Sum(expr.T("amount * 2")).As("twice")).
		Select("result", "customer", "large", "twice").
		Sink("totals", stdout.Sink{})
	if err := job.Run(context.Background()); err != nil {
		fmt.Println(err)
	}
	// Output:
	// {"customer":"ada","shop":"7","size":"large","hour":"2026-03-01T12:00:00Z","amount":12.5}
	// {"customer":"ada","shop":"8","size":"small","hour":"2026-03-01T12:00:00Z","amount":0}
	// {"customer":"ada","large":1,"twice":25}
}
