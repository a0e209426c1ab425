package arkflow

import (
	"fmt"
	"math"
	"slices"

	"github.com/arkflow-go/arkflow/internal/fault"
	"github.com/arkflow-go/arkflow/internal/graph"
	"github.com/arkflow-go/arkflow/internal/planner"
	"github.com/arkflow-go/arkflow/operator"
)

// Validate reports everything that is wrong with the spec whatever components are registered: IDs, references, ranges, words, and
// the shape of the graph. FromSpec reports that and what the components say.
func (s JobSpec) Validate() error {
	var faults faultList
	c := s.check()
	faults.Add(c.faults.Err())
	g := &graph.Graph{Job: s.ID}
	for _, o := range s.Operators {
		n := &graph.Node{ID: o.ID, Parallelism: o.Parallelism}
		switch o.Kind {
		case "source":
			n.Source = placeSource{}
		case "sink":
			n.Sink = placeSink{}
		default:
			n.Operator = placeOperator{}
		}
		g.Nodes = append(g.Nodes, n)
	}
	inputs := map[string]int{}
	for _, e := range s.Edges {
		g.Edges = append(g.Edges, graph.Edge{From: e.From, Port: s.portNumber(e), To: e.To, In: inputs[e.To], Key: e.Key})
		inputs[e.To]++
	}
	if c.faults.Len() == 0 { // else the graph is not what was meant
		g.Parallelism, g.MaxParallelism = s.Parallelism, s.MaxParallelism
		faults.Add(planner.Faults(g, nil, false))
	}
	return faults.Err()
}

// The place types stand for components in the check of a graph's shape. Nothing of them is called but Kind.
type (
	placeSource   struct{ operator.Source }
	placeOperator struct{ operator.Operator }
	placeSink     struct{ operator.Sink }
)

func (placeSource) Kind() string   { return "source" }
func (placeOperator) Kind() string { return "operator" }
func (placeSink) Kind() string     { return "sink" }

type specCheck struct {
	faults faultList
}

func (c *specCheck) add(path, problem, hint string) {
	c.faults.Add(&Fault{Path: path, Problem: problem, Hint: hint})
}

// word checks a field that takes one of a few words; empty means the first.
func (c *specCheck) word(path, what, got string, known ...string) {
	if got == "" || slices.Contains(known, got) {
		return
	}
	f := fault.Unknown(what, got, known)
	f.Path = path
	c.faults.Add(f)
}

// check reports what is wrong with the fields one by one.
func (s JobSpec) check() *specCheck {
	c := &specCheck{}
	if f := planner.CheckID("job ID", s.ID); f != nil {
		f.Path = "id"
		c.faults.Add(f)
	}
	if s.API != "" && s.API != SpecAPI {
		c.add("api", fmt.Sprintf("%q is not supported", s.API), fmt.Sprintf("this is %q", SpecAPI))
	}
	if s.Version < 1 {
		c.add("version", fmt.Sprintf("%d is no version", s.Version), "give 1 or more")
	}
	for _, n := range []struct {
		path  string
		value int
	}{{"parallelism", s.Parallelism}, {"max_parallelism", s.MaxParallelism}} {
		if n.value < 0 {
			c.add(n.path, fmt.Sprintf("%d is out of range", n.value), "give 1 or more")
		}
	}
	c.word("placement", "placement", s.Placement, specWords("JobSpec.placement")...)
	c.word("recovery", "recovery", s.Recovery, specWords("JobSpec.recovery")...)
	if s.Checkpoint != nil && s.Checkpoint.Interval < 0 {
		c.add("checkpoint.interval_ms", fmt.Sprintf("%s is negative", s.Checkpoint.Interval), "give 1ms or more")
	}
	c.rebalance(s)
	c.state(s.State)
	kinds := c.operators(s)
	c.sources(s, kinds)
	c.sinks(s, kinds)
	c.edges(s)
	return c
}

