package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/arkflow-go/arkflow"
	"github.com/arkflow-go/arkflow/bench/baseline"
	"github.com/arkflow-go/arkflow/bench/events"
	"github.com/arkflow-go/arkflow/codec"
	"github.com/arkflow-go/arkflow/connectors/file"
	"github.com/arkflow-go/arkflow/window"
)

const jsonKeys = 1_000

// runJSON counts and sums a file of JSON lines into another, beside the same job with encoding/json and a Go map.
func runJSON(ctx context.Context, o options, n int64) (f figure, err error) {
	dir, err := os.MkdirTemp("", "arkflow-bench-")
	if err != nil {
		return f, fmt.Errorf("make files: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	input := func(n int64) string { return filepath.Join(dir, fmt.Sprintf("in-%d.jsonl", n)) }
	for _, rows := range []int64{n, 2 * n} {
		if err := writeEvents(input(rows), rows); err != nil {
			return f, fmt.Errorf("make files: %w", err)
		}
	}
	out := filepath.Join(dir, "out.jsonl")
	pairs, err := repeat(o.times, n,
		func(n int64) (measured, error) { return jsonEngine(ctx, o.p, n, input(n), out) },
		func(n int64) (measured, error) { return jsonLoop(n, input(n), out) })
	if err != nil {
		return f, err
	}
	if err := sameResults(pairs); err != nil {
		return f, err
	}
	f = summarize(pairs[0])
	first := pairs[0][0].once
	f.RowsOut, f.Checksum = first.result.Rows, strconv.FormatUint(first.result.Checksum, 10)
	_, f.Baseline = medians(pairs[1])
	f.Ratio = f.RowsPerCPUS / f.Baseline
	return f, nil
}

// writeEvents writes n events as JSON lines.
func writeEvents(path string, n int64) (err error) {
	out, err := os.Create(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	w := bufio.NewWriterSize(out, 1<<16)
	g, b, line := events.NewGenerator(jsonKeys), events.NewBatch(events.Rows), []byte(nil)
	for at := int64(0); at < n; at += events.Rows {
		g.Fill(b, at, int(min(events.Rows, n-at)))
		for i := range b.Key {
			line = append(line[:0], `{"key":`...)
			line = strconv.AppendInt(line, b.Key[i], 10)
			line = append(line, `,"price":`...)
			line = strconv.AppendInt(line, b.Price[i], 10)
			line = append(line, `,"ts":`...)
			line = strconv.AppendInt(line, b.Time[i], 10)
			if _, err := w.Write(append(line, "}\n"...)); err != nil {
				return err
			}
		}
	}
	return w.Flush()
}

// jsonEngine is the job through the builder.
func jsonEngine(ctx context.Context, p int, n int64, in, out string) (measured, error) {
	job := arkflow.NewJob("json_e2e", arkflow.Parallelism(p))
	job.Source("in", file.Source{URL: in, Format: codec.JSONOf[baseline.Line]()}, arkflow.EventTime("ts")).
		KeyBy("key").
		Window("window", window.Tumbling(baseline.WindowMilli*time.Millisecond).Unbounded(),
			window.Count().As("count"), window.Sum("price").As("sum")).
		Sink("out", file.Sink{URL: out, Overwrite: true}, arkflow.Tasks(1))
	m := measured{n: n}
	watch := startWatch()
	if _, err := runJob(ctx, job); err != nil {
		return m, err
	}
	watch.read(&m, 0)
	var err error
	m.result, err = readTotals(out)
	return m, err
}

// jsonLoop is the bare loop.
func jsonLoop(n int64, in, out string) (m measured, err error) {
	m.n = n
	watch := startWatch()
	src, err := os.Open(in)
	if err != nil {
		return m, err
	}
	defer func() { err = errors.Join(err, src.Close()) }()
	dst, err := os.Create(out)
	if err != nil {
		return m, err
	}
	m.result, err = baseline.JSON(src, dst)
	if err := errors.Join(err, dst.Close()); err != nil {
		return m, err
	}
	watch.read(&m, 0)
	return m, nil
}

// readTotals folds the result file of the engine.
func readTotals(path string) (r baseline.Result, err error) {
	in, err := os.Open(path)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	dec := json.NewDecoder(bufio.NewReaderSize(in, 1<<16))
	for {
		var t struct {
			Key   int64     `json:"key"`
			End   time.Time `json:"window_end"`
			Count int64     `json:"count"`
			Sum   int64     `json:"sum"`
		}
		if err := dec.Decode(&t); errors.Is(err, io.EOF) {
			return r, nil
		} else if err != nil {
			return r, fmt.Errorf("read result: %w", err)
		}
		r.Rows++
		r.Checksum += events.WindowTerm(t.Key, t.End.UnixMilli(), t.Count, t.Sum)
	}
}
