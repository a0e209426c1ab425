package operator

import (
	"fmt"
	"strings"
	"sync/atomic"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/internal/fault"
)

// SchemaFunc gives the columns that a function over record batches makes of others. It is called when a job is compiled. A nil
// SchemaFunc stands for the same columns.
type SchemaFunc func(in *arrow.Schema) (*arrow.Schema, error)

// Columns is the SchemaFunc of fixed columns.
func Columns(s *arrow.Schema) SchemaFunc {
	return func(*arrow.Schema) (*arrow.Schema, error) { return s, nil }
}

// MapBatchOperator is a Go function over whole record batches: what MapBatch and MapBatchRows give.
type MapBatchOperator struct {
	function
	schema SchemaFunc
	fn     batchFunc
	rows   bool // the function names the input rows
}

type batchFunc func(in arrow.RecordBatch) (out arrow.RecordBatch, rows []int32, err error)

// MapBatch makes a record batch of each record batch by a Go function: as many rows, in the same order, of the columns that
// schema says. Event times and late pairs stay with their rows; the stream is no longer keyed.
//
// The argument is borrowed: it must not be changed, and is valid until the function returns unless it is retained; so are arrays of it
// that are made part of the result, which the record retains. The result is owned by the operator, which releases it; a function
// that gives its argument back retains it first. Beside an error it gives no record. The function is called by several tasks at once. How rows are cut into batches
// is not promised, so each row's result must depend on that row alone. An error follows the error policy for all rows of the
// batch.
func MapBatch(schema SchemaFunc, fn func(in arrow.RecordBatch) (arrow.RecordBatch, error)) *MapBatchOperator {
	m := &MapBatchOperator{function: function{text: "record batches"}, schema: schema}
	if fn != nil {
		m.fn = func(in arrow.RecordBatch) (arrow.RecordBatch, []int32, error) {
			out, err := fn(in)
			return out, nil, err
		}
	}
	return m
}

// MapBatchRows is MapBatch with any number of rows: for each row of the result the function names the row of its argument from
// which that inherits event time and late pair, counted from 0. A row may be named several times, or never. The numbers are
// read before the function is called again.
func MapBatchRows(schema SchemaFunc, fn func(in arrow.RecordBatch) (out arrow.RecordBatch, rows []int32, err error)) *MapBatchOperator {
	return &MapBatchOperator{function: function{text: "record batches"}, schema: schema, fn: fn, rows: true}
}

// MapBatchFromConfig gives the function of a JobSpec: {function: name}. The name is looked up where Go functions are registered.
func MapBatchFromConfig(config map[string]any, lookup func(name string) (Operator, error)) (Operator, error) {
	return functionFrom("map_batch", config, lookup)
}

// Named gives the operator with the name by which a JobSpec refers to it; see MapOperator.Named.
func (m *MapBatchOperator) Named(name string) *MapBatchOperator {
	c := *m
	c.name = name
	return &c
}

func (m *MapBatchOperator) withName(name string) Operator { return m.Named(name) }

// Kind implements Operator.
func (m *MapBatchOperator) Kind() string { return "map_batch" }

// Bind implements Operator.
func (m *MapBatchOperator) Bind(in []Stream) (Bound, error) {
	s, err := oneInput("map_batch", in)
	if err != nil {
		return nil, err
	}
	var faults fault.List
	if m.fn == nil {
		faults.Add(&Fault{Path: "function", Problem: "the function is nil"})
	}
	schema := s.Schema
	if m.schema != nil {
		if schema, err = m.schema(s.Schema); err != nil {
			faults.Add(atPath(err, "schema"))
		} else if schema == nil {
			faults.Add(&Fault{Path: "schema", Problem: "is nil", Hint: "give the columns of the result"})
		}
	}
	if err := faults.Err(); err != nil {
		return nil, err
	}
	out := Stream{Schema: schema, Time: s.Time}
	return &taskMaker{outs: []Stream{out}, make: func(ctx *Context) (Instance, error) {
		return &mapBatchTask{ctx: ctx, op: m, schema: schema}, nil
	}}, nil
}

type mapBatchTask struct {
	ctx    *Context
	op     *MapBatchOperator
	schema *arrow.Schema
	from   []uint32 // physical rows that are rejected
}

// lent is a record that counts what a function does with it.
type lent struct {
	arrow.RecordBatch
	refs atomic.Int64
}

