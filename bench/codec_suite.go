package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"

	"github.com/arkflow-go/arkflow"
	"github.com/arkflow-go/arkflow/bench/baseline"
	"github.com/arkflow-go/arkflow/codec"
	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/connectors/file"
	"github.com/arkflow-go/arkflow/connectors/memory"
	"github.com/arkflow-go/arkflow/operator"
)

// codecSuite is files of records of six columns, read by a job, beside the standard library.
func codecSuite() []benchmark {
	return []benchmark{
		codecJob{"json_6cols", codec.JSONOf[baseline.Order](), baseline.JSONOrders, baseline.JSONOrdersBest}.benchmark(),
		codecJob{"csv_6cols", codec.CSVOf[baseline.Order](), baseline.CSVOrders, nil}.benchmark(),
	}
}

type codecJob struct {
	name   string
	format codec.Format
	loop   func(in io.Reader) (baseline.Result, error)
	best   func(in io.Reader) (baseline.Result, error) // with the best library found; nil: the standard one
}

func (j codecJob) benchmark() benchmark { return benchmark{name: j.name, n: 300_000, run: j.measure} }

func (j codecJob) measure(ctx context.Context, o options, n int64) (f figure, err error) {
	dir, err := os.MkdirTemp("", "arkflow-bench-")
	if err != nil {
		return f, fmt.Errorf("make files: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	input := func(n int64) string { return filepath.Join(dir, fmt.Sprintf("in-%d", n)) }
	for _, rows := range []int64{n, 2 * n} {
		if err := j.write(ctx, input(rows), rows); err != nil {
			return f, fmt.Errorf("make files: %w", err)
		}
	}
	runs := []func(n int64) (measured, error){
		func(n int64) (measured, error) { return j.read(ctx, o.p, input(n), n) },
		func(n int64) (measured, error) { return j.bare(input(n), n, j.loop) },
	}
	if j.best != nil {
		runs = append(runs, func(n int64) (measured, error) { return j.bare(input(n), n, j.best) })
	}
	pairs, err := repeat(o.times, n, runs...)
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
	if j.best != nil {
		_, best := medians(pairs[2])
		f.RatioBest = f.RowsPerCPUS / best
	}
	return f, nil
}

// write makes a file of n orders.
func (j codecJob) write(ctx context.Context, path string, n int64) error {
	orders := make([]baseline.Order, n)
	for i := range orders {
		orders[i] = baseline.OrderOf(int64(i))
	}
	job := arkflow.NewJob("write")
	job.Source("orders", memory.Of(orders), arkflow.ProcessingTime()).Sink("file", file.Sink{URL: path, Format: j.format.WithSchema(nil)})
	return job.Run(ctx)
}

// read is the job.
func (j codecJob) read(ctx context.Context, p int, path string, n int64) (measured, error) {
	out := &orderFold{}
	job := arkflow.NewJob(j.name, arkflow.Parallelism(p))
	job.Source("file", file.Source{URL: path, Format: j.format}, arkflow.ProcessingTime()).Sink("fold", out, arkflow.Tasks(1))
	m := measured{n: n}
	watch := startWatch()
	if _, err := runJob(ctx, job); err != nil {
		return m, err
	}
	watch.read(&m, 0)
	m.result = out.result
	return m, nil
}

// bare is a loop beside it.
func (j codecJob) bare(path string, n int64, loop func(in io.Reader) (baseline.Result, error)) (m measured, err error) {
	m.n = n
	watch := startWatch()
	in, err := os.Open(path)
	if err != nil {
		return m, err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	if m.result, err = loop(in); err != nil {
		return m, err
	}
	watch.read(&m, 0)
	return m, nil
}

// orderFold is a sink of one task that sums the terms of orders.
type orderFold struct{ result baseline.Result }

func (s *orderFold) Kind() string { return "bench-orders" }

func (s *orderFold) Check(in operator.Stream) error {
	want := codec.JSONOf[baseline.Order]().Schema()
	if !in.Schema.Equal(want) {
		return fmt.Errorf("the fold needs columns %s, there are %s", want, in.Schema)
	}
	return nil
}

func (s *orderFold) Open(*operator.Context, operator.Stream) (operator.Writer, error) { return s, nil }

func (s *orderFold) Write(b *column.Batch) error {
	id, time := column.Values[int64](&b.Cols[0]), column.Values[int64](&b.Cols[1])
	amount := column.Values[float64](&b.Cols[4])
	sum := uint64(0)
	for i := range b.Len() {
		r := b.Row(i)
		sum += baseline.OrderTerm(id[r], time[r], b.Cols[2].Bytes(r), b.Cols[3].Bytes(r), amount[r], b.Cols[5].Bool(r))
	}
	s.result.Rows += int64(b.Len())
	s.result.Checksum += sum
	return nil
}

func (s *orderFold) Flush() error { return nil }
func (s *orderFold) Close() error { return nil }
