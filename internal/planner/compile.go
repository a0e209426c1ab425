package planner

import (
	"fmt"
	"reflect"
	"regexp"
	"runtime/debug"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/arkflow-go/arkflow/internal/fault"
	"github.com/arkflow-go/arkflow/internal/graph"
	"github.com/arkflow-go/arkflow/internal/plan"
	"github.com/arkflow-go/arkflow/operator"
	"github.com/arkflow-go/arkflow/state"
)

// Compiled is a graph that was found right. It is immutable.
type Compiled struct {
	Plan *plan.Plan
	// Graph is the graph as it runs: a copy of the one given, with defaults and the keys of partitioned edges filled in.
	Graph *graph.Graph
	// Streams are the streams that each source and operator writes, by ID and port; without those whose schema is open.
	Streams map[string][]operator.Stream
	// Bound are the operators whose input streams are known, by ID.
	Bound map[string]operator.Bound
	// Open are the IDs of sources whose schema is open, in the order of the graph. Operators that depend on one are in
	// neither map until Bind gives them.
	Open []string
}

// Compile checks the graph deeply and plans it. All faults come back together, each with the operator it concerns; what
// depends on a faulty operator is not reported again.
func Compile(g *graph.Graph) (*Compiled, error) {
	c := newCheck(g, nil)
	c.structure()
	b := c.bind(nil)
	if err := c.faults.Err(); err != nil {
		return nil, err
	}
	p := makePlan(c, b)
	return &Compiled{Plan: p, Graph: c.g, Streams: b.streams, Bound: b.bound, Open: b.open}, nil
}

// Faults gives what is wrong with a graph of which some nodes are known to be broken: their own faults and those of
// everything that depends on them are left out. deep = false checks the structure alone.
func Faults(g *graph.Graph, broken map[string]bool, deep bool) error {
	c := newCheck(g, broken)
	c.structure()
	if deep {
		c.bind(nil)
	}
	return c.faults.Err()
}

// Bind binds the operators of a compiled graph again, with the schemas that open sources turned out to have, by the ID of
// the source. Schemas of other sources are their own. An operator that depends on a source whose schema is still
// unknown (it had no record) is left out of both results.
func Bind(g *graph.Graph, schemas map[string]*arrow.Schema) (map[string]operator.Bound, map[string][]operator.Stream, error) {
	c := newCheck(g, nil)
	c.structure()
	b := c.bind(schemas)
	if err := c.faults.Err(); err != nil {
		return nil, nil, err
	}
	return b.bound, b.streams, nil
}

// InputsOf gives the streams that a node reads, by input, with the keys of its edges. nil where one is not known.
func InputsOf(g *graph.Graph, streams map[string][]operator.Stream, id string) []operator.Stream {
	edges := g.Inputs(id)
	in := make([]operator.Stream, len(edges))
	for _, e := range edges {
		from := streams[e.From]
		if e.In < 0 || e.In >= len(in) || e.Port < 0 || e.Port >= len(from) {
			return nil
		}
		in[e.In] = from[e.Port]
		in[e.In].Key = e.Key
	}
	return in
}

// check gathers the faults of one graph.
type check struct {
	g      *graph.Graph           // a copy, defaults filled in
	nodes  map[string]*graph.Node // the first of each ID
	in     map[string][]graph.Edge
	out    map[string][]graph.Edge
	broken map[string]bool // have a fault, or depend on one that has: not reported further
	order  []*graph.Node   // topological, without broken nodes; set by structure
	unread []string        // nodes of which it was told that nobody reads them
	faults fault.List
}

// newCheck copies the graph, so that nothing the planner fills in reaches the caller's.
func newCheck(g *graph.Graph, broken map[string]bool) *check {
	cp := *g
	cp.Nodes = make([]*graph.Node, 0, len(g.Nodes))
	for _, n := range g.Nodes {
		if n != nil {
			m := *n
			cp.Nodes = append(cp.Nodes, &m)
		}
	}
	cp.Edges = slices.Clone(g.Edges)
	c := &check{g: &cp, nodes: map[string]*graph.Node{}, in: map[string][]graph.Edge{}, out: map[string][]graph.Edge{},
		broken: map[string]bool{}}
	for id, b := range broken {
		c.broken[id] = b
	}
	return c
}

