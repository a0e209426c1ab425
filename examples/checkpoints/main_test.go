package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/arkflow-go/arkflow"
	"github.com/arkflow-go/arkflow/checkpoint/storage"
	"github.com/arkflow-go/arkflow/connectors/generate"
	"github.com/arkflow-go/arkflow/connectors/memory"
	"github.com/arkflow-go/arkflow/operator"
	"github.com/arkflow-go/arkflow/window"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

type order struct {
	Shop string    `arkflow:"shop"`
	At   time.Time `arkflow:"at"`
}

// orders counts orders by shop and hour, 100 a second, of 5 shops.
func orders(name string) *arkflow.Job {
	j := arkflow.NewJob(name, arkflow.CheckpointEvery(time.Second))
	j.Source("in", generate.Func(func(i int64) order { return order{fmt.Sprint("<", i%5, ">"), time.UnixMilli(i * 10).UTC()} }, generate.Rate(100)), arkflow.EventTime("at")).
		KeyBy("shop").
		Window("hourly", window.Tumbling(time.Hour), window.Count().As("orders")).
		Sink("out", memory.NewSink())
	return j
}

// written gives the URLs of a bucket with checkpoints of two executions of a job and one of another, and of a savepoint.
func written(t *testing.T) (bucket, savepoint string) {
	dir := filepath.ToSlash(t.TempDir())
	bucket, savepoint = "file://"+dir+"/bucket", "file://"+dir+"/savepoint"
	synctest.Test(t, func(t *testing.T) {
		b, err := storage.OpenURL(t.Context(), bucket)
		require.NoError(t, err)
		defer b.Close()
		rt := arkflow.Runtime{Bucket: b, Checkpoints: arkflow.Checkpoints{Owner: "host-1"}}
		for i := range 2 {
			h, err := rt.Start(t.Context(), orders("orders"))
			require.NoError(t, err)
			time.Sleep(time.Duration(5-3*i)*time.Second + 500*time.Millisecond)
			require.NoError(t, h.Cancel(t.Context()))
		}
		h, err := rt.Start(t.Context(), orders("others"))
		require.NoError(t, err)
		time.Sleep(1500 * time.Millisecond)
		_, err = h.Savepoint(t.Context(), savepoint)
		require.NoError(t, err)
		require.NoError(t, h.Stop(t.Context()))
	})
	return bucket, savepoint
}

// said is what a run of the program left behind.
type said struct {
	code     int
	out, err string
}

func command(t *testing.T, args ...string) said {
	var out, stderr bytes.Buffer
	code := run(t.Context(), args, env{&out, &stderr, operator.SystemClock{}})
	return said{code, out.String(), stderr.String()}
}

func TestCheckpointsListsAndShowsJobs(t *testing.T) {
	bucket, savepoint := written(t)
	s := command(t, "-bucket", bucket, "list")
	require.Equal(t, 0, s.code, s.err)
	require.Regexp(t, `(?m)^JOB +RUN +HOLDER +EPOCHS +LAST +TIME +ENTRIES +BYTES +STORED$`, s.out)
	require.Regexp(t, `(?m)^orders +2 +released +3 +7 +2000-01-01T00:00:07\.\d+Z +\d+ +\d+ +\d+$`, s.out)
	require.Regexp(t, `(?m)^others +1 +released +3 +3 `, s.out)

	s = command(t, "-bucket", bucket, "-job", "orders", "show")
	require.Equal(t, 0, s.code, s.err)
	require.Contains(t, s.out, "job orders, folder "+storage.NamesOf("orders").Root()+": ")
	require.Contains(t, s.out, `  run 1: claimed 2000-01-01T00:00:00.000Z by "host-1"`)
	require.Contains(t, s.out, "  lease of run 2: released, written ")
	require.Regexp(t, `(?m)^  not needed by a kept epoch: \d+ objects, \d+ bytes of run 1, written until `, s.out)
	require.Regexp(t, `(?m)^  epoch 7 of run 2, 2000-01-01T00:00:07\.\d+Z: \d+ entries, \d+ bytes, 128 key groups, 1 tasks$`, s.out)
	require.Regexp(t, `(?m)^    operator hourly +window +1 tasks +\d+ entries +\d+ bytes in \d+ segments +watermark 1970-01-01T00:00:0\S+Z +tumbling 1h0m0s; key shop utf8; count`, s.out)
	require.Regexp(t, `(?m)^    split \S+ of in +position ".+"$`, s.out)
	require.NotContains(t, s.out, "job others")
	s = command(t, "-bucket", bucket, "show", "-job", "orders", "-epoch", "6")
	require.Equal(t, 1, strings.Count(s.out, "  epoch "), s.out)
	require.Equal(t, said{1, "", "checkpoints: no job \"none\" in the bucket; there are \"orders\", \"others\"\n"}, command(t, "-bucket", bucket, "-job", "none", "show"))
	s = command(t, "-bucket", bucket, "-job", "orders", "-epoch", "4", "show")
	require.Equal(t, 1, s.code)
	require.Equal(t, "checkpoints: job \"orders\" has no epoch 4; there are 7, 6, 5\n", s.err)

	s = command(t, "-savepoint", savepoint, "show")
	require.Equal(t, 0, s.code, s.err)
	require.Contains(t, s.out, "savepoint of job others\n  epoch 2 of run 1, ")
	s = command(t, "-savepoint", savepoint, "verify")
	require.Equal(t, 0, s.code, s.err)
	require.Regexp(t, `^savepoint of job others: 1 epochs, 2 objects of \d+ bytes, 5 entries: ok\n$`, s.out)
}

