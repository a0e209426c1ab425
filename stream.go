package arkflow

import (
	"fmt"
	"slices"

	"github.com/arkflow-go/arkflow/expr"
	"github.com/arkflow-go/arkflow/internal/fault"
	"github.com/arkflow-go/arkflow/internal/graph"
	"github.com/arkflow-go/arkflow/internal/planner"
	"github.com/arkflow-go/arkflow/operator"
	"github.com/arkflow-go/arkflow/window"
)

// Stream is the rows that a source or an operator writes. It is a small value; a stream that is read twice gives all its rows to
// both readers. The zero Stream belongs to no job, and its verbs do nothing.
type Stream struct {
	job  *Job
	node *node
	port int
}

// Apply adds an operator of any kind, such as operator.Map(fn). Further inputs of an operator that has several follow it.
func (s Stream) Apply(id string, op operator.Operator, inputs ...Stream) Stream {
	return s.apply(id, op, nil, inputs)
}

// apply adds an operator over s and further streams. keys are the keys of its inputs, or nil.
func (s Stream) apply(id string, op operator.Operator, keys [][]string, more []Stream) Stream {
	j := s.job
	if j == nil {
		return Stream{}
	}
	n := j.add(id, graph.Node{Operator: op})
	if planner.IsNil(op) {
		j.fault(n, "", "the operator is nil", "give one, such as operator.Map(fn)")
	}
	for i, in := range append([]Stream{s}, more...) {
		switch {
		case in.job == nil:
			j.fault(n, "", fmt.Sprintf("input %d is the zero Stream", i), "give a stream that a verb of this job returned")
		case in.job != j:
			j.fault(n, "", fmt.Sprintf("input %d is a stream of another job, %q", i, in.job.name), "streams cannot be mixed over jobs")
		default:
			e := edge{from: in.node, port: in.port, to: n, in: i}
			if keys != nil {
				e.key = keys[i]
			}
			j.edges = append(j.edges, e)
		}
	}
	return Stream{job: j, node: n}
}

// Filter keeps the rows for which the condition is true; rows for which it is false or null are dropped and counted.
func (s Stream) Filter(id string, condition expr.Output) Stream {
	return s.Apply(id, operator.Filter(condition))
}

// Select makes rows of exactly these columns, in this order. Each is a column as it is, by its name (a string) or as a bare
// expression, or any expression with a name: s.Select("slim", "customer_id", amount.Mul(2).As("double")).
func (s Stream) Select(id string, columns ...any) Stream {
	return s.Apply(id, operator.Select(columns...))
}

// Rename gives columns other names, by their old ones, all at once. Their order stays.
func (s Stream) Rename(id string, names map[string]string) Stream {
	return s.Apply(id, operator.Rename(names))
}

// Drop removes columns.
func (s Stream) Drop(id string, columns ...string) Stream {
	return s.Apply(id, operator.Drop(columns...))
}

// KeyBy groups the rows by one or more columns for the verb that follows: all rows of a key reach one task. Null is a key
// like any other. It adds no operator.
func (s Stream) KeyBy(columns ...string) KeyedStream {
	if s.job == nil {
		return KeyedStream{}
	}
	k := KeyedStream{stream: s, key: slices.Clone(columns)}
	if len(columns) == 0 {
		s.job.faults.Add(&fault.Fault{Path: "key", At: place(), Problem: fmt.Sprintf("KeyBy over %q has no columns", s.node.ID),
			Hint: "name one or more key columns"})
		k.bad = true
	}
	return k
}

// Sink ends the stream in a sink. It may be called again for another one; each gets all rows. Options are OnError (for rows that
// cannot be written), Tasks and MaxRate.
func (s Stream) Sink(id string, sink operator.Sink, opts ...SinkOption) {
	j := s.job
	if j == nil {
		return
	}
	n := j.add(id, graph.Node{Sink: sink})
	if planner.IsNil(sink) {
		j.fault(n, "", "the sink is nil", "give one, such as stdout.Sink")
	}
	for _, o := range opts {
		if o != nil {
			j.option(n, o.applySink(&n.Node))
		}
	}
	j.edges = append(j.edges, edge{from: s.node, port: s.port, to: n})
}

// With sets options of the operator that wrote this stream: the one just added. Options are OnError and Tasks.
func (s Stream) With(opts ...OperatorOption) Stream {
	if s.job == nil {
		return s
	}
	for _, o := range opts {
		if o != nil {
			s.job.option(s.node, o.applyOperator(&s.node.Node))
		}
	}
	return s
}

// KeyedStream is a stream whose rows are grouped by a key: the verbs that need one are here.
type KeyedStream struct {
	stream Stream
	key    []string
	bad    bool // told already
}

// Apply adds an operator that needs a key. Further inputs of an operator that has several follow it.
func (k KeyedStream) Apply(id string, op operator.Operator, inputs ...KeyedStream) Stream {
	keys, more, bad := [][]string{k.key}, make([]Stream, 0, len(inputs)), k.bad
	for _, in := range inputs {
		keys, more, bad = append(keys, in.key), append(more, in.stream), bad || in.bad
	}
	s := k.stream.apply(id, op, keys, more)
	if bad && s.node != nil {
		s.node.broken = true
	}
	return s
}

// Window gathers the rows of each key over windows of event time. The result has the key columns, window_start, window_end and the
// aggregates, one row for each key and window that had rows.
func (k KeyedStream) Window(id string, a window.Assigner, aggs ...window.Aggregate) Windowed {
	return Windowed{k.Apply(id, window.New(a, aggs...))}
}

// Windowed is the stream of a window's results.
type Windowed struct{ Stream }

// lateRouter is an operator that has late rows to route. RouteLate gives the same operator with that policy.
type lateRouter interface{ RouteLate() operator.Operator }

// Late is the stream of rows that came too late for their window, as they were. Calling it chooses the late policy Route; without it
// late rows are dropped and counted.
func (w Windowed) Late() Stream {
	if w.job == nil {
		return Stream{}
	}
	if r, ok := w.node.Operator.(lateRouter); ok {
		w.node.Operator = r.RouteLate()
	}
	return Stream{job: w.job, node: w.node, port: operator.Late}
}

// With sets options of the window: see Stream.With.
func (w Windowed) With(opts ...OperatorOption) Windowed {
	return Windowed{w.Stream.With(opts...)}
}
