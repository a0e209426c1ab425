package operator

import (
	"reflect"

	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/internal/fault"
	"github.com/arkflow-go/arkflow/internal/structmap"
)

// FilterFuncOperator keeps rows by a Go function: what FilterFunc gives.
type FilterFuncOperator struct {
	function
	bind func(in Stream) (Bound, error)
}

// FilterFunc keeps the rows for which a Go function is true, with all their columns; the others are counted under DropFiltered. In is
// a struct of the columns that the function looks at; see Map. It is otherwise like Filter, which is faster: prefer that where an
// expression can say it. A row that a field cannot hold follows the error policy.
func FilterFunc[In any](keep func(row In) bool) *FilterFuncOperator {
	m := &FilterFuncOperator{function: function{text: "function of " + reflect.TypeFor[In]().String()}}
	m.bind = func(in Stream) (Bound, error) {
		var faults fault.List
		if keep == nil {
			faults.Add(&Fault{Path: "function", Problem: "the function is nil"})
		}
		_, err := structmap.NewReader[In](in.Schema)
		faults.Add(err)
		if err := faults.Err(); err != nil {
			return nil, err
		}
		return &taskMaker{outs: []Stream{in}, make: func(ctx *Context) (Instance, error) {
			r, err := structmap.NewReader[In](in.Schema)
			if err != nil {
				return nil, err
			}
			return &filterFuncTask[In]{ctx: ctx, keep: keep, reader: r, in: make([]In, mapChunk)}, nil
		}}, nil
	}
	return m
}

// FilterFuncFromConfig gives the function of a JobSpec: {function: name}. The name is looked up where Go functions are registered.
func FilterFuncFromConfig(config map[string]any, lookup func(name string) (Operator, error)) (Operator, error) {
	return functionFrom("filter", config, lookup)
}

// Named gives the operator with the name by which a JobSpec refers to it; see MapOperator.Named.
func (m *FilterFuncOperator) Named(name string) *FilterFuncOperator {
	c := *m
	c.name = name
	return &c
}

func (m *FilterFuncOperator) withName(name string) Operator { return m.Named(name) }

// Kind implements Operator.
func (m *FilterFuncOperator) Kind() string { return "filter" }

// Bind implements Operator.
func (m *FilterFuncOperator) Bind(in []Stream) (Bound, error) {
	s, err := oneInput("filter", in)
	if err != nil {
		return nil, err
	}
	return m.bind(s)
}

type filterFuncTask[In any] struct {
	ctx    *Context
	keep   func(In) bool
	reader *structmap.Reader[In]
	in     []In
}

// Process implements Instance.
func (t *filterFuncTask[In]) Process(_ int, b *column.Batch, out Output) error {
	defer func() {
		t.reader.End()
		clear(t.in)
	}()
	t.reader.Begin(b)
	d := b.Derive()
	defer d.Release()
	sel := column.Alloc[uint32](d, b.Len())[:0]
	bad := 0
	for from := 0; from < b.Len(); from += mapChunk {
		n := min(mapChunk, b.Len()-from)
		errs := t.reader.Read(from, t.in[:n])
		for i := range n {
			switch {
			case errs != nil && errs[i] != nil:
				bad++
				err := t.ctx.RejectRows(b, []uint32{uint32(b.Row(from + i))}, func(int) error { return fieldError(errs[i]) })
				if err != nil {
					return err
				}
			case t.keep(t.in[i]):
				sel = append(sel, uint32(b.Row(from+i)))
			}
		}
	}
	t.ctx.Counters.Drop(DropFiltered, b.Len()-bad-len(sel))
	switch {
	case len(sel) == 0:
		return nil
	case len(sel) < b.Len():
		d.Sel = sel
	}
	return out.Emit(Main, d)
}
