package planner

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/arkflow-go/arkflow/internal/graph"
	"github.com/arkflow-go/arkflow/internal/plan"
	"github.com/arkflow-go/arkflow/operator"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

var update = flag.Bool("update", false, "write the golden files anew")

// chains prints a plan in short: "a+b ×2 | c ×1; a>c hash k".
func chains(p *plan.Plan) string {
	var cs, es []string
	for _, c := range p.Chains {
		cs = append(cs, fmt.Sprintf("%s x%d", strings.Join(c.Operators, "+"), c.Parallelism))
	}
	for _, e := range p.Edges {
		if e.Ship != plan.Fused {
			s := fmt.Sprintf("%s>%s %s", e.From, e.To, e.Ship)
			if e.Key != nil {
				s += " " + strings.Join(e.Key, ",")
			}
			if e.Rehash {
				s += " anew"
			}
			es = append(es, s)
		}
	}
	return strings.Join(cs, " | ") + "; " + strings.Join(es, ", ")
}

func TestE1_compileFusesAndShips(t *testing.T) {
	keyed, pass := fakeOp{keyed: true}, fakeOp{pass: true}
	forgetful := fakeOp{}
	for name, c := range map[string]struct {
		g    *builder
		want string
	}{
		"a straight line is one task": {newGraph(1).source("in", "k").op("f", pass).op("w", keyed).sink("out").
			edges("in>f", "f>w by k", "w>out"), "in+f+w+out x1; "},
		"a key is an exchange at parallelism 2": {newGraph(2).source("in", "k").op("f", pass).op("w", keyed).sink("out").
			edges("in>f", "f>w by k", "w>out"), "in+f x2 | w+out x2; f>w hash k"},
		"a stream that is read twice is a tree in one task": {newGraph(1).source("in", "k").op("a", pass).op("b", pass).sink("o1").sink("o2").sink("o3").
			edges("in>a", "in>b", "a>o1", "b>o2", "in>o3"), "in+a+b+o3+o1+o2 x1; "},
		"other parallelism is a rebalance": {newGraph(1).source("in", "k").op("a", pass).tasks(3).sink("out").
			edges("in>a", "a>out"), "in x1 | a x3 | out x1; in>a rebalance, a>out rebalance"},
		"many to one by key": {newGraph(2).source("in", "k").op("w", keyed).tasks(1).sink("out").tasks(1).
			edges("in>w by k", "w>out"), "in x2 | w+out x1; in>w hash k"},
		"the same key again is not exchanged": {newGraph(2).source("in", "k").op("w", keyed).op("v", keyed).sink("out").
			edges("in>w by k", "w>v by k", "v>out"), "in x2 | w+v+out x2; in>w hash k"},
		"an edge without a key ends it": {newGraph(2).source("in", "k").op("w", keyed).op("f", pass).op("v", keyed).sink("out").
			edges("in>w by k", "w>f", "f>v by k", "v>out"), "in x2 | w+f x2 | v+out x2; in>w hash k, f>v hash k"},
		"behind one that does not vouch for it": {newGraph(2).source("in", "k").op("w", keyed).op("m", forgetful).op("v", keyed).sink("out").
			edges("in>w by k", "w>m", "m>v by k", "v>out"), "in x2 | w+m x2 | v+out x2; in>w hash k, m>v hash k"},
		"another key is": {newGraph(2).source("in", "k", "l").op("w", keyed).op("v", keyed).sink("out").
			edges("in>w by k", "w>v by l", "v>out"), "in x2 | w x2 | v+out x2; in>w hash k, w>v hash l anew"},
		"the same columns in another order are": {newGraph(2).source("in", "k", "l").op("w", keyed).op("v", keyed).sink("out").
			edges("in>w by k,l", "w>v by l,k", "v>out"), "in x2 | w x2 | v+out x2; in>w hash k,l, w>v hash l,k anew"},
		"late rows are not spread by the key": {newGraph(2).source("in", "k").op("w", fakeOp{keyed: true, late: true}).op("v", keyed).sink("out").sink("o2").
			edges("in>w by k", "w>out", "w.1>v by k", "v>o2"), "in x2 | w+out x2 | v+o2 x2; in>w hash k, w>v hash k"},
		"a hash of another key is not taken for one's own": {newGraph(1).source("in", "k", "l").tasks(2).op("w", keyed).op("v", keyed).sink("out").
			edges("in>w by k", "w>v by l", "v>out"), "in x2 | w x1 | v+out x1; in>w hash k, w>v hash l anew"},
		"two inputs are a chain of their own": {newGraph(1).source("a", "k").source("b", "k").op("j", pass).op("f", pass).sink("out").
			edges("a>j", "b>j.1", "j>f", "f>out"), "a x1 | b x1 | j+f+out x1; a>j forward, b>j forward"},
		"two keyed inputs": {newGraph(1).source("a", "k").source("b", "k").op("j", keyed).sink("out").
			edges("a>j by k", "b>j.1 by k", "j>out"), "a x1 | b x1 | j+out x1; a>j hash k, b>j hash k"},
		"both inputs from one operator": {newGraph(1).source("a", "k").op("j", pass).sink("out").
			edges("a>j", "a>j.1", "j>out"), "a x1 | j+out x1; a>j forward, a>j forward"},
		"dealt": {newGraph(2).source("in", "k").op("f", pass).sink("out").
			edges("in>f dealt", "f>out"), "in x2 | f+out x2; in>f rebalance"},
		"dealt to the only task": {newGraph(1).source("in", "k").op("f", pass).sink("out").
			edges("in>f dealt", "f>out"), "in+f+out x1; "},
		"partitioned by __meta_key": {newGraph(2).source("in", "k", MetaKey).op("f", pass).sink("out").
			edges("in>f dealt", "f>out"), "in x2 | f+out x2; in>f hash __meta_key"},
	} {
		t.Run(name, func(t *testing.T) {
			compiled, err := Compile(&c.g.g)
			require.NoError(t, err)
			assert.Equal(t, c.want, chains(compiled.Plan))
		})
	}
}

