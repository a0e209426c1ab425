package arkflow

import (
	"context"
	"fmt"

	"github.com/arkflow-go/arkflow/operator"
)

// Typed is a stream seen as rows of a Go struct: functions over it are checked by the compiler. What T says is checked against the
// columns when the job is compiled.
type Typed[T any] struct{ stream Stream }

// As sees a stream as rows of type T, a struct whose fields are columns; see operator.Map. It adds no operator.
func As[T any](s Stream) Typed[T] { return Typed[T]{s} }

// Stream is the stream itself, for the verbs that are not typed.
func (t Typed[T]) Stream() Stream { return t.stream }

// Filter keeps the rows for which the function is true, with all their columns.
func (t Typed[T]) Filter(id string, keep func(row T) bool) Typed[T] {
	return Typed[T]{t.stream.Apply(id, operator.FilterFunc(keep))}
}

// With sets options of the operator just added: see Stream.With.
func (t Typed[T]) With(opts ...OperatorOption) Typed[T] { return Typed[T]{t.stream.With(opts...)} }

// Named gives the function just added the name by which a JobSpec refers to it; see operator.MapOperator.Named.
func (t Typed[T]) Named(name string) Typed[T] {
	s := t.stream
	if s.job == nil {
		return t
	}
	switch op := s.node.Operator.(type) {
	case *operator.MapOperator:
		s.node.Operator = op.Named(name)
	case *operator.FlatMapOperator:
		s.node.Operator = op.Named(name)
	case *operator.FilterFuncOperator:
		s.node.Operator = op.Named(name)
	case *operator.AsyncOperator:
		s.node.Operator = op.Named(name)
	default:
		s.job.fault(s.node, "", fmt.Sprintf("cannot be named %q: it is no function", name), "name the stream that Map, FlatMap, Filter or Async gave")
	}
	return t
}

// Map makes one row of each row by a function; see operator.Map.
func Map[In, Out any](t Typed[In], id string, fn func(row In) Out) Typed[Out] {
	return Typed[Out]{t.stream.Apply(id, operator.Map(fn))}
}

// MapErr is Map with a function that may refuse a row; see operator.MapErr.
func MapErr[In, Out any](t Typed[In], id string, fn func(row In) (Out, error)) Typed[Out] {
	return Typed[Out]{t.stream.Apply(id, operator.MapErr(fn))}
}

// FlatMap makes any number of rows of each row by a function; see operator.FlatMap.
func FlatMap[In, Out any](t Typed[In], id string, fn func(row In, emit func(Out))) Typed[Out] {
	return Typed[Out]{t.stream.Apply(id, operator.FlatMap(fn))}
}

// Async makes one row of each row by a function that waits for something; see operator.Async.
func Async[In, Out any](t Typed[In], id string, fn func(ctx context.Context, row In) (Out, error), cfg operator.AsyncConfig) Typed[Out] {
	return Typed[Out]{t.stream.Apply(id, operator.Async(fn, cfg))}
}
