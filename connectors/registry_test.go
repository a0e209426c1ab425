package connectors

import (
	"testing"

	"github.com/arkflow-go/arkflow/operator"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

type fakeOp struct{ operator.Operator }
type fakeSink struct{ operator.Sink }

func newSink(Params) (operator.Sink, error) { return fakeSink{}, nil }

func TestRegistry_namesWhatIsThere(t *testing.T) {
	var r Registry
	_, err := r.Sink("stdout", Params{})
	require.EqualError(t, err, `sink "stdout" is not registered; no sink is registered at all`)
	require.NoError(t, r.RegisterSink("stdout", newSink))
	require.NoError(t, r.RegisterSink("file", newSink))
	_, err = r.Sink("stdou", Params{})
	require.EqualError(t, err, `sink "stdou" is not registered; did you mean "stdout"? registered are ["file" "stdout"]`)
	_, err = r.Sink("kafka", Params{})
	require.EqualError(t, err, `sink "kafka" is not registered; registered are ["file" "stdout"]`)
	s, err := r.Sink("file", Params{})
	require.NoError(t, err)
	assert.Equal(t, fakeSink{}, s)
}

func TestRegistry_refusesWhatCannotBeMeant(t *testing.T) {
	var r Registry
	require.NoError(t, r.RegisterSource("queue", func(Params) (operator.Source, error) { return nil, nil }))
	require.EqualError(t, r.RegisterSource("queue", func(Params) (operator.Source, error) { return nil, nil }), `register source "queue": it is registered already`)
	require.EqualError(t, r.RegisterSource("other", nil), `register source "other": it is nil`)
	require.EqualError(t, r.RegisterSource("a b", func(Params) (operator.Source, error) { return nil, nil }), `register source "a b": a name is 1 to 128 of A-Z a-z 0-9 _ - . /`)
	require.ErrorContains(t, r.RegisterOperator("sink", func(Params) (operator.Operator, error) { return nil, nil }), "the word is taken")
	require.EqualError(t, r.RegisterFunction("f", nil), `register function "f": it is nil`)
}

func TestRegistry_givesComponentsTheFunctions(t *testing.T) {
	var r Registry
	require.NoError(t, r.RegisterFunction("score/v1", fakeOp{}))
	require.NoError(t, r.RegisterOperator("map", func(p Params) (operator.Operator, error) {
		return p.Function(p.Config["function"].(string))
	}))
	op, err := r.Operator("map", Params{Config: map[string]any{"function": "score/v1"}})
	require.NoError(t, err)
	assert.Equal(t, fakeOp{}, op)
	_, err = r.Operator("map", Params{Config: map[string]any{"function": "score/v2"}})
	require.EqualError(t, err, `function "score/v2" is not registered; did you mean "score/v1"? registered are ["score/v1"]`)
	assert.Equal(t, []string{"map"}, r.OperatorKinds())
}
