package arkflow_test

import (
	"strings"
	"testing"

	"github.com/arkflow-go/arkflow"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestB5_loadJobsTellsTheLineOfEachFault(t *testing.T) {
	text := `jobs:
  - id: good
    version: 1
    operators: [{id: in, kind: source}, {id: out, kind: sink}]
    edges: [{from: in, to: out}]
    sources: [{operator_id: in, input_type: generate, config: {context: '{"a": 1}', count: 1}, time: {mode: processing_time}}]
    sinks: [{operator_id: out, output_type: drop}]
  - id: bad
    version: 0
    operators:
      - {id: in, kind: source}
      - id: d
        kind: drop
        config:
          columns: [aa]
      - {id: f, kind: filtr}
      - {id: out, kind: sink}
    edges: [{from: in, to: d}, {from: d, to: f}, {from: f, to: out}]
    sources:
      - operator_id: in
        input_type: generate
        config:
          context: '{"a": 1, "b": 1}'
          cuont: 1
        time: {mode: processing_time}
    sinks:
      - {operator_id: out, output_type: kafka}
`
	_, err := arkflow.LoadJobs(nil, []byte(text))
	got := strings.Join(messages(t, err), "\n")
	for _, want := range []string{
		`jobs[1].version: 0 is no version; give 1 or more (line 9)`,
		`operator "in": jobs[1].sources[0].config.cuont: unknown field "cuont"; did you mean "count"? (line 24)`,
		`operator "f": jobs[1].operators[2].kind: operator "filtr" is not registered; did you mean "filter"?`,
		`operator "out": jobs[1].sinks[0]: sink "kafka" is not registered; registered are ["drop" "file" "memory" "stdout"] (line 27)`,
	} {
		assert.Contains(t, got, want)
	}
	_, err = arkflow.LoadJobs(nil, []byte(strings.Replace(text, "cuont", "count", 1)), "bad")
	assert.Contains(t, strings.Join(messages(t, err), "\n"), `operator "d": columns[0]: no column "aa"; did you mean "a"? (line 15)`)

	jobs, err := arkflow.LoadJobs(nil, []byte(text), "good")
	require.NoError(t, err)
	require.Len(t, jobs, 1)
	assert.Equal(t, "good", jobs[0].Name())
	_, err = arkflow.LoadJobs(nil, []byte(text), "god")
	assert.Equal(t, []string{`no job "god"; did you mean "good"?`}, messages(t, err))
	_, err = arkflow.LoadJobs(nil, []byte("jobs: 1"))
	require.ErrorContains(t, err, "jobs: want a list, not 1 (line 1)")
	_, err = arkflow.LoadJobs(nil, []byte(":"))
	require.Error(t, err)
}
