package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/arkflow-go/arkflow"
	"github.com/arkflow-go/arkflow/codec/parquet"
	"github.com/arkflow-go/arkflow/operator"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// said is what a run of the program left behind.
type said struct {
	code     int
	out, err string
}

// command runs the program over a document that it reads from its standard input.
func command(text string, signals <-chan os.Signal, args ...string) said {
	var out, stderr bytes.Buffer
	code := run(args, env{strings.NewReader(text), &out, &stderr, signals, operator.SystemClock{}})
	return said{code, out.String(), stderr.String()}
}

// document has one job that writes rows to a file; count 0 is without end.
func document(id, to, count string) string {
	return `
  - id: ` + id + `
    version: 1
    placement: split
    operators: [{id: in, kind: source}, {id: perminute, kind: window, config: {size_ms: 60000, key: a, aggregates: [{function: count}]}}, {id: raw, kind: sink}, {id: out, kind: sink}]
    edges: [{from: in, to: raw}, {from: in, to: perminute}, {from: perminute, to: out}]
    sources:
      - operator_id: in
        input_type: generate
        config: {context: '{"a": 1}', interval: 500ms, batch_size: 10` + count + `}
        time: {mode: ingestion_time}
    sinks: [{operator_id: raw, output_type: file, config: {path: "` + filepath.ToSlash(to) + `"}}, {operator_id: out, output_type: drop}]
`
}

func lines(t *testing.T, pattern string) int {
	t.Helper()
	files, err := filepath.Glob(pattern)
	require.NoError(t, err)
	n := 0
	for _, f := range files {
		b, err := os.ReadFile(f)
		require.NoError(t, err)
		n += bytes.Count(b, []byte("\n"))
	}
	return n
}

func TestRunspecShowsAJobWithoutStartingIt(t *testing.T) {
	to := filepath.Join(t.TempDir(), "rows.jsonl")
	text := "jobs:" + document("a", to, "") + document("b", to+"2", "")
	s := command(text, nil, "-f", "-", "-validate")
	assert.Equal(t, said{0, "job a is valid\njob b is valid\n", "job a: warning: placement split is ignored: the job runs in this process\n" +
		"job b: warning: placement split is ignored: the job runs in this process\n"}, s)
	s = command(text, nil, "-f", "-", "-job", "b", "-validate")
	assert.Equal(t, "job b is valid\n", s.out)
	s = command(text, nil, "-f", "-", "-explain")
	assert.Zero(t, s.code)
	assert.Contains(t, s.out, "job a: ")
	assert.Contains(t, s.out, "\n\njob b: ")
	assert.Contains(t, s.out, "placement split is ignored")
	s = command(text, nil, "-f", "-", "-dot", "-job", "a")
	assert.Zero(t, s.code)
	assert.True(t, strings.HasPrefix(s.out, "digraph"), s.out)
	assert.Zero(t, lines(t, to+"*"))
	schema, err := arkflow.SpecSchema()
	require.NoError(t, err)
	assert.Equal(t, said{0, string(schema), ""}, command("", nil, "-schema"))
}

func TestRunspecListsEveryFaultAndStartsNothing(t *testing.T) {
	to := filepath.Join(t.TempDir(), "rows.jsonl")
	good := "jobs:" + document("a", to, ", count: 5")
	for _, mode := range []string{"-validate", "-explain", "-dot", "-job=a"} {
		text := strings.NewReplacer("input_type: generate", "input_type: kafka", "version: 1", "version: 0", "kind: window", "kind: windw").Replace(good)
		s := command(text, nil, "-f", "-", mode)
		assert.Equal(t, 2, s.code)
		assert.Empty(t, s.out)
		got := strings.Split(strings.TrimSuffix(s.err, "\n"), "\n")
		require.Len(t, got, 3, s.err)
		assert.Equal(t, "jobs[0].version: 0 is no version; give 1 or more (line 3)", got[0])
		assert.Contains(t, s.err, `operator "in": jobs[0].sources[0]: source "kafka" is not registered; registered are ["file" "generate" "memory"] (line 8)`)
		assert.Contains(t, s.err, `operator "perminute": jobs[0].operators[1].kind: operator "windw" is not registered; did you mean "window"? there are ["source"`)
	}
	s := command(strings.Replace(good, "version: 1", "version: one\n    oops: 1", 1), nil, "-f", "-")
	assert.Equal(t, 2, s.code)
	assert.Contains(t, s.err, `jobs[0].version: want an integer, not "one" (line 3)`)
	assert.Contains(t, s.err, `(line 4)`)
	assert.Equal(t, 2, command("jobs: [", nil, "-f", "-").code)
	assert.Equal(t, said{2, "", "no job \"b\"; there are \"a\"\n"}, command(good, nil, "-f", "-", "-job", "b"))
	assert.Zero(t, lines(t, to+"*"))
}

