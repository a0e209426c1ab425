// Package generate answers: where do rows come from when there is no data yet?
//
// A [Source] repeats a row that is given as a JSON object, or calls a Go function ([Func]), at full speed, at an interval or
// at a rate:
//
//	generate.Source{Context: `{"id": "c-1", "amount": 42}`, Interval: 500 * time.Millisecond}
//	generate.Func(func(i int64) Order { return Order{ID: i} }, generate.Count(1_000_000))
//
// Every run makes the same rows: a position is the number of rows made. The package reads nothing, and waits only by timers of
// the job's clock.
package generate
