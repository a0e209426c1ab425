package planner

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/internal/fault"
	"github.com/arkflow-go/arkflow/internal/graph"
	"github.com/arkflow-go/arkflow/operator"
)

// MetaKey is the column that keys a partitioned edge for which no key is given (DESIGN B5).
const MetaKey = "__meta_key"

// binding is what is known of the streams of a graph.
type binding struct {
	bound   map[string]operator.Bound
	streams map[string][]operator.Stream
	open    []string        // sources
	unknown map[string]bool // nodes whose streams depend on an open source
	dealt   []graph.Edge    // partitioned edges that have no key
	schemas map[string]*arrow.Schema
}

// bind calls every operator's Bind over the streams it reads, in topological order. What depends on a faulty or on an open
// node is passed over.
func (c *check) bind(schemas map[string]*arrow.Schema) *binding {
	b := &binding{bound: map[string]operator.Bound{}, streams: map[string][]operator.Stream{}, unknown: map[string]bool{},
		schemas: schemas}
	for _, n := range c.order {
		if c.dependsOn(n, c.broken) {
			c.broken[n.ID] = true
		}
		if c.broken[n.ID] {
			continue
		}
		if n.Source != nil {
			c.bindSource(b, n)
			continue
		}
		open := c.dependsOn(n, b.unknown)
		in := c.streamsInto(b, n, open)
		switch {
		case c.broken[n.ID]:
		case open:
			b.unknown[n.ID] = true
		case n.Sink != nil:
			c.errorOf(n, guard("check", func() error { return n.Sink.Check(in[0]) }))
		default:
			c.bindOperator(b, n, in)
		}
	}
	slices.SortFunc(b.open, func(x, y string) int { return c.position(x) - c.position(y) })
	return b
}

func (c *check) position(id string) int {
	return slices.IndexFunc(c.g.Nodes, func(n *graph.Node) bool { return n.ID == id })
}

func (c *check) dependsOn(n *graph.Node, set map[string]bool) bool {
	return slices.ContainsFunc(c.in[n.ID], func(e graph.Edge) bool { return set[e.From] })
}

// checked is a source that can say whether it is configured rightly, without opening anything.
type checked interface{ Check() error }

func (c *check) bindSource(b *binding, n *graph.Node) {
	if s, ok := n.Source.(checked); ok {
		if err := guard("check", s.Check); err != nil {
			c.errorOf(n, err)
			return
		}
	}
	schema := b.schemas[n.ID]
	if schema == nil {
		err := guard("schema", func() error { schema = n.Source.Schema(); return nil })
		if err != nil {
			c.errorOf(n, err)
			return
		}
	}
	if schema == nil {
		if _, ok := n.Source.(operator.Inferrer); !ok {
			c.fault(n, &fault.Fault{Path: "schema", Problem: fmt.Sprintf("the source %q gives no schema and cannot infer one", n.Kind()),
				Hint: "give it a schema"})
			return
		}
		b.open = append(b.open, n.ID)
		b.unknown[n.ID] = true
		return
	}
	if err := column.CheckSchema(schema); err != nil {
		c.fault(n, &fault.Fault{Path: "schema", Problem: err.Error()})
		return
	}
	if f := repeatedColumn(schema); f != nil {
		c.fault(n, f)
		return
	}
	if n.Time.Kind == operator.EventTimePolicy {
		if f := timeColumnFault(n.Time.Column, schema); f != nil {
			c.fault(n, f)
			return
		}
	}
	b.streams[n.ID] = []operator.Stream{{Schema: schema, Time: n.Time.Mode()}}
}

func repeatedColumn(s *arrow.Schema) *fault.Fault {
	for i, f := range s.Fields() {
		if s.FieldIndices(f.Name)[0] != i {
			return &fault.Fault{Path: "schema", Problem: fmt.Sprintf("column %q stands twice", f.Name), Hint: "give columns different names"}
		}
	}
	return nil
}

// timePolicy checks what can be said of a source's time without its schema.
func (c *check) timePolicy(n *graph.Node) {
	t := n.Time
	switch {
	case t.Kind > operator.IngestionTimePolicy:
		c.fault(n, &fault.Fault{Path: "time.mode", Problem: fmt.Sprintf("there is no time policy %d", t.Kind)})
	case t.Kind == operator.EventTimePolicy && t.Column == "":
		c.fault(n, &fault.Fault{Path: "time.timestamp_field", Problem: "event time needs a column",
			Hint: "name the Int64 (milliseconds) or timestamp column that holds it"})
	}
	for _, d := range []struct {
		path  string
		value time.Duration
		hint  string
	}{
		{"time.out_of_orderness", t.OutOfOrderness, "give 0 or more"},
		{"time.max_future_skew", t.MaxFutureSkew, "give 0 (no limit) or more"},
		{"time.idle_timeout", t.IdleTimeout, "give 0 (never) or more"},
	} {
		if d.value < 0 {
			c.fault(n, &fault.Fault{Path: d.path, Problem: fmt.Sprintf("%s is negative", d.value), Hint: d.hint})
		}
	}
}

func timeColumnFault(name string, s *arrow.Schema) *fault.Fault {
	f := columnFault(name, s)
	if f != nil {
		f.Path = "time.timestamp_field"
		return f
	}
	field := s.Field(s.FieldIndices(name)[0])
	if id := field.Type.ID(); id != arrow.INT64 && id != arrow.TIMESTAMP {
		return &fault.Fault{Path: "time.timestamp_field", Problem: fmt.Sprintf("column %q is %s, which is no event time", name, field.Type),
			Hint: "event time is Int64 (milliseconds since 1970) or a timestamp; give the format of the source a schema that says so"}
	}
	return nil
}

