package arkflowtest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/arkflow-go/arkflow"
	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/internal/plan"
	"github.com/arkflow-go/arkflow/internal/structmap"
	"github.com/arkflow-go/arkflow/operator"
)

// TB is what of testing.TB this package needs.
type TB interface {
	Context() context.Context
	Helper()
	Name() string
	Logf(format string, args ...any)
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
}

// Result is a run that has ended.
type Result struct {
	into   *collector
	sinks  []string
	status arkflow.Status
	plan   *plan.Plan
	snaps  []*Snapshot
	clock  operator.Clock
	wanted map[string]bool // sinks that were compared with a Want
	err    error
}

// Run runs a job in memory and waits for its end. Everything that goes wrong (the job fails, a batch is not given back, rows are not accounted
// for, a Want does not hold) fails the test.
func Run(t TB, job *arkflow.Job, opts ...Option) *Result {
	t.Helper()
	r, err := Try(t.Context(), job, opts...)
	if err != nil {
		t.Fatalf("%v", err)
	}
	return r
}

// Try is Run for jobs that fail, and for use outside a test: what goes wrong is returned. The result is never nil and holds what there was at
// the end. The end of ctx cancels the job.
func Try(ctx context.Context, job *arkflow.Job, opts ...Option) (*Result, error) {
	cfg := newConfig(opts)
	r, err := start(ctx, job, cfg)
	if err != nil {
		if r == nil {
			return &Result{into: newCollector(), err: err}, err
		}
		return r.result(err), err
	}
	err = r.finish()
	out := r.result(err)
	if err == nil {
		err = out.check(cfg)
		out.err = err
	}
	return out, err
}

// check is what must hold of every run that ended well.
func (r *Result) check(cfg *config) error {
	errs := []error{r.balance()}
	if cfg.restore == nil && r.status.State == arkflow.Finished {
		for _, c := range cfg.counts {
			errs = append(errs, r.counted(c))
		}
	}
	r.wanted = map[string]bool{}
	for _, w := range cfg.wants {
		r.wanted[w.sink] = true
		if d := diff(w.linesIn(r.Schema(w.sink)), r.lines(w.sink)); d != "" {
			errs = append(errs, fmt.Errorf("sink %q does not hold what it should:\n%s", w.sink, d))
		}
	}
	return errors.Join(errs...)
}

// Err is what the job ended with, nil where it ended well.
func (r *Result) Err() error { return r.err }

// Status is that of the job at its end.
func (r *Result) Status() arkflow.Status { return r.status }

// Sinks are the IDs of the collecting sinks.
func (r *Result) Sinks() []string { return slices.Clone(r.sinks) }

// Snapshots are the epochs that were sealed, oldest first.
func (r *Result) Snapshots() []*Snapshot { return slices.Clone(r.snaps) }

// Snapshot is the last epoch, or nil.
func (r *Result) Snapshot() *Snapshot {
	if len(r.snaps) == 0 {
		return nil
	}
	return r.snaps[len(r.snaps)-1]
}

// Rows gives what a sink holds, in the order of Lines.
func (r *Result) Rows(sink string) []Row { return rowsOf(r.into.rows(sink, false)) }

// Lines gives the rows of a sink as text, "column=value …" in the order of the columns, sorted by their values: the first column that
// differs decides, null comes before every value.
func (r *Result) Lines(sink string) []string { return linesIn(r.into.rows(sink, false)) }

// lines is Lines in no order.
func (r *Result) lines(sink string) (out []string) {
	for _, b := range r.into.rows(sink, false) {
		var s []byte
		for i := range b.Len() {
			s = s[:0]
			for k := range b.Cols {
				if k > 0 {
					s = append(s, ' ')
				}
				s = append(append(s, b.Schema.Field(k).Name...), '=')
				s = appendText(s, cell(&b.Cols[k], b.Row(i)))
			}
			out = append(out, string(s))
		}
	}
	return out
}

