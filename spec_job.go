package arkflow

import (
	"fmt"
	"maps"
	"slices"

	"github.com/arkflow-go/arkflow/connectors"
	"github.com/arkflow-go/arkflow/internal/fault"
	"github.com/arkflow-go/arkflow/internal/graph"
	"github.com/arkflow-go/arkflow/internal/planner"
	"github.com/arkflow-go/arkflow/operator"
)

// FromSpec makes a job of its written form. reg says what the kinds and function names mean; nil stands for NewRegistry(). All mistakes
// come back together, each with its path in the spec: those of Validate, components that are not registered (with the names that
// are), what components say of their config, and all that Compile finds.
func FromSpec(reg *Registry, spec JobSpec) (*Job, error) {
	if reg == nil {
		reg = NewRegistry()
	}
	c := spec.check()
	b := &specBuilder{reg: reg, spec: spec, job: &Job{name: spec.ID, ids: map[string]*node{}}, late: map[string]bool{}}
	b.faults.Add(c.faults.Err())
	b.limits()
	for _, e := range spec.Edges {
		if e.Port == "late" {
			b.late[e.From] = true
		}
	}
	for i, o := range spec.Operators {
		b.operator(i, o)
	}
	for i, e := range spec.Edges {
		b.edge(i, e)
	}
	b.warn()
	g, broken := b.graph()
	b.faults.Add(planner.Faults(g, broken, true))
	if err := b.faults.Err(); err != nil {
		return nil, err
	}
	original := spec.clone()
	b.job.spec = &original
	return b.job, nil
}

type specBuilder struct {
	reg    *Registry
	spec   JobSpec
	job    *Job
	late   map[string]bool // operators whose late rows an edge reads
	lost   []graph.Edge    // edges with an unknown end: the planner tells them
	faults faultList
}

// limits sets what holds for the whole job, leaving out what check has told of.
func (b *specBuilder) limits() {
	b.job.parallelism, b.job.maxParallelism = max(b.spec.Parallelism, 0), max(b.spec.MaxParallelism, 0)
	if c := b.spec.Checkpoint; c != nil {
		b.job.checkpointEvery = max(c.Interval, 0)
	}
}

// graph gives what was built, edges that lead nowhere included. An ID that check has told of is replaced.
func (b *specBuilder) graph() (*graph.Graph, map[string]bool) {
	g, broken := b.job.partialGraph()
	if planner.CheckID("", g.Job) != nil {
		g.Job = "job"
	}
	g.Edges = append(g.Edges, b.lost...)
	return g, broken
}

// operator adds one operator with what its section says.
func (b *specBuilder) operator(i int, o OperatorSpec) {
	path := fmt.Sprintf("operators[%d]", i)
	n := &node{key: o.ID}
	if _, twice := b.job.ids[o.ID]; twice || planner.CheckID("", o.ID) != nil { // told by check
		n.key, n.broken = fmt.Sprintf("\x00%d", i), true
	} else {
		b.job.ids[o.ID] = n
	}
	n.ID, n.Parallelism = o.ID, max(o.Parallelism, 0)
	b.onError(n, path+".on_error", o.OnError)
	b.job.nodes = append(b.job.nodes, n)
	var err error
	switch o.Kind {
	case "source":
		path, err = b.source(n, o.ID)
	case "sink":
		path, err = b.sink(n, o.ID)
	case "":
		n.broken = true
	default:
		err = b.transform(n, path, o)
	}
	if err != nil {
		n.broken = true
		b.faults.Add(under(err, path, o.ID))
	}
}

func (b *specBuilder) source(n *node, id string) (path string, err error) {
	i := slices.IndexFunc(b.spec.Sources, func(s SourceSpec) bool { return s.OperatorID == id })
	if i < 0 || b.spec.Sources[i].InputType == "" {
		n.broken = true // told by check
		return "", nil
	}
	s := b.spec.Sources[i]
	path = fmt.Sprintf("sources[%d]", i)
	if s.Time != nil {
		n.Time = s.Time.policy()
		if n.Time.Kind == operator.EventTimePolicy && n.Time.Column == "" || n.Time.OutOfOrderness < 0 ||
			n.Time.IdleTimeout < 0 || n.Time.MaxFutureSkew < 0 {
			n.broken = true // told by check
		}
	}
	n.MaxRate, n.MaxDrift = s.MaxRate, s.MaxDrift
	n.Source, err = b.reg.Source(s.InputType, connectors.Params{Path: path, Config: withoutType(s.Config), Codec: s.Codec})
	if err == nil && planner.IsNil(n.Source) {
		err = nothingMade(s.InputType)
	}
	return path, err
}

