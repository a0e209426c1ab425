package checkpoint_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/arkflow-go/arkflow"
	"github.com/arkflow-go/arkflow/checkpoint"
	"github.com/arkflow-go/arkflow/checkpoint/storage"
	"github.com/stretchr/testify/require"
	"gocloud.dev/blob/memblob"
	"pgregory.net/rapid"
)

func names(objects []storage.Info) (out []string) {
	for _, o := range objects {
		out = append(out, o.Name)
	}
	return out
}

// C9: what crashed executions left goes, what a kept epoch needs stays, and the job goes on.
func TestC9SweepDeletesWhatEarlierRunsLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bucket := memblob.OpenBucket(nil)
		defer bucket.Close()
		rt := arkflow.Runtime{Bucket: bucket}
		run(t, rt, visitsJob("visits", 2), 7*time.Second+500*time.Millisecond)
		run(t, rt, visitsJob("visits", 1), 5*time.Second+500*time.Millisecond)
		run(t, rt, visitsJob("visits", 3), 2*time.Second+500*time.Millisecond)
		run(t, rt, visitsJob("another", 1), 2*time.Second)
		before := contents(t, bucket)

		swept, err := checkpoint.Sweep(t.Context(), bucket, "visits", checkpoint.SweepOptions{})
		require.NoError(t, err)
		require.Empty(t, swept.Deleted, "nothing is old enough")
		require.Positive(t, swept.Young.Objects)
		require.Equal(t, before, contents(t, bucket))
		time.Sleep(25 * time.Hour)
		dry, err := checkpoint.Sweep(t.Context(), bucket, "visits", checkpoint.SweepOptions{DryRun: true})
		require.NoError(t, err)
		require.Equal(t, before, contents(t, bucket))
		require.Len(t, dry.Deleted, swept.Young.Objects)

		swept, err = checkpoint.Sweep(t.Context(), bucket, "visits", checkpoint.SweepOptions{})
		require.NoError(t, err)
		require.Equal(t, dry, swept)
		n := storage.NamesOf("visits")
		deleted := names(swept.Deleted)
		require.Contains(t, deleted, n.Manifest(1, 1))
		require.Contains(t, deleted, n.Manifest(8, 2))
		require.Contains(t, deleted, n.Data(1, 1))
		require.Contains(t, deleted, n.Lease(1))
		require.Contains(t, deleted, n.Seal(1))
		for _, name := range deleted {
			require.True(t, strings.HasPrefix(name, n.Root()))
			require.NotContains(t, name, "/claim/")
		}
		j := inspect(t, bucket).Job("visits")
		require.Len(t, j.Claims, 3)
		require.Empty(t, j.Unreferenced)
		require.Len(t, j.Epochs, 3)
		v, err := j.Verify(t.Context())
		require.NoError(t, err)
		require.Empty(t, v.Problems)
		again, err := checkpoint.Sweep(t.Context(), bucket, "visits", checkpoint.SweepOptions{})
		require.NoError(t, err)
		require.Empty(t, again.Deleted)

		h, err := rt.Start(t.Context(), visitsJob("visits", 3))
		require.NoError(t, err)
		require.Equal(t, j.Epoch(0).Kept.Epoch, h.Status().Restored.Epoch)
		require.Equal(t, int64(4), h.Status().Run)
		require.NoError(t, h.Cancel(t.Context()))
	})
}

// Sweeps at any moment of any life of a job leave what it needs: it goes on from the epoch that it would have gone on from.
func TestC9SweepNeverTouchesWhatIsNeeded(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		ends := rapid.SliceOfN(rapid.IntRange(100, 4000), 1, 5).Draw(r, "ms of executions")
		sweeps := rapid.SliceOfN(rapid.IntRange(1, 3000), 0, 3).Draw(r, "ms of sweeps")
		keep := rapid.IntRange(1, 3).Draw(r, "keep")
		synctest.Test(t, func(t *testing.T) {
			bucket := memblob.OpenBucket(nil)
			defer bucket.Close()
			sweep := func() {
				_, err := checkpoint.Sweep(t.Context(), bucket, "visits", checkpoint.SweepOptions{Grace: time.Nanosecond})
				require.NoError(t, err)
			}
			last, rt := int64(0), arkflow.Runtime{Bucket: bucket, Checkpoints: arkflow.Checkpoints{Keep: keep}}
			for i, ms := range ends {
				h, err := rt.Start(t.Context(), visitsJob("visits", 1+i%3), arkflow.Rescale())
				require.NoError(t, err)
				require.Equal(t, last, h.Status().Restored.Epoch)
				at := 0
				for _, s := range sweeps {
					if d := s % ms; d > at {
						time.Sleep(time.Duration(d-at) * time.Millisecond)
						at = d
						sweep()
					}
				}
				time.Sleep(time.Duration(ms-at) * time.Millisecond)
				require.NoError(t, h.Cancel(t.Context()))
				sweep()
				last = max(last, h.Status().LastEpoch)
				j := inspect(t, bucket).Job("visits")
				if last > 0 {
					require.Equal(t, last, j.Epoch(0).Kept.Epoch)
				}
				v, err := j.Verify(t.Context())
				require.NoError(t, err)
				require.Empty(t, v.Problems)
				require.Len(t, j.Claims, i+1)
			}
		})
	})
}

