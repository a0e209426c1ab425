package operator

import (
	"fmt"
	"reflect"

	"github.com/arkflow-go/arkflow/internal/fault"
	"github.com/arkflow-go/arkflow/internal/structmap"
)

// MapOperator is a Go function over rows: what Map and MapErr give.
type MapOperator struct {
	function
	bind func(in Stream) (Bound, error)
}

// Map makes one row of each row by a Go function. In and Out are structs whose fields are columns: named by the tag
// `arkflow:"name"`, else by the json tag, else by the field. The columns of the input that In has no field for are left
// behind. Event times and late pairs stay with their rows; the stream is no longer keyed.
//
// The function is called by several tasks at once and must not keep pointers to its argument; strings and byte slices of
// it may be kept. A row that a field cannot hold (a null in a field that is no pointer) follows the error policy.
func Map[In, Out any](fn func(In) Out) *MapOperator {
	if fn == nil {
		return newMap[In, Out](nil, nil)
	}
	return newMap(fn, func(in In) (Out, error) { return fn(in), nil })
}

// MapErr is Map with a function that may refuse a row: its error follows the error policy of the operator, by which the
// job fails (the default), or the row is dropped and counted.
func MapErr[In, Out any](fn func(In) (Out, error)) *MapOperator { return newMap(nil, fn) }

// newMap makes the operator of a function; pure is the same one where it never fails, or nil.
func newMap[In, Out any](pure func(In) Out, fn func(In) (Out, error)) *MapOperator {
	m := &MapOperator{function: function{text: fmt.Sprintf("%s to %s", reflect.TypeFor[In](), reflect.TypeFor[Out]())}}
	m.bind = func(in Stream) (Bound, error) {
		var faults fault.List
		if fn == nil {
			faults.Add(&Fault{Path: "function", Problem: "the function is nil"})
		}
		_, err := structmap.NewReader[In](in.Schema)
		faults.Add(err)
		writer, err := structmap.NewWriter[Out]()
		faults.Add(err)
		if err := faults.Err(); err != nil {
			return nil, err
		}
		out := Stream{Schema: writer.Schema(), Time: in.Time}
		if out.Changes, out.ChangeKey, err = keepChanges("the map", in, sameColumns(in.Schema, out.Schema)); err != nil {
			return nil, err
		}
		return &taskMaker{outs: []Stream{out}, make: func(ctx *Context) (Instance, error) { return newMapTask(ctx, in, writer, pure, fn) }}, nil
	}
	return m
}

// MapFromConfig gives the function of a JobSpec: {function: name}. The name is looked up where Go functions are
// registered.
func MapFromConfig(config map[string]any, lookup func(name string) (Operator, error)) (Operator, error) {
	return functionFrom("map", config, lookup)
}

// Named gives the operator with the name by which a JobSpec refers to it. Change the name when what the function computes
// changes, as in "score/v2".
func (m *MapOperator) Named(name string) *MapOperator {
	c := *m
	c.name = name
	return &c
}

func (m *MapOperator) withName(name string) Operator { return m.Named(name) }

// Kind implements Operator.
func (m *MapOperator) Kind() string { return "map" }

// Bind implements Operator.
func (m *MapOperator) Bind(in []Stream) (Bound, error) {
	s, err := anyInput("map", in)
	if err != nil {
		return nil, err
	}
	return m.bind(s)
}