func rich() *builder {
	return newGraph(4).
		source("orders", "ts:ms", "customer:string", "amount").with(func(n *graph.Node) {
		n.Time = operator.TimePolicy{Kind: operator.EventTimePolicy, Column: "ts", OutOfOrderness: 2 * time.Second, IdleTimeout: time.Minute}
	}).
		op("paid", fakeOp{kind: "filter", needs: []string{"amount"}, pass: true}).with(func(n *graph.Node) { n.OnError = operator.Skip() }).
		op("per-minute", fakeOp{kind: "window", keyed: true, late: true}).
		sink("out").sink("late").tasks(1).
		open("audit").tasks(1).sink("audit-out").tasks(1).
		edges("orders>paid", "paid>per-minute by customer", "per-minute>out", "per-minute.1>late", "audit>audit-out dealt")
}

// The texts are read by people: go test ./internal/planner -update writes them anew.
func TestPrinting_matchesTheGoldenTexts(t *testing.T) {
	c, err := Compile(&rich().g)
	require.NoError(t, err)
	for name, text := range map[string]string{"explain.txt": Explain(c.Plan), "plan.dot": DOT(c.Plan), "plan.mmd": Mermaid(c.Plan)} {
		file := filepath.Join("testdata", name)
		if *update {
			require.NoError(t, os.MkdirAll("testdata", 0o755))
			require.NoError(t, os.WriteFile(file, []byte(text), 0o644))
		}
		want, err := os.ReadFile(file)
		require.NoError(t, err)
		assert.Equal(t, string(want), text, "%s: look at the difference, then -update", name)
	}
}

// Any graph compiles or gives faults; it never panics, and a plan holds what the engine relies on.
func TestCompile_ofAnyGraph(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		b := anyGraph(rt)
		c, err := Compile(&b.g)
		if err != nil {
			require.NotEmpty(rt, err.Error())
			return
		}
		checkPlan(rt, c)
		require.NotEmpty(rt, Explain(c.Plan)+DOT(c.Plan)+Mermaid(c.Plan))
	})
}

func anyGraph(rt *rapid.T) *builder {
	b := newGraph(rapid.IntRange(0, 3).Draw(rt, "parallelism"))
	wild := rapid.IntRange(0, 3).Draw(rt, "wild") == 0
	n := rapid.IntRange(1, 8).Draw(rt, "nodes")
	var ids []string
	for i := range n {
		id := fmt.Sprintf("n%d", i)
		if wild && rapid.IntRange(0, 5).Draw(rt, "odd") == 0 {
			id = rapid.SampledFrom([]string{"n0", "", "a b"}).Draw(rt, "id")
		}
		switch k := rapid.IntRange(0, 4).Draw(rt, "role"); {
		case i == 0 || k == 0:
			b.source(id, "k", "l", "a")
		case k == 1:
			b.open(id)
		case k == 2:
			b.op(id, fakeOp{keyed: true, late: rapid.Bool().Draw(rt, "late")})
		case k == 3:
			b.op(id, fakeOp{pass: true})
		default:
			b.sink(id)
		}
		b.tasks(rapid.IntRange(0, 3).Draw(rt, "tasks"))
		if wild && rapid.IntRange(0, 5).Draw(rt, "empty") == 0 {
			b.with(func(x *graph.Node) { x.Operator, x.Sink = nil, nil })
		}
		ids = append(ids, id)
	}
	if wild {
		for range rapid.IntRange(0, 10).Draw(rt, "edges") {
			b.g.Edges = append(b.g.Edges, graph.Edge{From: rapid.SampledFrom(ids).Draw(rt, "from"), To: rapid.SampledFrom(append(ids, "nowhere")).Draw(rt, "to"),
				Port: rapid.IntRange(-1, 2).Draw(rt, "port"), In: rapid.IntRange(-1, 2).Draw(rt, "in")})
		}
		return b
	}
	tameEdges(rt, b)
	return b
}