func TestRunspecRefusesACommandLineThatMeansNothing(t *testing.T) {
	for want, args := range map[string][]string{
		"give the document with -f":  {},
		"unexpected argument \"x\"":  {"-f", "-", "x"},
		"give one of -validate":      {"-f", "-", "-dot", "-explain"},
		"flag provided but not defi": {"-file", "x"},
		"no-such-file.yaml":          {"-f", "no-such-file.yaml"},
	} {
		s := command("", nil, args...)
		assert.Equal(t, 2, s.code, want)
		assert.Contains(t, s.err, want)
	}
	assert.Zero(t, command("", nil, "-h").code)
}

// Two jobs of one document run at once; progress is told each second and a summary at the end.
func TestRunspecRunsJobsToTheirEnd(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "jobs.yaml")
	text := "jobs:" + document("a", filepath.Join(dir, "a.jsonl"), ", count: 50") + document("b", filepath.Join(dir, "b.jsonl"), ", count: 20")
	require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	synctest.Test(t, func(t *testing.T) {
		s := command("", nil, "-f", file)
		assert.Equal(t, 0, s.code, s.err)
		assert.Empty(t, s.out)
		assert.Regexp(t, `(?m)^job a: running, \d+ rows/s, \d+ rows in, watermark 2000-01-01T00:00:\d\d.\d{3}Z, lag \S+s$`, s.err)
		assert.Regexp(t, `(?m)^job a: finished after 2s: 50 rows in, 51 rows out; `, s.err)
		assert.Regexp(t, `(?m)^job b: finished after .*: 20 rows in, 21 rows out; `, s.err)
	})
	assert.Equal(t, 50, lines(t, filepath.Join(dir, "a*.jsonl")))
	assert.Equal(t, 20, lines(t, filepath.Join(dir, "b*.jsonl")))
}

func TestRunspecEndsWith1WhenAJobFails(t *testing.T) {
	dir := t.TempDir()
	in := filepath.Join(dir, "in.jsonl")
	require.NoError(t, os.WriteFile(in, []byte("{\"a\": 1}\n{\"a\": \"x\"}\n"), 0o600))
	bad := strings.Replace(document("bad", filepath.Join(dir, "bad.jsonl"), ""), "input_type: generate", "input_type: file\n        codec: {type: json, schema: [{name: a, type: int64}]}", 1)
	at := strings.Index(bad, "config: {context")
	bad = bad[:at] + `config: {path: "` + filepath.ToSlash(in) + `"}` + bad[at+strings.Index(bad[at:], "\n"):]
	s := command("jobs:"+bad+document("good", filepath.Join(dir, "good.jsonl"), ", count: 10"), nil, "-f", "-")
	assert.Equal(t, 1, s.code)
	assert.Contains(t, s.err, `runspec: job "bad": `)
	assert.Contains(t, s.err, "job bad: failed after ")
	assert.Contains(t, s.err, "job good: finished after ")

	s = command("jobs:"+strings.Replace(bad, "in.jsonl", "none.jsonl", 1), nil, "-f", "-")
	assert.Equal(t, 1, s.code, "what is wrong with the world is no fault of the spec")
	assert.Contains(t, s.err, "none.jsonl")
}

func TestRunspecKnowsParquet(t *testing.T) {
	reg, err := registry()
	require.NoError(t, err)
	require.ErrorContains(t, parquet.Register(reg), "it is registered already")
}

func TestRunspecStopsAtTheFirstSignal(t *testing.T) {
	to := filepath.Join(t.TempDir(), "rows.jsonl")
	synctest.Test(t, func(t *testing.T) {
		signals := make(chan os.Signal, 2)
		time.AfterFunc(3200*time.Millisecond, func() { signals <- os.Interrupt })
		s := command("jobs:"+document("a", to, ""), signals, "-f", "-")
		assert.Equal(t, 0, s.code, s.err)
		assert.Equal(t, 3, strings.Count(s.err, "job a: running, "), s.err)
		assert.Contains(t, s.err, "stopping: rows in flight reach the sinks, open windows are not fired")
		assert.Contains(t, s.err, "open windows are lost")
		assert.Regexp(t, `(?m)^job a: suspended after 3\.2s: 70 rows in, 70 rows out; 22 rows/s$`, s.err)
	})
	assert.Equal(t, 70, lines(t, to[:len(to)-6]+"*"))
}

// A sink that holds its rows back keeps a stop from ending.
func TestRunspecCancelsAtTheSecondSignal(t *testing.T) {
	text := "jobs:" + document("a", filepath.Join(t.TempDir(), "rows.jsonl"), "")
	text = strings.Replace(text, "output_type: file", "max_rate: 0.001, output_type: file", 1)
	synctest.Test(t, func(t *testing.T) {
		signals := make(chan os.Signal, 3)
		time.AfterFunc(3200*time.Millisecond, func() { signals <- os.Interrupt })
		time.AfterFunc(7500*time.Millisecond, func() { signals <- os.Interrupt })
		s := command(text, signals, "-f", "-")
		assert.Equal(t, 1, s.code)
		assert.Equal(t, 1, strings.Count(s.err, "stopping: rows in flight"), s.err)
		assert.Equal(t, 1, strings.Count(s.err, "cancelling: what is in flight is dropped"), s.err)
		assert.Contains(t, s.err, "job a: suspended after 7.5s: ")
		assert.Contains(t, s.err, "job a was cancelled: what was in flight is lost\n")
	})
}
