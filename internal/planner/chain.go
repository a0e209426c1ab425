package planner

import (
	"fmt"
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/arkflow-go/arkflow/internal/graph"
	"github.com/arkflow-go/arkflow/internal/plan"
	"github.com/arkflow-go/arkflow/internal/preagg"
	"github.com/arkflow-go/arkflow/operator"
)

// makePlan fuses operators into chains and decides how rows travel.
func makePlan(c *check, b *binding) *plan.Plan {
	p := &plan.Plan{Job: c.g.Job, MaxParallelism: c.g.MaxParallelism}
	m := &chainMaker{check: c, binding: b, plan: p, chain: map[string]string{}, parted: map[string][]string{},
		hashed: map[string][]string{}}
	for _, n := range c.order {
		m.place(n)
	}
	for _, e := range b.dealt {
		p.Warnings = append(p.Warnings, fmt.Sprintf("edge %q -> %q is partitioned without a key: rows are dealt in turn", e.From, e.To))
	}
	if n := links(p); n > manyLinks {
		p.Warnings = append(p.Warnings, fmt.Sprintf("the tasks need %d links to each other, as many as senders times receivers: each takes memory, and rows travel "+
			"in small batches; lower the parallelism", n))
	}
	return p
}

// manyLinks is the number of links from which on Compile warns.
const manyLinks = 10_000

// links is the number of links between tasks.
func links(p *plan.Plan) (n int) {
	for _, e := range p.Edges {
		from, to := p.Chain(p.Operator(e.From).Chain).Parallelism, p.Chain(p.Operator(e.To).Chain).Parallelism
		switch e.Ship {
		case plan.Forward:
			n += to
		case plan.Hash, plan.Rebalance:
			n += from * to
		}
	}
	return n
}

type chainMaker struct {
	*check
	*binding
	plan   *plan.Plan
	chain  map[string]string   // chain of each operator placed so far
	parted map[string][]string // key by whose hash the rows of an operator's main output are spread over its subtasks
	hashed map[string][]string // key whose hashes the batches that an operator writes may carry
}

// place gives a node its chain and its incoming edges their way of shipping.
func (m *chainMaker) place(n *graph.Node) {
	in := slices.Clone(m.in[n.ID])
	slices.SortFunc(in, func(a, b graph.Edge) int { return a.In - b.In })
	chain := n.ID
	for _, e := range in {
		ship := m.ship(e, n, len(in))
		if s := m.streams[e.From]; ship == plan.Rebalance && n.Parallelism > 1 && e.Port < len(s) && s[e.Port].Changes != operator.Append {
			ship, e.Key = plan.Hash, s[e.Port].ChangeKey // rows that take each other's place stay in order
		}
		if ship == plan.Fused {
			chain = m.chain[e.From]
		}
		pe := plan.Edge{From: e.From, Port: e.Port, Tag: tagOf(m.nodes[e.From], e.Port), To: e.To, In: e.In, Ship: ship}
		if ship == plan.Hash {
			pe.Key, pe.Rehash = slices.Clone(e.Key), m.foreignHash(e)
			m.hashed[n.ID] = e.Key
			maker, ok := m.bound[n.ID].(preagg.Maker)
			pe.PreAggregate = ok && n.Parallelism > 1 && maker.PreAggregates()
		} else if m.hashed[n.ID] == nil {
			m.hashed[n.ID] = m.hashed[e.From]
		}
		m.plan.Edges = append(m.plan.Edges, pe)
		if len(in) == 1 {
			m.parted[n.ID] = m.keptKey(n, e, ship)
		}
	}
	m.chain[n.ID] = chain
	if chain == n.ID {
		m.plan.Chains = append(m.plan.Chains, plan.Chain{ID: n.ID, Parallelism: n.Parallelism})
	}
	at := m.plan.Chain(chain)
	at.Operators = append(at.Operators, n.ID)
	m.plan.Operators = append(m.plan.Operators, m.describe(n, chain))
}