// columnFault says that a schema has no such column, or nil.
func columnFault(name string, s *arrow.Schema) *fault.Fault {
	if s.HasField(name) {
		return nil
	}
	names := make([]string, s.NumFields())
	for i, f := range s.Fields() {
		names[i] = f.Name
	}
	return fault.Unknown("column", name, names)
}

// streamsInto gives the streams that a node reads and checks the ports and keys of the edges. While a source is open only
// the edges whose streams are known are checked, and the result is nil.
func (c *check) streamsInto(b *binding, n *graph.Node, open bool) []operator.Stream {
	in := make([]operator.Stream, len(c.in[n.ID]))
	for _, e := range c.in[n.ID] {
		if b.unknown[e.From] {
			if e.Partitioned && len(e.Key) == 0 {
				b.dealt = append(b.dealt, e)
			}
			continue
		}
		from := b.streams[e.From]
		if e.Port >= len(from) {
			c.fault(n, noPort(e, from))
			return nil
		}
		s := from[e.Port]
		c.resolveKey(b, &e, s)
		for _, k := range e.Key {
			if f := columnFault(k, s.Schema); f != nil {
				f.Path = "key"
				c.fault(n, f)
			}
		}
		if s.Changes != operator.Append {
			for _, k := range e.Key {
				if !slices.Contains(s.ChangeKey, k) {
					c.fault(n, &fault.Fault{Path: "key", Problem: fmt.Sprintf("rows of %q take the place of earlier ones with the same %s: by the key %q they would part",
						e.From, strings.Join(s.ChangeKey, ", "), k), Hint: "use these columns as key, or leave Lateness out of the window"})
					break
				}
			}
		}
		s.Key = e.Key
		in[e.In] = s
	}
	if open {
		return nil
	}
	return in
}

func noPort(e graph.Edge, from []operator.Stream) *fault.Fault {
	if e.Port == operator.Late && len(from) == 1 {
		return &fault.Fault{Problem: fmt.Sprintf("%q has no late rows to route", e.From),
			Hint: "only a window (or another event-time operator) whose late policy is route has"}
	}
	return &fault.Fault{Path: edgeName(&e), Problem: fmt.Sprintf("%q has no output port %d", e.From, e.Port)}
}

// resolveKey keys a partitioned edge without a key by MetaKey where the column is there.
func (c *check) resolveKey(b *binding, e *graph.Edge, s operator.Stream) {
	if !e.Partitioned || len(e.Key) > 0 {
		return
	}
	if !s.Schema.HasField(MetaKey) {
		b.dealt = append(b.dealt, *e)
		return
	}
	e.Key = []string{MetaKey}
	for i, x := range c.g.Edges {
		if x.From == e.From && x.Port == e.Port && x.To == e.To && x.In == e.In {
			c.g.Edges[i].Key = e.Key
		}
	}
	for i, x := range c.in[e.To] {
		if x.In == e.In {
			c.in[e.To][i].Key = e.Key
		}
	}
}

func (c *check) bindOperator(b *binding, n *graph.Node, in []operator.Stream) {
	var bound operator.Bound
	var out []operator.Stream
	err := guard("bind", func() (err error) {
		if bound, err = n.Operator.Bind(in); err == nil && !IsNil(bound) {
			out = bound.Outputs()
		}
		return err
	})
	switch {
	case err != nil:
		c.errorOf(n, err)
		return
	case IsNil(bound) || len(out) == 0:
		c.fault(n, &fault.Fault{Problem: fmt.Sprintf("the operator %q gives no output", n.Kind()), Hint: "this is a bug of the operator"})
		return
	}
	if f := changesFault(n, in, out); f != nil {
		c.fault(n, f)
	}
	for port, s := range out {
		f := outputFault(port, s)
		read := slices.ContainsFunc(c.out[n.ID], func(e graph.Edge) bool { return e.Port == port })
		tag := tagOf(n, port)
		if f == nil && !read && (port != operator.Late || tag != "") && !slices.Contains(c.unread, n.ID) {
			what := fmt.Sprintf("output port %d", port)
			if tag != "" {
				what = fmt.Sprintf("output %q", tag)
			}
			f = &fault.Fault{Problem: "nobody reads its " + what, Hint: "end the stream in a Sink (connectors/drop throws rows away)"}
		}
		if f != nil {
			c.fault(n, f)
		}
	}
	b.bound[n.ID], b.streams[n.ID] = bound, out
}

// tagOf is the name of an output port of a node, empty where it has none.
func tagOf(n *graph.Node, port int) (tag string) {
	_ = guard("tags", func() error {
		if t, ok := n.Operator.(operator.Tagged); ok {
			if tags := t.Tags(); port >= 0 && port < len(tags) && tags[port] != "main" {
				tag = tags[port]
			}
		}
		return nil
	})
	return tag
}

// changesFault refuses a stream whose rows take the place of others to an operator that does not say what becomes of them.
func changesFault(n *graph.Node, in, out []operator.Stream) *fault.Fault {
	if _, ok := n.Operator.(operator.KeepsChanges); ok || out[operator.Main].Changes != operator.Append {
		return nil
	}
	for _, s := range in {
		var f *fault.Fault
		if errors.As(operator.RefuseChanges(fmt.Sprintf("the operator %q", n.Kind()), s), &f) {
			return f
		}
	}
	return nil
}

func outputFault(port int, s operator.Stream) *fault.Fault {
	if s.Schema == nil {
		return &fault.Fault{Problem: fmt.Sprintf("output port %d has no schema", port), Hint: "this is a bug of the operator"}
	}
	if err := column.CheckSchema(s.Schema); err != nil {
		return &fault.Fault{Problem: fmt.Sprintf("output port %d: %v", port, err)}
	}
	return repeatedColumn(s.Schema)
}
