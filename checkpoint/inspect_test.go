package checkpoint_test

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/arkflow-go/arkflow"
	"github.com/arkflow-go/arkflow/checkpoint"
	"github.com/arkflow-go/arkflow/checkpoint/storage"
	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/connectors/generate"
	"github.com/arkflow-go/arkflow/connectors/memory"
	"github.com/arkflow-go/arkflow/window"
	"github.com/stretchr/testify/require"
	"gocloud.dev/blob"
	"gocloud.dev/blob/memblob"
)

type visit struct {
	Page string    `arkflow:"page"`
	At   time.Time `arkflow:"at"`
}

// visitsJob counts visits by page and hour: 100 a second, one each 20 ms of event time, of 17 pages.
func visitsJob(name string, parallelism int) *arkflow.Job {
	j := arkflow.NewJob(name, arkflow.Parallelism(parallelism), arkflow.CheckpointEvery(time.Second))
	j.Source("in", generate.Func(func(i int64) visit { return visit{fmt.Sprint("page-", i%17), time.UnixMilli(i * 20).UTC()} },
		generate.Rate(100), generate.Splits(3)), arkflow.EventTime("at")).
		KeyBy("page").
		Window("hourly", window.Tumbling(time.Hour), window.Count().As("visits")).
		Sink("out", memory.NewSink())
	return j
}

// run runs an execution for a time and cancels it, as a crash does as far as the bucket can tell.
func run(t *testing.T, rt arkflow.Runtime, j *arkflow.Job, d time.Duration) {
	t.Helper()
	h, err := rt.Start(t.Context(), j, arkflow.Rescale())
	require.NoError(t, err)
	<-time.After(d) // in a bubble of synctest
	require.NoError(t, h.Cancel(t.Context()))
}

func inspect(t *testing.T, b *blob.Bucket) *checkpoint.Inventory {
	t.Helper()
	inv, err := checkpoint.Inspect(t.Context(), b, storage.Options{})
	require.NoError(t, err)
	return inv
}

// contents gives all objects of a bucket.
func contents(t *testing.T, b *blob.Bucket) map[string]string {
	out := map[string]string{}
	for it := b.List(nil); ; {
		o, err := it.Next(t.Context())
		if err != nil {
			return out
		}
		data, err := b.ReadAll(t.Context(), o.Key)
		require.NoError(t, err)
		out[o.Key] = string(data)
	}
}

func TestInspectTellsWhatABucketHolds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bucket := memblob.OpenBucket(nil)
		defer bucket.Close()
		rt := arkflow.Runtime{Bucket: bucket, Checkpoints: arkflow.Checkpoints{Owner: "host-1"}}
		began := time.Now()
		run(t, rt, visitsJob("visits", 2), 5*time.Second+500*time.Millisecond)
		run(t, rt, visitsJob("visits", 3), 2*time.Second+500*time.Millisecond)
		run(t, rt, visitsJob("another", 1), 1500*time.Millisecond)
		require.NoError(t, bucket.WriteAll(t.Context(), "savepoint/manifest", []byte("foreign"), nil))
		before := contents(t, bucket)

		inv := inspect(t, bucket)
		require.Equal(t, before, contents(t, bucket), "nothing is written")
		require.Equal(t, 1, inv.Others.Objects)
		require.Equal(t, int64(len("foreign")), inv.Others.Bytes)
		require.Len(t, inv.Jobs, 2)
		require.Equal(t, []string{"another", "visits"}, []string{inv.Jobs[0].Job, inv.Jobs[1].Job})
		require.Nil(t, inv.Job("none"))
		j := inv.Job("visits")
		require.Empty(t, j.Problems)
		require.Len(t, j.Claims, 2)
		require.Equal(t, int64(2), j.Newest.Run)
		require.Equal(t, "host-1", j.Newest.Owner)
		require.True(t, j.Lease.Released)
		require.False(t, j.Renewed.IsZero())
		require.Equal(t, int64(2), j.Seal.Run)
		var epochs, runs []int64
		for _, e := range j.Epochs {
			epochs, runs = append(epochs, e.Kept.Epoch), append(runs, e.Kept.Run)
		}
		require.Equal(t, []int64{7, 6, 5}, epochs)
		require.Equal(t, []int64{2, 2, 1}, runs)
		require.Equal(t, j.Epochs[0].Kept, j.Epoch(0).Kept)
		require.Equal(t, int64(6), j.Epoch(6).Kept.Epoch)
		require.Nil(t, j.Epoch(4))
		m := j.Epoch(5).Manifest
		require.Equal(t, 5*time.Second, m.Time.Sub(began))
		o := m.Operator("hourly")
		require.Len(t, o.Tasks, 2)
		require.Equal(t, "window", o.Kind)
		require.Positive(t, o.Bytes())
		require.Positive(t, o.Segments())
		require.GreaterOrEqual(t, o.Entries(), int64(17))
		require.Equal(t, m.Bytes(), o.Bytes())
		require.Equal(t, m.Entries(), o.Entries())
		require.Len(t, m.Sources[0].Splits, 3)
		require.Len(t, j.Unreferenced, 1)
		require.Equal(t, int64(1), j.Unreferenced[0].Run)
		require.GreaterOrEqual(t, j.Unreferenced[0].Objects, 4, "the manifests of epochs 1 to 4")
		require.Positive(t, j.Unreferenced[0].Bytes)

		v, err := j.Verify(t.Context())
		require.NoError(t, err)
		require.Empty(t, v.Problems)
		require.Equal(t, 3, v.Epochs)
		segments := map[string]bool{}
		for _, e := range j.Epochs {
			segments[e.Kept.Name] = true
			for _, o := range e.Manifest.Operators {
				for _, task := range o.Tasks {
					for _, s := range task.Segments {
						segments[s.Name] = true
					}
				}
			}
		}
		require.Equal(t, len(segments), v.Objects, "each object once")
		require.Positive(t, v.Entries)
	})
}

