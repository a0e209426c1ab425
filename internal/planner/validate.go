package planner

import (
	"fmt"
	"slices"
	"strings"

	"github.com/arkflow-go/arkflow/internal/fault"
	"github.com/arkflow-go/arkflow/internal/graph"
)

// structure checks all that can be known without a schema and orders the nodes.
func (c *check) structure() {
	c.limits()
	for _, n := range c.g.Nodes {
		c.node(n)
	}
	if !c.anySource() {
		c.fault(nil, &fault.Fault{Problem: "the job has no source", Hint: "add one with job.Source"})
	}
	for i := range c.g.Edges {
		c.edge(&c.g.Edges[i])
	}
	for _, n := range c.g.Nodes {
		if c.nodes[n.ID] == n && !c.broken[n.ID] {
			c.inputs(n)
		}
	}
	c.sort()
	for _, n := range c.g.Nodes {
		if c.nodes[n.ID] == n && !c.broken[n.ID] && n.Sink == nil && len(c.out[n.ID]) == 0 {
			c.unread = append(c.unread, n.ID)
			c.faults.Add(&fault.Fault{Operator: n.ID, At: n.At, Problem: "nobody reads its rows",
				Hint: "end the stream in a Sink (connectors/drop throws rows away), or remove it"})
		}
	}
}

func (c *check) anySource() bool {
	return slices.ContainsFunc(c.g.Nodes, func(n *graph.Node) bool { return n.Source != nil || c.broken[n.ID] })
}

// node checks one node by itself.
func (c *check) node(n *graph.Node) {
	if _, taken := c.nodes[n.ID]; taken {
		first := c.nodes[n.ID]
		hint := "IDs are unique in a job; choose another"
		if first.At != "" {
			hint = fmt.Sprintf("the first is at %s; choose another ID", first.At)
		}
		c.faults.Add(&fault.Fault{Operator: n.ID, At: n.At, Problem: "the ID is used twice", Hint: hint})
		return
	}
	c.nodes[n.ID] = n
	if c.broken[n.ID] {
		return
	}
	if f := CheckID("operator ID", n.ID); f != nil {
		c.fault(n, f)
		f.Operator = ""
		return
	}
	set := 0
	for _, is := range []bool{n.Source != nil, n.Operator != nil, n.Sink != nil} {
		if is {
			set++
		}
	}
	switch {
	case set != 1:
		c.fault(n, &fault.Fault{Problem: fmt.Sprintf("is %d of source, operator and sink", set), Hint: "give exactly one"})
		return
	case n.Source != nil && IsNil(n.Source), n.Operator != nil && IsNil(n.Operator), n.Sink != nil && IsNil(n.Sink):
		c.fault(n, &fault.Fault{Problem: fmt.Sprintf("is a nil %T", firstSet(n))})
		return
	}
	if err := guard("kind", func() error { n.Kind(); return nil }); err != nil {
		c.errorOf(n, err)
		return
	}
	if n.Parallelism == 0 {
		n.Parallelism = c.g.Parallelism
	}
	if f := parallelismFault(n.Parallelism, c.g.MaxParallelism); f != nil {
		c.fault(n, f)
	}
	if n.Source != nil {
		c.timePolicy(n)
	}
}

func firstSet(n *graph.Node) any {
	switch {
	case n.Source != nil:
		return n.Source
	case n.Operator != nil:
		return n.Operator
	}
	return n.Sink
}

// edge checks one edge and files it under its ends if both exist.
func (c *check) edge(e *graph.Edge) {
	from, to := c.nodes[e.From], c.nodes[e.To]
	for _, end := range []struct {
		word, id string
		node     *graph.Node
	}{{"from", e.From, from}, {"to", e.To, to}} {
		if end.node == nil {
			f := fault.Unknown("operator", end.id, c.ids())
			f.Path = edgeName(e) + "." + end.word
			if to != nil {
				f.Operator, f.At = to.ID, to.At
			}
			c.faults.Add(f)
		}
	}
	// A node whose only edge leads nowhere is not blamed again for having none.
	if from == nil || to == nil {
		if to != nil {
			c.broken[to.ID] = true
		}
		if from != nil {
			c.out[from.ID] = append(c.out[from.ID], *e)
		}
		return
	}
	switch {
	case from.Sink != nil:
		c.fault(from, &fault.Fault{Path: edgeName(e), Problem: "an edge leads out of a sink", Hint: "read from the operator before it"})
		c.broken[to.ID] = true
		return
	case to.Source != nil:
		c.fault(to, &fault.Fault{Path: edgeName(e), Problem: "an edge leads into a source", Hint: "a source reads from no operator"})
		return
	case e.Port < 0 || from.Source != nil && e.Port != 0:
		c.fault(to, &fault.Fault{Path: edgeName(e), Problem: fmt.Sprintf("%q has no output port %d", from.ID, e.Port)})
		return
	}
	c.edgeKey(e, to)
	c.in[to.ID] = append(c.in[to.ID], *e)
	c.out[from.ID] = append(c.out[from.ID], *e)
}

