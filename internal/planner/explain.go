package planner

import (
	"fmt"
	"strings"

	"github.com/arkflow-go/arkflow/internal/plan"
	"github.com/arkflow-go/arkflow/operator"
)

// Explain prints the tasks that run, the operators that each of them drives, and how rows reach them.
func Explain(p *plan.Plan) string {
	var b strings.Builder
	fmt.Fprintf(&b, "job %s: %s in %s, %s\n", p.Job, count(tasks(p), "task"), count(len(p.Chains), "chain"),
		count(p.MaxParallelism, "key group"))
	for _, c := range p.Chains {
		fmt.Fprintf(&b, "\nchain %s (%s)\n", c.ID, count(c.Parallelism, "task"))
		for _, id := range c.Operators {
			explainOperator(&b, p, p.Operator(id))
		}
	}
	if len(p.Warnings) > 0 {
		b.WriteString("\nwarnings\n")
		for _, w := range p.Warnings {
			fmt.Fprintf(&b, "  %s\n", w)
		}
	}
	return b.String()
}

func explainOperator(b *strings.Builder, p *plan.Plan, o *plan.Operator) {
	fmt.Fprintf(b, "  %s [%s]", o.ID, roleText(o))
	if o.Detail != "" {
		fmt.Fprintf(b, " %s", o.Detail)
	}
	b.WriteByte('\n')
	for _, e := range p.Edges {
		if e.To == o.ID {
			fmt.Fprintf(b, "    from %s: %s\n", portText(e), shipText(e))
		}
	}
	if o.Columns != "" {
		fmt.Fprintf(b, "    columns: %s\n", o.Columns)
	} else if o.Role != plan.Sink {
		b.WriteString("    columns: known at the start\n")
	}
}

func roleText(o *plan.Operator) string {
	if o.Role == plan.Transform {
		return o.Kind
	}
	return string(o.Role) + " " + o.Kind
}

func portText(e plan.Edge) string {
	switch {
	case e.Tag != "":
		return fmt.Sprintf("%s (%s)", e.From, e.Tag)
	case e.Port == operator.Main:
		return e.From
	case e.Port == operator.Late:
		return e.From + " (late rows)"
	}
	return fmt.Sprintf("%s (port %d)", e.From, e.Port)
}

func shipText(e plan.Edge) string {
	if len(e.Key) > 0 {
		s := fmt.Sprintf("%s by %s", e.Ship, strings.Join(e.Key, ", "))
		if e.PreAggregate {
			s += ", pre-aggregated where it pays"
		}
		return s
	}
	return string(e.Ship)
}

func tasks(p *plan.Plan) (n int) {
	for _, c := range p.Chains {
		n += c.Parallelism
	}
	return n
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// DOT draws the plan in the language of Graphviz: a box a chain.
func DOT(p *plan.Plan) string {
	var b strings.Builder
	fmt.Fprintf(&b, "digraph %q {\n  rankdir=LR;\n  node [shape=box];\n", p.Job)
	for _, c := range p.Chains {
		fmt.Fprintf(&b, "  subgraph %q {\n    label=%q;\n", "cluster_"+c.ID, chainText(c))
		for _, id := range c.Operators {
			fmt.Fprintf(&b, "    %q [label=%q];\n", id, id+"\n"+roleText(p.Operator(id)))
		}
		b.WriteString("  }\n")
	}
	for _, e := range p.Edges {
		fmt.Fprintf(&b, "  %q -> %q [label=%q];\n", e.From, e.To, edgeText(e))
	}
	b.WriteString("}\n")
	return b.String()
}

// Mermaid draws the plan as a Mermaid flowchart: a subgraph a chain.
func Mermaid(p *plan.Plan) string {
	var b strings.Builder
	b.WriteString("flowchart LR\n")
	name := map[string]string{} // IDs such as "end" are words of the language
	for i, o := range p.Operators {
		name[o.ID] = fmt.Sprintf("o%d", i)
	}
	for i, c := range p.Chains {
		fmt.Fprintf(&b, "  subgraph c%d[\"%s\"]\n", i, chainText(c))
		for _, id := range c.Operators {
			fmt.Fprintf(&b, "    %s[\"%s<br/>%s\"]\n", name[id], id, mermaidText(roleText(p.Operator(id))))
		}
		b.WriteString("  end\n")
	}
	for _, e := range p.Edges {
		fmt.Fprintf(&b, "  %s -->|\"%s\"| %s\n", name[e.From], mermaidText(edgeText(e)), name[e.To])
	}
	return b.String()
}

func chainText(c plan.Chain) string { return fmt.Sprintf("%s × %d", c.ID, c.Parallelism) }

func edgeText(e plan.Edge) string {
	switch s := shipText(e); {
	case e.Tag != "":
		return e.Tag + ", " + s
	case e.Port == operator.Late:
		return "late, " + s
	default:
		return s
	}
}

// mermaidText escapes what would end a label.
func mermaidText(s string) string {
	return strings.NewReplacer(`"`, "#quot;", "<", "#lt;", ">", "#gt;", "\n", " ").Replace(s)
}
