package operator

import (
	"fmt"
	"iter"
	"reflect"

	"github.com/arkflow-go/arkflow/internal/fault"
	"github.com/arkflow-go/arkflow/internal/structmap"
)

// FlatMapOperator is a Go function that makes any number of rows of each row: what FlatMap and its like give.
type FlatMapOperator struct {
	function
	sides []SideTag
	bind  func(in Stream, sides []sideBound) (Bound, error)
}

// flatMapFunc is the common form of the functions.
type flatMapFunc[In, Out any] func(row In, emit func(Out), sides *Sides) error

// FlatMap makes any number of rows of each row by a Go function, which calls emit for each, before it returns. In and Out are
// structs whose fields are columns; see Map. A row that is made inherits event time and late pair of the row that it was made of; the
// stream is no longer keyed.
//
// The function is called by several tasks at once, must not keep emit, and must not keep pointers to its argument. A row that a
// field cannot hold follows the error policy with all that was made of it.
func FlatMap[In, Out any](fn func(row In, emit func(Out))) *FlatMapOperator {
	if fn == nil {
		return newFlatMap[In, Out](nil, nil, nil)
	}
	return newFlatMap(fn, func(row In, emit func(Out), _ *Sides) error { fn(row, emit); return nil }, nil)
}

// FlatMapErr is FlatMap with a function that may refuse a row: what it has emitted for that row is taken back, and the error
// follows the error policy of the operator.
func FlatMapErr[In, Out any](fn func(row In, emit func(Out)) error) *FlatMapOperator {
	if fn == nil {
		return newFlatMap[In, Out](nil, nil, nil)
	}
	return newFlatMap(nil, func(row In, emit func(Out), _ *Sides) error { return fn(row, emit) }, nil)
}

// FlatMapSeq is FlatMap with a function that gives the rows as an iterator.
func FlatMapSeq[In, Out any](fn func(row In) iter.Seq[Out]) *FlatMapOperator {
	if fn == nil {
		return newFlatMap[In, Out](nil, nil, nil)
	}
	return FlatMap(func(row In, emit func(Out)) {
		if seq := fn(row); seq != nil {
			seq(func(o Out) bool { emit(o); return true })
		}
	})
}

// FlatMapSides is FlatMapErr with side outputs: further streams, each of rows of its own type, that are read by their tags
// (Stream.Side in a job, port in a spec):
//
//	var refused = operator.Side[Refusal]("refused")
//
//	operator.FlatMapSides(func(o Order, emit func(Scored), to *operator.Sides) error {
//		if o.Amount < 0 {
//			refused.Emit(to, Refusal{o.ID, "negative"})
//			return nil
//		}
//		emit(score(o))
//		return nil
//	}, refused)
func FlatMapSides[In, Out any](fn func(row In, emit func(Out), to *Sides) error, sides ...SideTag) *FlatMapOperator {
	if fn == nil {
		return newFlatMap[In, Out](nil, nil, sides)
	}
	return newFlatMap(nil, fn, sides)
}

// newFlatMap makes the operator of a function; pure is the same one where it never fails, or nil.
func newFlatMap[In, Out any](pure func(In, func(Out)), fn flatMapFunc[In, Out], sides []SideTag) *FlatMapOperator {
	m := &FlatMapOperator{function: function{text: fmt.Sprintf("%s to any number of %s", reflect.TypeFor[In](), reflect.TypeFor[Out]())}, sides: sides}
	m.bind = func(in Stream, sides []sideBound) (Bound, error) {
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
		b := &taskMaker{outs: []Stream{{Schema: writer.Schema(), Time: in.Time}}}
		for _, s := range sides {
			s.out.Time = in.Time
			b.outs = append(b.outs, s.out)
		}
		b.make = func(ctx *Context) (Instance, error) { return newFlatMapTask(ctx, in, writer, pure, fn, sides) }
		return b, nil
	}
	return m
}

// FlatMapFromConfig gives the function of a JobSpec: {function: name}. The name is looked up where Go functions are registered.
func FlatMapFromConfig(config map[string]any, lookup func(name string) (Operator, error)) (Operator, error) {
	return functionFrom("flat_map", config, lookup)
}

// Named gives the operator with the name by which a JobSpec refers to it; see MapOperator.Named.
func (m *FlatMapOperator) Named(name string) *FlatMapOperator {
	c := *m
	c.name = name
	return &c
}

func (m *FlatMapOperator) withName(name string) Operator { return m.Named(name) }

// Kind implements Operator.
func (m *FlatMapOperator) Kind() string { return "flat_map" }

// Tags implements Tagged.
func (m *FlatMapOperator) Tags() []string {
	if len(m.sides) == 0 {
		return nil
	}
	tags := []string{mainTag}
	for _, s := range m.sides {
		if s != nil {
			tags = append(tags, s.Tag())
		}
	}
	return tags
}

// Bind implements Operator.
func (m *FlatMapOperator) Bind(in []Stream) (Bound, error) {
	s, err := oneInput("flat_map", in)
	if err != nil {
		return nil, err
	}
	sides, err := bindSides(m.sides)
	if err != nil {
		return nil, err
	}
	return m.bind(s, sides)
}
