package golden

import (
	"encoding/csv"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/arkflow-go/arkflow"
	. "github.com/arkflow-go/arkflow/arkflowtest"
	"github.com/arkflow-go/arkflow/codec"
	"github.com/arkflow-go/arkflow/codec/arrowipc"
	"github.com/arkflow-go/arkflow/codec/parquet"
	"github.com/arkflow-go/arkflow/connectors/drop"
	"github.com/arkflow-go/arkflow/connectors/file"
	"github.com/arkflow-go/arkflow/connectors/memory"
	"github.com/arkflow-go/arkflow/expr"
	"github.com/arkflow-go/arkflow/operator"
	"github.com/arkflow-go/arkflow/window"
	"github.com/stretchr/testify/require"
)

// writeCSV writes each split as a file; nulls are empty fields.
func (in input) writeCSV(t *testing.T, dir string) {
	t.Helper()
	for i, rows := range in.splits {
		f, err := os.Create(filepath.Join(dir, fmt.Sprintf("part-%d.csv", i)))
		require.NoError(t, err)
		w := csv.NewWriter(f)
		var names []string
		for _, c := range in.schema.Fields() {
			names = append(names, c.Name)
		}
		require.NoError(t, w.Write(names))
		for _, r := range rows {
			var record []string
			for _, v := range r {
				if v == nil {
					record = append(record, "")
					continue
				}
				record = append(record, fmt.Sprint(v))
			}
			require.NoError(t, w.Write(record))
		}
		w.Flush()
		require.NoError(t, w.Error())
		require.NoError(t, f.Close())
	}
}

// CSV files come in, Parquet and Arrow IPC files go out, and another job reads them: what is in them is what the model says.
func TestGoldenFilesOfOneFormatBecomeFilesOfOthers(t *testing.T) {
	in := orders(300, 3, 12, 120, 101)
	m := tumbling{size: 100, keys: []string{"customer"}, aggs: []agg{{"orders", "count", ""}, {"total", "sum", "amount"}, {"most", "max", "items"}}}
	rows := in.timed("ts", 40)
	out, late := m.run(t, keep(rows, func(v map[string]any) bool { return v["status"] == "paid" }))
	require.NotEmpty(t, late)
	for _, p := range []int{1, 2} {
		t.Run(fmt.Sprintf("parallelism %d", p), func(t *testing.T) {
			dir := t.TempDir()
			in.writeCSV(t, dir)
			path := func(name string) string { return filepath.Join(dir, name) }
			job := arkflow.NewJob("files", arkflow.Parallelism(p))
			w := job.Source("orders", file.Source{URL: path("part-*.csv"), Format: codec.CSV(orderSchema), BatchRows: 16},
				arkflow.EventTime("ts", arkflow.OutOfOrderness(40*msec))).
				Filter("paid", expr.Col("status").Eq("paid")).
				KeyBy("customer").
				Window("w", window.Tumbling(100*msec), window.Count().As("orders"), window.Sum("amount").As("total"), window.Max("items").As("most"))
			w.Sink("parquet", file.Sink{URL: path("out.parquet"), Format: parquet.New(nil)})
			w.Sink("ipc", file.Sink{URL: path("out.arrow"), Format: arrowipc.New(nil)})
			w.Late().Sink("late", file.Sink{URL: path("late.arrow"), Format: arrowipc.New(nil), Rotate: &file.Rotation{}})
			require.NoError(t, job.Run(t.Context()))
			for glob, c := range map[string]struct {
				format codec.Format
				rows   []map[string]any
			}{"out-*.parquet": {parquet.New(nil), out}, "out-*.arrow": {arrowipc.New(nil), out}, "late-*.arrow": {arrowipc.New(nil), late}} {
				files, err := filepath.Glob(path(glob))
				require.NoError(t, err)
				require.NotEmpty(t, files, glob)
				read := arkflow.NewJob("read", arkflow.Parallelism(p))
				read.Source("in", file.Source{URL: path(glob), Format: c.format}, arkflow.ProcessingTime()).Sink("out", drop.Sink{})
				Run(t, read, Want("out", c.rows...))
			}
		})
	}
}

