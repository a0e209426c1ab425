// Package arkflow answers: how does a Go program describe a stream-processing job, and how is it run?
//
// A [Job] is a graph of sources, operators and sinks, built by a fluent chain or read from a JobSpec in YAML or JSON. It is
// description only: nothing is opened until it runs, and all its mistakes come back together.
//
//	status := expr.Field(func(o *Order) *string { return &o.Status })
//
//	job := arkflow.NewJob("orders", arkflow.Parallelism(4))
//
//	perMinute := job.Source("orders", file.Source{URL: "orders/*.jsonl", Format: codec.JSONOf[Order]()},
//		arkflow.EventTime("ts", arkflow.OutOfOrderness(2*time.Second))).
//		Filter("paid", status.Eq("paid")).
//		With(arkflow.OnError(arkflow.Skip())).
//		KeyBy("customer_id").
//		Window("per-minute", window.Tumbling(time.Minute), window.Count().As("orders"), window.Sum("amount").As("total"))
//
//	perMinute.Sink("out", stdout.Sink{})
//	perMinute.Late().Sink("late", drop.Sink{})
//
//	if err := job.Run(ctx); err != nil {
//		return err // names the operator, the field and the line of the program
//	}
//
// Every verb that adds an operator takes its ID first: 1 to 128 of A-Z a-z 0-9 _ -, unique in the job. [Job.Compile] checks a
// job as deeply as a start does and gives a [Plan] that prints the tasks that run. [LoadSpecs], [FromSpec] and [Job.Spec] go
// between jobs and their written form.
//
// The package touches no row, keeps no global state, registers nothing by itself, and never panics.
package arkflow
