package planner

import (
	"context"
	"fmt"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/arkflow-go/arkflow/internal/fault"
	"github.com/arkflow-go/arkflow/internal/graph"
	"github.com/arkflow-go/arkflow/operator"
)

// fakeSource has a schema, or is open and may be asked to infer one.
type fakeSource struct{ schema *arrow.Schema }

func (fakeSource) Kind() string                                     { return "fake" }
func (s fakeSource) Schema() *arrow.Schema                          { return s.schema }
func (fakeSource) Splits(context.Context) ([]operator.Split, error) { return nil, nil }
func (fakeSource) Open(*operator.Context, operator.Split, []byte) (operator.Reader, error) {
	return nil, nil
}

type openSource struct{ fakeSource }

func (openSource) Infer(context.Context) (*arrow.Schema, error)      { return nil, nil }
func (s openSource) WithSchema(schema *arrow.Schema) operator.Source { return fakeSource{schema} }

// fakeSink needs columns.
type fakeSink struct{ needs []string }

func (fakeSink) Kind() string { return "fake" }
func (s fakeSink) Check(in operator.Stream) error {
	var faults fault.List
	for _, c := range s.needs {
		if f := columnFault(c, in.Schema); f != nil {
			faults.Add(f)
		}
	}
	return faults.Err()
}
func (fakeSink) Open(*operator.Context, operator.Stream) (operator.Writer, error) { return nil, nil }

// fakeOp needs columns, or a key, adds columns, and may have a late port.
type fakeOp struct {
	kind  string
	needs []string
	adds  []string
	keyed bool // needs a key, and keeps it
	pass  bool // hands the key on
	late  bool
	panic string
	none  bool // gives no output
}

func (o fakeOp) Kind() string {
	if o.kind == "" {
		return "op"
	}
	return o.kind
}
func (o fakeOp) Describe() string { return strings.Join(o.needs, ", ") }
func (o fakeOp) Bind(in []operator.Stream) (operator.Bound, error) {
	if o.panic != "" {
		panic(o.panic)
	}
	if o.none {
		return fakeBound{}, nil
	}
	var faults fault.List
	var fields []arrow.Field
	for i, s := range in {
		for _, c := range o.needs {
			if f := columnFault(c, s.Schema); f != nil {
				f.Path = fmt.Sprintf("input %d", i)
				faults.Add(f)
			}
		}
		if o.keyed && len(s.Key) == 0 {
			faults.Add(&fault.Fault{Problem: "needs a key"})
		}
		if i == 0 {
			fields = append(fields, s.Schema.Fields()...)
		}
	}
	for _, c := range o.adds {
		fields = append(fields, arrow.Field{Name: c, Type: arrow.PrimitiveTypes.Int64})
	}
	out := operator.Stream{Schema: arrow.NewSchema(fields, nil), Time: in[0].Time}
	if o.keyed || o.pass {
		out.Key = in[0].Key
	}
	b := fakeBound{out}
	if o.late {
		b = append(b, in[0])
	}
	return b, faults.Err()
}

type fakeBound []operator.Stream

func (b fakeBound) Outputs() []operator.Stream                     { return b }
func (fakeBound) New(*operator.Context) (operator.Instance, error) { return nil, nil }

// schemaOf makes a schema of "name" (int64) or "name:string".
func schemaOf(columns ...string) *arrow.Schema {
	var fields []arrow.Field
	for _, c := range columns {
		name, kind, _ := strings.Cut(c, ":")
		t := arrow.PrimitiveTypes.Int64
		switch kind {
		case "string":
			t = arrow.BinaryTypes.String
		case "ms":
			t = &arrow.TimestampType{Unit: arrow.Millisecond, TimeZone: "UTC"}
		case "list":
			t = arrow.FixedSizeListOf(2, arrow.PrimitiveTypes.Int64)
		}
		fields = append(fields, arrow.Field{Name: name, Type: t})
	}
	return arrow.NewSchema(fields, nil)
}

// builder makes graphs short to write.
type builder struct{ g graph.Graph }

func newGraph(parallelism int) *builder {
	return &builder{graph.Graph{Job: "job", Parallelism: parallelism}}
}

func (b *builder) source(id string, columns ...string) *builder {
	b.g.Nodes = append(b.g.Nodes, &graph.Node{ID: id, At: id + ".go:1", Source: fakeSource{schemaOf(columns...)}})
	return b
}

func (b *builder) open(id string) *builder {
	b.g.Nodes = append(b.g.Nodes, &graph.Node{ID: id, At: id + ".go:1", Source: openSource{}})
	return b
}

func (b *builder) op(id string, o fakeOp) *builder {
	b.g.Nodes = append(b.g.Nodes, &graph.Node{ID: id, At: id + ".go:1", Operator: o})
	return b
}

func (b *builder) sink(id string, needs ...string) *builder {
	b.g.Nodes = append(b.g.Nodes, &graph.Node{ID: id, At: id + ".go:1", Sink: fakeSink{needs}})
	return b
}

// with changes the node added last.
func (b *builder) with(f func(n *graph.Node)) *builder {
	f(b.g.Nodes[len(b.g.Nodes)-1])
	return b
}

func (b *builder) tasks(n int) *builder { return b.with(func(x *graph.Node) { x.Parallelism = n }) }

// edges adds edges written as "from>to", "from.1>to" (port 1), "from>to.1" (input 1), each with an optional key " by a,b" or
// " dealt" (partitioned without a key).
func (b *builder) edges(list ...string) *builder {
	for _, s := range list {
		var e graph.Edge
		ends, key, keyed := strings.Cut(s, " by ")
		if keyed {
			e.Key = strings.Split(key, ",")
		}
		ends, e.Partitioned = strings.CutSuffix(ends, " dealt")
		from, to, _ := strings.Cut(ends, ">")
		e.From, e.To = from, to
		if f, port, ok := strings.Cut(from, "."); ok {
			e.From = f
			_, _ = fmt.Sscan(port, &e.Port)
		}
		if t, in, ok := strings.Cut(to, "."); ok {
			e.To = t
			_, _ = fmt.Sscan(in, &e.In)
		}
		b.g.Edges = append(b.g.Edges, e)
	}
	return b
}
