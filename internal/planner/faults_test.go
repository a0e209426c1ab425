package planner

import (
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/arkflow-go/arkflow/internal/fault"
	"github.com/arkflow-go/arkflow/internal/graph"
	"github.com/arkflow-go/arkflow/operator"
	"github.com/hashicorp/go-multierror"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// messages gives the faults of an error, one string each.
func messages(t *testing.T, err error) (out []string) {
	t.Helper()
	if err == nil {
		return nil
	}
	var many *multierror.Error
	require.ErrorAs(t, err, &many)
	for _, e := range many.Errors {
		var f *fault.Fault
		require.ErrorAs(t, e, &f)
		out = append(out, e.Error())
	}
	return out
}

func simple() *builder { return newGraph(1).source("in", "ts", "k:string").sink("out").edges("in>out") }

func eventTime(column string) func(n *graph.Node) {
	return func(n *graph.Node) { n.Time = operator.TimePolicy{Kind: operator.EventTimePolicy, Column: column} }
}

func TestCompile_tellsWhatIsWrongWithTheStructure(t *testing.T) {
	for name, c := range map[string]struct {
		g    *builder
		want []string
	}{
		"nothing at all": {newGraph(1), []string{`the job has no source; add one with job.Source`}},
		"job name": {func() *builder { b := simple(); b.g.Job = "a b"; return b }(),
			[]string{`job name "a b" is not allowed; use 1 to 128 of A-Z a-z 0-9 _ -`}},
		"operator ID": {newGraph(1).source("in", "a").sink("o/ut").edges("in>o/ut"),
			[]string{`operator ID "o/ut" is not allowed; use 1 to 128 of A-Z a-z 0-9 _ - (o/ut.go:1)`}},
		"empty ID": {newGraph(1).source("in", "a").sink("").edges("in>"),
			[]string{`operator ID is empty; give 1 to 128 of A-Z a-z 0-9 _ - (.go:1)`}},
		"ID twice": {simple().sink("out"),
			[]string{`operator "out": the ID is used twice; the first is at out.go:1; choose another ID (out.go:1)`}},
		"nothing set": {simple().with(func(n *graph.Node) { n.Sink = nil }),
			[]string{`operator "out": is 0 of source, operator and sink; give exactly one (out.go:1)`}},
		"nil pointer": {simple().with(func(n *graph.Node) { n.Sink = (*nilSink)(nil) }),
			[]string{`operator "out": is a nil *planner.nilSink (out.go:1)`}},
		"parallelism of the job": {func() *builder { b := simple(); b.g.Parallelism = -1; return b }(),
			[]string{`parallelism: -1 is out of range; give 1 or more`}},
		"parallelism over the maximum": {simple().tasks(129),
			[]string{`operator "out": parallelism: 129 is more than max_parallelism, which is 128; lower it, or raise max_parallelism before the job has state (out.go:1)`}},
		"max parallelism": {func() *builder { b := simple(); b.g.MaxParallelism = 1 << 20; return b }(),
			[]string{`max_parallelism: 1048576 is out of range; give 1 to 32768`}},
		"edge from nowhere": {newGraph(1).source("source", "a").sink("out").edges("sauce>out", "source>out"),
			[]string{`operator "out": edge "sauce" -> "out".from: no operator "sauce"; there are "out", "source" (out.go:1)`}},
		"edge to nowhere": {newGraph(1).source("in", "a").edges("in>away"),
			[]string{`edge "in" -> "away".to: no operator "away"; there are "in"`}},
		"edge out of a sink": {simple().sink("next").edges("out>next"),
			[]string{`operator "out": edge "out" -> "next": an edge leads out of a sink; read from the operator before it (out.go:1)`}},
		"edge into a source": {simple().source("two", "a").sink("o2").edges("in>two", "two>o2"),
			[]string{`operator "two": edge "in" -> "two": an edge leads into a source; a source reads from no operator (two.go:1)`}},
		"second port of a source": {newGraph(1).source("in", "a").sink("out").sink("x").edges("in>x", "in.1>out"),
			[]string{`operator "out": edge "in" -> "out": "in" has no output port 1 (out.go:1)`}},
		"nobody reads": {newGraph(1).source("in", "a").op("op", fakeOp{}).edges("in>op"),
			[]string{`operator "op": nobody reads its rows; end the stream in a Sink (connectors/drop throws rows away), or remove it (op.go:1)`}},
		"reads from nobody": {simple().op("op", fakeOp{}).sink("o2").edges("op>o2"),
			[]string{`operator "op": reads from nobody; add an edge that leads to it (op.go:1)`}},
		"sink of two streams": {newGraph(1).source("a", "x").source("b", "x").sink("out").edges("a>out", "b>out.1"),
			[]string{`operator "out": a sink reads one stream, this one 2; add one sink a stream (out.go:1)`}},
		"input twice": {newGraph(1).source("a", "x").source("b", "x").op("op", fakeOp{}).sink("out").edges("a>op", "b>op", "op>out"),
			[]string{`operator "op": edge "b" -> "op": input 0 has two edges; give each edge its own input (op.go:1)`}},
		"input left out": {newGraph(1).source("a", "x").op("op", fakeOp{}).sink("out").edges("a>op.1", "op>out"),
			[]string{`operator "op": edge "a" -> "op": there is no input 1; inputs are numbered 0 to 0 (op.go:1)`}},
		"key column twice": {newGraph(1).source("in", "k").op("op", fakeOp{}).sink("out").edges("in>op by k,k", "op>out"),
			[]string{`operator "op": key: key column "k" stands twice (op.go:1)`}},
		"cycle": {newGraph(1).source("in", "x").op("a", fakeOp{}).op("b", fakeOp{}).op("c", fakeOp{}).sink("out").
			edges("in>a", "a>b", "b>c", "c>a.1", "c>out"),
			[]string{`operator "b": is part of a cycle: b -> c -> a -> b; a job is a graph without cycles; write to a system and read it back (b.go:1)`}},
		"cycle of one": {simple().op("a", fakeOp{}).sink("o2").edges("a>a", "a>o2"),
			[]string{`operator "a": is part of a cycle: a -> a; a job is a graph without cycles; write to a system and read it back (a.go:1)`}},
		"two cycles": {simple().op("a", fakeOp{}).op("b", fakeOp{}).edges("a>a", "b>b", "a>b.1"),
			[]string{`operator "a": is part of a cycle: a -> a; a job is a graph without cycles; write to a system and read it back (a.go:1)`,
				`operator "b": is part of a cycle: b -> b; a job is a graph without cycles; write to a system and read it back (b.go:1)`}},
		"event time without a column": {newGraph(1).source("in", "x").with(eventTime("")).sink("out").edges("in>out"),
			[]string{`operator "in": time.timestamp_field: event time needs a column; name the Int64 (milliseconds) or timestamp column that holds it (in.go:1)`}},
		"negative out-of-orderness": {newGraph(1).source("in", "x").with(func(n *graph.Node) {
			n.Time = operator.TimePolicy{Kind: operator.EventTimePolicy, Column: "x", OutOfOrderness: -time.Second}
		}).sink("out").edges("in>out"),
			[]string{`operator "in": time.out_of_orderness: -1s is negative; give 0 or more (in.go:1)`}},
		"several mistakes of one time policy": {newGraph(1).source("in", "x").with(func(n *graph.Node) {
			n.Time = operator.TimePolicy{Kind: operator.EventTimePolicy, OutOfOrderness: -time.Second, IdleTimeout: -time.Second}
		}).sink("out").edges("in>out"),
			[]string{`operator "in": time.timestamp_field: event time needs a column; name the Int64 (milliseconds) or timestamp column that holds it (in.go:1)`,
				`operator "in": time.out_of_orderness: -1s is negative; give 0 or more (in.go:1)`,
				`operator "in": time.idle_timeout: -1s is negative; give 0 (never) or more (in.go:1)`}},
		"negative idle timeout": {newGraph(1).source("in", "x").with(func(n *graph.Node) {
			n.Time = operator.TimePolicy{IdleTimeout: -time.Second}
		}).sink("out").edges("in>out"),
			[]string{`operator "in": time.idle_timeout: -1s is negative; give 0 (never) or more (in.go:1)`}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Compile(&c.g.g)
			require.Error(t, err)
			assert.Equal(t, c.want, messages(t, err))
		})
	}
}