func (b *specBuilder) sink(n *node, id string) (path string, err error) {
	i := slices.IndexFunc(b.spec.Sinks, func(s SinkSpec) bool { return s.OperatorID == id })
	if i < 0 || b.spec.Sinks[i].OutputType == "" {
		n.broken = true // told by check
		return "", nil
	}
	s := b.spec.Sinks[i]
	path = fmt.Sprintf("sinks[%d]", i)
	n.MaxRate = s.MaxRate
	n.Sink, err = b.reg.Sink(s.OutputType, connectors.Params{Path: path, Config: withoutType(s.Config), Codec: s.Codec})
	if err == nil && planner.IsNil(n.Sink) {
		err = nothingMade(s.OutputType)
	}
	return path, err
}

func nothingMade(kind string) error {
	return &Fault{Problem: fmt.Sprintf("the registered function of %q made nothing", kind), Hint: "this is a bug of the component"}
}

func withoutType(config map[string]any) map[string]any {
	out := maps.Clone(config)
	delete(out, "type")
	return out
}

func (b *specBuilder) transform(n *node, path string, o OperatorSpec) (err error) {
	if err := b.unknownKind(path, o.Kind); err != nil {
		return err
	}
	if n.Operator, err = b.reg.Operator(o.Kind, connectors.Params{Path: path, Config: o.Config}); err != nil {
		return err
	}
	if planner.IsNil(n.Operator) {
		return nothingMade(o.Kind)
	}
	policy := o.Config["late_policy"]
	if !b.late[o.ID] {
		if policy == any("route") {
			return &Fault{Path: path + ".config.late_policy", Problem: "is route, but no edge reads the late rows",
				Hint: "add an edge with port: late, or write drop"}
		}
		return nil
	}
	if policy == any("drop") {
		return &Fault{Path: path + ".config.late_policy", Problem: "is drop, but an edge reads the late rows", Hint: "write route, or remove the edge"}
	}
	if r, ok := n.Operator.(lateRouter); ok {
		n.Operator = r.RouteLate()
	}
	return nil
}

// unknownKind reports a kind that is not registered; "source" and "sink" are among those it might have meant.
func (b *specBuilder) unknownKind(path, kind string) error {
	kinds := b.reg.OperatorKinds()
	if slices.Contains(kinds, kind) {
		return nil
	}
	f := &Fault{Path: path + ".kind", Problem: fmt.Sprintf("operator %q is not registered", kind)}
	kinds = append([]string{"source", "sink"}, kinds...)
	if near := fault.Nearest(kind, kinds); len(near) > 0 {
		f.Hint = fmt.Sprintf("did you mean %q? ", near[0])
	}
	f.Hint += fmt.Sprintf("there are %q", kinds)
	return f
}

func (t *TimeSpec) policy() operator.TimePolicy {
	switch t.Mode {
	case "event_time":
		p := operator.TimePolicy{Kind: operator.EventTimePolicy, Column: t.TimestampField}
		if t.Watermark != nil {
			p.OutOfOrderness, p.IdleTimeout, p.MaxFutureSkew = t.Watermark.OutOfOrderness, t.Watermark.IdleTimeout, t.Watermark.MaxFutureSkew
		}
		return p
	case "ingestion_time":
		return operator.TimePolicy{Kind: operator.IngestionTimePolicy}
	}
	return operator.TimePolicy{}
}

func (b *specBuilder) edge(i int, e EdgeSpec) {
	in := 0
	for _, x := range b.spec.Edges[:i] {
		if x.To == e.To {
			in++
		}
	}
	port := b.port(i, e)
	key := []string(e.Key)
	own, err := configKey(b.spec, e.To)
	if err != nil {
		b.faults.Add(err)
	}
	if len(key) == 0 {
		key = own
	}
	from, to := b.job.ids[e.From], b.job.ids[e.To]
	if from == nil || to == nil {
		b.lost = append(b.lost, graph.Edge{From: e.From, Port: port, To: e.To, In: in})
		return
	}
	b.job.edges = append(b.job.edges, edge{from: from, port: port, to: to, in: in, key: key, partitioned: e.Partitioned})
}

// configKey gives config.key of an operator: the key of edges that lead to it and have none of their own.
func configKey(s JobSpec, id string) ([]string, error) {
	for i, o := range s.Operators {
		if o.ID != id || o.Kind != "window" {
			continue
		}
		x, given := o.Config["key"]
		if !given {
			return nil, nil
		}
		var k SpecKey
		if err := k.DecodeSpec(x); err != nil {
			return nil, &Fault{Operator: id, Path: fmt.Sprintf("operators[%d].config.key", i), Problem: err.Error()}
		}
		return k, nil
	}
	return nil, nil
}

// warn says what a local run leaves aside.
func (b *specBuilder) warn() {
	say := func(format string, args ...any) {
		b.job.warnings = append(b.job.warnings, fmt.Sprintf(format, args...))
	}
	s := b.spec
	if s.Placement != "" {
		say("placement %s is ignored: the job runs in this process", s.Placement)
	}
	if len(s.NodeIDs) > 0 {
		say("node_ids are ignored: the job runs in this process")
	}
	if s.Rebalance != nil {
		say("rebalance is ignored: the job runs in this process")
	}
}
