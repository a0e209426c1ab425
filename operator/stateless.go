package operator

import (
	"errors"
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/arkflow-go/arkflow/expr"
	"github.com/arkflow-go/arkflow/internal/fault"
)

// taskMaker is a Bound whose instances a function makes.
type taskMaker struct {
	outs []Stream
	make func(ctx *Context) (Instance, error)
}

// Outputs implements Bound.
func (m *taskMaker) Outputs() []Stream { return m.outs }

// New implements Bound.
func (m *taskMaker) New(ctx *Context) (Instance, error) { return m.make(ctx) }

// oneInput gives the only stream that a stateless operator reads; its rows stand for themselves.
func oneInput(kind string, in []Stream) (Stream, error) {
	s, err := anyInput(kind, in)
	if err != nil {
		return s, err
	}
	return s, RefuseChanges("a "+kind, s)
}

// anyInput is oneInput for operators that say what becomes of rows that take the place of others.
func anyInput(kind string, in []Stream) (Stream, error) {
	if len(in) != 1 {
		return Stream{}, &Fault{Problem: fmt.Sprintf("a %s reads one input, it has %d", kind, len(in))}
	}
	return in[0], nil
}

func columnNames(s *arrow.Schema) []string {
	names := make([]string, s.NumFields())
	for i := range names {
		names[i] = s.Field(i).Name
	}
	return names
}

// columnAt gives the index of a column, or a fault that names the nearest.
func columnAt(s *arrow.Schema, name, path string) (int, error) {
	if at := s.FieldIndices(name); len(at) > 0 {
		return at[0], nil
	}
	f := fault.Unknown("column", name, columnNames(s))
	f.Path = path
	return -1, f
}

// withFields gives a schema of other fields with the metadata of s.
func withFields(s *arrow.Schema, fields []arrow.Field) *arrow.Schema {
	meta := s.Metadata()
	return arrow.NewSchema(fields, &meta)
}

// carryKey gives the key of a stream behind an operator: to maps key columns to their names there; nil where one is gone.
func carryKey(key []string, to map[string]string) []string {
	out := make([]string, len(key))
	for i, k := range key {
		name, kept := to[k]
		if !kept {
			return nil
		}
		out[i] = name
	}
	if len(out) == 0 {
		return nil
	}
	return out
}

// rowError gives an error of an expression as one of the engine.
func rowError(err error) error {
	var e *expr.RowError
	if errors.As(err, &e) {
		return &RowError{Field: e.Expr, Problem: e.Problem}
	}
	return err
}
