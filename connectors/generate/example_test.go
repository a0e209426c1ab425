package generate_test

import (
	"context"
	"fmt"

	"github.com/arkflow-go/arkflow"
	"github.com/arkflow-go/arkflow/connectors/generate"
	"github.com/arkflow-go/arkflow/connectors/memory"
	"github.com/arkflow-go/arkflow/operator"
)

func show(src operator.Source) {
	out := memory.NewSink()
	job := arkflow.NewJob("generated")
	job.Source("in", src, arkflow.ProcessingTime()).Sink("out", out)
	if err := job.Run(context.Background()); err != nil {
		fmt.Println(err)
	}
	for _, row := range out.Rows() {
		fmt.Println(row)
	}
}

func ExampleSource() {
	show(generate.Source{Context: `{"id": "c-1", "amount": 42}`, Count: 2, Rate: 1000})
	// Output:
	// map[amount:42 id:c-1]
	// map[amount:42 id:c-1]
}

func ExampleFunc() {
	type tick struct {
		N      int64
		Square int64
	}
	show(generate.Func(func(i int64) tick { return tick{i, i * i} }, generate.Count(3)))
	// Output:
	// map[N:0 Square:0]
	// map[N:1 Square:1]
	// map[N:2 Square:4]
}
