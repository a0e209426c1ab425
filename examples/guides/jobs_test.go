package guides_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-multierror"

	"github.com/arkflow-go/arkflow"
	"github.com/arkflow-go/arkflow/codec"
	"github.com/arkflow-go/arkflow/connectors/file"
	"github.com/arkflow-go/arkflow/connectors/generate"
	"github.com/arkflow-go/arkflow/connectors/memory"
	"github.com/arkflow-go/arkflow/connectors/stdout"
	"github.com/arkflow-go/arkflow/expr"
	"github.com/arkflow-go/arkflow/operator"
)

// The programs of docs/jobs.md.

func Example_streams() {
	type Order struct {
		ID     int64   `arkflow:"id"`
		Region string  `arkflow:"region"`
		Amount float64 `arkflow:"amount"`
	}
	type Refusal struct {
		ID     int64  `arkflow:"id"`
		Reason string `arkflow:"reason"`
	}
	refused := operator.Side[Refusal]("refused")
	check := func(o Order, emit func(Order), to *operator.Sides) error {
		if o.Amount < 0 {
			refused.Emit(to, Refusal{ID: o.ID, Reason: "negative"})
			return nil
		}
		emit(o)
		return nil
	}

	job := arkflow.NewJob("streams")
	web := job.Source("web", memory.Of([]Order{{1, "eu", 40}, {2, "us", -1}}), arkflow.ProcessingTime())
	shop := job.Source("shop", memory.Of([]Order{{3, "eu", 900}}), arkflow.ProcessingTime())
	checked := web.Union("all", shop).Apply("check", operator.FlatMapSides(check, refused))
	checked.Side("refused").Sink("refused-orders", stdout.Sink{})

	sizes := checked.Split("by-size", arkflow.When("large", expr.T("amount >= 500")), arkflow.Otherwise("small"))
	sizes.Branch("large").Sink("large-orders", stdout.Sink{})
	sizes.Branch("small").
		Select("priced", "id", expr.T("amount * 1.19").As("gross")).
		Sink("small-orders", stdout.Sink{})
	if err := job.Run(context.Background()); err != nil {
		fmt.Println(err)
	}
	// Unordered output:
	// {"id":1,"gross":47.599999999999994}
	// {"id":2,"reason":"negative"}
	// {"id":3,"region":"eu","amount":900}
}

func Example_mistakes() {
	type Order struct {
		Customer string  `arkflow:"customer"`
		Amount   float64 `arkflow:"amount"`
	}
	job := arkflow.NewJob("mistakes")
	orders := job.Source("orders", memory.Of[Order](), arkflow.ProcessingTime())
	orders.Filter("paid", expr.T("amuont > 0")).
		Sink("out", stdout.Sink{})
	orders.Filter("unread", expr.T("customer > 3"))

	_, err := job.Compile()
	var faults *multierror.Error
	if errors.As(err, &faults) {
		for _, err := range faults.Errors {
			var fault *arkflow.Fault
			if errors.As(err, &fault) {
				fmt.Println(fault.Operator, "|", fault.Path, "|", fault.Problem, "|", fault.Hint)
			}
		}
	}
	// Output:
	// unread |  | nobody reads its rows | end the stream in a Sink (connectors/drop throws rows away), or remove it
	// paid | where | no column "amuont" | did you mean "amount"?
	// unread | where | expression customer > 3: customer of type utf8 cannot be compared with 3 of type int64 |
}

