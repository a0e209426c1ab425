package arkflow_test

import (
	"testing"
	"time"

	"github.com/arkflow-go/arkflow"
	"github.com/arkflow-go/arkflow/connectors/drop"
	"github.com/arkflow-go/arkflow/connectors/generate"
	"github.com/arkflow-go/arkflow/connectors/memory"
	"github.com/arkflow-go/arkflow/operator"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestB3_mistakesOfTheNewVerbsComeTogether(t *testing.T) {
	j := arkflow.NewJob("job")
	src := orders(j)
	parts := src.Split("s", arkflow.When("paid", status.Eq("paid")), arkflow.When("large", amount.Gt(5)), arkflow.Otherwise("rest"))
	parts.Branch("piad").Filter("never", amount.Gt(0)).Sink("out-1", drop.Sink{})
	flat := src.Apply("flat", operator.FlatMapSides(bothScores, negatives))
	flat.Sink("out-2", drop.Sink{})
	flat.Side("positives").Sink("out-3", drop.Sink{})
	src.Side("x").Sink("out-4", drop.Sink{})
	got := messages(t, j.Err())
	require.Len(t, got, 3)
	assert.Contains(t, got[0], `operator "s": no branch "piad"; did you mean "paid"? (streams_test.go:20)`)
	assert.Contains(t, got[1], `operator "flat": no side output "positives"; there are "main", "negatives" (streams_test.go:23)`)
	assert.Contains(t, got[2], `operator "orders": no side output "x"; there is no side output at all (streams_test.go:24)`)
}

func TestB3_everyOutputMustBeRead(t *testing.T) {
	j := arkflow.NewJob("job")
	src := orders(j)
	parts := src.Split("s", arkflow.When("paid", status.Eq("paid")), arkflow.When("large", amount.Gt(5)), arkflow.Otherwise("rest"))
	parts.Branch("large").Sink("out", drop.Sink{})
	flat := src.Apply("flat", operator.FlatMapSides(bothScores, negatives))
	flat.Sink("out-2", drop.Sink{})
	_, err := j.Compile()
	got := messages(t, err)
	require.Len(t, got, 3)
	assert.Contains(t, got[0], `operator "s": nobody reads its output "paid"; end the stream in a Sink`)
	assert.Contains(t, got[1], `operator "s": nobody reads its output "rest"`)
	assert.Contains(t, got[2], `operator "flat": nobody reads its output "negatives"`)
}

func TestB3_faultsOfTypedViewsNameFieldAndColumns(t *testing.T) {
	type wrong struct {
		Amuont float64 `arkflow:"amuont"`
		Status int64   `arkflow:"status"`
	}
	j := arkflow.NewJob("job")
	arkflow.Map(arkflow.As[wrong](orders(j)), "m", func(w wrong) wrong { return w }).Stream().Sink("out", drop.Sink{})
	arkflow.As[order](orders(arkflow.NewJob("other"))).Named("x")
	_, err := j.Compile()
	got := messages(t, err)
	require.Len(t, got, 2)
	assert.Contains(t, got[0], `operator "m": field "Amuont" of arkflow_test.wrong: no column "amuont"; did you mean "amount"?`)
	assert.Contains(t, got[1], `column "status" has type utf8, the field has type int64: the one is never the other; make the field a string`)

	j = arkflow.NewJob("job")
	arkflow.As[order](orders(j)).Named("x").Stream().Sink("out", drop.Sink{})
	assert.Contains(t, messages(t, j.Err())[0], `operator "orders": cannot be named "x": it is no function; name the stream that Map, FlatMap, Filter or Async gave`)
	var none arkflow.Typed[order]
	none.Named("x").Filter("f", isPaid).With(arkflow.Tasks(2)).Stream().Split("s").With().Branch("x").Side("y").Union("u").WithTimestamps("t", "ts").Sink("out", drop.Sink{})
}

func TestB3_unionsOfOtherJobsAndTimes(t *testing.T) {
	j, other := arkflow.NewJob("job"), arkflow.NewJob("other")
	now := j.Source("now", generate.Source{Context: `{"ts": 1, "customer_id": "c", "status": "paid", "amount": 1.5}`}, arkflow.ProcessingTime())
	orders(j).Union("u", now).Sink("out", drop.Sink{})
	_, err := j.Compile()
	got := messages(t, err)
	require.Len(t, got, 1)
	assert.Contains(t, got[0], `operator "u": input 1: is a stream of processing time, input 0 one of event time; give both sources the same time policy, or WithTimestamps`)
	now.Union("v", orders(other))
	assert.Contains(t, j.Err().Error(), `operator "v": input 1 is a stream of another job, "other"`)
	_, err = arkflow.NewJob("job").Compile()
	require.Error(t, err)
	j = arkflow.NewJob("job")
	now = j.Source("now", generate.Source{Context: `{"ts": 1, "customer_id": "c", "status": "paid", "amount": 1.5}`}, arkflow.ProcessingTime()).
		WithTimestamps("t", "ts", arkflow.OutOfOrderness(time.Second))
	orders(j).Union("u", now).Sink("out", drop.Sink{})
	_, err = j.Compile()
	require.NoError(t, err)
}

// ported is a spec with an operator and edges out of it by port.
func ported(op arkflow.OperatorSpec, ports ...string) arkflow.JobSpec {
	s := base()
	s.Sources[0] = arkflow.SourceSpec{OperatorID: "in", InputType: "generate", Config: map[string]any{"context": `{"ts": 1, "customer_id": "c", "status": "paid", "amount": 1.5}`},
		Time: &arkflow.TimeSpec{Mode: "processing_time"}}
	op.ID = "op"
	s.Operators, s.Sinks = []arkflow.OperatorSpec{{ID: "in", Kind: "source"}, op}, nil
	s.Edges = []arkflow.EdgeSpec{{From: "in", To: "op"}}
	for i, p := range ports {
		id := "out-" + string(rune('a'+i))
		s.Operators = append(s.Operators, arkflow.OperatorSpec{ID: id, Kind: "sink"})
		s.Sinks = append(s.Sinks, arkflow.SinkSpec{OperatorID: id, OutputType: "drop"})
		s.Edges = append(s.Edges, arkflow.EdgeSpec{From: "op", To: id, Port: p})
	}
	return s
}

func TestB5_edgesNamePorts(t *testing.T) {
	reg := arkflow.NewRegistry()
	require.NoError(t, reg.RegisterFunction("both", operator.FlatMapSides(bothScores, negatives)))
	require.NoError(t, reg.RegisterFunction("one", operator.FlatMap(func(order, func(scored)) {})))
	split := arkflow.OperatorSpec{Kind: "split", Config: map[string]any{"otherwise": "rest",
		"when": []any{map[string]any{"name": "paid", "where": "status = 'paid'"}}}}
	both := arkflow.OperatorSpec{Kind: "flat_map", Config: map[string]any{"function": "both"}}
	for name, c := range map[string]struct {
		spec     arkflow.JobSpec
		validate []string // what Validate says
		want     []string // what FromSpec says
	}{
		"of a split":           {ported(split, "paid", "rest"), nil, nil},
		"of side outputs":      {ported(both, "", "negatives"), nil, nil},
		"main by name":         {ported(both, "main", "negatives"), nil, nil},
		"of a split, misspelt": {ported(split, "piad", "rest"), []string{`edges[1].port: no port "piad"; did you mean "paid"?`}, []string{`edges[1].port: no port "piad"; did you mean "paid"?`}},
		"none of a split":      {ported(split, "", "rest"), []string{`edges[1].port: operator "op" has no main output; there are "paid", "rest"`}, []string{`edges[1].port: operator "op" has no main output; there are "paid", "rest"`}},
		"of side outputs, misspelt": {ported(both, "", "negative"), nil,
			[]string{`edges[2].port: no port "negative"; did you mean "negatives"?`}},
		"of none":     {ported(arkflow.OperatorSpec{Kind: "flat_map", Config: map[string]any{"function": "one"}}, "", "more"), nil, []string{`edges[2].port: no port "more"; there are "late", "main"`}},
		"of a filter": {ported(arkflow.OperatorSpec{Kind: "drop", Config: map[string]any{"columns": []any{"ts"}}}, "lates"), []string{`edges[1].port: no port "lates"; did you mean "late"?`}, []string{`edges[1].port: no port "lates"; did you mean "late"?`}},
		"no name":     {ported(both, "", "a b"), []string{`edges[2].port: port "a b" is not allowed; use 1 to 128 of A-Z a-z 0-9 _ -`}, nil},
		"unread":      {ported(split, "paid"), nil, []string{`operator "op": nobody reads its output "rest"; end the stream in a Sink (connectors/drop throws rows away)`}},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			if err := c.spec.Validate(); err != nil {
				got = messages(t, err)
			}
			assert.Equal(t, c.validate, got, "Validate")
			j, err := arkflow.FromSpec(reg, c.spec)
			if c.want == nil && c.validate == nil {
				require.NoError(t, err)
				again, err := j.Spec()
				require.NoError(t, err)
				assert.Equal(t, c.spec, again)
				return
			}
			require.Error(t, err)
			if c.want != nil {
				assert.Equal(t, c.want, messages(t, err))
			}
		})
	}
}

// B3: the builder never panics, whatever an operator does.
func TestB3AnOperatorWhoseTagsPanicHasNoSideOutput(t *testing.T) {
	job := arkflow.NewJob("j")
	job.Source("in", memory.Of([]tick{}), arkflow.ProcessingTime()).Apply("op", untagged{}).Side("x").Sink("out", memory.NewSink())
	require.ErrorContains(t, job.Err(), `operator "op": no side output "x"`)
}

type untagged struct{ operator.Operator }

func (untagged) Kind() string   { return "untagged" }
func (untagged) Tags() []string { panic("oh") }