func TestCheckpointsVerifyNamesWhatIsDamaged(t *testing.T) {
	bucket, _ := written(t)
	s := command(t, "-bucket", bucket, "verify")
	require.Equal(t, 0, s.code, s.err)
	require.Regexp(t, `(?m)^job orders: 3 epochs, \d+ objects of \d+ bytes, \d+ entries: ok$`, s.out)
	require.Regexp(t, `(?m)^job others: 3 epochs, .*: ok$`, s.out)

	n := storage.NamesOf("orders")
	dir := strings.TrimPrefix(bucket, "file://")
	pieces, err := filepath.Glob(filepath.Join(dir, n.Root(), "piece", "*2", "*"))
	require.NoError(t, err)
	require.NotEmpty(t, pieces)
	data, err := os.ReadFile(pieces[0])
	require.NoError(t, err)
	data[len(data)/2] ^= 1
	require.NoError(t, os.WriteFile(pieces[0], data, 0o666))
	require.NoError(t, os.Remove(filepath.Join(dir, n.Manifest(5, 1))))
	s = command(t, "-bucket", bucket, "verify")
	require.Equal(t, 1, s.code)
	require.Empty(t, s.err)
	piece, err := filepath.Rel(dir, pieces[0])
	require.NoError(t, err)
	require.Contains(t, s.out, `operator "hourly" subtask 0: object "`+filepath.ToSlash(piece)+`": `)
	require.Regexp(t, `(?m)^  damaged: epoch 6: .*its SHA-256 is`, s.out)
	require.Contains(t, s.out, `  missing: epoch 5: object "`+n.Manifest(5, 1)+`": `)
	require.Regexp(t, `(?m)^job others: .*: ok$`, s.out)
	s = command(t, "-bucket", bucket, "-job", "orders", "list")
	require.Equal(t, 1, s.code)
	require.Contains(t, s.err, "job orders: epoch 5: ")
	s = command(t, "-bucket", bucket, "-job", "orders", "show")
	require.Equal(t, 1, s.code)
	require.Contains(t, s.out, "  epoch 5 of run 1: damaged: ")
	s = command(t, "-bucket", bucket, "-job", "orders", "-epoch", "6", "dump", "-table", "windows")
	require.Equal(t, 1, s.code)
	require.Contains(t, s.err, filepath.ToSlash(piece))
	require.Equal(t, 1, command(t, "-bucket", bucket, "-job", "orders", "-epoch", "5", "dump").code)
}

func TestCheckpointsDumpsRowsAsJSONLines(t *testing.T) {
	bucket, savepoint := written(t)
	count := func(out string) map[string]int {
		kinds := map[string]int{}
		for _, line := range strings.Split(strings.TrimSpace(out), "\n") {
			var v map[string]any
			require.NoError(t, json.Unmarshal([]byte(line), &v), line)
			for _, k := range []string{"split", "watermark", "value", "table"} {
				if _, ok := v[k]; ok {
					kinds[k]++
				}
			}
		}
		return kinds
	}
	s := command(t, "-savepoint", savepoint, "dump")
	require.Equal(t, 0, s.code, s.err)
	require.Equal(t, map[string]int{"split": 1, "watermark": 3, "value": 1, "table": 5}, count(s.out), s.out)
	require.Contains(t, s.out, `"value":"window","json":{"format":1,`)
	s = command(t, "-savepoint", savepoint, "dump", "-table", "windows")
	require.Equal(t, map[string]int{"table": 5}, count(s.out), s.out)
	require.Regexp(t, `(?m)^\{"epoch":2,"operator":"hourly","subtask":0,"table":"windows","part":\d+,"full":true,"group":\d+,"row":\{"window_start":0,"shop":"<3>","#rows":\d+\}\}$`, s.out)
	s = command(t, "-savepoint", savepoint, "dump", "-operator", "in")
	require.Equal(t, map[string]int{"split": 1, "watermark": 1}, count(s.out), s.out)

	s = command(t, "-bucket", bucket, "dump")
	require.Equal(t, said{1, "", "checkpoints: give the job with -job; there are \"orders\", \"others\"\n"}, s)
	s = command(t, "-bucket", bucket, "-job", "orders", "dump")
	require.Equal(t, 0, s.code, s.err)
	require.Contains(t, s.out, `{"epoch":7,"operator":"hourly"`)
	s = command(t, "-bucket", bucket, "-job", "orders", "-epoch", "5", "dump")
	require.Contains(t, s.out, `{"epoch":5,"operator":"hourly"`)
	require.NotContains(t, s.out, `"epoch":7`)
}

