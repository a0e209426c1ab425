package operator

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/internal/fault"
	"github.com/arkflow-go/arkflow/internal/fields"
)

// rename gives columns other names.
type rename struct{ names map[string]string }

// Rename gives columns other names: old name -> new name. All are renamed at once, so that two columns may swap their
// names. Nothing else changes: a keyed stream stays keyed, by the new names.
func Rename(names map[string]string) Operator {
	return &rename{maps.Clone(names)}
}

// RenameFromConfig gives the renaming of a JobSpec: {columns: {old: new}}.
func RenameFromConfig(config map[string]any) (Operator, error) {
	var faults fault.List
	fields.Exactly(&faults, config, "config", "columns")
	r := &rename{map[string]string{}}
	m, ok := config["columns"].(map[string]any)
	if !ok && config["columns"] != nil {
		faults.Add(&Fault{Path: "config.columns", Problem: fmt.Sprintf("want a mapping of old to new names, not %v", config["columns"])})
	}
	for from, to := range m {
		s, ok := to.(string)
		if !ok {
			faults.Add(&Fault{Path: "config.columns." + from, Problem: fmt.Sprintf("want a column name, not %v", to)})
		}
		r.names[from] = s
	}
	if err := faults.Err(); err != nil {
		return nil, err
	}
	return r, nil
}

// Kind implements Operator.
func (r *rename) Kind() string { return "rename" }

func (r *rename) sorted() []string { return slices.Sorted(maps.Keys(r.names)) }

// Describe implements Described.
func (r *rename) Describe() string {
	var parts []string
	for _, from := range r.sorted() {
		parts = append(parts, from+" to "+r.names[from])
	}
	return strings.Join(parts, ", ")
}

// Config is the inverse of RenameFromConfig.
func (r *rename) Config() (map[string]any, error) {
	m := make(map[string]any, len(r.names))
	for from, to := range r.names {
		m[from] = to
	}
	return map[string]any{"columns": m}, nil
}

// Bind implements Operator.
func (r *rename) Bind(in []Stream) (Bound, error) {
	s, err := anyInput("rename", in)
	if err != nil {
		return nil, err
	}
	var faults fault.List
	if len(r.names) == 0 {
		faults.Add(&Fault{Path: "columns", Problem: "no column is renamed", Hint: "name one at least"})
	}
	for _, from := range r.sorted() {
		path := "columns." + from
		if _, err := columnAt(s.Schema, from, path); err != nil {
			faults.Add(err)
		}
		if r.names[from] == "" {
			faults.Add(&Fault{Path: path, Problem: "the new name is empty"})
		}
	}
	fields := s.Schema.Fields()
	owner := map[string]string{}
	to := map[string]string{}
	for i, f := range fields {
		name := f.Name
		if n, ok := r.names[name]; ok {
			name = n
		}
		if other, twice := owner[name]; twice {
			faults.Add(&Fault{Path: "columns", Problem: fmt.Sprintf("columns %q and %q would both be named %q", other, f.Name, name),
				Hint: "choose another name, or drop one of them first"})
		}
		owner[name], to[f.Name] = f.Name, name
		fields[i].Name = name
	}
	if err := faults.Err(); err != nil {
		return nil, err
	}
	out := Stream{Schema: withFields(s.Schema, fields), Time: s.Time, Key: carryKey(s.Key, to)}
	if out.Changes, out.ChangeKey, err = keepChanges("the rename", s, to); err != nil {
		return nil, err
	}
	return &taskMaker{outs: []Stream{out}, make: func(*Context) (Instance, error) { return renameTask{out.Schema}, nil }}, nil
}

type renameTask struct{ schema *arrow.Schema }

// Process implements Instance.
func (t renameTask) Process(_ int, b *column.Batch, out Output) error {
	d := b.Derive()
	defer d.Release()
	d.Schema = t.schema
	return out.Emit(Main, d)
}
