//go:build !race

// The race detector makes this slow and says nothing of memory.

package checkpoint

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/metrics"
	"sync/atomic"
	"testing"
	"time"

	"github.com/arkflow-go/arkflow/checkpoint/storage"
	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/internal/step"
	"github.com/arkflow-go/arkflow/state"
	"github.com/stretchr/testify/require"
	"gocloud.dev/blob"
)

// bulkRows is the number of MiB of each kind of entries.
const bulkRows = 32

var (
	bulkLarge = bulk{first: 0, rows: bulkRows, size: 1 << 20}
	bulkSmall = bulk{first: 1 << 32, rows: bulkRows << 10, size: 1 << 10}
)

// bulkEpoch is an epoch of the job "books" that has bulks in place of its state, in one task.
func bulkEpoch(number int64, watch *heap) *Epoch {
	e := newBooks(number).epoch(number, nil, new(int))
	s := state.NewSnapshot()
	for i, b := range []bulk{bulkLarge, bulkSmall} {
		b.version, b.look = number, watch.look
		s.Part("bulk", int64(i+1), b)
	}
	e.Operators["sum"][0].State = s
	return e
}

// heap notes the most memory that the process held on to when it was looked at. Nothing is collected in between, so that what was given up
// does not count however slow the machine is.
type heap struct {
	Most  uint64
	looks atomic.Int64
}

// slow gives a context in which the bucket brings no segment to the disk while more of them come: what they may take, they take.
func (h *heap) slow(ctx context.Context) context.Context {
	return step.With(ctx, func(s step.Step) error {
		if s.String() != "bucket: before sync piece" {
			return nil
		}
		for seen := int64(-1); seen != h.looks.Load(); {
			seen = h.looks.Load()
			<-time.After(20 * time.Millisecond)
		}
		return nil
	})
}

func (h *heap) look() {
	h.looks.Add(1)
	runtime.GC()
	s := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(s)
	h.Most = max(h.Most, s[0].Value.Uint64())
}

// read compares rows with what the entries are: a newer value takes the place of an older one.
func (h *heap) read(t state.Table, seen map[int64]int64) error {
	h.look()
	keys, rows := column.Values[int64](&t.Cols[0]), 0
	want := make([]byte, bulkLarge.size)
	for _, key := range keys[:t.Rows] {
		b := bulkLarge
		if key >= bulkSmall.first {
			b = bulkSmall
		}
		b.version = seen[key] + 1
		seen[key]++
		b.value(want[:b.size], key)
		if got := t.Cols[1].Bytes(rows); !bytes.Equal(got, want[:b.size]) {
			return fmt.Errorf("entry %d, version %d: its %d bytes are not those that were saved", key, b.version, len(got))
		}
		rows++
	}
	return nil
}

// bulkSteps are what the processes of TestB91… do, each in one of its own.
var bulkSteps = map[string]func(ctx context.Context, bucket *blob.Bucket, dir string, h *heap) error{
	"seal": func(ctx context.Context, bucket *blob.Bucket, _ string, h *heap) error {
		s, err := Open(ctx, bucket, booksJob, Options{})
		if err == nil {
			err = s.Fit(booksShape())
		}
		for number := int64(1); number <= 2 && err == nil; number++ {
			e := bulkEpoch(number, h)
			err = s.Seal(ctx, e)
			s.Release(ctx, e)
		}
		return errors.Join(err, s.Close(ctx))
	},
	"restore": func(ctx context.Context, bucket *blob.Bucket, _ string, h *heap) error {
		s, err := Open(ctx, bucket, booksJob, Options{})
		if err != nil {
			return err
		}
		e, err := s.Epoch(ctx)
		seen := map[int64]int64{}
		if err == nil {
			for t, failed := range e.Operators["sum"][0].State.Tables("bulk") {
				if err = failed; err == nil {
					err = h.read(t, seen)
				}
				if err != nil {
					break
				}
			}
		}
		return errors.Join(err, complete(seen), s.Close(ctx))
	},
	"look inside": func(ctx context.Context, bucket *blob.Bucket, _ string, h *heap) error {
		all, err := Inspect(ctx, bucket, storage.Options{})
		if err != nil {
			return err
		}
		seen := map[int64]int64{}
		for b, err := range all.Job(booksJob).Epoch(2).Blocks(ctx) {
			if err == nil && b.Table == "bulk" {
				err = h.read(b.Rows, seen)
			}
			if err != nil {
				return err
			}
		}
		v, err := all.Job(booksJob).Verify(ctx)
		h.look()
		if err == nil && len(v.Problems) > 0 {
			err = errors.New(v.Problems[0].String())
		}
		return errors.Join(err, complete(seen))
	},
	"savepoint": func(ctx context.Context, _ *blob.Bucket, dir string, h *heap) error {
		e := bulkEpoch(1, h)
		e.Shared = true
		return WriteSavepoint(ctx, "file://"+filepath.ToSlash(filepath.Join(dir, "savepoint")), booksShape(), e, 1, storage.Options{})
	},
}