// Schema is that of a sink's rows, nil where the job has not got so far.
func (r *Result) Schema(sink string) *arrow.Schema { return r.into.schemaOf(sink) }

// RowsOf gives what a sink holds as structs, in the order of Lines; columns without a field are left aside.
func RowsOf[T any](t TB, r *Result, sink string) []T {
	t.Helper()
	structs := map[*column.Batch][]T{}
	for _, b := range r.into.rows(sink, false) {
		rd, err := structmap.NewReader[T](b.Schema)
		if err != nil {
			t.Fatalf("rows of sink %q: %v", sink, err)
			return nil
		}
		structs[b] = make([]T, b.Len())
		rd.Begin(b)
		if errs := rd.Read(0, structs[b]); errs != nil {
			t.Fatalf("rows of sink %q: %v", sink, errors.Join(errs...))
			return nil
		}
	}
	var out []T
	for _, rec := range decode(r.into.rows(sink, false)) {
		out = append(out, structs[rec.batch][rec.at])
	}
	return out
}

// record is a row of a batch.
type record struct {
	batch *column.Batch
	at    int
	cells []any
}

// decode gives the rows of batches, sorted by their values: the first column that differs decides, null before every value.
func decode(all batches) (out []record) {
	for _, b := range all {
		for i := range b.Len() {
			cells := make([]any, len(b.Cols))
			for k := range cells {
				cells[k] = cell(&b.Cols[k], b.Row(i))
			}
			out = append(out, record{b, i, cells})
		}
	}
	slices.SortStableFunc(out, func(a, b record) int {
		return slices.CompareFunc(a.cells, b.cells, compare)
	})
	return out
}

func (r record) name(k int) string { return r.batch.Schema.Field(k).Name }

func (r record) line() string {
	var s []byte
	for k, v := range r.cells {
		if k > 0 {
			s = append(s, ' ')
		}
		s = append(append(s, r.name(k)...), '=')
		s = appendText(s, v)
	}
	return string(s)
}

func rowsOf(all batches) []Row {
	records := decode(all)
	out := make([]Row, len(records))
	for i, r := range records {
		out[i] = make(Row, len(r.cells))
		for k, v := range r.cells {
			out[i][r.name(k)] = v
		}
	}
	return out
}

func linesIn(all batches) []string {
	records := decode(all)
	out := make([]string, len(records))
	for i, r := range records {
		out[i] = r.line()
	}
	return out
}

// textsOf gives rows of a user as text by column.
func textsOf[T any](rows []T) (out []map[string]string, err error) {
	if m, ok := any(rows).([]map[string]any); ok {
		for _, row := range m {
			texts := map[string]string{}
			for name, v := range row {
				texts[name] = text(v)
			}
			out = append(out, texts)
		}
		return out, nil
	}
	set := &structRows[T]{rows: rows}
	schema, err := set.own()
	if err != nil {
		return nil, err
	}
	b, err := set.batch(column.NewPool(), schema, 0, len(rows))
	if err != nil {
		return nil, err
	}
	defer b.Release()
	for i := range rows {
		texts := map[string]string{}
		for k := range b.Cols {
			texts[schema.Field(k).Name] = text(cell(&b.Cols[k], i))
		}
		out = append(out, texts)
	}
	return out, nil
}

// linesIn gives what is wanted as lines with the columns in the order of a schema, then others by name.
func (w want) linesIn(s *arrow.Schema) []string {
	if w.rows == nil {
		return w.lines
	}
	var out []string
	for _, row := range w.rows {
		var parts, more []string
		for name, v := range row {
			if s == nil || !s.HasField(name) {
				more = append(more, name+"="+v)
			}
		}
		if s != nil {
			for _, f := range s.Fields() {
				if v, ok := row[f.Name]; ok {
					parts = append(parts, f.Name+"="+v)
				}
			}
		}
		slices.Sort(more)
		out = append(out, strings.Join(append(parts, more...), " "))
	}
	return out
}