func (c *specCheck) rebalance(s JobSpec) {
	r := s.Rebalance
	if r == nil {
		return
	}
	c.word("rebalance.mode", "mode", r.Mode, specWords("RebalanceSpec.mode")...)
	if r.PressureStreak < 0 {
		c.add("rebalance.pressure_streak", fmt.Sprintf("%d is negative", r.PressureStreak), "give 1 or more")
	}
	if r.Cooldown < 0 {
		c.add("rebalance.cooldown_ms", fmt.Sprintf("%s is negative", r.Cooldown), "give 0 or more")
	}
	if r.Mode == "auto" && len(s.NodeIDs) > 0 {
		c.add("rebalance.mode", "auto cannot be combined with node_ids", "a pinned job is never moved: drop one of the two")
	}
}

func (c *specCheck) state(s *StateSpec) {
	if s == nil {
		return
	}
	if s.FormatVersion < 0 || s.FormatVersion > 1 {
		c.add("state.format_version", fmt.Sprintf("%d is not supported", s.FormatVersion), "this is version 1")
	}
	backends := specWords("StateSpec.backend")
	if s.Backend == "" || slices.Contains(backends, s.Backend) {
		return
	}
	c.add("state.backend", fmt.Sprintf("state backend %q is not registered", s.Backend), fmt.Sprintf("registered are %q", backends))
}

// operators checks the operators by themselves and gives their kinds by ID.
func (c *specCheck) operators(s JobSpec) map[string]string {
	kinds := map[string]string{}
	for i, o := range s.Operators {
		path := fmt.Sprintf("operators[%d]", i)
		if f := planner.CheckID("operator ID", o.ID); f != nil {
			f.Path = path + ".id"
			c.faults.Add(f)
		} else if _, twice := kinds[o.ID]; twice {
			c.add(path+".id", fmt.Sprintf("the ID %q is used twice", o.ID), "IDs are unique in a job; choose another")
			continue
		}
		kinds[o.ID] = o.Kind
		if o.Kind == "" {
			c.add(path+".kind", "there is no kind", "give source, sink, or the kind of an operator")
		}
		if (o.Kind == "source" || o.Kind == "sink") && o.Config != nil {
			c.add(path+".config", fmt.Sprintf("a %s has its config under %ss", o.Kind, o.Kind), "move it there")
		}
		c.onError(path+".on_error", o.OnError)
		if o.Parallelism < 0 {
			c.add(path+".parallelism", fmt.Sprintf("%d is out of range", o.Parallelism), "give 1 or more")
		}
	}
	return kinds
}

// owner checks that a section belongs to an operator of its kind, and to no other section.
func (c *specCheck) owner(path, id, kind string, kinds map[string]string, seen map[string]bool) {
	switch got, known := kinds[id]; {
	case !known:
		ids := make([]string, 0, len(kinds))
		for k, v := range kinds {
			if v == kind {
				ids = append(ids, k)
			}
		}
		slices.Sort(ids)
		f := fault.Unknown(kind+" operator", id, ids)
		f.Path = path + ".operator_id"
		c.faults.Add(f)
	case got != kind:
		c.add(path+".operator_id", fmt.Sprintf("operator %q is of kind %q", id, got), fmt.Sprintf("name one of kind %q", kind))
	case seen[id]:
		c.add(path+".operator_id", fmt.Sprintf("operator %q has two sections", id), "remove one")
	}
	seen[id] = true
}

// without reports operators of a kind that no section describes.
func (c *specCheck) without(s JobSpec, kind string, seen map[string]bool) {
	for i, o := range s.Operators {
		if o.Kind == kind && !seen[o.ID] {
			c.add(fmt.Sprintf("operators[%d]", i), fmt.Sprintf("the %s %q is not described", kind, o.ID), fmt.Sprintf("add it under %ss", kind))
		}
	}
}

