package arkflow_test

import (
	"fmt"
	"time"

	"github.com/arkflow-go/arkflow"
	"github.com/arkflow-go/arkflow/connectors/drop"
	"github.com/arkflow-go/arkflow/connectors/memory"
	"github.com/arkflow-go/arkflow/connectors/stdout"
	"github.com/arkflow-go/arkflow/expr"
	"github.com/arkflow-go/arkflow/operator"
	"github.com/arkflow-go/arkflow/window"
)

type trade struct {
	At     time.Time `arkflow:"at"`
	Symbol string    `arkflow:"symbol"`
	Price  float64   `arkflow:"price"`
	Lots   int64     `arkflow:"lots"`
}

var (
	price  = expr.Field(func(t *trade) *float64 { return &t.Price })
	lots   = expr.Field(func(t *trade) *int64 { return &t.Lots })
	trades = memory.Of([]trade{{At: time.UnixMilli(0), Symbol: "ARK", Price: 1.5, Lots: 2}})
)

func explain(j *arkflow.Job) {
	p, err := j.Compile()
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(p.Explain())
}

func ExampleNewJob() {
	job := arkflow.NewJob("trades", arkflow.Parallelism(2), arkflow.MaxParallelism(256), arkflow.CheckpointEvery(5*time.Second))
	job.Source("trades", trades, arkflow.EventTime("at")).Sink("out", stdout.Sink{})
	explain(job)
	// Output:
	// job trades: 2 tasks in 1 chain, 256 key groups
	//
	// chain trades (2 tasks)
	//   trades [source memory] event time at, out of order by up to 0s
	//     columns: at timestamp[us, tz=UTC], symbol utf8, price float64, lots int64
	//   out [sink stdout]
	//     from trades: fused
}

func ExampleJob_Source() {
	job := arkflow.NewJob("trades")
	job.Source("trades", trades,
		arkflow.EventTime("at", arkflow.OutOfOrderness(2*time.Second), arkflow.IdleTimeout(time.Minute)),
		arkflow.OnError(arkflow.Skip()), arkflow.Tasks(2)).
		Sink("out", stdout.Sink{}, arkflow.Tasks(1))
	explain(job)
	// Output:
	// job trades: 3 tasks in 2 chains, 128 key groups
	//
	// chain trades (2 tasks)
	//   trades [source memory] event time at, out of order by up to 2s, idle after 1m0s; rows in error are skipped
	//     columns: at timestamp[us, tz=UTC], symbol utf8, price float64, lots int64
	//
	// chain out (1 task)
	//   out [sink stdout]
	//     from trades: rebalance
}

func ExampleJob_Err() {
	job := arkflow.NewJob("trades")
	in := job.Source("trades", trades, arkflow.ProcessingTime())
	in.Filter("large", price.Gt(100))
	in.Filter("large", price.Lt(1)).Sink("out", nil)
	fmt.Println(job.Err())
	// Output:
	// 3 errors occurred:
	// 	* operator "large": the ID is used twice; the first is at example_builder_test.go:74; choose another ID (example_builder_test.go:75)
	// 	* operator "out": the sink is nil; give one, such as stdout.Sink (example_builder_test.go:75)
	// 	* operator "large": nobody reads its rows; end the stream in a Sink (connectors/drop throws rows away), or remove it (example_builder_test.go:74)
}

func ExampleJob_Compile() {
	job := arkflow.NewJob("trades")
	job.Source("trades", trades, arkflow.EventTime("time")).Sink("out", stdout.Sink{})
	job.Source("more", trades, arkflow.ProcessingTime()).Filter("large", expr.Col("prize").Gt(100)).Sink("out2", stdout.Sink{})
	_, err := job.Compile()
	fmt.Println(err)
	// Output:
	// 2 errors occurred:
	// 	* operator "trades": time.timestamp_field: no column "time"; there are "at", "lots", "price", "symbol" (example_builder_test.go:86)
	// 	* operator "large": where: no column "prize"; did you mean "price"? (example_builder_test.go:87)
}

func ExampleStream_Filter() {
	job := arkflow.NewJob("trades")
	job.Source("trades", trades, arkflow.ProcessingTime()).
		Filter("large", price.Mul(lots).Ge(1000).Or(price.IsNull())).
		Sink("out", stdout.Sink{})
	explain(job)
	// Output:
	// job trades: 1 task in 1 chain, 128 key groups
	//
	// chain trades (1 task)
	//   trades [source memory] processing time
	//     columns: at timestamp[us, tz=UTC], symbol utf8, price float64, lots int64
	//   large [filter] where price * lots >= 1000 or price is null
	//     from trades: fused
	//     columns: at timestamp[us, tz=UTC], symbol utf8, price float64, lots int64
	//   out [sink stdout]
	//     from large: fused
}

func ExampleStream_Select() {
	job := arkflow.NewJob("trades")
	job.Source("trades", trades, arkflow.ProcessingTime()).
		Select("value", "symbol", price.Mul(lots).As("value")).
		Sink("out", stdout.Sink{})
	explain(job)
	// Output:
	// job trades: 1 task in 1 chain, 128 key groups
	//
	// chain trades (1 task)
	//   trades [source memory] processing time
	//     columns: at timestamp[us, tz=UTC], symbol utf8, price float64, lots int64
	//   value [select] symbol, price * lots as value
	//     from trades: fused
	//     columns: symbol utf8, value float64
	//   out [sink stdout]
	//     from value: fused
}

