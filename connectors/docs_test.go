package connectors_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/arkflow-go/arkflow"
	"github.com/arkflow-go/arkflow/codec"
	"github.com/arkflow-go/arkflow/codec/parquet"
	"github.com/arkflow-go/arkflow/connectors"
	"github.com/arkflow-go/arkflow/connectors/drop"
	"github.com/arkflow-go/arkflow/connectors/file"
	"github.com/arkflow-go/arkflow/connectors/generate"
	"github.com/arkflow-go/arkflow/connectors/memory"
	"github.com/arkflow-go/arkflow/connectors/stdout"
	"github.com/arkflow-go/arkflow/expr"
)

// The programs of docs/connectors.md, in its order. Their bodies are those of main there: a test in examples/guides compares them.

func Example_csv() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = os.RemoveAll(dir) }()
	text := "customer;amount\nada;12.5\nbob;three\n\"c;d\";99\n"
	if err := os.WriteFile(filepath.Join(dir, "orders.csv"), []byte(text), 0o600); err != nil {
		fmt.Println(err)
		return
	}

	type Order struct {
		Customer string  `arkflow:"customer"`
		Amount   float64 `arkflow:"amount"`
	}
	orders := file.Source{
		URL:      filepath.Join(dir, "*.csv"),
		Format:   codec.CSVOf[Order]().Delimiter(';'),
		Metadata: []string{connectors.MetaOffset},
	}
	job := arkflow.NewJob("csv")
	job.Source("orders", orders, arkflow.ProcessingTime()).
		With(arkflow.OnError(arkflow.Skip())). // line 3 has no number
		Filter("large", expr.Col("amount").Gt(10)).
		Sink("out", stdout.Sink{})
	if err := job.Run(context.Background()); err != nil {
		fmt.Println(err)
	}
	// Output:
	// {"customer":"ada","amount":12.5,"__meta_offset":2}
	// {"customer":"c;d","amount":99,"__meta_offset":4}
}

func Example_parquet() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = os.RemoveAll(dir) }()
	ctx := context.Background()

	type Reading struct {
		Sensor int64   `arkflow:"sensor"`
		Value  float64 `arkflow:"value"`
	}
	reading := func(i int64) Reading { return Reading{Sensor: i % 3, Value: float64(i) / 4} }
	write := arkflow.NewJob("write")
	write.Source("readings", generate.Func(reading, generate.Count(5)), arkflow.ProcessingTime()).
		Sink("out", file.Sink{URL: filepath.Join(dir, "readings.parquet"), Format: parquet.New(nil), Rotate: &file.Rotation{Rows: 2}})
	if err := write.Run(ctx); err != nil {
		fmt.Println(err)
		return
	}
	parts, err := filepath.Glob(filepath.Join(dir, "*"))
	for _, part := range parts {
		fmt.Println(filepath.Base(part), err)
	}

	type Sensor struct { // the other columns are not read
		Sensor int64 `arkflow:"sensor"`
	}
	read := arkflow.NewJob("read")
	read.Source("readings", file.Source{URL: filepath.Join(dir, "*.parquet"), Format: parquet.Of[Sensor](), InOrder: true}, arkflow.ProcessingTime()).
		Sink("out", stdout.Sink{})
	if err := read.Run(ctx); err != nil {
		fmt.Println(err)
	}
	// Output:
	// readings-0-000000.parquet <nil>
	// readings-0-000001.parquet <nil>
	// readings-0-000002.parquet <nil>
	// {"sensor":0}
	// {"sensor":1}
	// {"sensor":2}
	// {"sensor":0}
	// {"sensor":1}
}

func Example_memory() {
	type Word struct {
		Text string `arkflow:"text"`
	}
	out := memory.NewSink()
	job := arkflow.NewJob("words")
	job.Source("words", memory.Of([]Word{{"stream"}, {"batch"}}), arkflow.ProcessingTime()).
		Filter("s", expr.Col("text").Eq("stream")).
		Sink("out", out)
	if err := job.Run(context.Background()); err != nil {
		fmt.Println(err)
		return
	}
	words, err := memory.Collect[Word](out)
	fmt.Println(words, err)
	// Output:
	// [{stream}] <nil>
}

func Example_inlet() {
	type Event struct {
		Name string `arkflow:"name"`
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	events := memory.NewInlet[Event](memory.InletConfig{})
	job := arkflow.NewJob("events")
	job.Source("events", events, arkflow.IngestionTime()).Sink("out", stdout.Sink{})
	h, err := arkflow.Runtime{}.Start(ctx, job)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, name := range []string{"login", "logout"} {
		if err := events.Send(ctx, Event{name}); err != nil { // waits while 1,024 rows wait to be read
			fmt.Println(err)
		}
	}
	if err := events.Close(); err != nil { // the job reads what is left and finishes
		fmt.Println(err)
	}
	fmt.Println(h.Wait(ctx))
	// Output:
	// {"name":"login"}
	// {"name":"logout"}
	// <nil>
}

func Example_stdout() {
	type Tick struct {
		At   time.Time `arkflow:"at"`
		Note string    `arkflow:"note"`
	}
	tick := func(i int64) Tick { return Tick{At: time.UnixMilli(i * 500), Note: "tick, tock"} }
	job := arkflow.NewJob("ticks")
	ticks := job.Source("ticks", generate.Func(tick, generate.Count(2)), arkflow.EventTime("at"))
	ticks.Sink("out", stdout.Sink{Format: codec.CSV(nil)})
	ticks.Sink("nowhere", drop.Sink{})
	if err := job.Run(context.Background()); err != nil {
		fmt.Println(err)
	}
	// Output:
	// at,note
	// 1970-01-01T00:00:00Z,"tick, tock"
	// 1970-01-01T00:00:00.5Z,"tick, tock"
}
