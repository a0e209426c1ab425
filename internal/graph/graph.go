package graph

import (
	"time"

	"github.com/arkflow-go/arkflow/operator"
)

// Graph is a job as described.
type Graph struct {
	Job            string
	Parallelism    int // of nodes that set none; 0 means 1
	MaxParallelism int // key groups; 0 means state.DefaultMaxParallelism
	Nodes          []*Node
	Edges          []Edge
}

// Node is a source, an operator or a sink: exactly one of the three is set.
type Node struct {
	ID       string
	Source   operator.Source
	Operator operator.Operator
	Sink     operator.Sink

	Time        operator.TimePolicy // sources
	Parallelism int                 // 0 means the graph's
	OnError     operator.ErrorPolicy
	MaxRate     float64       // sources and sinks: rows a second over all tasks; 0 means no limit
	MaxDrift    time.Duration // sources: a split further ahead of the job's slowest is not read; 0 means no limit
	At          string        // file:line that added it
}

// Kind is the kind of what the node is.
func (n *Node) Kind() string {
	switch {
	case n.Source != nil:
		return n.Source.Kind()
	case n.Operator != nil:
		return n.Operator.Kind()
	case n.Sink != nil:
		return n.Sink.Kind()
	}
	return ""
}

// Edge leads from an output port to an input.
type Edge struct {
	From string
	Port int
	To   string
	In   int
	Key  []string // columns by which rows are partitioned: all rows of a key reach one task. nil: any task will do
	// Partitioned asks for rows spread by key where Key is nil (a JobSpec may): by __meta_key if there is such a column,
	// else dealt in turn, with a warning.
	Partitioned bool
}

// Node gives the node of that ID, or nil.
func (g *Graph) Node(id string) *Node {
	for _, n := range g.Nodes {
		if n.ID == id {
			return n
		}
	}
	return nil
}

// Inputs gives the edges into a node, by input.
func (g *Graph) Inputs(id string) (in []Edge) {
	for _, e := range g.Edges {
		if e.To == id {
			in = append(in, e)
		}
	}
	return in
}

// Outputs gives the edges out of a node.
func (g *Graph) Outputs(id string) (out []Edge) {
	for _, e := range g.Edges {
		if e.From == id {
			out = append(out, e)
		}
	}
	return out
}
