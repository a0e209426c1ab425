// Command custom-function puts a Go function of its own between two built-in operators.
//
//	go run ./examples/custom-function
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/arkflow-go/arkflow"
	"github.com/arkflow-go/arkflow/connectors/memory"
	"github.com/arkflow-go/arkflow/connectors/stdout"
	"github.com/arkflow-go/arkflow/expr"
	"github.com/arkflow-go/arkflow/operator"
	"github.com/arkflow-go/arkflow/window"
)

// Reading is what a sensor sends.
type Reading struct {
	Sensor     string    `arkflow:"sensor"`
	At         time.Time `arkflow:"at"`
	Fahrenheit float64   `arkflow:"fahrenheit"`
}

// Judged is a reading after our function.
type Judged struct {
	Sensor  string  `arkflow:"sensor"`
	Celsius float64 `arkflow:"celsius"`
	Level   string  `arkflow:"level"`
}

// judge is any Go function from one struct to another. Its columns are checked against the stream when the job is compiled.
func judge(r Reading) (Judged, error) {
	if r.Fahrenheit < -459.67 {
		return Judged{}, fmt.Errorf("sensor %s: %g °F is below absolute zero", r.Sensor, r.Fahrenheit)
	}
	j := Judged{Sensor: r.Sensor, Celsius: (r.Fahrenheit - 32) / 1.8, Level: "normal"}
	if j.Celsius >= 30 {
		j.Level = "hot"
	}
	return j, nil
}

func main() {
	start := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	readings := []Reading{
		{"attic", start, 95}, {"cellar", start.Add(time.Second), 59}, {"attic", start.Add(2 * time.Second), 104},
		{"attic", start.Add(3 * time.Second), -1000}, {"attic", start.Add(61 * time.Second), 86},
	}
	if err := job(readings, os.Stdout).Run(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, "custom-function:", err)
		os.Exit(1)
	}
}

// job counts hot readings by sensor and minute. A reading that judge refuses is skipped and counted, not fatal.
func job(readings []Reading, out io.Writer) *arkflow.Job {
	job := arkflow.NewJob("custom-function")
	job.Source("readings", memory.Of(readings), arkflow.EventTime("at")).
		Apply("judge", operator.MapErr(judge)).With(arkflow.OnError(arkflow.Skip())).
		Filter("hot", expr.Col("level").Eq("hot")).
		KeyBy("sensor").
		Window("per-minute", window.Tumbling(time.Minute), window.Count().As("hot"), window.Max("celsius").As("greatest")).
		Sink("out", stdout.Sink{Writer: out})
	return job
}
