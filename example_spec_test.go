package arkflow_test

import (
	"fmt"
	"time"

	"github.com/arkflow-go/arkflow"
	"github.com/arkflow-go/arkflow/connectors"
	"github.com/arkflow-go/arkflow/connectors/drop"
	"github.com/arkflow-go/arkflow/connectors/generate"
	"github.com/arkflow-go/arkflow/connectors/stdout"
	"github.com/arkflow-go/arkflow/operator"
	"github.com/arkflow-go/arkflow/window"
)

func ExampleLoadSpecs() {
	_, err := arkflow.LoadSpecs([]byte(`
jobs:
  - id: trades
    version: one
    paralellism: 2
`))
	fmt.Println(err)
	// Output:
	// 2 errors occurred:
	// 	* jobs[0].paralellism: unknown field "paralellism"; did you mean "parallelism"? (line 5)
	// 	* jobs[0].version: want an integer, not "one" (line 4)
}

func ExampleFromSpec() {
	specs, err := arkflow.LoadSpecs([]byte(`
jobs:
  - id: trades
    version: 1
    operators:
      - { id: trades, kind: source }
      - id: per-minute
        kind: window
        config:
          size_ms: 60000
          key: symbol
          aggregates: [{ function: count, as: trades }]
      - { id: out, kind: sink }
    edges:
      - { from: trades, to: per-minute }
      - { from: per-minute, to: out }
    sources:
      - operator_id: trades
        input_type: generate
        config: { context: '{"symbol": "ARK", "at": 0}', interval: 500ms }
        time: { mode: event_time, timestamp_field: at }
    sinks:
      - { operator_id: out, output_type: stdout }
`))
	if err != nil {
		fmt.Println(err)
		return
	}
	job, err := arkflow.FromSpec(arkflow.NewRegistry(), specs[0])
	if err != nil {
		fmt.Println(err)
		return
	}
	explain(job)
	// Output:
	// job trades: 1 task in 1 chain, 128 key groups
	//
	// chain trades (1 task)
	//   trades [source generate] 1 rows each 500ms; event time at, out of order by up to 0s
	//     columns: symbol utf8, at int64
	//   per-minute [window] tumbling 1m0s: count() as trades
	//     from trades: fused
	//     columns: symbol utf8, window_start timestamp[ms, tz=UTC], window_end timestamp[ms, tz=UTC], trades int64
	//   out [sink stdout]
	//     from per-minute: fused
}

func ExampleJob_Spec() {
	job := arkflow.NewJob("trades")
	job.Source("trades", generate.Source{Context: `{"symbol": "ARK", "at": 0}`, Interval: time.Second}, arkflow.EventTime("at", arkflow.OutOfOrderness(2*time.Second))).
		KeyBy("symbol").
		Window("per-minute", window.Tumbling(time.Minute), window.Count().As("trades")).
		Sink("out", stdout.Sink{})
	spec, err := job.Spec()
	if err != nil {
		fmt.Println(err)
		return
	}
	text, err := arkflow.FormatSpecs(spec)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(string(text))
	// Output:
	// jobs:
	//   - api: arkflow/v1
	//     id: trades
	//     version: 1
	//     operators:
	//       - id: trades
	//         kind: source
	//       - id: per-minute
	//         kind: window
	//         config:
	//           aggregates:
	//             - as: trades
	//               function: count
	//           size_ms: 60000
	//           type: tumbling
	//       - id: out
	//         kind: sink
	//     edges:
	//       - id: trades-per-minute
	//         from: trades
	//         to: per-minute
	//         partitioned: true
	//         key: [symbol]
	//       - id: per-minute-out
	//         from: per-minute
	//         to: out
	//     sources:
	//       - operator_id: trades
	//         input_type: generate
	//         config:
	//           context: '{"symbol": "ARK", "at": 0}'
	//           interval: 1s
	//           type: generate
	//         time:
	//           mode: event_time
	//           timestamp_field: at
	//           watermark:
	//             strategy: bounded_out_of_orderness
	//             out_of_orderness_ms: 2000
	//     sinks:
	//       - operator_id: out
	//         output_type: stdout
}

func ExampleJobSpec_Validate() {
	spec := arkflow.JobSpec{ID: "trades", Version: 1, Placement: "spilt",
		Operators: []arkflow.OperatorSpec{{ID: "in", Kind: "source"}},
	}
	fmt.Println(spec.Validate())
	// Output:
	// 2 errors occurred:
	// 	* placement: no placement "spilt"; did you mean "split"?
	// 	* operators[0]: the source "in" is not described; add it under sources
}

func ExampleNewRegistry() {
	reg := arkflow.NewRegistry()
	err := reg.RegisterSink("nowhere", func(p connectors.Params) (operator.Sink, error) { return drop.Sink{}, nil })
	fmt.Println(err)
	_, err = reg.Sink("nowhre", connectors.Params{})
	fmt.Println(err)
	// Output:
	// <nil>
	// sink "nowhre" is not registered; did you mean "nowhere"? registered are ["drop" "file" "memory" "nowhere" "stdout"]
}