func (c *check) edgeKey(e *graph.Edge, to *graph.Node) {
	for i, k := range e.Key {
		switch {
		case k == "":
			c.fault(to, &fault.Fault{Path: "key", Problem: "a key column has no name"})
		case slices.Contains(e.Key[:i], k):
			c.fault(to, &fault.Fault{Path: "key", Problem: fmt.Sprintf("key column %q stands twice", k)})
		}
	}
}

func edgeName(e *graph.Edge) string { return fmt.Sprintf("edge %q -> %q", e.From, e.To) }

func (c *check) ids() []string {
	ids := make([]string, 0, len(c.nodes))
	for _, n := range c.g.Nodes {
		if !strings.HasPrefix(n.ID, "\x00") {
			ids = append(ids, n.ID)
		}
	}
	return ids
}

// inputs checks that a node is fed as its role asks.
func (c *check) inputs(n *graph.Node) {
	in := c.in[n.ID]
	switch {
	case n.Source != nil:
		return
	case len(in) == 0:
		c.fault(n, &fault.Fault{Problem: "reads from nobody", Hint: "add an edge that leads to it"})
		return
	case n.Sink != nil && len(in) > 1:
		c.fault(n, &fault.Fault{Problem: fmt.Sprintf("a sink reads one stream, this one %d", len(in)), Hint: "add one sink a stream"})
		return
	}
	seen := make([]bool, len(in))
	for _, e := range in {
		switch {
		case e.In < 0 || e.In >= len(in):
			c.fault(n, &fault.Fault{Path: edgeName(&e), Problem: fmt.Sprintf("there is no input %d; inputs are numbered 0 to %d", e.In, len(in)-1)})
			return
		case seen[e.In]:
			c.fault(n, &fault.Fault{Path: edgeName(&e), Problem: fmt.Sprintf("input %d has two edges", e.In),
				Hint: "give each edge its own input"})
			return
		}
		seen[e.In] = true
	}
}

// sort orders the nodes so that each stands after those it reads from, and tells cycles. Nodes of a cycle are broken.
func (c *check) sort() {
	waiting := map[string]int{}
	var ready []*graph.Node
	for _, n := range c.g.Nodes {
		if c.nodes[n.ID] != n {
			continue
		}
		if waiting[n.ID] = len(c.in[n.ID]); waiting[n.ID] == 0 {
			ready = append(ready, n)
		}
	}
	for len(ready) > 0 {
		n := ready[0]
		ready = ready[1:]
		delete(waiting, n.ID)
		c.order = append(c.order, n)
		for _, e := range c.out[n.ID] {
			if _, known := waiting[e.To]; !known {
				continue
			}
			if waiting[e.To]--; waiting[e.To] == 0 {
				ready = append(ready, c.nodes[e.To])
			}
		}
	}
	c.cycles(waiting)
}

// cycles tells one cycle for each set of nodes that wait for each other.
func (c *check) cycles(waiting map[string]int) {
	for _, n := range c.g.Nodes {
		if _, w := waiting[n.ID]; !w || c.nodes[n.ID] != n {
			continue
		}
		path := c.cycleFrom(n.ID, waiting)
		if path == nil {
			continue
		}
		for _, id := range path {
			delete(waiting, id)
			c.broken[id] = true
		}
		c.fault(c.nodes[path[0]], &fault.Fault{Problem: "is part of a cycle: " + strings.Join(append(path, path[0]), " -> "),
			Hint: "a job is a graph without cycles; write to a system and read it back"})
	}
	for id := range waiting { // behind a cycle
		c.broken[id] = true
	}
}

// cycleFrom walks backwards from a waiting node until one repeats: each waiting node reads from a waiting one. It gives
// the cycle in the direction of the rows, or nil where it was told already.
func (c *check) cycleFrom(id string, waiting map[string]int) []string {
	at := map[string]int{}
	var back []string
	for {
		if i, seen := at[id]; seen {
			cycle := slices.Clone(back[i:])
			slices.Reverse(cycle)
			return cycle
		}
		at[id] = len(back)
		back = append(back, id)
		next := ""
		for _, e := range c.in[id] {
			if _, w := waiting[e.From]; w {
				next = e.From
				break
			}
		}
		if next == "" {
			return nil
		}
		id = next
	}
}