// B9: the schema that was inferred is in the checkpoint; a restored job does not infer another one from what has come meanwhile.
func TestB9GoldenARestoredJobKeepsTheSchemaThatWasInferred(t *testing.T) {
	path := filepath.Join(t.TempDir(), "in.jsonl")
	require.NoError(t, os.WriteFile(path, []byte("{\"n\": 1}\n{\"n\": 2}\n"), 0o600))
	job := arkflow.NewJob("inferred")
	job.Source("in", file.Source{URL: path, BatchRows: 1}, arkflow.ProcessingTime()).Sink("out", drop.Sink{})
	first := Run(t, job, BarrierEveryBatch())
	require.Equal(t, []string{"n=1", "n=2"}, first.Lines("out"))
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	require.NoError(t, err)
	_, err = f.WriteString("{\"n\": 3, \"extra\": \"x\"}\n")
	require.NoError(t, errors.Join(err, f.Close()))
	again := Run(t, job, Restore(first.Snapshots()[0]))
	require.Equal(t, []string{"n=1", "n=2", "n=3"}, again.Lines("out"))
	require.True(t, first.Schema("out").Equal(again.Schema("out")))
	require.Equal(t, int64(1), again.Status().Operator("in").Unknown, "the field that the schema does not have is counted")
	require.Len(t, Run(t, job).Schema("out").Fields(), 2, "a fresh start infers it")
}

type deadLetter struct {
	Operator string  `arkflow:"operator"`
	Phase    string  `arkflow:"phase"`
	Reason   string  `arkflow:"reason"`
	Place    *string `arkflow:"place"`
	Record   *string `arkflow:"record"`
}

// E6: a row that fails in a phase is in the dead-letter sink of that phase and nowhere else, and none is missing.
func TestE6GoldenDeadLettersOfEveryPhase(t *testing.T) {
	const n = 60
	var text strings.Builder
	bad, zero := map[int]bool{}, map[int]bool{}
	for i := range n {
		switch {
		case i%10 == 3:
			bad[i+1] = true
			fmt.Fprintf(&text, "{\"id\": %d, \"n\": oops}\n", i)
		case i%7 == 0:
			zero[i] = true
			fmt.Fprintf(&text, "{\"id\": %d, \"n\": 0}\n", i)
		default:
			fmt.Fprintf(&text, "{\"id\": %d, \"n\": %d}\n", i, i)
		}
	}
	type numbered struct {
		ID int64 `arkflow:"id"`
		N  int64 `arkflow:"n"`
	}
	path := filepath.Join(t.TempDir(), "in.jsonl")
	require.NoError(t, os.WriteFile(path, []byte(text.String()), 0o600))
	boom := errors.New("disk full")
	for _, p := range []int{1, 2, 7} {
		t.Run(fmt.Sprintf("parallelism %d", p), func(t *testing.T) {
			decode, process, write := memory.NewSink(), memory.NewSink(), memory.NewSink()
			job := arkflow.NewJob("letters")
			job.Source("in", file.Source{URL: path, Format: codec.JSONOf[numbered](), BatchRows: 5}, arkflow.ProcessingTime(), arkflow.OnError(arkflow.DeadLetter(decode))).
				Select("ratio", "id", expr.Lit(int64(100)).Div(expr.Col("n")).As("ratio")).With(arkflow.OnError(arkflow.DeadLetter(process))).
				Sink("out", drop.Sink{}, arkflow.OnError(arkflow.DeadLetter(write)))
			r := Run(t, job, Parallelism(p), FailWrite("out", 2, boom))
			letters := func(s *memory.Sink, op, phase string, size int) (all []deadLetter) {
				t.Helper()
				all, err := memory.Collect[deadLetter](s)
				require.NoError(t, err)
				for _, l := range all {
					require.Equal(t, op, l.Operator)
					require.Equal(t, phase, l.Phase)
					require.NotNil(t, l.Record)
				}
				if size >= 0 {
					require.Len(t, all, size)
				}
				require.Equal(t, int64(len(all)), r.Status().Operator(op).Dropped[operator.DropDeadLetter])
				return all
			}
			for _, l := range letters(decode, "in", operator.PhaseDecode, len(bad)) {
				require.Contains(t, *l.Record, "oops")
				require.Contains(t, l.Reason+*l.Place, path)
			}
			for _, l := range letters(process, "ratio", operator.PhaseProcess, len(zero)) {
				require.Contains(t, l.Reason, "division by zero")
				require.Contains(t, *l.Record, `"n":0`)
			}
			lost := letters(write, "out", operator.PhaseSink, -1)
			require.NotEmpty(t, lost)
			for _, l := range lost {
				require.Contains(t, l.Reason, "disk full")
			}
			require.Len(t, r.Rows("out"), n-len(bad)-len(zero)-len(lost))
		})
	}
}
