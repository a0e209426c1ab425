package memory_test

import (
	"context"
	"fmt"

	"github.com/arkflow-go/arkflow"
	"github.com/arkflow-go/arkflow/connectors/memory"
	"github.com/arkflow-go/arkflow/expr"
)

type reading struct {
	Sensor string `arkflow:"sensor"`
	Value  float64
}

func ExampleOf() {
	out := memory.NewSink()
	job := arkflow.NewJob("hot")
	job.Source("readings", memory.Of([]reading{{"a", 20.5}, {"b", 99}}), arkflow.ProcessingTime()).
		Filter("hot", expr.Col("Value").Gt(50)).
		Sink("out", out)
	if err := job.Run(context.Background()); err != nil {
		fmt.Println(err)
	}
	hot, err := memory.Collect[reading](out)
	fmt.Println(hot, err)
	// Output: [{b 99}] <nil>
}

func ExampleInlet() {
	ctx := context.Background()
	in, out := memory.NewInlet[reading](memory.InletConfig{}), memory.NewSink()
	job := arkflow.NewJob("live")
	job.Source("readings", in, arkflow.ProcessingTime()).Sink("out", out)
	done := make(chan error, 1)
	go func() { done <- job.Run(ctx) }()

	for i := range 3 { // such as by an HTTP handler
		if err := in.Send(ctx, reading{"a", float64(i)}); err != nil {
			fmt.Println(err)
		}
	}
	_ = in.Close() // the job reads what is left and ends
	fmt.Println(<-done, out.Len())
	// Output: <nil> 3
}
