package operator

import (
	"fmt"
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/internal/fault"
	"github.com/arkflow-go/arkflow/internal/fields"
)

// drop leaves columns out.
type drop struct{ columns []string }

// Drop leaves columns out. The stream is still keyed if no key column is among them.
func Drop(columns ...string) Operator { return &drop{slices.Clone(columns)} }

// DropFromConfig gives the Drop of a JobSpec: {columns: [name, …]}.
func DropFromConfig(config map[string]any) (Operator, error) {
	var faults fault.List
	fields.Exactly(&faults, config, "config", "columns")
	d := &drop{fields.Columns(&faults, config["columns"], "config.columns")}
	if err := faults.Err(); err != nil {
		return nil, err
	}
	return d, nil
}

// Kind implements Operator.
func (d *drop) Kind() string { return "drop" }

// Describe implements Described.
func (d *drop) Describe() string { return strings.Join(d.columns, ", ") }

// Config is the inverse of DropFromConfig.
func (d *drop) Config() (map[string]any, error) {
	return map[string]any{"columns": fields.List(d.columns)}, nil
}

// Bind implements Operator.
func (d *drop) Bind(in []Stream) (Bound, error) {
	s, err := anyInput("drop", in)
	if err != nil {
		return nil, err
	}
	var faults fault.List
	if len(d.columns) == 0 {
		faults.Add(&Fault{Path: "columns", Problem: "no column is dropped", Hint: "name one at least"})
	}
	gone := map[string]bool{}
	for i, c := range d.columns {
		path := fmt.Sprintf("columns[%d]", i)
		if _, err := columnAt(s.Schema, c, path); err != nil {
			faults.Add(err)
		} else if gone[c] {
			faults.Add(&Fault{Path: path, Problem: fmt.Sprintf("column %q is named twice", c), Hint: "name it once"})
		}
		gone[c] = true
	}
	var (
		fields []arrow.Field
		kept   []int
		to     = map[string]string{}
	)
	for i, f := range s.Schema.Fields() {
		if !gone[f.Name] {
			fields, kept, to[f.Name] = append(fields, f), append(kept, i), f.Name
		}
	}
	if faults.Len() == 0 && len(kept) == 0 {
		faults.Add(&Fault{Path: "columns", Problem: "every column is dropped", Hint: "keep one at least"})
	}
	if err := faults.Err(); err != nil {
		return nil, err
	}
	out := Stream{Schema: withFields(s.Schema, fields), Time: s.Time, Key: carryKey(s.Key, to)}
	if out.Changes, out.ChangeKey, err = keepChanges("the drop", s, to); err != nil {
		return nil, err
	}
	task := dropTask{schema: out.Schema, kept: kept, keyed: out.Key != nil}
	return &taskMaker{outs: []Stream{out}, make: func(*Context) (Instance, error) { return task, nil }}, nil
}

type dropTask struct {
	schema *arrow.Schema
	kept   []int // columns, ascending
	keyed  bool
}

// Process implements Instance.
func (t dropTask) Process(_ int, b *column.Batch, out Output) error {
	d := b.Derive()
	defer d.Release()
	d.Schema = t.schema
	for i, from := range t.kept {
		d.Cols[i] = d.Cols[from]
	}
	d.Cols = d.Cols[:len(t.kept)]
	if !t.keyed {
		d.Hash = nil
	}
	return out.Emit(Main, d)
}
