package arkflow

import (
	"slices"

	"github.com/arkflow-go/arkflow/expr"
	"github.com/arkflow-go/arkflow/internal/fault"
	"github.com/arkflow-go/arkflow/operator"
)

// Union reads this stream and others of the same columns as one. Columns are matched by name; their types must be equal. Rows of one
// stream keep their order, those of different streams have none.
func (s Stream) Union(id string, others ...Stream) Stream {
	return s.Apply(id, operator.Union(), others...)
}

// Case is one branch of Stream.Split.
type Case = operator.SplitCase

// When is the branch of the rows for which the condition is true, and those of no branch before it. A tag is 1 to 128 of
// A-Z a-z 0-9 _ -.
func When(tag string, condition expr.Output) Case { return operator.When(tag, condition) }

// Otherwise is the branch of the rows that no condition is true for. It stands last.
func Otherwise(tag string) Case { return operator.Otherwise(tag) }

// Branches are the streams of a Split.
type Branches struct{ stream Stream }

// Split deals the rows to several streams, which Branch gives by their tags. A row goes to the first case whose condition is true for
// it; where there is none and no Otherwise it is dropped and counted. Each branch must be read.
func (s Stream) Split(id string, cases ...Case) Branches {
	return Branches{s.Apply(id, operator.SplitBy(cases...))}
}

// Branch is the stream of the rows of one case. A tag that no case has is a fault.
func (b Branches) Branch(tag string) Stream { return b.stream.output("branch", tag) }

// With sets options of the split: see Stream.With.
func (b Branches) With(opts ...OperatorOption) Branches { return Branches{b.stream.With(opts...)} }

// Side is a side output of the operator that wrote this stream, by its tag: see operator.FlatMapSides. A tag that the operator does not
// have is a fault.
func (s Stream) Side(tag string) Stream { return s.output("side output", tag) }

// output gives an output port of the stream's operator by its name.
func (s Stream) output(what, tag string) Stream {
	if s.job == nil {
		return s
	}
	tags := tagsOf(s.node)
	if i := slices.Index(tags, tag); i >= 0 {
		return Stream{job: s.job, node: s.node, port: i}
	}
	f := fault.Unknown(what, tag, tags)
	s.job.fault(s.node, "", f.Problem, f.Hint)
	return Stream{}
}

// tagsOf gives the names of an operator's output ports, where it has names of its own. One that panics has none.
func tagsOf(n *node) (tags []string) {
	defer func() {
		if recover() != nil {
			tags = nil
		}
	}()
	if t, ok := n.Operator.(operator.Tagged); ok {
		return t.Tags()
	}
	return nil
}

// WithTimestamps takes the event time of the rows from a column from here on: an Int64 of milliseconds since 1970 in UTC, or a
// timestamp of any unit. It starts a new watermark, kept by each task over the rows in the order in which they reach it. Options are
// OutOfOrderness and MaxFutureSkew.
func (s Stream) WithTimestamps(id, column string, opts ...TimeOption) Stream {
	return s.Apply(id, operator.WithTimestamps(EventTime(column, opts...).policy))
}
