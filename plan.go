package arkflow

import (
	"slices"

	"github.com/arkflow-go/arkflow/internal/plan"
	"github.com/arkflow-go/arkflow/internal/planner"
)

// Plan is what really runs of a job: tasks, the operators fused into each, and how rows travel between them. It is immutable.
type Plan struct{ plan *plan.Plan }

// Explain prints the plan as text.
func (p *Plan) Explain() string { return planner.Explain(p.plan) }

// DOT draws the plan in the language of Graphviz.
func (p *Plan) DOT() string { return planner.DOT(p.plan) }

// Mermaid draws the plan as a Mermaid flowchart.
func (p *Plan) Mermaid() string { return planner.Mermaid(p.plan) }

// Warnings are what the user should know of the job though it is no mistake.
func (p *Plan) Warnings() []string { return slices.Clone(p.plan.Warnings) }
