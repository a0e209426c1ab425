package arkflow_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/arkflow-go/arkflow"
	"github.com/arkflow-go/arkflow/connectors/drop"
	"github.com/arkflow-go/arkflow/connectors/memory"
	"github.com/arkflow-go/arkflow/connectors/stdout"
	"github.com/arkflow-go/arkflow/operator"
)

var manyTrades = memory.Of([]trade{{At: time.UnixMilli(0).UTC(), Symbol: "ARK", Price: 1.5, Lots: 2}, {At: time.UnixMilli(1000).UTC(), Symbol: "BOW", Price: 40, Lots: 1},
	{At: time.UnixMilli(2000).UTC(), Symbol: "ARK", Price: 1.25, Lots: 9}})

// printed runs a job and prints the rows of a sink.
func printed(job *arkflow.Job, out *memory.Sink) {
	if err := job.Run(context.Background()); err != nil {
		fmt.Println(err)
		return
	}
	for _, row := range out.Rows() {
		fmt.Println(row)
	}
}

func ExampleStream_Union() {
	job := arkflow.NewJob("trades")
	a := job.Source("exchange-a", trades, arkflow.EventTime("at"))
	b := job.Source("exchange-b", trades, arkflow.EventTime("at"))
	a.Union("all", b).Sink("out", stdout.Sink{})
	explain(job)
	// Output:
	// job trades: 3 tasks in 3 chains, 128 key groups
	//
	// chain exchange-a (1 task)
	//   exchange-a [source memory] event time at, out of order by up to 0s
	//     columns: at timestamp[us, tz=UTC], symbol utf8, price float64, lots int64
	//
	// chain exchange-b (1 task)
	//   exchange-b [source memory] event time at, out of order by up to 0s
	//     columns: at timestamp[us, tz=UTC], symbol utf8, price float64, lots int64
	//
	// chain all (1 task)
	//   all [union]
	//     from exchange-a: forward
	//     from exchange-b: forward
	//     columns: at timestamp[us, tz=UTC], symbol utf8, price float64, lots int64
	//   out [sink stdout]
	//     from all: fused
}

func ExampleStream_Split() {
	large, rest := memory.NewSink(), memory.NewSink()
	job := arkflow.NewJob("trades")
	parts := job.Source("trades", manyTrades, arkflow.EventTime("at")).
		Select("slim", "symbol", "price", "lots").
		Split("by-size", arkflow.When("large", price.Gt(10)), arkflow.When("many", lots.Ge(5)), arkflow.Otherwise("rest"))
	parts.Branch("large").Sink("large", large)
	parts.Branch("many").Sink("many", drop.Sink{})
	parts.Branch("rest").Sink("rest", rest)
	printed(job, large)
	fmt.Println(rest.Rows())
	// Output:
	// map[lots:1 price:40 symbol:BOW]
	// [map[lots:2 price:1.5 symbol:ARK]]
}

func ExampleStream_Side() {
	type refusal struct{ Symbol, Why string }
	refused := operator.Side[refusal]("refused")
	out := memory.NewSink()
	job := arkflow.NewJob("trades")
	checked := job.Source("trades", manyTrades, arkflow.EventTime("at")).
		Apply("check", operator.FlatMapSides(func(t trade, emit func(trade), to *operator.Sides) error {
			if t.Price > 10 {
				refused.Emit(to, refusal{t.Symbol, "too expensive"})
				return nil
			}
			emit(t)
			return nil
		}, refused))
	checked.Sink("trades-out", drop.Sink{})
	checked.Side("refused").Sink("out", out)
	printed(job, out)
	// Output: map[Symbol:BOW Why:too expensive]
}

func ExampleStream_WithTimestamps() {
	job := arkflow.NewJob("trades")
	job.Source("trades", trades, arkflow.ProcessingTime()).
		WithTimestamps("by-at", "at", arkflow.OutOfOrderness(time.Second)).
		Sink("out", stdout.Sink{})
	explain(job)
	// Output:
	// job trades: 1 task in 1 chain, 128 key groups
	//
	// chain trades (1 task)
	//   trades [source memory] processing time
	//     columns: at timestamp[us, tz=UTC], symbol utf8, price float64, lots int64
	//   by-at [with_timestamps] event time at, out of order by up to 1s
	//     from trades: fused
	//     columns: at timestamp[us, tz=UTC], symbol utf8, price float64, lots int64
	//   out [sink stdout]
	//     from by-at: fused
}

func ExampleMap() {
	type value struct {
		Symbol string
		Value  float64
	}
	out := memory.NewSink()
	job := arkflow.NewJob("trades")
	trades := arkflow.As[trade](job.Source("trades", manyTrades, arkflow.EventTime("at")))
	values := arkflow.Map(trades, "value", func(t trade) value { return value{t.Symbol, t.Price * float64(t.Lots)} })
	values.Filter("large", func(v value) bool { return v.Value > 5 }).Stream().Sink("out", out)
	printed(job, out)
	// Output:
	// map[Symbol:BOW Value:40]
	// map[Symbol:ARK Value:11.25]
}

func ExampleMapErr() {
	out := memory.NewSink()
	job := arkflow.NewJob("trades")
	trades := arkflow.As[trade](job.Source("trades", manyTrades, arkflow.EventTime("at")))
	arkflow.MapErr(trades, "check", func(t trade) (trade, error) {
		if t.Price > 10 {
			return t, errors.New("too expensive")
		}
		return t, nil
	}).With(arkflow.OnError(arkflow.Skip())).Stream().Select("slim", "symbol", "price").Sink("out", out)
	printed(job, out)
	// Output:
	// map[price:1.5 symbol:ARK]
	// map[price:1.25 symbol:ARK]
}

func ExampleFlatMap() {
	type lot struct {
		Symbol string
		Nth    int64
	}
	out := memory.NewSink()
	job := arkflow.NewJob("trades")
	trades := arkflow.As[trade](job.Source("trades", manyTrades, arkflow.EventTime("at")))
	arkflow.FlatMap(trades, "lots", func(t trade, emit func(lot)) {
		for i := range min(t.Lots, 2) {
			emit(lot{t.Symbol, i + 1})
		}
	}).Stream().Sink("out", out)
	printed(job, out)
	// Output:
	// map[Nth:1 Symbol:ARK]
	// map[Nth:2 Symbol:ARK]
	// map[Nth:1 Symbol:BOW]
	// map[Nth:1 Symbol:ARK]
	// map[Nth:2 Symbol:ARK]
}

func ExampleAsync() {
	type named struct{ Symbol, Name string }
	ask := func(ctx context.Context, t trade) (named, error) { // a service, a database
		return named{t.Symbol, "The " + t.Symbol + " company"}, ctx.Err()
	}
	out := memory.NewSink()
	job := arkflow.NewJob("trades")
	trades := arkflow.As[trade](job.Source("trades", manyTrades, arkflow.EventTime("at")))
	arkflow.Async(trades, "names", ask, operator.AsyncConfig{InFlight: 16, Timeout: time.Second}).Stream().Sink("out", out)
	printed(job, out)
	// Output:
	// map[Name:The ARK company Symbol:ARK]
	// map[Name:The BOW company Symbol:BOW]
	// map[Name:The ARK company Symbol:ARK]
}
