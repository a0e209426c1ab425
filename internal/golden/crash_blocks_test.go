package golden

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/arkflow-go/arkflow"
	. "github.com/arkflow-go/arkflow/arkflowtest"
	"github.com/arkflow-go/arkflow/checkpoint"
	"github.com/arkflow-go/arkflow/checkpoint/storage"
	"github.com/arkflow-go/arkflow/codec"
	"github.com/arkflow-go/arkflow/codec/arrowipc"
	"github.com/arkflow-go/arkflow/codec/parquet"
	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/connectors/file"
	"github.com/arkflow-go/arkflow/expr"
	"github.com/arkflow-go/arkflow/window"
	"github.com/stretchr/testify/require"
)

// blocksOf reads the rows of all files that match, as texts.
func blocksOf(f codec.BlockFormat, pattern string) func(dir string) ([]string, error) {
	return func(dir string) (out []string, err error) {
		names, err := filepath.Glob(filepath.Join(dir, pattern))
		for _, name := range names {
			if err == nil {
				out, err = rowsOf(f, name, out)
			}
		}
		return out, err
	}
}

func rowsOf(f codec.BlockFormat, name string, out []string) (_ []string, err error) {
	src, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, src.Close()) }()
	info, err := src.Stat()
	if err != nil {
		return nil, err
	}
	r, err := f.OpenBlocks(context.Background(), src, info.Size(), codec.BlockOptions{Pool: column.NewPool(), Rows: 1000, MaxBytes: 64 << 20})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	for {
		b, err := r.Next()
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return nil, err
		}
		rec := b.Record()
		for i := range int(rec.NumRows()) {
			row := []string{filepath.Base(name)[:4]}
			for c, v := range rec.Columns() {
				row = append(row, rec.ColumnName(c)+"="+v.ValueStr(i))
			}
			out = append(out, strings.Join(row, " "))
		}
		rec.Release()
		b.Release()
	}
}

// allOf gives the rows of several readers.
func allOf(list ...func(dir string) ([]string, error)) func(dir string) ([]string, error) {
	return func(dir string) (out []string, err error) {
		for _, read := range list {
			rows, failed := read(dir)
			out, err = append(out, rows...), errors.Join(err, failed)
		}
		return out, err
	}
}

// verified reads every object of the epochs that are kept in the bucket of a job that Crash runs, and hands them on. It gives no rows.
func verified(job string, look func(e *checkpoint.SavedEpoch)) func(dir string) ([]string, error) {
	return func(dir string) (_ []string, err error) {
		bucket, err := storage.OpenURL(context.Background(), "file://"+filepath.ToSlash(filepath.Join(filepath.Dir(dir), "bucket")))
		if err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, bucket.Close()) }()
		all, err := checkpoint.Inspect(context.Background(), bucket, storage.Options{})
		if err != nil {
			return nil, err
		}
		kept := all.Job(job)
		if kept == nil || len(kept.Epochs) == 0 {
			return nil, errors.New("the job has no epoch")
		}
		v, err := kept.Verify(context.Background())
		for _, p := range v.Problems {
			err = errors.Join(err, errors.New(p.String()))
		}
		for i := range kept.Epochs {
			look(&kept.Epochs[i])
		}
		return nil, err
	}
}

// blocksJob writes files that are whole or worth nothing: Parquet and Arrow IPC, each exactly once.
func blocksJob(dir string) *arkflow.Job {
	path := func(name string) string { return filepath.Join(dir, name) }
	job := arkflow.NewJob("blocks")
	paid := job.Source("orders", file.Source{URL: path("part-*.csv"), Format: codec.CSV(orderSchema), BatchRows: 8},
		arkflow.EventTime("ts", arkflow.OutOfOrderness(20*msec))).
		Filter("paid", expr.Col("status").Eq("paid"))
	w := paid.KeyBy("customer").Window("w", window.Tumbling(100*msec), window.Count().As("orders"), window.Sum("amount").As("total"), window.Max("items").As("most"))
	w.Sink("parquet", file.Sink{URL: path("parq.parquet"), Format: parquet.New(nil), Rotate: &file.Rotation{Rows: 4}, ExactlyOnce: true})
	w.Late().Sink("late", file.Sink{URL: path("late.arrow"), Format: arrowipc.New(nil), ExactlyOnce: true})
	paid.Sink("ipc", file.Sink{URL: path("rows.arrow"), Format: arrowipc.New(nil), Rotate: &file.Rotation{Bytes: 1 << 10}, ExactlyOnce: true})
	return job
}

// C12: files of blocks are written in one piece, which ends in a footer: after kills at any moment each is there whole, and no row twice.
func TestC12GoldenCrashMatrixOfFilesOfBlocks(t *testing.T) {
	in := orders(160, 3, 12, 200, 102)
	r := Crash(t, CrashJob{
		Input: func(dir string) error { in.writeCSV(t, dir); return nil },
		Job:   blocksJob,
		Output: allOf(blocksOf(parquet.New(nil), "parq*.parquet"), blocksOf(arrowipc.New(nil), "late*.arrow"), blocksOf(arrowipc.New(nil), "rows*.arrow"),
			verified("blocks", func(*checkpoint.SavedEpoch) {})),
		Tasks: []int{1, 3, 2},
		Kills: kills(t, 30),
	})
	require.NotEmpty(t, r.Steps)
	require.Positive(t, r.Rounds)
}