type nilSink struct{ fakeSink }

func TestCompile_tellsWhatDoesNotFitTheSchemas(t *testing.T) {
	for name, c := range map[string]struct {
		g    *builder
		want []string
	}{
		"no schema and none to infer": {newGraph(1).source("in").with(func(n *graph.Node) { n.Source = fakeSource{} }).sink("out").edges("in>out"),
			[]string{`operator "in": schema: the source "fake" gives no schema and cannot infer one; give it a schema (in.go:1)`}},
		"unsupported type": {newGraph(1).source("in", "l:list").sink("out").edges("in>out"),
			[]string{`operator "in": schema: column "l": type fixed_size_list<item: int64, nullable>[2] is not supported (in.go:1)`}},
		"column twice": {newGraph(1).source("in", "a", "a").sink("out").edges("in>out"),
			[]string{`operator "in": schema: column "a" stands twice; give columns different names (in.go:1)`}},
		"no time column": {newGraph(1).source("in", "tss").with(eventTime("ts")).sink("out").edges("in>out"),
			[]string{`operator "in": time.timestamp_field: no column "ts"; did you mean "tss"? (in.go:1)`}},
		"time column of text": {newGraph(1).source("in", "ts:string").with(eventTime("ts")).sink("out").edges("in>out"),
			[]string{`operator "in": time.timestamp_field: column "ts" is utf8, which is no event time; event time is Int64 (milliseconds since 1970) or a timestamp; give the format of the source a schema that says so (in.go:1)`}},
		"no key column": {newGraph(1).source("in", "customer_id").op("op", fakeOp{}).sink("out").edges("in>op by costumer_id", "op>out"),
			[]string{`operator "op": key: no column "costumer_id"; did you mean "customer_id"? (op.go:1)`}},
		"no late port": {newGraph(1).source("in", "a").op("op", fakeOp{}).sink("out").sink("late").edges("in>op", "op>out", "op.1>late"),
			[]string{`operator "late": "op" has no late rows to route; only a window (or another event-time operator) whose late policy is route has (late.go:1)`}},
		"only late rows read": {newGraph(1).source("in", "a").op("op", fakeOp{late: true}).sink("out").edges("in>op", "op.1>out"),
			[]string{`operator "op": nobody reads its output port 0; end the stream in a Sink (connectors/drop throws rows away) (op.go:1)`}},
		"sink refuses": {newGraph(1).source("in", "a").sink("out", "b").edges("in>out"),
			[]string{`operator "out": no column "b"; there are "a" (out.go:1)`}},
		"no output": {newGraph(1).source("in", "a").op("op", fakeOp{none: true}).sink("out").edges("in>op", "op>out"),
			[]string{`operator "op": the operator "op" gives no output; this is a bug of the operator (op.go:1)`}},
		"output with a column twice": {newGraph(1).source("in", "a").op("op", fakeOp{adds: []string{"a"}}).sink("out").edges("in>op", "op>out"),
			[]string{`operator "op": schema: column "a" stands twice; give columns different names (op.go:1)`}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Compile(&c.g.g)
			require.Error(t, err)
			assert.Equal(t, c.want, messages(t, err))
		})
	}
}