// totals folds the blocks of an epoch: visits by page and subtask, later rows in place of earlier ones.
func totals(t *testing.T, e *checkpoint.SavedEpoch) (visits int64, pages []string) {
	by := map[string]int64{}
	for b, err := range e.Blocks(t.Context()) {
		require.NoError(t, err)
		require.Equal(t, "hourly", b.Operator)
		require.Equal(t, "windows", b.Table)
		require.Len(t, b.Rows.Groups, b.Rows.Rows)
		rows := b.Batch()
		page, n := rows.Column("page"), rows.Column("#rows")
		require.NotNil(t, page, rows.Schema.String())
		require.NotNil(t, n, rows.Schema.String())
		for i := range rows.Rows {
			by[string(page.Data[page.Offsets[i]:page.Offsets[i+1]])] = column.Values[int64](n)[i]
		}
	}
	for _, n := range by {
		visits += n
	}
	return visits, slices.Sorted(maps.Keys(by))
}

// Changes on top of what they change amount to all rows that were read.
func TestBlocksGiveTheRowsOfState(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bucket := memblob.OpenBucket(nil)
		defer bucket.Close()
		run(t, arkflow.Runtime{Bucket: bucket}, visitsJob("visits", 2), 5*time.Second+500*time.Millisecond)
		for _, e := range inspect(t, bucket).Job("visits").Epochs {
			visits, pages := totals(t, &e)
			require.InDelta(t, 100*e.Kept.Epoch, visits, 3)
			require.Len(t, pages, 17)
		}
		for _, err := range inspect(t, bucket).Jobs[0].Epoch(0).Blocks(t.Context()) {
			require.NoError(t, err)
			break
		}
	})
}

// Each object of the bucket is removed, cut off and altered in turn: it is told by name where something needs it.
func TestVerifyNamesWhatIsMissingOrDamaged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bucket := memblob.OpenBucket(nil)
		defer bucket.Close()
		run(t, arkflow.Runtime{Bucket: bucket}, visitsJob("visits", 1), 4*time.Second+500*time.Millisecond)
		j := inspect(t, bucket).Job("visits")
		needed := map[string]bool{"claim": true, "lease": true}
		for _, e := range j.Epochs {
			needed[e.Kept.Name] = true
			for _, s := range e.Manifest.Operator("hourly").Tasks[0].Segments {
				needed[s.Name] = true
			}
		}
		for name, data := range contents(t, bucket) {
			kind := strings.Split(name, "/")[1]
			for _, damage := range []string{"", data[:len(data)-1], data[:len(data)/2] + string(data[len(data)/2]^1) + data[len(data)/2+1:]} {
				if damage == "" {
					require.NoError(t, bucket.Delete(t.Context(), name))
				} else {
					require.NoError(t, bucket.WriteAll(t.Context(), name, []byte(damage), nil))
				}
				if damage != "" && (kind == "claim" || kind == "seal") || needed[name] || damage != "" && kind == "lease" {
					v, err := inspect(t, bucket).Job("visits").Verify(t.Context())
					require.NoError(t, err)
					if kind == "seal" && !strings.HasSuffix(name, fmt.Sprintf("%019d", j.Seal.Number)) {
						require.Empty(t, v.Problems, "older seals are not read")
					} else {
						require.NotEmpty(t, v.Problems, name)
					}
					for _, p := range v.Problems {
						require.Equal(t, name, p.Object)
						require.Contains(t, p.String(), name)
						require.Equal(t, damage == "", p.Missing)
						if kind == "piece" {
							require.Equal(t, "hourly", p.Operator)
							require.Contains(t, p.String(), `epoch `)
						}
					}
				}
				require.NoError(t, bucket.WriteAll(t.Context(), name, []byte(data), nil))
			}
		}
		v, err := inspect(t, bucket).Job("visits").Verify(t.Context())
		require.NoError(t, err)
		require.Empty(t, v.Problems)
	})
}