func ExampleStream_Rename() {
	job := arkflow.NewJob("trades")
	job.Source("trades", trades, arkflow.ProcessingTime()).
		Rename("short", map[string]string{"symbol": "sym", "price": "px"}).
		Drop("slim", "at", "lots").
		Sink("out", stdout.Sink{})
	explain(job)
	// Output:
	// job trades: 1 task in 1 chain, 128 key groups
	//
	// chain trades (1 task)
	//   trades [source memory] processing time
	//     columns: at timestamp[us, tz=UTC], symbol utf8, price float64, lots int64
	//   short [rename] price to px, symbol to sym
	//     from trades: fused
	//     columns: at timestamp[us, tz=UTC], sym utf8, px float64, lots int64
	//   slim [drop] at, lots
	//     from short: fused
	//     columns: sym utf8, px float64
	//   out [sink stdout]
	//     from slim: fused
}

func ExampleStream_Apply() {
	type valued struct {
		Symbol string  `arkflow:"symbol"`
		Value  float64 `arkflow:"value"`
	}
	job := arkflow.NewJob("trades")
	job.Source("trades", trades, arkflow.ProcessingTime()).
		Apply("value", operator.Map(func(t trade) valued { return valued{t.Symbol, t.Price * float64(t.Lots)} }).Named("value/v1")).
		Sink("out", stdout.Sink{})
	explain(job)
	// Output:
	// job trades: 1 task in 1 chain, 128 key groups
	//
	// chain trades (1 task)
	//   trades [source memory] processing time
	//     columns: at timestamp[us, tz=UTC], symbol utf8, price float64, lots int64
	//   value [map] value/v1: arkflow_test.trade to arkflow_test.valued
	//     from trades: fused
	//     columns: symbol utf8, value float64
	//   out [sink stdout]
	//     from value: fused
}

func ExampleStream_With() {
	job := arkflow.NewJob("trades")
	job.Source("trades", trades, arkflow.ProcessingTime()).
		Select("ratio", price.Div(lots).As("ratio")).
		With(arkflow.OnError(arkflow.Skip()), arkflow.Tasks(1)).
		Sink("out", stdout.Sink{})
	explain(job)
	// Output:
	// job trades: 1 task in 1 chain, 128 key groups
	//
	// chain trades (1 task)
	//   trades [source memory] processing time
	//     columns: at timestamp[us, tz=UTC], symbol utf8, price float64, lots int64
	//   ratio [select] price / lots as ratio; rows in error are skipped
	//     from trades: fused
	//     columns: ratio float64
	//   out [sink stdout]
	//     from ratio: fused
}

func ExampleStream_Sink() {
	job := arkflow.NewJob("trades")
	in := job.Source("trades", trades, arkflow.ProcessingTime())
	in.Sink("seen", stdout.Sink{}) // every sink gets all rows
	in.Sink("kept", memory.NewSink(), arkflow.OnError(arkflow.Skip()))
	explain(job)
	// Output:
	// job trades: 1 task in 1 chain, 128 key groups
	//
	// chain trades (1 task)
	//   trades [source memory] processing time
	//     columns: at timestamp[us, tz=UTC], symbol utf8, price float64, lots int64
	//   seen [sink stdout]
	//     from trades: fused
	//   kept [sink memory] rows in error are skipped
	//     from trades: fused
}

func ExampleKeyedStream_Window() {
	job := arkflow.NewJob("trades", arkflow.Parallelism(2))
	perMinute := job.Source("trades", trades, arkflow.EventTime("at")).
		KeyBy("symbol").
		Window("per-minute", window.Tumbling(time.Minute), window.Count().As("trades"), window.Max("price").As("high"))
	perMinute.Sink("out", stdout.Sink{})
	perMinute.Late().Sink("late", drop.Sink{}) // without this line late rows are dropped and counted
	explain(job)
	// Output:
	// job trades: 4 tasks in 2 chains, 128 key groups
	//
	// chain trades (2 tasks)
	//   trades [source memory] event time at, out of order by up to 0s
	//     columns: at timestamp[us, tz=UTC], symbol utf8, price float64, lots int64
	//
	// chain per-minute (2 tasks)
	//   per-minute [window] tumbling 1m0s: count() as trades, max(price) as high
	//     from trades: hash by symbol
	//     columns: symbol utf8, window_start timestamp[ms, tz=UTC], window_end timestamp[ms, tz=UTC], trades int64, high float64
	//   out [sink stdout]
	//     from per-minute: fused
	//   late [sink drop]
	//     from per-minute (late rows): fused
}

func ExampleStream_KeyBy() {
	job := arkflow.NewJob("trades")
	job.Source("trades", trades, arkflow.EventTime("at")).
		KeyBy("symbl").
		Window("per-minute", window.Tumbling(time.Minute), window.Count()).
		Sink("out", stdout.Sink{})
	explain(job)
	// Output:
	// operator "per-minute": key: no column "symbl"; did you mean "symbol"? (example_builder_test.go:247)
}

func ExamplePlan_Mermaid() {
	job := arkflow.NewJob("trades", arkflow.Parallelism(2))
	job.Source("trades", trades, arkflow.EventTime("at")).
		KeyBy("symbol").
		Window("per-minute", window.Tumbling(time.Minute), window.Count()).
		Sink("out", stdout.Sink{})
	p, err := job.Compile()
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(p.Mermaid())
	// Output:
	// flowchart LR
	//   subgraph c0["trades × 2"]
	//     o0["trades<br/>source memory"]
	//   end
	//   subgraph c1["per-minute × 2"]
	//     o1["per-minute<br/>window"]
	//     o2["out<br/>sink stdout"]
	//   end
	//   o0 -->|"hash by symbol, pre-aggregated where it pays"| o1
	//   o1 -->|"fused"| o2
}