// tameEdges gives every operator inputs from nodes before it and every unread port a sink.
func tameEdges(rt *rapid.T, b *builder) {
	var before []*graph.Node
	edge := func(to *graph.Node, in int) {
		e := graph.Edge{From: rapid.SampledFrom(before).Draw(rt, "from").ID, To: to.ID, In: in, Partitioned: rapid.Bool().Draw(rt, "dealt")}
		if o, ok := to.Operator.(fakeOp); ok && o.keyed || rapid.Bool().Draw(rt, "keyed") {
			e.Key = rapid.SampledFrom([][]string{{"k"}, {"l"}, {"k", "l"}}).Draw(rt, "key")
		}
		b.g.Edges = append(b.g.Edges, e)
	}
	for _, n := range b.g.Nodes {
		switch {
		case n.Sink != nil:
			edge(n, 0)
			continue
		case n.Operator != nil:
			for in := range rapid.IntRange(1, 2).Draw(rt, "inputs") {
				edge(n, in)
			}
		}
		before = append(before, n)
	}
	for _, n := range before {
		b.sink("out-" + n.ID).edges(n.ID + ">out-" + n.ID)
		if o, ok := n.Operator.(fakeOp); ok && o.late {
			b.sink("late-" + n.ID).edges(n.ID + ".1>late-" + n.ID)
		}
	}
}

func checkPlan(rt *rapid.T, c *Compiled) {
	p := c.Plan
	require.Len(rt, p.Operators, len(c.Graph.Nodes))
	require.Len(rt, p.Edges, len(c.Graph.Edges))
	place := map[string]int{}
	for _, ch := range p.Chains {
		require.Equal(rt, ch.ID, ch.Operators[0])
		for i, id := range ch.Operators {
			_, twice := place[id]
			require.False(rt, twice, "%s is in two chains", id)
			place[id] = i
			require.Equal(rt, ch.ID, p.Operator(id).Chain)
			require.Equal(rt, ch.Parallelism, p.Operator(id).Parallelism)
		}
	}
	require.Len(rt, place, len(p.Operators))
	for _, e := range p.Edges {
		from, to := p.Operator(e.From), p.Operator(e.To)
		require.Equal(rt, e.Ship == plan.Hash, len(e.Key) > 0)
		switch e.Ship {
		case plan.Fused:
			require.Equal(rt, from.Chain, to.Chain)
			require.Less(rt, place[e.From], place[e.To])
			require.Len(rt, c.Graph.Inputs(e.To), 1)
		case plan.Forward:
			require.Equal(rt, from.Parallelism, to.Parallelism)
			fallthrough
		default:
			require.NotEqual(rt, from.Chain, to.Chain)
			require.Equal(rt, to.ID, to.Chain, "only the first operator of a chain reads from other tasks")
		}
	}
	for _, id := range c.Open {
		require.NotContains(rt, c.Streams, id)
	}
	require.True(rt, slices.IsSortedFunc(c.Open, func(a, b string) int {
		index := func(id string) int {
			return slices.IndexFunc(c.Graph.Nodes, func(n *graph.Node) bool { return n.ID == id })
		}
		return index(a) - index(b)
	}))
}

func TestCompile_warnsOfManyLinks(t *testing.T) {
	for tasks, want := range map[int]bool{57: false, 58: true} {
		b := newGraph(tasks).source("in", "k").op("w", fakeOp{keyed: true}).sink("out").tasks(tasks*2).edges("in>w by k", "w>out")
		c, err := Compile(&b.g)
		require.NoError(t, err)
		if !want {
			assert.Empty(t, c.Plan.Warnings)
			continue
		}
		assert.Equal(t, []string{"the tasks need 10092 links to each other, as many as senders times receivers: each takes memory, and rows travel " +
			"in small batches; lower the parallelism"}, c.Plan.Warnings)
	}
}