// A manifest that does not agree with its segments is found although every checksum is right.
func TestVerifyComparesManifestAndSegments(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bucket := memblob.OpenBucket(nil)
		defer bucket.Close()
		run(t, arkflow.Runtime{Bucket: bucket}, visitsJob("visits", 1), 1500*time.Millisecond)
		for want, change := range map[string]func(*checkpoint.TaskRecord){
			"the manifest says 99":                   func(r *checkpoint.TaskRecord) { r.Segments[0].Entries = 99 },
			`it holds table "windows"`:               func(r *checkpoint.TaskRecord) { r.Segments[0].Tables = nil },
			`part 99 of table "windows" does not`:    func(r *checkpoint.TaskRecord) { r.Parts[0].Part = 99 },
			"is not a SHA-256 in hexadecimal":        func(r *checkpoint.TaskRecord) { r.Segments[0].SHA = "x" },
			"it has " /* as many bytes as it has */ : func(r *checkpoint.TaskRecord) { r.Segments[0].Size-- },
		} {
			e := inspect(t, bucket).Jobs[0].Epoch(0)
			change(&e.Manifest.Operators[slices.IndexFunc(e.Manifest.Operators, func(o checkpoint.OperatorRecord) bool { return o.ID == "hourly" })].Tasks[0])
			v, err := e.Verify(t.Context())
			require.NoError(t, err)
			require.Len(t, v.Problems, 1)
			require.Contains(t, v.Problems[0].String(), want)
		}
		e := inspect(t, bucket).Jobs[0].Epoch(0)
		e.Manifest.MaxParallelism = 1
		v, err := e.Verify(t.Context())
		require.NoError(t, err)
		require.Contains(t, v.Problems[0].String(), "the job has 1")
	})
}

func TestInspectOfABucketThatHoldsNothing(t *testing.T) {
	bucket := memblob.OpenBucket(nil)
	defer bucket.Close()
	require.Empty(t, inspect(t, bucket).Jobs)
	_, err := checkpoint.InspectSavepoint(t.Context(), bucket, storage.Options{Name: "mem://"})
	require.ErrorContains(t, err, `savepoint "mem://": there is no savepoint`)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = checkpoint.Inspect(ctx, bucket, storage.Options{})
	require.ErrorIs(t, err, context.Canceled)
	require.NoError(t, bucket.WriteAll(t.Context(), storage.NamesOf("lost").Data(1, 1), []byte("x"), nil))
	require.NoError(t, bucket.WriteAll(t.Context(), storage.NamesOf("lost").Claim(1), []byte("x"), nil))
	inv := inspect(t, bucket)
	require.Equal(t, "", inv.Jobs[0].Job)
	require.Equal(t, storage.NamesOf("lost").Root(), inv.Jobs[0].Folder)
	require.Equal(t, 2, inv.Jobs[0].Stored.Objects)
	require.Len(t, inv.Jobs[0].Problems, 1)
}

// C5: a savepoint is looked at by the same means; one that was moved to another place too.
func TestInspectSavepoint(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "one")
	synctest.Test(t, func(t *testing.T) {
		h, err := arkflow.Runtime{}.Start(t.Context(), visitsJob("visits", 2))
		require.NoError(t, err)
		time.Sleep(4 * time.Second)
		_, err = h.Savepoint(t.Context(), "file://"+filepath.ToSlash(dir))
		require.NoError(t, err)
		require.NoError(t, h.Cancel(t.Context()))
	})
	moved := filepath.Join(t.TempDir(), "two")
	require.NoError(t, os.Rename(dir, moved))
	bucket, err := storage.OpenURL(t.Context(), "file://"+filepath.ToSlash(moved))
	require.NoError(t, err)
	defer bucket.Close()
	e, err := checkpoint.InspectSavepoint(t.Context(), bucket, storage.Options{})
	require.NoError(t, err)
	require.Equal(t, "visits", e.Manifest.Job)
	require.Equal(t, 2000, e.Manifest.Time.Year(), "the time of the clock of the job")
	visits, pages := totals(t, e)
	require.InDelta(t, 400, visits, 3)
	require.Len(t, pages, 17)
	v, err := e.Verify(t.Context())
	require.NoError(t, err)
	require.Empty(t, v.Problems)
	require.Equal(t, visits, func() int64 { n, _ := totals(t, e); return n }())
	piece, err := filepath.Glob(filepath.Join(moved, "savepoint", "piece", "*", "*"))
	require.NoError(t, err)
	require.NoError(t, os.Remove(piece[0]))
	v, err = e.Verify(t.Context())
	require.NoError(t, err)
	require.Len(t, v.Problems, 1)
	require.True(t, v.Problems[0].Missing)
	for _, err := range e.Blocks(t.Context()) {
		if err != nil {
			require.ErrorContains(t, err, `state of operator "hourly" subtask `)
			require.ErrorIs(t, err, storage.ErrNotFound)
			return
		}
	}
	t.Fatal("no error")
}