// An operator that could route late rows need not.
func TestCompile_takesALatePortThatNobodyReads(t *testing.T) {
	b := newGraph(1).source("in", "a").op("op", fakeOp{late: true}).sink("out").edges("in>op", "op>out")
	_, err := Compile(&b.g)
	require.NoError(t, err)
}

func TestCompile_takesEveryTypeOfEventTime(t *testing.T) {
	for _, u := range []arrow.TimeUnit{arrow.Second, arrow.Millisecond, arrow.Microsecond, arrow.Nanosecond} {
		for _, zone := range []string{"", "UTC", "Europe/Berlin"} {
			s := arrow.NewSchema([]arrow.Field{{Name: "ts", Type: &arrow.TimestampType{Unit: u, TimeZone: zone}}}, nil)
			b := newGraph(1).source("in").with(func(n *graph.Node) { n.Source = fakeSource{s} }).with(eventTime("ts")).sink("out").edges("in>out")
			_, err := Compile(&b.g)
			require.NoError(t, err, "%s %s", u, zone)
		}
	}
}

// All operators' faults come at once; what depends on a faulty one is not blamed.
func TestCompile_gathersFaultsAndSparesDependents(t *testing.T) {
	b := newGraph(1).source("in", "a").
		op("bad1", fakeOp{needs: []string{"x"}}).op("after1", fakeOp{needs: []string{"y"}}).sink("out1", "z").
		op("bad2", fakeOp{needs: []string{"a", "q", "r"}}).sink("out2", "z").
		sink("out3", "b").
		edges("in>bad1", "bad1>after1", "after1>out1", "in>bad2", "bad2>out2", "in>out3")
	_, err := Compile(&b.g)
	assert.Equal(t, []string{
		`operator "bad1": input 0: no column "x"; there are "a" (bad1.go:1)`,
		`operator "bad2": input 0: no column "q"; there are "a" (bad2.go:1)`,
		`operator "bad2": input 0: no column "r"; there are "a" (bad2.go:1)`,
		`operator "out3": no column "b"; there are "a" (out3.go:1)`,
	}, messages(t, err))
}