func TestCheckpointsSweepsWhatCrashedExecutionsLeft(t *testing.T) {
	bucket, _ := written(t)
	s := command(t, "-bucket", bucket, "-job", "orders", "sweep")
	require.Equal(t, 0, s.code, s.err)
	require.Regexp(t, `^deleted 0 objects, 0 bytes; \d+ more are not needed and younger than 24h0m0s\n$`, s.out)
	s = command(t, "-bucket", bucket, "-job", "orders", "-grace", "1ns", "-dry-run", "sweep")
	require.Regexp(t, `(?m)^would delete \d+ objects, \d+ bytes; 0 more`, s.out)
	manifest := storage.NamesOf("orders").Manifest(1, 1)
	require.Contains(t, s.out, "would delete "+manifest+", ")
	require.FileExists(t, filepath.Join(strings.TrimPrefix(bucket, "file://"), manifest))
	s = command(t, "-bucket", bucket, "-job", "orders", "-grace", "1ns", "sweep")
	require.Equal(t, 0, s.code, s.err)
	require.Contains(t, s.out, "deleted "+manifest+", ")
	require.NoFileExists(t, filepath.Join(strings.TrimPrefix(bucket, "file://"), manifest))
	s = command(t, "-bucket", bucket, "verify")
	require.Equal(t, 0, s.code, s.out)
	require.NotContains(t, s.out, "not needed by a kept epoch")
	require.Equal(t, 1, command(t, "-bucket", bucket, "-job", "none", "sweep").code)
}

func TestCheckpointsRefusesACommandLineThatMeansNothing(t *testing.T) {
	for want, args := range map[string][]string{
		`give one of list, show, verify, dump, sweep, not ""`:      {"-bucket", "mem://"},
		`give one of list, show, verify, dump, sweep, not "prune"`: {"-bucket", "mem://", "prune"},
		"give either -bucket or -savepoint":                        {"list"},
		`unexpected argument "x"`:                                  {"-bucket", "mem://", "list", "x"},
		"sweep needs -bucket: nothing in a savepoint":              {"-savepoint", "mem://", "sweep"},
		"a savepoint is one epoch of one job":                      {"-savepoint", "mem://", "-job", "a", "show"},
		"sweep needs -job":                                         {"-bucket", "mem://", "sweep"},
		"-grace 0s: give a time > 0":                               {"-bucket", "mem://", "-job", "a", "-grace", "0", "sweep"},
		"-epoch -1: give a number > 0":                             {"-bucket", "mem://", "-epoch", "-1", "show"},
		"flag provided but not defined":                            {"-bucket", "mem://", "show", "-x"},
	} {
		s := command(t, args...)
		assert.Equal(t, 2, s.code, want)
		assert.Contains(t, s.err, want)
	}
	require.Equal(t, 0, command(t, "-h").code)
	require.Equal(t, said{0, "JOB  RUN  HOLDER  EPOCHS  LAST  TIME  ENTRIES  BYTES  STORED\n", ""}, command(t, "-bucket", "mem://", "list"))
}

// A name that was mistyped makes no directory.
func TestCheckpointsMakesNoDirectory(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "none")
	for _, args := range [][]string{{"-bucket", "file://" + filepath.ToSlash(dir), "list"}, {"-savepoint", "file://" + filepath.ToSlash(dir), "show"}, {"-bucket", "nosuch://x", "list"}, {"-bucket", "x", "list"}} {
		s := command(t, args...)
		require.Equal(t, 1, s.code, s.out)
		require.Contains(t, s.err, "checkpoints: open bucket ")
	}
	require.NoDirExists(t, dir)
}
