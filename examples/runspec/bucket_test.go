package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/arkflow-go/arkflow"
	"github.com/arkflow-go/arkflow/checkpoint/storage"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// interruptAt sends one signal after a time.
func interruptAt(d time.Duration) <-chan os.Signal {
	signals := make(chan os.Signal, 1)
	time.AfterFunc(d, func() { signals <- os.Interrupt })
	return signals
}

// A job that is stopped by a signal goes on when it is started again, with its open window, and reads nothing twice.
func TestRunspecGoesOnWhereItWasStopped(t *testing.T) {
	dir := t.TempDir()
	bucket := "file://" + filepath.ToSlash(dir) + "/bucket"
	text := "jobs:" + document("a", filepath.Join(dir, "a.jsonl"), ", count: 100") + document("b", filepath.Join(dir, "b.jsonl"), ", count: 100")
	text = strings.ReplaceAll(text, "{operator_id: out, output_type: drop}", "{operator_id: out, output_type: file, config: {path: "+filepath.ToSlash(dir)+"/totals.jsonl}}")
	text = strings.Replace(text, "totals.jsonl", "totals-b.jsonl", 1)
	synctest.Test(t, func(t *testing.T) {
		s := command(text, interruptAt(3200*time.Millisecond), "-f", "-", "-bucket", bucket)
		require.Equal(t, 0, s.code, s.err)
		require.Contains(t, s.err, "open windows are not fired and stay in the bucket")
		require.NotContains(t, s.err, "are lost")
		require.NotContains(t, s.err, "goes on from")
		require.Regexp(t, `(?m)^job a: suspended after 3\.2s: 70 rows in, 70 rows out; `, s.err)
		s = command(text, nil, "-f", "-", "-bucket", bucket)
		require.Equal(t, 0, s.code, s.err)
		require.Regexp(t, `(?m)^job a: goes on from epoch \d+, \d+ entries of state$`, s.err)
		require.Regexp(t, `(?m)^job a: finished after .*: 30 rows in, 31 rows out; `, s.err)
		require.Regexp(t, `(?m)^job b: finished after .*: 30 rows in, 31 rows out; `, s.err)

		s = command(text, nil, "-f", "-", "-bucket", bucket)
		require.Equal(t, 0, s.code, s.err)
		require.Regexp(t, `(?m)^job a: finished after .*: 0 rows in, 0 rows out`, s.err, "nothing is read twice")
		s = command(text, nil, "-f", "-", "-bucket", bucket, "-fresh", "-job", "b")
		require.Equal(t, 0, s.code, s.err)
		require.Regexp(t, `(?m)^job b: finished after .*: 100 rows in, 101 rows out`, s.err)
	})
	require.Equal(t, 100, lines(t, filepath.Join(dir, "a*.jsonl")))
	totals, err := os.ReadFile(filepath.Join(dir, "totals.jsonl"))
	require.NoError(t, err)
	require.Contains(t, string(totals), `"count":100`)
}

func TestRunspecRescalesOnlyWhenItIsTold(t *testing.T) {
	dir := t.TempDir()
	bucket := "file://" + filepath.ToSlash(dir) + "/bucket"
	text := "jobs:" + document("a", filepath.Join(dir, "a.jsonl"), "")
	wider := strings.Replace(text, "version: 1", "version: 1\n    parallelism: 3", 1)
	synctest.Test(t, func(t *testing.T) {
		require.Equal(t, 0, command(text, interruptAt(1200*time.Millisecond), "-f", "-", "-bucket", bucket).code)
		s := command(wider, nil, "-f", "-", "-bucket", bucket)
		require.Equal(t, 1, s.code)
		require.Contains(t, s.err, "give Rescale() to redistribute it")
		s = command(wider, interruptAt(1200*time.Millisecond), "-f", "-", "-bucket", bucket, "-rescale")
		require.Equal(t, 0, s.code, s.err)
		require.Contains(t, s.err, "job a: goes on from epoch ")
	})
}

