package arkflow_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/arkflow-go/arkflow"
	"github.com/arkflow-go/arkflow/connectors/drop"
	"github.com/arkflow-go/arkflow/connectors/file"
	"github.com/arkflow-go/arkflow/connectors/generate"
	"github.com/arkflow-go/arkflow/connectors/memory"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// E6: every error policy of the builder is written, read and made again, in both forms.
func TestE6ErrorPoliciesAreWrittenAndReadAgain(t *testing.T) {
	letters := file.Sink{URL: filepath.Join(t.TempDir(), "letters.jsonl")}
	for want, p := range map[string]arkflow.ErrorPolicy{
		"":                  arkflow.Fail(),
		"on_error: skip\n":  arkflow.Skip(),
		"retry: 3":          arkflow.Retry(3, 0),
		"backoff_ms: 1500":  arkflow.Retry(3, 1500*time.Millisecond),
		"then: skip":        arkflow.Retry(1, time.Second).Then(arkflow.Skip()),
		"then: dead_letter": arkflow.DeadLetter(letters),
		"dead_letter:\n            output_type: drop\n": arkflow.DeadLetter(drop.Sink{}),
		"output_type: file":                             arkflow.Retry(2, time.Minute).Then(arkflow.DeadLetter(letters)),
		"backoff_ms: 1.5ms\n":                           arkflow.Retry(2, 1500*time.Microsecond),
		"letters.jsonl":                                 arkflow.DeadLetter(letters),
		"output_type: memory\n":                         arkflow.DeadLetter(memory.NewSink()),
	} {
		t.Run(want+p.String(), func(t *testing.T) {
			j := arkflow.NewJob("job")
			j.Source("in", generate.Source{Context: `{"a": 1, "b": 2}`, Count: 1}, arkflow.ProcessingTime(), arkflow.OnError(p)).
				Drop("d", "a").With(arkflow.OnError(p)).Sink("out", drop.Sink{}, arkflow.OnError(p))
			spec, err := j.Spec()
			require.NoError(t, err)
			require.NoError(t, spec.Validate())
			text, err := arkflow.FormatSpecs(spec)
			require.NoError(t, err)
			n := 3
			if want == "" {
				n, want = 0, "on_error"
			}
			assert.Equal(t, n, strings.Count(string(text), want), "%s", text)
			specs, err := arkflow.LoadSpecs(text)
			require.NoError(t, err, "%s", text)
			back, err := arkflow.FromSpec(nil, specs[0])
			require.NoError(t, err, "%s", text)
			wantPlan, err := j.Compile()
			require.NoError(t, err)
			plan, err := back.Compile()
			require.NoError(t, err)
			assert.Equal(t, wantPlan.Explain(), plan.Explain())
			again, err := back.Spec()
			require.NoError(t, err)
			assert.Equal(t, specs[0], again)
		})
	}
}

func withPolicy(text string) string {
	return `jobs:
  - id: job
    version: 1
    operators:
      - {id: in, kind: source}
      - id: out
        kind: sink
        on_error: ` + text + `
    edges: [{from: in, to: out}]
    sources: [{operator_id: in, input_type: generate, config: {context: '{"a": 1}', count: 1}, time: {mode: processing_time}}]
    sinks: [{operator_id: out, output_type: drop}]
`
}