// ship decides how rows travel along an edge. Only an operator with one input is fused: a task has one inbox, and a second
// way in would need another.
func (m *chainMaker) ship(e graph.Edge, to *graph.Node, inputs int) plan.Ship {
	from := m.nodes[e.From]
	same := from.Parallelism == to.Parallelism
	direct := same && len(e.Key) == 0 && !e.Partitioned ||
		same && to.Parallelism == 1 && (len(e.Key) == 0 || inputs == 1 && !m.foreignHash(e)) ||
		same && len(e.Key) > 0 && e.Port == operator.Main && slices.Equal(e.Key, m.parted[e.From])
	switch {
	case direct && inputs == 1:
		return plan.Fused
	case direct:
		return plan.Forward
	case len(e.Key) > 0:
		return plan.Hash
	}
	return plan.Rebalance
}

// foreignHash reports whether the rows of a keyed edge may carry the hashes of another key: stateless operators hand on what an
// exchange before them computed.
func (m *chainMaker) foreignHash(e graph.Edge) bool {
	h := m.hashed[e.From]
	return len(h) > 0 && !slices.Equal(h, e.Key)
}

// keptKey is the key by whose hash the rows of a node's main output are still spread. An operator vouches for the key of
// its output by naming it in Stream.Key (its values are those of the input's); that the columns are still there with
// their types is checked here.
func (m *chainMaker) keptKey(n *graph.Node, e graph.Edge, ship plan.Ship) []string {
	var key []string
	switch ship {
	case plan.Hash:
		key = e.Key
	case plan.Fused, plan.Forward:
		if e.Port == operator.Main {
			key = m.parted[e.From]
		}
	}
	out, from := m.streams[n.ID], m.streams[e.From]
	if len(key) == 0 || len(out) == 0 || e.Port >= len(from) || !slices.Equal(out[operator.Main].Key, key) {
		return nil
	}
	for _, k := range key {
		a, b := fieldOf(from[e.Port].Schema, k), fieldOf(out[operator.Main].Schema, k)
		if a == nil || b == nil || !arrow.TypeEqual(a.Type, b.Type) {
			return nil
		}
	}
	return key
}

func fieldOf(s *arrow.Schema, name string) *arrow.Field {
	i := s.FieldIndices(name)
	if len(i) != 1 {
		return nil
	}
	f := s.Field(i[0])
	return &f
}

func (m *chainMaker) describe(n *graph.Node, chain string) plan.Operator {
	o := plan.Operator{ID: n.ID, Kind: n.Kind(), Parallelism: n.Parallelism, Chain: chain}
	var detail []string
	var described any
	switch {
	case n.Source != nil:
		o.Role, described = plan.Source, n.Source
		detail = append(detail, timeText(n.Time))
	case n.Sink != nil:
		o.Role, described = plan.Sink, n.Sink
	default:
		o.Role, described = plan.Transform, n.Operator
	}
	if d, ok := described.(operator.Described); ok {
		_ = guard("describe", func() error { detail = append([]string{d.Describe()}, detail...); return nil })
	}
	if n.OnError.String() != operator.Fail().String() {
		if text := n.OnError.String(); text == operator.Skip().String() {
			detail = append(detail, "rows in error are skipped")
		} else {
			detail = append(detail, "on error: "+text)
		}
	}
	o.Detail = strings.Join(slices.DeleteFunc(detail, func(s string) bool { return s == "" }), "; ")
	if s := m.streams[n.ID]; len(s) > 0 {
		o.Columns = columnsText(s[operator.Main].Schema)
	}
	return o
}

func timeText(t operator.TimePolicy) string {
	var s string
	switch t.Kind {
	case operator.EventTimePolicy:
		s = fmt.Sprintf("event time %s, out of order by up to %s", t.Column, t.OutOfOrderness)
	case operator.IngestionTimePolicy:
		s = "ingestion time"
	default:
		return "processing time"
	}
	if t.IdleTimeout > 0 {
		s += fmt.Sprintf(", idle after %s", t.IdleTimeout)
	}
	return s
}

func columnsText(s *arrow.Schema) string {
	cols := make([]string, s.NumFields())
	for i, f := range s.Fields() {
		cols[i] = f.Name + " " + f.Type.String()
	}
	return strings.Join(cols, ", ")
}