// fault records a fault of a node and marks it as broken. A nil node stands for the job.
func (c *check) fault(n *graph.Node, f *fault.Fault) {
	if n != nil {
		f.Operator, f.At = n.ID, n.At
		c.broken[n.ID] = true
	}
	c.faults.Add(f)
}

// errorOf records an error of a node's own code and marks the node as broken.
func (c *check) errorOf(n *graph.Node, err error) {
	if err != nil {
		c.faults.Add(fault.Place(err, n.ID, n.At))
		c.broken[n.ID] = true
	}
}

// guard calls code of an operator; a panic becomes an error.
func guard(what string, call func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = &fault.Fault{Problem: fmt.Sprintf("%s: panic: %v", what, p),
				Hint: "this is a bug of the operator; the stack is\n" + string(debug.Stack())}
		}
	}()
	return call()
}

// TwoPhase reports whether a sink commits in two phases.
func TwoPhase(s operator.Sink) (two bool, err error) {
	if t, ok := s.(operator.TwoPhaser); ok {
		err = guard("two-phase", func() error { two = t.TwoPhase(); return nil })
	}
	return two, err
}

var idPattern = regexp.MustCompile(`^[A-Za-z0-9_-]{1,128}$`)

// CheckID says what is wrong with an ID of an operator or a job (DESIGN B1), or nil. what is "operator ID" and the like.
func CheckID(what, id string) *fault.Fault {
	switch {
	case id == "":
		return &fault.Fault{Problem: what + " is empty", Hint: "give 1 to 128 of A-Z a-z 0-9 _ -"}
	case !idPattern.MatchString(id):
		if len(id) > 140 {
			id = id[:140] + "…"
		}
		return &fault.Fault{Problem: fmt.Sprintf("%s %q is not allowed", what, id), Hint: "use 1 to 128 of A-Z a-z 0-9 _ -"}
	}
	return nil
}

// IsNil reports whether x is nil, or an interface that holds a nil pointer, function, map or slice.
func IsNil(x any) bool {
	if x == nil {
		return true
	}
	switch v := reflect.ValueOf(x); v.Kind() {
	case reflect.Pointer, reflect.Func, reflect.Map, reflect.Chan, reflect.Interface:
		return v.IsNil()
	}
	return false
}

// limits fills in the defaults of the graph and checks its ranges.
func (c *check) limits() {
	g := c.g
	if f := CheckID("job name", g.Job); f != nil {
		c.fault(nil, f)
	}
	if g.Parallelism == 0 {
		g.Parallelism = 1
	}
	if g.MaxParallelism == 0 {
		g.MaxParallelism = state.DefaultMaxParallelism
	}
	if g.MaxParallelism < 1 || g.MaxParallelism > state.MaxKeyGroups {
		c.fault(nil, &fault.Fault{Path: "max_parallelism", Problem: fmt.Sprintf("%d is out of range", g.MaxParallelism),
			Hint: fmt.Sprintf("give 1 to %d", state.MaxKeyGroups)})
		g.MaxParallelism = state.MaxKeyGroups // so that operators are not blamed as well
	}
	if f := parallelismFault(g.Parallelism, g.MaxParallelism); f != nil {
		c.fault(nil, f)
		g.Parallelism = 1
	}
}

func parallelismFault(p, maximum int) *fault.Fault {
	switch {
	case p < 1:
		return &fault.Fault{Path: "parallelism", Problem: fmt.Sprintf("%d is out of range", p), Hint: "give 1 or more"}
	case p > maximum:
		return &fault.Fault{Path: "parallelism", Problem: fmt.Sprintf("%d is more than max_parallelism, which is %d", p, maximum),
			Hint: "lower it, or raise max_parallelism before the job has state"}
	}
	return nil
}
