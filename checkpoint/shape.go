package checkpoint

import (
	"fmt"
	"slices"
	"strings"

	"github.com/arkflow-go/arkflow/internal/plan"
)

// Shape is what a plan looks like to a checkpoint.
type Shape struct {
	Job            string
	MaxParallelism int
	Content        string // fingerprint of the job as submitted; may be empty
	Tasks          []string
	Operators      []OperatorShape
}

// ShapeOf gives the shape of a plan. state gives the fingerprint of the state by key of an operator, "" where it has none.
func ShapeOf(p *plan.Plan, content string, state func(operator string) string) Shape {
	s := Shape{Job: p.Job, MaxParallelism: p.MaxParallelism, Content: content}
	for _, c := range p.Chains {
		for i := range c.Parallelism {
			s.Tasks = append(s.Tasks, TaskID{Chain: c.ID, Subtask: i}.String())
		}
	}
	for _, o := range p.Operators {
		s.Operators = append(s.Operators, OperatorShape{ID: o.ID, Kind: o.Kind, Parallelism: o.Parallelism, State: state(o.ID)})
	}
	return s
}

// OperatorShape is one operator of a Shape.
type OperatorShape struct {
	ID, Kind    string
	Parallelism int
	State       string // fingerprint of its state by key; empty where it has none
}

// Allowances say which differences between a checkpoint and a plan are taken (DESIGN C6, C7).
type Allowances struct {
	Rescale bool     // operators with state by key may have another number of tasks
	Job     string   // a savepoint may be of this job too
	Dropped []string // operators whose state may be left behind
}

// IncompatibleError says why a plan cannot go on from a checkpoint.
type IncompatibleError struct {
	Job      string
	Epoch    int64
	Problems []string
}

func (e *IncompatibleError) Error() string {
	return fmt.Sprintf("the checkpoint of job %q, epoch %d, does not fit the job: %s", e.Job, e.Epoch, strings.Join(e.Problems, "; "))
}

// Compare says whether a plan can go on from a manifest: nil, or an *IncompatibleError with all that is against it.
func (s Shape) Compare(m *Manifest, allow Allowances) error {
	e := &IncompatibleError{Job: m.Job, Epoch: m.Epoch}
	bad := func(format string, args ...any) { e.Problems = append(e.Problems, fmt.Sprintf(format, args...)) }
	if m.Job != s.Job && (allow.Job == "" || m.Job != allow.Job) {
		bad("it is of another job than %q: give AllowJob(%q) to begin a new lineage from it", s.Job, m.Job)
	}
	if m.StateFormat != StateFormat {
		bad("its state has format %d, this release reads %d: take a savepoint with the release that wrote it, and follow the upgrade rules", m.StateFormat, StateFormat)
	}
	if m.Hash != StableHash {
		bad("its keys are hashed by %q, here by %q: it cannot be read", m.Hash, StableHash)
	}
	if m.MaxParallelism != s.MaxParallelism {
		bad("it has %d key groups, the job %d: set MaxParallelism(%d)", m.MaxParallelism, s.MaxParallelism, m.MaxParallelism)
	}
	var added, removed []string
	for _, o := range m.Operators {
		here := s.operator(o.ID)
		switch {
		case here == nil:
			if what := m.holds(&o); what != "" && !slices.Contains(allow.Dropped, o.ID) {
				bad("operator %q (%s) has %s and is not in the job: put it back, or give AllowDropped(%q) to leave that behind", o.ID, o.Kind, what, o.ID)
			}
			continue
		case o.State != here.State:
			bad("operator %q: its state is of [%s], that of the job is of [%s]: give the operator another ID and AllowDropped(%q) to begin with empty state, without its open windows", o.ID, o.State, here.State, o.ID)
			continue
		case !o.Keyed:
			continue
		}
		for i := len(o.Tasks); i < here.Parallelism; i++ {
			added = append(added, fmt.Sprintf("%s/%d", o.ID, i))
		}
		for i := here.Parallelism; i < len(o.Tasks); i++ {
			removed = append(removed, fmt.Sprintf("%s/%d", o.ID, i))
		}
	}
	if len(added)+len(removed) > 0 && !allow.Rescale {
		bad("the tasks with state differ (added: %s; removed: %s): give Rescale() to redistribute it, or run with the parallelism that it was taken with",
			list(added), list(removed))
	}
	if len(e.Problems) > 0 {
		return e
	}
	return nil
}

func (s Shape) operator(id string) *OperatorShape {
	for i := range s.Operators {
		if s.Operators[i].ID == id {
			return &s.Operators[i]
		}
	}
	return nil
}

// pending reports whether a sink has prepared what is to be committed.
func (o *OperatorRecord) pending() bool {
	return slices.ContainsFunc(o.Tasks, func(t TaskRecord) bool { return pending(t.Prepared) })
}

// holds says what an operator has that is lost without it; "" for nothing. A source that comes back under another ID would read all again.
func (m *Manifest) holds(o *OperatorRecord) string {
	switch {
	case o.pending():
		return "prepared rows"
	case o.Keyed:
		return "state"
	case slices.ContainsFunc(m.Sources, func(r SourceRecord) bool { return r.ID == o.ID && len(r.Splits) > 0 }):
		return "positions"
	}
	return ""
}

func list(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}