func (l *lent) Retain() {
	l.refs.Add(1)
	l.RecordBatch.Retain()
}

func (l *lent) Release() {
	if l.refs.Add(-1) >= 0 { // one too many is told, not done
		l.RecordBatch.Release()
	}
}

// Process implements Instance.
func (t *mapBatchTask) Process(_ int, b *column.Batch, out Output) error {
	src := b.Compact()
	defer src.Release()
	rec := src.Record()
	defer rec.Release()
	in := &lent{RecordBatch: rec}
	res, rows, err := t.op.fn(in)
	for attempt := 0; err != nil && in.refs.Load() >= 0 && t.ctx.Again(attempt); attempt++ {
		res, rows, err = t.op.fn(in)
	}
	if in.refs.Load() < 0 {
		return fmt.Errorf("the function released its argument, which it had only borrowed: it must not, unless it has retained it")
	}
	if err != nil {
		return t.reject(b, err)
	}
	if res == nil {
		return fmt.Errorf("the function gave no record and no error: a result without rows is a record of no rows")
	}
	if res == arrow.RecordBatch(in) {
		if in.refs.Load() == 0 {
			return fmt.Errorf("the function gave back its argument, which it had only borrowed: it must retain it first")
		}
		in.refs.Add(-1)
		res = rec
	}
	defer res.Release()
	if err := t.check(res, rows, b.Len()); err != nil {
		return err
	}
	if res.NumRows() == 0 {
		return nil
	}
	return t.emit(src, res, rows, out)
}

// reject applies the error policy to all rows of a batch.
func (t *mapBatchTask) reject(b *column.Batch, err error) error {
	t.from = t.from[:0]
	for i := range b.Len() {
		t.from = append(t.from, uint32(b.Row(i)))
	}
	return t.ctx.RejectRows(b, t.from, func(int) error { return err })
}

// check says how a result is not what it must be.
func (t *mapBatchTask) check(res arrow.RecordBatch, rows []int32, n int) error {
	if why := differ(t.schema, res.Schema()); why != "" {
		return fmt.Errorf("the function gave a record of other columns than it had said: %s", why)
	}
	for i := range t.schema.NumFields() {
		if nulls := res.Column(i).NullN(); nulls > 0 && !t.schema.Field(i).Nullable {
			return fmt.Errorf("the function gave %d nulls in column %q, which is not nullable in the schema that it had said", nulls, t.schema.Field(i).Name)
		}
	}
	switch made := int(res.NumRows()); {
	case !t.op.rows && made != n:
		return fmt.Errorf("the function made %d rows of %d: a MapBatch gives as many rows as it is given; use MapBatchRows to name the row of each", made, n)
	case t.op.rows && len(rows) != made:
		return fmt.Errorf("the function made %d rows and named the input rows of %d: name one for each", made, len(rows))
	}
	for i, r := range rows {
		if r < 0 || int(r) >= n {
			return fmt.Errorf("the function names row %d as that of its result %d: its argument has the rows 0 to %d", r, i, n-1)
		}
	}
	return nil
}

// emit hands a result on. src is the argument; rows are those of it, nil for each in turn.
func (t *mapBatchTask) emit(src *column.Batch, res arrow.RecordBatch, rows []int32, out Output) error {
	made, err := column.FromRecord(src.Pool(), res)
	if err != nil {
		return err
	}
	defer made.Release()
	made.Schema = t.schema
	if rows == nil {
		made.ShareTimes(src)
	} else {
		made.TakeTimes(src, column.View[uint32](column.BytesOf(rows)))
	}
	return out.Emit(Main, made)
}

// differ says how the columns of two schemas differ in number, name or type, in order; "" where they do not.
func differ(want, got *arrow.Schema) string {
	if want == got {
		return ""
	}
	for i := range min(want.NumFields(), got.NumFields()) {
		if w, f := want.Field(i), got.Field(i); w.Name != f.Name || !arrow.TypeEqual(w.Type, f.Type) {
			return fmt.Sprintf("column %d is %s %s and not %s %s", i, f.Name, f.Type, w.Name, w.Type)
		}
	}
	if want.NumFields() == got.NumFields() {
		return ""
	}
	var names []string
	for _, f := range got.Fields() {
		names = append(names, f.Name+" "+f.Type.String())
	}
	return fmt.Sprintf("%d columns (%s) and not %d", got.NumFields(), strings.Join(names, ", "), want.NumFields())
}