// While one execution waits to be fenced and the newer one has not sealed yet, both keep what they have.
func TestSweepLeavesLivingRunsAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bucket := memblob.OpenBucket(nil)
		defer bucket.Close()
		run(t, arkflow.Runtime{Bucket: bucket}, visitsJob("visits", 1), 2500*time.Millisecond)
		before := contents(t, bucket)
		b, err := storage.Open(t.Context(), bucket, storage.Options{})
		require.NoError(t, err)
		_, err = storage.NewClaims(b, "visits").Claim(t.Context(), "one that has not taken a seal", 0)
		require.NoError(t, err)
		time.Sleep(time.Hour)
		swept, err := checkpoint.Sweep(t.Context(), bucket, "visits", checkpoint.SweepOptions{Grace: time.Second})
		require.NoError(t, err)
		n := storage.NamesOf("visits")
		require.Equal(t, []string{n.Seal(1), n.Seal(2)}, names(swept.Deleted), "the third one is the latest")
		require.Len(t, contents(t, bucket), len(before)+1-2)
	})
}

func TestSweepRefusesWhatItCannotKnow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bucket := memblob.OpenBucket(nil)
		defer bucket.Close()
		sweep := func(job string, o checkpoint.SweepOptions) error {
			_, err := checkpoint.Sweep(t.Context(), bucket, job, o)
			return err
		}
		require.ErrorContains(t, sweep("visits", checkpoint.SweepOptions{Grace: -1}), "Grace is -1ns: give a time > 0, or 0 for the default of 24h")
		require.ErrorContains(t, sweep("visits", checkpoint.SweepOptions{}), `sweep job "visits": nothing was deleted: bucket "bucket" has no claim of this job: check name and bucket`)
		for range 2 {
			run(t, arkflow.Runtime{Bucket: bucket}, visitsJob("visits", 1), 2500*time.Millisecond)
		}
		time.Sleep(25 * time.Hour)
		name := inspect(t, bucket).Job("visits").Epoch(2).Kept.Name
		require.NoError(t, bucket.Delete(t.Context(), name))
		before := contents(t, bucket)
		err := sweep("visits", checkpoint.SweepOptions{})
		require.ErrorContains(t, err, "nothing was deleted: what epoch 2 refers to is not known")
		require.ErrorContains(t, err, name)
		require.Equal(t, before, contents(t, bucket))
	})
}

// Files of processes that died while they wrote are no objects; they are removed all the same, and nothing that only looks like them.
func TestSweepRemovesTemporaryFiles(t *testing.T) {
	dir := t.TempDir()
	bucket, err := storage.OpenURL(t.Context(), "file://"+filepath.ToSlash(dir))
	require.NoError(t, err)
	defer bucket.Close()
	rt := arkflow.Runtime{Bucket: bucket}
	require.NoError(t, func() error {
		h, err := rt.Start(t.Context(), visitsJob("visits", 1))
		if err == nil {
			_, err = h.Checkpoint(t.Context())
			require.NoError(t, h.Cancel(t.Context()))
		}
		return err
	}())
	n := storage.NamesOf("visits")
	token := strings.Repeat("0a", 16)
	old := time.Now().Add(-48 * time.Hour)
	write := func(name string, at time.Time) string {
		path := filepath.Join(dir, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o777))
		require.NoError(t, os.WriteFile(path, []byte("abc"), 0o666))
		require.NoError(t, os.Chtimes(path, at, at))
		return path
	}
	dead := write(n.Data(1, 9)+"."+token+".tmp", old)
	kept := []string{
		write(n.Data(1, 10)+"."+token+".tmp", time.Now().Add(-30*time.Minute)),
		write(n.Root()+"/notes.tmp", old),
		write("orders."+token+".tmp", old),
		write("mine/"+token+".tmp", old),
	}
	require.Equal(t, 2, inspect(t, bucket).Jobs[0].Temporary.Objects)
	require.Equal(t, int64(6), inspect(t, bucket).Jobs[0].Temporary.Bytes)
	swept, err := checkpoint.Sweep(t.Context(), bucket, "visits", checkpoint.SweepOptions{Grace: time.Second})
	require.NoError(t, err)
	require.Contains(t, names(swept.Deleted), n.Data(1, 9)+"."+token+".tmp")
	require.Positive(t, swept.Young.Objects, "a file younger than an hour may be being written")
	require.NoFileExists(t, dead)
	for _, path := range kept {
		require.FileExists(t, path)
	}
}