func Example_async() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = os.RemoveAll(dir) }()
	letters := filepath.Join(dir, "letters.jsonl")

	type Order struct {
		ID       int64 `arkflow:"id"`
		Customer int64 `arkflow:"customer"`
	}
	type Enriched struct {
		ID   int64  `arkflow:"id"`
		Name string `arkflow:"name"`
	}
	var calls atomic.Int64
	lookup := func(_ context.Context, o Order) (Enriched, error) { // stands for a call of a service
		if o.Customer == 3 {
			return Enriched{}, errors.New("no customer 3")
		}
		if calls.Add(1)%2 == 0 {
			return Enriched{}, errors.New("try again")
		}
		return Enriched{ID: o.ID, Name: fmt.Sprint("customer ", o.Customer)}, nil
	}

	job := arkflow.NewJob("enrich")
	orders := arkflow.As[Order](job.Source("orders", memory.Of([]Order{{1, 7}, {2, 3}, {3, 8}}), arkflow.ProcessingTime()))
	arkflow.Async(orders, "lookup", lookup,
		operator.AsyncConfig{InFlight: 16, Timeout: time.Second, Retries: 5, Backoff: time.Millisecond}).
		With(arkflow.OnError(arkflow.DeadLetter(file.Sink{URL: letters}))).
		Stream().Sink("out", stdout.Sink{})
	h, err := arkflow.Runtime{}.Start(context.Background(), job)
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := h.Wait(context.Background()); err != nil {
		fmt.Println(err)
	}
	fmt.Println(h.Status().Operator("lookup").Dropped)

	read := arkflow.NewJob("letters")
	read.Source("letters", file.Source{URL: letters, Format: codec.JSON(operator.DeadLetterSchema)}, arkflow.ProcessingTime()).
		Select("short", "operator", "phase", "reason", "record").
		Sink("out", stdout.Sink{})
	if err := read.Run(context.Background()); err != nil {
		fmt.Println(err)
	}
	// Output:
	// {"id":1,"name":"customer 7"}
	// {"id":3,"name":"customer 8"}
	// map[dead_letter:1]
	// {"operator":"lookup","phase":"process","reason":"no customer 3 (value {ID:2 Customer:3})","record":"{\"id\":2,\"customer\":3}"}
}

func Example_restart() {
	type Row struct {
		N int64 `arkflow:"n"`
	}
	var crashed atomic.Bool
	job := arkflow.NewJob("restart", arkflow.CheckpointEvery(time.Second))
	rows := arkflow.As[Row](job.Source("rows", generate.Func(func(i int64) Row { return Row{i} }, generate.Count(3)), arkflow.ProcessingTime()))
	arkflow.Map(rows, "check", func(r Row) Row {
		if r.N == 2 && crashed.CompareAndSwap(false, true) {
			panic("a bug")
		}
		return r
	}).Stream().Sink("out", stdout.Sink{})

	rt := arkflow.Runtime{MemoryLimit: 256 << 20}
	h, err := rt.Start(context.Background(), job, arkflow.Restart(3, 10*time.Millisecond))
	if err != nil {
		fmt.Println(err)
		return
	}
	events := h.Events(context.Background())
	err = h.Wait(context.Background())
	status := h.Status()
	fmt.Println(err, status.State, status.Restarts, status.Operator("rows").RowsIn)
	for e := range events {
		if e.Kind == arkflow.EventRestart {
			fmt.Println(e.Message)
		}
	}
	// Output:
	// {"n":0}
	// {"n":1}
	// {"n":2}
	// <nil> Finished 1 3
	// restart 1 of 3 in 10ms after: operator "check" (task rows/0): panic: a bug
}

func Example_spec() {
	const document = `
jobs:
  - id: words
    version: 1
    operators:
      - { id: words, kind: source }
      - { id: long, kind: filter, config: { where: "length(text) > 4" } }
      - { id: shout, kind: map, config: { function: shout/v1 } }
      - { id: out, kind: sink }
    edges:
      - { from: words, to: long }
      - { from: long, to: shout }
      - { from: shout, to: out }
    sources:
      - operator_id: words
        input_type: memory
        config: { rows: [ { text: stream }, { text: a }, { text: batch } ] }
        time: { mode: processing_time }
    sinks:
      - { operator_id: out, output_type: stdout }
`
	type Word struct {
		Text string `arkflow:"text"`
	}
	registry := arkflow.NewRegistry()
	shout := operator.Map(func(w Word) Word { return Word{w.Text + "!"} })
	if err := registry.RegisterFunction("shout/v1", shout); err != nil {
		fmt.Println(err)
		return
	}
	jobs, err := arkflow.LoadJobs(registry, []byte(document))
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, job := range jobs {
		if err := job.Run(context.Background()); err != nil {
			fmt.Println(err)
		}
	}
	// Output:
	// {"text":"stream!"}
	// {"text":"batch!"}
}
