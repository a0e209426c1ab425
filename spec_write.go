package arkflow

import (
	"fmt"
	"slices"

	"github.com/arkflow-go/arkflow/connectors"
	"github.com/arkflow-go/arkflow/operator"
)

// Spec gives the written form of the job: FromSpec makes a job with the same plan of it. A job that was made from a spec gives
// that spec. Go functions are written by the name that Named gave them; one without a name, and a component that cannot say how it
// is configured, are faults, all together.
func (j *Job) Spec() (JobSpec, error) {
	if err := j.Err(); err != nil {
		return JobSpec{}, err
	}
	if j.spec != nil {
		return j.spec.clone(), nil
	}
	w := specWriter{spec: JobSpec{API: SpecAPI, ID: j.name, Version: 1, Parallelism: j.parallelism, MaxParallelism: j.maxParallelism}}
	if j.checkpointEvery != 0 {
		w.spec.Checkpoint = &CheckpointSpec{Interval: j.checkpointEvery}
	}
	for _, n := range j.nodes {
		w.node(n)
	}
	w.edges(j)
	if err := w.faults.Err(); err != nil {
		return JobSpec{}, err
	}
	return w.spec, nil
}

type specWriter struct {
	spec   JobSpec
	faults faultList
}

func (w *specWriter) node(n *node) {
	o := OperatorSpec{ID: n.ID, Kind: n.Kind(), Parallelism: n.Parallelism, OnError: w.onError(n)}
	switch {
	case n.Source != nil:
		o.Kind = "source"
		s := SourceSpec{OperatorID: n.ID, InputType: n.Source.Kind(), Time: timeSpec(n.Time), MaxRate: n.MaxRate, MaxDrift: n.MaxDrift}
		s.Config, s.Codec = w.component(n, "", n.Source, s.InputType)
		w.spec.Sources = append(w.spec.Sources, s)
	case n.Sink != nil:
		o.Kind = "sink"
		s := SinkSpec{OperatorID: n.ID, OutputType: n.Sink.Kind(), MaxRate: n.MaxRate}
		s.Config, s.Codec = w.component(n, "", n.Sink, s.OutputType)
		w.spec.Sinks = append(w.spec.Sinks, s)
	default:
		c, ok := n.Operator.(connectors.ConfiguredOperator)
		if !ok {
			w.cannot(n, "", n.Operator)
			break
		}
		config, err := c.Config()
		w.faults.Add(under(err, "config", n.ID))
		if len(config) > 0 {
			o.Config = config
		}
	}
	w.spec.Operators = append(w.spec.Operators, o)
}

// component asks a source or sink how it is configured. path is where it belongs in the operator, "" for the operator itself.
func (w *specWriter) component(n *node, path string, x any, kind string) (config, codec map[string]any) {
	c, ok := x.(connectors.Configured)
	if !ok {
		w.cannot(n, path, x)
		return nil, nil
	}
	config, codec, err := c.Config()
	at := "config"
	if path != "" {
		at = path + ".config"
	}
	w.faults.Add(under(err, at, n.ID))
	if len(config) > 0 {
		config = cloneMap(config)
		config["type"] = kind
	} else {
		config = nil
	}
	return config, codec
}

func (w *specWriter) cannot(n *node, path string, x any) {
	w.faults.Add(&Fault{Operator: n.ID, Path: path, At: n.At, Problem: fmt.Sprintf("a %T cannot be written in a spec: it has no method Config", x),
		Hint: "run the job from its program, or give the type that method"})
}

func timeSpec(p operator.TimePolicy) *TimeSpec {
	switch p.Kind {
	case operator.EventTimePolicy:
		return &TimeSpec{Mode: "event_time", TimestampField: p.Column, Watermark: &WatermarkSpec{
			Strategy: "bounded_out_of_orderness", OutOfOrderness: p.OutOfOrderness, IdleTimeout: p.IdleTimeout,
			MaxFutureSkew: p.MaxFutureSkew}}
	case operator.IngestionTimePolicy:
		return &TimeSpec{Mode: "ingestion_time"}
	}
	return &TimeSpec{Mode: "processing_time"}
}

// edges writes the edges, those into one operator in the order of its inputs.
func (w *specWriter) edges(j *Job) {
	sorted := slices.Clone(j.edges)
	slices.SortStableFunc(sorted, func(a, b edge) int {
		if a.to == b.to {
			return a.in - b.in
		}
		return 0
	})
	taken := map[string]bool{}
	for _, e := range sorted {
		s := EdgeSpec{From: e.from.ID, To: e.to.ID, Key: slices.Clone(e.key), Partitioned: e.partitioned || len(e.key) > 0}
		name, ok := e.from.portName(e.port)
		if !ok {
			w.faults.Add(&Fault{Operator: e.from.ID, At: e.from.At, Problem: fmt.Sprintf("its output port %d cannot be written in a spec", e.port)})
		}
		s.Port = name
		s.ID = edgeID(s, taken)
		w.spec.Edges = append(w.spec.Edges, s)
	}
}

// edgeID makes up an ID for an edge: its ends, within the length of an ID, and a number where that is taken.
func edgeID(e EdgeSpec, taken map[string]bool) string {
	base := e.From + "-" + e.To
	if len(base) > 120 {
		base = base[:120]
	}
	id := base
	for i := 2; taken[id]; i++ {
		id = fmt.Sprintf("%s-%d", base, i)
	}
	taken[id] = true
	return id
}

// clone copies a spec deeply.
func (s JobSpec) clone() JobSpec {
	s.NodeIDs = slices.Clone(s.NodeIDs)
	s.Rebalance, s.Checkpoint, s.State = clonePointer(s.Rebalance), clonePointer(s.Checkpoint), clonePointer(s.State)
	s.Operators, s.Edges = slices.Clone(s.Operators), slices.Clone(s.Edges)
	s.Sources, s.Sinks = slices.Clone(s.Sources), slices.Clone(s.Sinks)
	for i := range s.Operators {
		o := &s.Operators[i]
		o.Config, o.OnError = cloneMap(o.Config), o.OnError.clone()
	}
	for i := range s.Edges {
		s.Edges[i].Key = slices.Clone(s.Edges[i].Key)
	}
	for i := range s.Sources {
		o := &s.Sources[i]
		o.Config, o.Codec, o.Time = cloneMap(o.Config), cloneMap(o.Codec), clonePointer(o.Time)
		if o.Time != nil {
			o.Time.Watermark = clonePointer(o.Time.Watermark)
		}
	}
	for i := range s.Sinks {
		o := &s.Sinks[i]
		o.Config, o.Codec = cloneMap(o.Config), cloneMap(o.Codec)
	}
	return s
}

func clonePointer[T any](p *T) *T {
	if p == nil {
		return nil
	}
	c := *p
	return &c
}

func cloneMap(m map[string]any) map[string]any {
	if m == nil {
		return nil
	}
	return cloneAny(m).(map[string]any)
}

func cloneAny(x any) any {
	switch v := x.(type) {
	case map[string]any:
		c := make(map[string]any, len(v))
		for k, e := range v {
			c[k] = cloneAny(e)
		}
		return c
	case []any:
		c := make([]any, len(v))
		for i, e := range v {
			c[i] = cloneAny(e)
		}
		return c
	}
	return x
}