// typed checks the type words of a section.
func (c *specCheck) typed(path, field, kind string, config map[string]any) {
	if kind == "" {
		c.add(path+"."+field, "there is no "+field, "name a registered kind")
		return
	}
	if t, given := config["type"]; given && t != any(kind) {
		c.add(path+".config.type", fmt.Sprintf("%q is not the %s, which is %q", fmt.Sprint(t), field, kind), "write the same, or leave config.type out")
	}
}

func (c *specCheck) sources(s JobSpec, kinds map[string]string) {
	seen := map[string]bool{}
	for i, src := range s.Sources {
		path := fmt.Sprintf("sources[%d]", i)
		c.owner(path, src.OperatorID, "source", kinds, seen)
		c.typed(path, "input_type", src.InputType, src.Config)
		c.rate(path, src.MaxRate)
		if src.MaxDrift < 0 {
			c.add(path+".max_drift_ms", fmt.Sprintf("%s is negative", src.MaxDrift), "give 0 (no limit) or more")
		}
		c.time(path+".time", src.Time)
	}
	c.without(s, "source", seen)
}

func (c *specCheck) sinks(s JobSpec, kinds map[string]string) {
	seen := map[string]bool{}
	for i, snk := range s.Sinks {
		path := fmt.Sprintf("sinks[%d]", i)
		c.owner(path, snk.OperatorID, "sink", kinds, seen)
		c.typed(path, "output_type", snk.OutputType, snk.Config)
		c.rate(path, snk.MaxRate)
	}
	c.without(s, "sink", seen)
}

func (c *specCheck) rate(path string, rate float64) {
	if !(rate >= 0) || math.IsInf(rate, 0) {
		c.add(path+".max_rate", fmt.Sprintf("%v rows/s is out of range", rate), "give 0 (no limit) or more")
	}
}

func (c *specCheck) time(path string, t *TimeSpec) {
	if t == nil || t.Mode == "" {
		c.add(path+".mode", "the time mode is missing", "give event_time, ingestion_time or processing_time")
		return
	}
	c.word(path+".mode", "time mode", t.Mode, specWords("TimeSpec.mode")...)
	if t.Mode != "event_time" {
		if t.TimestampField != "" {
			c.add(path+".timestamp_field", "means nothing with mode "+t.Mode, "remove it, or give mode event_time")
		}
		if t.Watermark != nil {
			c.add(path+".watermark", "means nothing with mode "+t.Mode, "remove it, or give mode event_time")
		}
		return
	}
	if t.TimestampField == "" {
		c.add(path+".timestamp_field", "is missing", "name the Int64 (milliseconds) or timestamp column that holds the event time")
	}
	if w := t.Watermark; w != nil {
		c.word(path+".watermark.strategy", "watermark strategy", w.Strategy, specWords("WatermarkSpec.strategy")...)
		if w.OutOfOrderness < 0 {
			c.add(path+".watermark.out_of_orderness_ms", fmt.Sprintf("%s is negative", w.OutOfOrderness), "give 0 or more")
		}
		if w.MaxFutureSkew < 0 {
			c.add(path+".watermark.max_future_skew_ms", fmt.Sprintf("%s is negative", w.MaxFutureSkew), "give 0 (no limit) or more")
		}
		if w.IdleTimeout < 0 {
			c.add(path+".watermark.idle_timeout_ms", fmt.Sprintf("%s is negative", w.IdleTimeout), "give 0 (never) or more")
		}
	}
}

func (c *specCheck) edges(s JobSpec) {
	ids := map[string]bool{}
	for i, e := range s.Edges {
		path := fmt.Sprintf("edges[%d]", i)
		c.port(path+".port", e, s)
		if e.ID == "" {
			continue
		}
		if f := planner.CheckID("edge ID", e.ID); f != nil {
			f.Path = path + ".id"
			c.faults.Add(f)
		} else if ids[e.ID] {
			c.add(path+".id", fmt.Sprintf("the edge ID %q is used twice", e.ID), "IDs are unique in a job; choose another")
		}
		ids[e.ID] = true
	}
}
