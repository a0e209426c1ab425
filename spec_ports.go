package arkflow

import (
	"fmt"
	"slices"

	"github.com/arkflow-go/arkflow/internal/fault"
	"github.com/arkflow-go/arkflow/internal/planner"
	"github.com/arkflow-go/arkflow/operator"
)

// mainAndLate are the output ports of operators that do not name theirs.
var mainAndLate = []string{operator.Main: "main", operator.Late: "late"}

// portsOf gives the names of an operator's output ports where its section tells; nil where only the component knows.
func (o OperatorSpec) portsOf() []string {
	switch o.Kind {
	case "source", "filter", "select", "rename", "drop", "map", "map_batch", "union", "async", "with_timestamps", "window":
		return mainAndLate
	case "split":
		tags := []string{}
		when, _ := o.Config["when"].([]any)
		for _, c := range when {
			if m, ok := c.(map[string]any); ok {
				name, _ := m["name"].(string)
				tags = append(tags, name)
			}
		}
		if name, ok := o.Config["otherwise"].(string); ok {
			tags = append(tags, name)
		}
		return tags
	}
	return nil
}

func (s JobSpec) portsOf(id string) []string {
	i := slices.IndexFunc(s.Operators, func(o OperatorSpec) bool { return o.ID == id })
	if i < 0 {
		return nil
	}
	return s.Operators[i].portsOf()
}

// portName is the port of an edge, written out.
func (e EdgeSpec) portName() string {
	if e.Port == "" {
		return "main"
	}
	return e.Port
}

// portFault says that a port is not among those of an operator.
func portFault(path string, e EdgeSpec, ports []string) *Fault {
	f := fault.Unknown("port", e.portName(), ports)
	if e.Port == "" {
		f.Problem = fmt.Sprintf("operator %q has no main output", e.From)
	}
	f.Path = path
	return f
}

// port checks the port of an edge as far as the spec tells.
func (c *specCheck) port(path string, e EdgeSpec, s JobSpec) {
	if ports := s.portsOf(e.From); ports != nil {
		if !slices.Contains(ports, e.portName()) {
			c.faults.Add(portFault(path, e, ports))
		}
	} else if f := planner.CheckID("port", e.portName()); f != nil {
		f.Path = path
		c.faults.Add(f)
	}
}

// portNumber gives the number of an edge's port for the check of a graph's shape; a name that only the component knows is some port.
func (s JobSpec) portNumber(e EdgeSpec) int {
	ports := s.portsOf(e.From)
	if ports == nil {
		ports = mainAndLate
	}
	if i := slices.Index(ports, e.portName()); i >= 0 {
		return i
	}
	return len(ports)
}

// port gives the number of an edge's port; a fault that check has not told goes to the list.
func (b *specBuilder) port(i int, e EdgeSpec) int {
	n := b.job.ids[e.From]
	if n == nil || n.broken {
		return b.spec.portNumber(e)
	}
	ports := tagsOf(n)
	if len(ports) == 0 {
		ports = mainAndLate
	}
	at := slices.Index(ports, e.portName())
	if at < 0 {
		if b.spec.portsOf(e.From) == nil {
			b.faults.Add(portFault(fmt.Sprintf("edges[%d].port", i), e, ports))
		}
		n.broken = true
		return operator.Main
	}
	return at
}

// portName gives the name of an output port for a spec; empty for the main one.
func (n *node) portName(port int) (name string, ok bool) {
	ports := tagsOf(n)
	if len(ports) == 0 {
		ports = mainAndLate
	}
	if port >= len(ports) {
		return "", false
	}
	if ports[port] == "main" {
		return "", true
	}
	return ports[port], true
}