func TestE6ErrorPoliciesOfASpecAreStrict(t *testing.T) {
	for text, want := range map[string]string{
		"5":            `jobs[0].operators[1].on_error: want fail, skip or a mapping with retry, backoff_ms, then and dead_letter, not 5 (line 8)`,
		"{retries: 3}": `jobs[0].operators[1].on_error.retries: unknown field "retries"; there are "backoff_ms", "dead_letter", "retry", "then" (line 8)`,
		"{retry: many, backoff_ms: soon}": `jobs[0].operators[1].on_error.backoff_ms: want a duration such as 500ms or 2m, not "soon" (line 8)` + "\n" +
			`jobs[0].operators[1].on_error.retry: want an integer, not "many" (line 8)`,
		"{then: dead_letter, dead_letter: {type: file}}": `jobs[0].operators[1].on_error.dead_letter.type: unknown field "type"`,
		"{dead_letter: 7}": `jobs[0].operators[1].on_error.dead_letter: want a mapping, not 7 (line 8)`,
	} {
		_, err := arkflow.LoadSpecs([]byte(withPolicy(text)))
		assert.Contains(t, strings.Join(messages(t, err), "\n"), want, text)
	}
	for text, want := range map[string]string{
		"ignore":                               `operators[1].on_error: no error policy "ignore"; there are "dead_letter", "fail", "skip"`,
		"{retry: 1, then: skp}":                `operators[1].on_error.then: no error policy "skp"; did you mean "skip"?`,
		"{retry: -1}":                          `operators[1].on_error.retry: -1 is negative; give 0 (no further try) or more`,
		"{retry: 1, backoff_ms: -1}":           `operators[1].on_error.backoff_ms: -1ms is negative; give 0 or more`,
		"{backoff_ms: 5, then: skip}":          `operators[1].on_error.backoff_ms: means nothing without retry; give retry: 1 or more, or remove it`,
		"dead_letter":                          `operators[1].on_error.dead_letter: is missing; describe the sink`,
		"{then: dead_letter}":                  `operators[1].on_error.dead_letter: is missing; describe the sink`,
		"{dead_letter: {output_type: drop}}":   `operators[1].on_error.dead_letter: means nothing without then: dead_letter`,
		"{then: dead_letter, dead_letter: {}}": `operators[1].on_error.dead_letter.output_type: there is no output_type`,
		"{then: dead_letter, dead_letter: {output_type: drop, config: {type: file}}}": `operators[1].on_error.dead_letter.config.type: "file" is not the output_type, which is "drop"`,
		"{then: dead_letter, dead_letter: {output_type: dorp}}":                       `operator "out": operators[1].on_error.dead_letter: sink "dorp" is not registered; did you mean "drop"?`,
		"{then: dead_letter, dead_letter: {output_type: file, config: {urll: x}}}":    `operator "out": operators[1].on_error.dead_letter.config.urll: unknown field "urll"`,
		"{then: dead_letter, dead_letter: {output_type: stdout, codec: {type: jsn}}}": `operator "out": operators[1].on_error.dead_letter.codec.type: `,
	} {
		specs, err := arkflow.LoadSpecs([]byte(withPolicy(text)))
		require.NoError(t, err, text)
		_, err = arkflow.FromSpec(nil, specs[0])
		assert.Contains(t, strings.Join(messages(t, err), "\n"), want, text)
	}
}

// A dead-letter sink of a spec takes the rows in error of a job that runs.
func TestE6DeadLetterOfASpecTakesRows(t *testing.T) {
	dir := t.TempDir()
	in, letters := filepath.Join(dir, "in.jsonl"), filepath.Join(dir, "letters.jsonl")
	require.NoError(t, os.WriteFile(in, []byte("{\"a\": 1}\n{\"a\": \"x\"}\n{\"a\": 2}\n"), 0o600))
	specs, err := arkflow.LoadSpecs([]byte(`{"jobs": [{"id": "job", "version": 1,
		"operators": [{"id": "in", "kind": "source", "on_error": {"retry": 1, "backoff_ms": 1, "then": "dead_letter",
			"dead_letter": {"output_type": "file", "config": {"path": "` + filepath.ToSlash(letters) + `"}, "codec": {"type": "json"}}}}, {"id": "out", "kind": "sink"}],
		"edges": [{"from": "in", "to": "out"}],
		"sources": [{"operator_id": "in", "input_type": "file", "config": {"path": "` + filepath.ToSlash(in) + `"},
			"codec": {"type": "json", "schema": [{"name": "a", "type": "int64"}]}, "time": {"mode": "processing_time"}}],
		"sinks": [{"operator_id": "out", "output_type": "drop"}]}]}`))
	require.NoError(t, err)
	j, err := arkflow.FromSpec(nil, specs[0])
	require.NoError(t, err)
	h, err := arkflow.Runtime{}.Start(t.Context(), j)
	require.NoError(t, err)
	require.NoError(t, h.Wait(t.Context()))
	assert.EqualValues(t, 2, h.Status().Operator("out").RowsIn)
	files, err := filepath.Glob(filepath.Join(dir, "letters*"))
	require.NoError(t, err)
	require.Len(t, files, 1)
	text, err := os.ReadFile(files[0])
	require.NoError(t, err)
	assert.Equal(t, 1, strings.Count(string(text), "\n"), "%s", text)
	assert.Contains(t, string(text), `"phase":"decode"`)
}