// C4: who stands by waits for the end of the other process; a signal ends the wait.
func TestRunspecStandsBy(t *testing.T) {
	dir := t.TempDir()
	bucket := "file://" + filepath.ToSlash(dir) + "/bucket"
	text := "jobs:" + document("a", filepath.Join(dir, "a.jsonl"), "")
	synctest.Test(t, func(t *testing.T) {
		ended := make(chan said)
		go func() { ended <- command(text, interruptAt(20*time.Second), "-f", "-", "-bucket", bucket) }()
		time.Sleep(time.Second)
		s := command(text, interruptAt(15*time.Second), "-f", "-", "-bucket", bucket, "-standby")
		require.Equal(t, 1, s.code, s.err)
		require.Contains(t, s.err, "job a: waiting until no other process runs it\n")
		require.Contains(t, s.err, "interrupted before all jobs had started")
		s = command(text, interruptAt(10*time.Second), "-f", "-", "-bucket", bucket, "-standby")
		require.Equal(t, 0, s.code, s.err)
		require.Contains(t, s.err, "job a: goes on from epoch ")
		first := <-ended
		require.Equal(t, 0, first.code, first.err)
	})
}

func TestRunspecBeginsWithASavepoint(t *testing.T) {
	dir := t.TempDir()
	savepoint := "file://" + filepath.ToSlash(dir) + "/savepoint"
	text := "jobs:" + document("a", filepath.Join(dir, "a.jsonl"), ", count: 100")
	synctest.Test(t, func(t *testing.T) {
		reg, err := registry()
		require.NoError(t, err)
		jobs, err := arkflow.LoadJobs(reg, []byte(text))
		require.NoError(t, err)
		h, err := arkflow.Runtime{}.Start(t.Context(), jobs[0])
		require.NoError(t, err)
		time.Sleep(3200 * time.Millisecond)
		_, err = h.Savepoint(t.Context(), savepoint)
		require.NoError(t, err)
		require.NoError(t, h.Cancel(t.Context()))
		s := command(text, nil, "-f", "-", "-savepoint", savepoint)
		require.Equal(t, 0, s.code, s.err)
		require.Regexp(t, `(?m)^job a: finished after .*: 30 rows in, 31 rows out; `, s.err)
	})
	s := command(text+document("b", filepath.Join(dir, "b.jsonl"), ""), nil, "-f", "-", "-savepoint", savepoint)
	require.Equal(t, said{2, "", "runspec: a savepoint is of one job: give it with -job\n"}, s)
	s = command(text, nil, "-f", "-", "-savepoint", savepoint+"2")
	require.Equal(t, 1, s.code)
	require.Contains(t, s.err, "there is no savepoint")
}

func TestRunspecFallsBackOnlyWhenItIsTold(t *testing.T) {
	dir := t.TempDir()
	bucket := "file://" + filepath.ToSlash(dir) + "/bucket"
	text := strings.Replace("jobs:"+document("a", filepath.Join(dir, "a.jsonl"), ""), "version: 1", "version: 1\n    checkpoint: {interval_ms: 1000}", 1)
	synctest.Test(t, func(t *testing.T) {
		require.Equal(t, 0, command(text, interruptAt(3200*time.Millisecond), "-f", "-", "-bucket", bucket).code)
		manifests, err := filepath.Glob(filepath.Join(dir, "bucket", storage.NamesOf("a").Root(), "epoch", "*", "*"))
		require.NoError(t, err)
		require.NoError(t, os.Remove(manifests[len(manifests)-1]))
		s := command(text, nil, "-f", "-", "-bucket", bucket)
		require.Equal(t, 1, s.code)
		require.Contains(t, s.err, "FallBack()")
		s = command(text, interruptAt(time.Second), "-f", "-", "-bucket", bucket, "-fallback")
		require.Equal(t, 0, s.code, s.err)
		require.Contains(t, s.err, "job a: goes on from epoch 3, ")
	})
}

func TestRunspecRefusesWhatDoesNotGoTogether(t *testing.T) {
	for want, args := range map[string]string{
		"-fresh, -fallback and -standby need -bucket": "-standby",
		"-rescale needs -bucket or -savepoint":        "-rescale",
		"give no -fresh and no -fallback":             "-savepoint mem:// -bucket mem:// -fresh",
		"give one of -fresh and -fallback":            "-bucket mem:// -fresh -fallback",
		"-fresh begins without state":                 "-bucket mem:// -fresh -rescale",
	} {
		s := command("", nil, append([]string{"-f", "-"}, strings.Fields(args)...)...)
		assert.Equal(t, 2, s.code, want)
		assert.Contains(t, s.err, want)
	}
	s := command("jobs:"+document("a", filepath.Join(t.TempDir(), "a.jsonl"), ""), nil, "-f", "-", "-bucket", "nosuch://x")
	assert.Equal(t, 1, s.code)
	assert.Contains(t, s.err, `open bucket "nosuch://x"`)
}
