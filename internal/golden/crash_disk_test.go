//go:build linux || darwin

package golden

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/arkflow-go/arkflow"
	"github.com/arkflow-go/arkflow/checkpoint"
	"github.com/arkflow-go/arkflow/checkpoint/storage"
	"github.com/arkflow-go/arkflow/codec"
	"github.com/arkflow-go/arkflow/codec/arrowipc"
	"github.com/arkflow-go/arkflow/codec/parquet"
	"github.com/arkflow-go/arkflow/connectors/file"
	"github.com/arkflow-go/arkflow/internal/engine"
	"github.com/arkflow-go/arkflow/internal/harness"
	"github.com/stretchr/testify/require"
)

// diskJob is a job that runs where files cannot become larger than a limit, as on a disk that is full.
type diskJob struct {
	name   string // of the job
	input  func(dir string) error
	job    func(dir string) *arkflow.Job
	output func(dir string) ([]string, error) // exactly once; may be nil
	repeat func(dir string) ([]string, error) // at least once; may be nil
	limits []uint64                           // bytes
	says   []string                           // what errors say at some of them
}

// diskEnv is the environment variable that holds the diskPlan of a process.
const diskEnv = "ARKFLOW_FULL_DISK"

type diskPlan struct {
	Dir   string
	Limit uint64
}

// diskResult is what became of an execution.
type diskResult struct {
	Err   string
	Epoch int64 // the last that was sealed, as the job was told
}

// run runs the job once, with an epoch after each batch of a source.
func (d diskJob) run(ctx context.Context, dir string) (r diskResult, err error) {
	bucket, err := storage.OpenURL(ctx, "file://"+filepath.ToSlash(filepath.Join(dir, "bucket")))
	if err != nil {
		return r, err
	}
	rt := arkflow.Runtime{Bucket: bucket, Checkpoints: arkflow.Checkpoints{Keep: 2, Grace: time.Millisecond}}
	h, failed := rt.Start(ctx, d.job(filepath.Join(dir, "files")), arkflow.Harness(&harness.Config{CheckpointEvery: -1, Hooks: engine.Hooks{BarrierEveryPoll: true}}))
	if failed == nil {
		failed = h.Wait(ctx)
		r.Epoch = h.Status().LastEpoch
	}
	if failed != nil {
		r.Err = failed.Error()
	}
	return r, bucket.Close()
}

// limited runs the job in a process of its own under the limit.
func (d diskJob) limited(t *testing.T, dir string, limit uint64) (r diskResult) {
	plan, err := json.Marshal(diskPlan{dir, limit})
	require.NoError(t, err)
	names := strings.Split(t.Name(), "/")
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+names[0]+"$/^"+names[1]+"$", "-test.count=1")
	cmd.Env = append(os.Environ(), diskEnv+"="+string(plan), "GORACE=atexit_sleep_ms=0")
	said, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", said)
	text, err := os.ReadFile(filepath.Join(dir, "result"))
	require.NoError(t, err, "%s", said)
	require.NoError(t, json.Unmarshal(text, &r))
	return r
}

// process does what limited has planned.
func (d diskJob) process(t *testing.T, text string) {
	var p diskPlan
	require.NoError(t, json.Unmarshal([]byte(text), &p))
	var was syscall.Rlimit
	require.NoError(t, syscall.Getrlimit(syscall.RLIMIT_FSIZE, &was))
	now := was
	now.Cur = p.Limit
	require.NoError(t, syscall.Setrlimit(syscall.RLIMIT_FSIZE, &now))
	r, err := d.run(t.Context(), p.Dir)
	require.NoError(t, syscall.Setrlimit(syscall.RLIMIT_FSIZE, &was))
	require.NoError(t, err)
	out, err := json.Marshal(r)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(p.Dir, "result"), out, 0o600))
}

// begin makes the directory of an execution.
func (d diskJob) begin(t *testing.T) string {
	dir := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(dir, "files"), 0o700))
	require.NoError(t, d.input(filepath.Join(dir, "files")))
	return dir
}

// rows are what the job has written, sorted, those of sinks that deliver at least once without repeats.
func (d diskJob) rows(t *testing.T, dir string) (exact, repeated []string) {
	read := func(f func(string) ([]string, error)) []string {
		if f == nil {
			return nil
		}
		rows, err := f(filepath.Join(dir, "files"))
		require.NoError(t, err)
		slices.Sort(rows)
		return rows
	}
	return read(d.output), slices.Compact(read(d.repeat))
}

// newest is the last epoch in the bucket, of which all must be whole; 0 where there is none.
func (d diskJob) newest(t *testing.T, dir string) (epoch int64) {
	_, err := verified(d.name, func(e *checkpoint.SavedEpoch) { epoch = max(epoch, e.Kept.Epoch) })(filepath.Join(dir, "files"))
	if epoch > 0 {
		require.NoError(t, err)
	}
	return epoch
}