// complete says whether all entries were read, those that have changed twice.
func complete(seen map[int64]int64) error {
	for _, b := range []bulk{bulkLarge, bulkSmall} {
		for key := b.first; key < b.first+int64(b.rows); key++ {
			want := int64(1)
			if key%changing == 0 {
				want = 2
			}
			if seen[key] != want {
				return fmt.Errorf("entry %d was read %d times, want %d", key, seen[key], want)
			}
		}
	}
	return nil
}

const (
	bulkEnv      = "ARKFLOW_BULK" // what a process does that the test has started
	bulkDirEnv   = "ARKFLOW_BULK_DIR"
	objectBytes  = segmentBytes + 1<<20 // at most, see segment.Options
	processBytes = 14 << 20             // of the program, of tables and of units that are made of them or read
)

// B91: state of 64 MiB, and 8 MiB of changes, is written, restored and looked at by processes that hold on to a few objects, whatever there is of it: in
// entries of 1 MiB and of 1 KiB, by a bucket that is slower than who writes.
func TestB91StateIsWrittenAndRestoredInBoundedMemory(t *testing.T) {
	if what := os.Getenv(bulkEnv); what != "" {
		bulkProcess(t, what, os.Getenv(bulkDirEnv))
		return
	}
	dir := t.TempDir()
	for _, p := range []struct {
		what    string
		objects int
	}{
		{"seal", uploadsAtATime + 1}, // and the one that is made
		{"savepoint", uploadsAtATime + 1},
		{"restore", 2}, // one that is read, and one ahead
		{"look inside", 1},
	} {
		limit := p.objects*objectBytes + processBytes
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$", "-test.count=1")
		cmd.Env = append(os.Environ(), bulkEnv+"="+p.what, bulkDirEnv+"="+dir, "GOGC=off")
		said, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s: %s", p.what, said)
		text, err := os.ReadFile(filepath.Join(dir, "result"))
		require.NoError(t, err)
		require.NoError(t, os.Remove(filepath.Join(dir, "result")))
		var h heap
		require.NoError(t, json.Unmarshal(text, &h))
		t.Logf("%s: %d MiB, limit %d MiB", p.what, h.Most>>20, limit>>20)
		require.Positive(t, h.Most)
		require.Less(t, h.Most, uint64(limit), "%s needs more than %d objects of %d bytes", p.what, p.objects, objectBytes)
	}
}

// bulkProcess does one step and writes what memory it took.
func bulkProcess(t *testing.T, what, dir string) {
	bucket, err := storage.OpenURL(t.Context(), "file://"+filepath.ToSlash(filepath.Join(dir, "bucket")))
	require.NoError(t, err)
	h := &heap{}
	h.look()
	require.NoError(t, bulkSteps[what](h.slow(t.Context()), bucket, dir, h))
	text, err := json.Marshal(h)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "result"), text, 0o600))
	require.NoError(t, bucket.Close())
}