func TestCompile_makesAFaultOfAPanic(t *testing.T) {
	b := newGraph(1).source("in", "a").op("op", fakeOp{panic: "oh no"}).sink("out").edges("in>op", "op>out")
	_, err := Compile(&b.g)
	require.ErrorContains(t, err, `operator "op": bind: panic: oh no`)
	require.ErrorContains(t, err, "fake_test.go", "the stack is there")
}

func TestCompile_leavesTheGraphAsItIs(t *testing.T) {
	b := newGraph(0).source("in", "a", MetaKey+":string").op("op", fakeOp{}).sink("out").edges("in>op dealt", "op>out")
	c, err := Compile(&b.g)
	require.NoError(t, err)
	assert.Equal(t, 0, b.g.Parallelism)
	assert.Equal(t, 0, b.g.Nodes[1].Parallelism)
	assert.Nil(t, b.g.Edges[0].Key)
	assert.Equal(t, []string{MetaKey}, c.Graph.Edges[0].Key)
	assert.Equal(t, 1, c.Graph.Nodes[1].Parallelism)
	assert.Empty(t, c.Plan.Warnings)
}

func TestCompile_warnsOfAPartitionedEdgeWithoutKey(t *testing.T) {
	b := newGraph(2).source("in", "a").op("op", fakeOp{}).sink("out").edges("in>op dealt", "op>out")
	c, err := Compile(&b.g)
	require.NoError(t, err)
	assert.Equal(t, []string{`edge "in" -> "op" is partitioned without a key: rows are dealt in turn`}, c.Plan.Warnings)
	open := newGraph(2).open("in").sink("out").edges("in>out dealt")
	c, err = Compile(&open.g)
	require.NoError(t, err)
	assert.Equal(t, []string{`edge "in" -> "out" is partitioned without a key: rows are dealt in turn`}, c.Plan.Warnings)
}

func TestB9_compileOverAnOpenSourceChecksTheStructureOnly(t *testing.T) {
	b := newGraph(1).open("in").with(eventTime("ts")).op("op", fakeOp{needs: []string{"x"}}).sink("out", "y").
		source("known", "a").sink("out2", "b").
		edges("in>op by k", "op>out", "known>out2")
	_, err := Compile(&b.g)
	assert.Equal(t, []string{`operator "out2": no column "b"; there are "a" (out2.go:1)`}, messages(t, err))
	b.g.Nodes[len(b.g.Nodes)-1].Sink = fakeSink{}
	c, err := Compile(&b.g)
	require.NoError(t, err)
	assert.Equal(t, []string{"in"}, c.Open)
	assert.Empty(t, c.Bound)
	assert.Contains(t, c.Streams, "known")

	// The schema comes: the same checks with the same messages.
	_, _, err = Bind(c.Graph, map[string]*arrow.Schema{"in": schemaOf("ts", "z")})
	assert.Equal(t, []string{`operator "op": key: no column "k"; there are "ts", "z" (op.go:1)`}, messages(t, err))
	_, _, err = Bind(c.Graph, map[string]*arrow.Schema{"in": schemaOf("k")})
	assert.Equal(t, []string{`operator "in": time.timestamp_field: no column "ts"; there are "k" (in.go:1)`}, messages(t, err))
	bound, streams, err := Bind(c.Graph, map[string]*arrow.Schema{"in": schemaOf("ts", "k", "x", "y")})
	require.NoError(t, err)
	assert.Contains(t, bound, "op")
	assert.Equal(t, []operator.Stream{{Schema: schemaOf("ts", "k", "x", "y"), Key: []string{"k"}}}, InputsOf(c.Graph, streams, "op"))

	// No record came: what depends on it stays unbound, the rest is there.
	bound, streams, err = Bind(c.Graph, nil)
	require.NoError(t, err)
	assert.Empty(t, bound)
	assert.Contains(t, streams, "known")
	assert.Nil(t, InputsOf(c.Graph, streams, "op"))
}

func TestFaults_leavesOutWhatIsKnownToBeBroken(t *testing.T) {
	b := newGraph(1).source("in", "a").op("op", fakeOp{needs: []string{"x"}}).sink("out", "y").sink("out2", "q").edges("in>op", "op>out", "in>out2")
	assert.Equal(t, []string{`operator "out2": no column "q"; there are "a" (out2.go:1)`},
		messages(t, Faults(&b.g, map[string]bool{"op": true}, true)))
	require.NoError(t, Faults(&b.g, nil, false))
}
