package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// figure is one line of the output. Rates are input rows a second.
type figure struct {
	Suite  string `json:"suite"`
	Name   string `json:"name"`
	N      int64  `json:"n"`
	P      int    `json:"p"`
	Source string `json:"source"`

	RowsPerS       float64 `json:"rows_per_s,omitempty"`
	RowsPerCPUS    float64 `json:"rows_per_cpu_s,omitempty"`
	CPUNsPerRow    float64 `json:"cpu_ns_per_row,omitempty"`
	AllocsPerBatch float64 `json:"allocs_per_batch"`
	BytesPerKey    float64 `json:"bytes_per_key,omitempty"`
	RowsOut        int64   `json:"rows_out"`
	Late           int64   `json:"late,omitempty"`
	Checksum       string  `json:"checksum,omitempty"`

	Baseline  float64 `json:"baseline,omitempty"`   // rows per CPU-second of the bare loop
	Ratio     float64 `json:"ratio,omitempty"`      // ours to the baseline
	RatioBest float64 `json:"ratio_best,omitempty"` // ours to the loop with the best library found
	Speedup   float64 `json:"speedup,omitempty"`    // rows_per_s to that of parallelism 1

	Extra          string  `json:"extra,omitempty"`            // the aggregate that -extra added
	ExtraPerColumn float64 `json:"extra_per_column,omitempty"` // CPU a row and aggregate with it, to that without it

	MS float64 `json:"ms,omitempty"` // until the first result

	Checkpoints    int64   `json:"checkpoints,omitempty"`
	BytesRatio     float64 `json:"bytes_ratio,omitempty"`       // of what changed, to a base
	EntriesPerCPUS float64 `json:"entries_per_cpu_s,omitempty"` // restored

	Firings int64 `json:"firings,omitempty"` // windows whose delay was measured

	P50  float64 `json:"p50_ms,omitempty"`
	P99  float64 `json:"p99_ms,omitempty"`
	P999 float64 `json:"p999_ms,omitempty"`
	Max  float64 `json:"max_ms,omitempty"`
}

// print writes the figure as a line of a table.
func (f figure) print(w io.Writer, first bool) error {
	if first {
		if _, err := fmt.Fprintf(w, "%-18s %12s %3s %12s %12s %10s %10s %9s %7s %10s  %s\n", "name", "n", "p", "rows/s", "rows/cpu-s", "cpu ns/row",
			"allocs/b", "bytes/key", "ratio", "rows out", "checksum"); err != nil {
			return err
		}
	}
	var more []string
	add := func(name string, v float64) {
		if v != 0 {
			more = append(more, fmt.Sprintf("%s=%.3g", name, v))
		}
	}
	add("ratio_best", f.RatioBest)
	add("speedup", f.Speedup)
	add("ms", f.MS)
	add("checkpoints", float64(f.Checkpoints))
	add("bytes_ratio", f.BytesRatio)
	add("entries_per_cpu_s", f.EntriesPerCPUS)
	add("firings", float64(f.Firings))
	add("p50_ms", f.P50)
	add("p99_ms", f.P99)
	add("p999_ms", f.P999)
	add("max_ms", f.Max)
	if f.Extra != "" {
		more = append(more, "extra="+f.Extra)
		add("extra_per_column", f.ExtraPerColumn)
	}
	_, err := fmt.Fprintf(w, "%-18s %12d %3d %12.4g %12.4g %10.3g %10.3g %9.3g %7.3g %10d  %s %s\n", f.Name, f.N, f.P, f.RowsPerS, f.RowsPerCPUS,
		f.CPUNsPerRow, f.AllocsPerBatch, f.BytesPerKey, f.Ratio, f.RowsOut, f.Checksum, strings.Join(more, " "))
	return err
}

// delays is a histogram of durations that keeps three digits of each.
type delays struct{ h *hdrhistogram.Histogram }

// greatestDelay is what longer delays count as.
const greatestDelay = time.Hour

func newDelays() delays {
	return delays{hdrhistogram.New(int64(time.Microsecond), int64(greatestDelay), 3)}
}

func (d delays) add(v time.Duration) {
	// The value is in range, which is the only thing that can be wrong with it.
	_ = d.h.RecordValue(int64(min(max(v, 0), greatestDelay)))
}

// quantiles fills in the latency figures.
func (f *figure) quantiles(d delays) {
	if d.h.TotalCount() == 0 {
		return
	}
	ms := func(v int64) float64 { return float64(v) / float64(time.Millisecond) }
	f.P50, f.P99, f.P999 = ms(d.h.ValueAtQuantile(50)), ms(d.h.ValueAtQuantile(99)), ms(d.h.ValueAtQuantile(99.9))
	f.Max = ms(d.h.Max())
}

// median gives the middle value; 0 where there is none.
func median(v []float64) float64 {
	if len(v) == 0 {
		return 0
	}
	v = slices.Clone(v)
	slices.Sort(v)
	return v[len(v)/2]
}
