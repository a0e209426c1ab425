package harness

import (
	"fmt"
	"time"

	"github.com/arkflow-go/arkflow/checkpoint"
	"github.com/arkflow-go/arkflow/internal/engine"
	"github.com/arkflow-go/arkflow/internal/graph"
	"github.com/arkflow-go/arkflow/operator"
)

// Config is what a test changes of a job. The zero value changes nothing.
type Config struct {
	Sources map[string]operator.Source // by ID, in place of the job's
	Sinks   map[string]operator.Sink   // by ID, in place of the job's
	// Source and Sink give what stands in for a source or a sink, for those that Sources and Sinks do not name; nil keeps it. May be nil.
	Source          func(id string, s operator.Source, p operator.TimePolicy) (operator.Source, error)
	Sink            func(id string, s operator.Sink) operator.Sink
	Applied         func() error  // called when all has been replaced, before anything is opened; its error ends the start. May be nil
	Parallelism     int           // of every node; 0 leaves the job's
	CheckpointEvery time.Duration // in place of the job's; 0 leaves it, negative means never
	LinkBatches     int           // batches that a link holds; 0 means the default
	Hooks           engine.Hooks
	Store           checkpoint.Store
	Restore         *checkpoint.Epoch
	// Started is given the execution before anybody else sees it. May be nil.
	Started func(*engine.Execution)
}

// Apply gives a copy of g with the replacements in it.
func (c *Config) Apply(g *graph.Graph) (*graph.Graph, error) {
	out := *g
	out.Nodes = nil
	seen := map[string]bool{}
	for _, n := range g.Nodes {
		m := *n
		seen[n.ID] = true
		if s, ok := c.Sources[n.ID]; ok {
			if n.Source == nil {
				return nil, fmt.Errorf("operator %q is not a source: it cannot be replaced by one", n.ID)
			}
			m.Source = s
		} else if c.Source != nil && n.Source != nil {
			s, err := c.Source(n.ID, n.Source, n.Time)
			if err != nil {
				return nil, fmt.Errorf("source %q: %w", n.ID, err)
			}
			if s != nil {
				m.Source = s
			}
		}
		if s, ok := c.Sinks[n.ID]; ok {
			if n.Sink == nil {
				return nil, fmt.Errorf("operator %q is not a sink: it cannot be replaced by one", n.ID)
			}
			m.Sink = s
		} else if c.Sink != nil && n.Sink != nil {
			if s := c.Sink(n.ID, n.Sink); s != nil {
				m.Sink = s
			}
		}
		if c.Parallelism > 0 {
			m.Parallelism = c.Parallelism
		}
		out.Nodes = append(out.Nodes, &m)
	}
	for _, id := range append(keys(c.Sources), keys(c.Sinks)...) {
		if !seen[id] {
			return nil, fmt.Errorf("the job has no operator %q to replace", id)
		}
	}
	if c.Parallelism > 0 {
		out.Parallelism = c.Parallelism
	}
	if c.Applied != nil {
		if err := c.Applied(); err != nil {
			return nil, err
		}
	}
	return &out, nil
}

func keys[V any](m map[string]V) (out []string) {
	for k := range m {
		out = append(out, k)
	}
	return out
}