// figures writes records of 18 bytes that end in a number of eight digits, which is another one where it is cut off.
func figures(dir string) error {
	var text strings.Builder
	text.WriteString("nr,value\n")
	for i := range 100 {
		fmt.Fprintf(&text, "%08d,%08d\n", i, i*654_321)
	}
	return os.WriteFile(filepath.Join(dir, "in.csv"), []byte(text.String()), 0o600)
}

// figuresTo gives the job that copies them, at least once, and what reads the file.
func figuresTo(name string, f codec.Format) (job func(dir string) *arkflow.Job, rows func(dir string) ([]string, error)) {
	job = func(dir string) *arkflow.Job {
		in := codec.CSV(schemaOf(field("nr", arrow.BinaryTypes.String), field("value", arrow.BinaryTypes.String)))
		job := arkflow.NewJob(strings.ReplaceAll(name, ".", "_"))
		job.Source("in", file.Source{URL: filepath.Join(dir, "in.csv"), Format: in, BatchRows: 8}, arkflow.ProcessingTime()).
			Sink("out", file.Sink{URL: filepath.Join(dir, name), Format: f})
		return job
	}
	rows = func(dir string) ([]string, error) {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err == nil && strings.HasSuffix(name, ".gz") {
			var z *gzip.Reader
			if z, err = gzip.NewReader(bytes.NewReader(text)); err == nil {
				text, err = io.ReadAll(z)
			}
		}
		return slices.Collect(strings.Lines(string(text))), err
	}
	return job, rows
}

// B81: a job on a disk that is full at any moment says so and ends, or goes on where an epoch may fail. What it had sealed stays, and when there is room
// again it comes to the results of one that never failed.
func TestB81GoldenJobsOnAFullDisk(t *testing.T) {
	in := orders(160, 3, 12, 200, 103)
	csv := func(dir string) error { in.writeCSV(t, dir); return nil }
	toCSV, fromCSV := figuresTo("out.csv", codec.CSV(nil))
	toJSON, fromJSON := figuresTo("out.jsonl", codec.JSON(nil))
	toZip, fromZip := figuresTo("out.csv.gz", codec.CSV(nil))
	for _, d := range []diskJob{
		{"crash", csv, crashJob, linesOf("[ol][ua]t*.jsonl"), linesOf("sli*.jsonl"), []uint64{40, 400, 1500, 2500, 4000, 6000}, []string{"claim a run: create", "prepare epoch"}},
		{"blocks", csv, blocksJob, allOf(blocksOf(parquet.New(nil), "parq*.parquet"), blocksOf(arrowipc.New(nil), "*.arrow")), nil, []uint64{500, 1000, 1500, 2500}, []string{"prepare epoch"}},
		{"out_csv", figures, toCSV, nil, fromCSV, []uint64{9 + 70*18 + 4, 9 + 70*18 + 9, 9 + 70*18 + 13}, []string{"flush at epoch"}},
		{"out_jsonl", figures, toJSON, nil, fromJSON, []uint64{70*37 + 4, 70*37 + 36}, []string{"flush at epoch"}},
		{"out_csv_gz", figures, toZip, nil, fromZip, []uint64{600, 605, 700}, []string{"flush at epoch"}},
		{"notes", writeNotes, notesJob, linesOf("out*.jsonl"), nil, []uint64{2 << 20, 6 << 20}, []string{"5 epochs in a row have failed, the last: epoch 8: seal: put", `operator "out"`}},
	} {
		t.Run(d.name, func(t *testing.T) {
			if text := os.Getenv(diskEnv); text != "" {
				d.process(t, text)
				return
			}
			dir := d.begin(t)
			r, err := d.run(t.Context(), dir)
			require.NoError(t, err)
			require.Empty(t, r.Err)
			want, wanted := d.rows(t, dir)
			require.NotEmpty(t, append(want, wanted...))
			var said strings.Builder
			for _, limit := range d.limits {
				t.Run(fmt.Sprint(limit), func(t *testing.T) {
					dir := d.begin(t)
					r := d.limited(t, dir, limit)
					if r.Err != "" {
						require.Regexp(t, `^job "`+d.name+`": .*"`+regexp.QuoteMeta(dir)+`.*: file too large`, r.Err)
						said.WriteString(r.Err)
					}
					require.GreaterOrEqual(t, d.newest(t, dir), r.Epoch)
					again, err := d.run(t.Context(), dir)
					require.NoError(t, err)
					require.Empty(t, again.Err)
					exact, repeated := d.rows(t, dir)
					require.Equal(t, want, exact)
					require.Equal(t, wanted, repeated)
				})
			}
			for _, text := range d.says {
				require.Contains(t, said.String(), text)
			}
		})
	}
}
