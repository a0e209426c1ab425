// Command quickstart counts a week of earthquakes by reporting network and hour.
//
//	go run ./examples/quickstart [-in FILE]
//
// The table goes to stdout, progress to stderr.
package main

import (
	"context"
	_ "embed"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/arkflow-go/arkflow"
	"github.com/arkflow-go/arkflow/codec"
	"github.com/arkflow-go/arkflow/connectors/file"
	"github.com/arkflow-go/arkflow/connectors/memory"
	"github.com/arkflow-go/arkflow/window"
)

//go:embed earthquakes.jsonl
var earthquakes []byte

// Quake is what the job needs of a line; other fields are dropped.
type Quake struct {
	Time  int64    `json:"time"` // ms since 1970
	Net   string   `json:"net"`
	Mag   *float64 `json:"mag"`
	Depth *float64 `json:"depth"`
}

// Hour is a row of the result.
type Hour struct {
	Net      string    `arkflow:"net"`
	Start    time.Time `arkflow:"window_start"`
	Events   int64     `arkflow:"events"`
	Greatest *float64  `arkflow:"greatest"`
	Average  *float64  `arkflow:"average"`
	Deepest  *float64  `arkflow:"deepest"`
}

func main() {
	in := flag.String("in", "", "a file of JSON lines to read in place of the one that is built in")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, *in, os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "quickstart:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, path string, stdout, progress io.Writer) (err error) {
	if path == "" {
		dir, err := os.MkdirTemp("", "arkflow-quickstart-")
		if err != nil {
			return err
		}
		defer func() { _ = os.RemoveAll(dir) }()
		path = dir + "/earthquakes.jsonl"
		if err := os.WriteFile(path, earthquakes, 0o600); err != nil {
			return err
		}
		fmt.Fprintln(progress, "reading the earthquakes that are built in")
	} else {
		fmt.Fprintf(progress, "reading %s\n", path)
	}

	hours, late := memory.NewSink(), memory.NewSink()
	h, err := arkflow.Runtime{}.Start(ctx, job(path, hours, late))
	if err != nil {
		return err
	}
	began := time.Now()
	if err := h.Wait(ctx); err != nil {
		return errors.Join(err, h.Cancel(context.WithoutCancel(ctx)))
	}
	rows := h.Status().Operator("quakes").RowsIn
	fmt.Fprintf(progress, "%d rows in %s\n", rows, time.Since(began).Round(time.Millisecond))

	result, err := memory.Collect[Hour](hours)
	if err != nil {
		return err
	}
	if err := printTable(stdout, result); err != nil {
		return err
	}
	_, err = fmt.Fprintf(stdout, "rows=%d windows=%d late=%d\n", rows, len(result), late.Len())
	return err
}

// job is the whole computation.
func job(path string, hours, late *memory.Sink) *arkflow.Job {
	job := arkflow.NewJob("quickstart")
	perHour := job.Source("quakes", file.Source{URL: path, Format: codec.JSONOf[Quake]()},
		arkflow.EventTime("time", arkflow.OutOfOrderness(72*time.Hour))).
		KeyBy("net").
		Window("per-hour", window.Tumbling(time.Hour),
			window.Count().As("events"),
			window.Max("mag").As("greatest"),
			window.Avg("mag").As("average"),
			window.Max("depth").As("deepest"))
	perHour.Sink("hours", hours)
	perHour.Late().Sink("late", late)
	return job
}

// printTable writes one line an hour and network, in this order.
func printTable(w io.Writer, hours []Hour) error {
	slices.SortFunc(hours, func(a, b Hour) int {
		if c := a.Start.Compare(b.Start); c != 0 {
			return c
		}
		return strings.Compare(a.Net, b.Net)
	})
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "hour (UTC)\tnetwork\tevents\tgreatest\taverage\tdeepest km\t")
	for _, h := range hours {
		fmt.Fprintf(table, "%s\t%s\t%d\t%s\t%s\t%s\t\n", h.Start.UTC().Format("2006-01-02 15:04"), h.Net, h.Events,
			number(h.Greatest, 1), number(h.Average, 2), number(h.Deepest, 1))
	}
	return table.Flush()
}

func number(v *float64, digits int) string {
	if v == nil {
		return "-"
	}
	return fmt.Sprintf("%.*f", digits, *v)
}
