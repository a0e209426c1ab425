package arkflow_test

import (
	"context"
	"errors"
	"net/url"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/arkflow-go/arkflow"
	"github.com/arkflow-go/arkflow/connectors/generate"
	"github.com/arkflow-go/arkflow/connectors/memory"
	"github.com/arkflow-go/arkflow/window"
	"github.com/stretchr/testify/require"
	"gocloud.dev/blob"
	"gocloud.dev/blob/memblob"
)

// failingSales is the job of sales with a function that fails at the next row once it is told to, and an epoch a minute: none of itself.
func failingSales(out *memory.Sink, fail *atomic.Bool) *arkflow.Job {
	j := arkflow.NewJob("sales", arkflow.CheckpointEvery(time.Minute))
	in := j.Source("in", generate.Func(saleOf, generate.Count(sales), generate.Rate(100)), arkflow.EventTime("at"))
	arkflow.MapErr(arkflow.As[sale](in), "check", func(s sale) (sale, error) {
		if fail.CompareAndSwap(true, false) {
			return s, errors.New("told to fail")
		}
		return s, nil
	}).Stream().
		KeyBy("shop").
		Window("totals", window.Tumbling(7*time.Second), window.Sum("amount").As("total")).
		Sink("out", out)
	return j
}

// E7, C5: a start that fails before it has sealed an epoch is repeated with what it began with, not with what lies in the bucket.
func TestE7RestartBeforeTheFirstEpochBeginsWithTheSameAgain(t *testing.T) {
	for _, kind := range []string{"fresh", "savepoint", "savepoint without a bucket"} {
		t.Run(kind, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				bucket := memblob.OpenBucket(nil)
				defer bucket.Close()
				rt := arkflow.Runtime{Bucket: bucket}
				first, second := memory.NewSink(), memory.NewSink()
				fail := new(atomic.Bool)
				h, err := rt.Start(t.Context(), failingSales(first, fail))
				require.NoError(t, err)
				time.Sleep(10 * time.Second)
				url := "file://" + t.TempDir() + "/one"
				saved, err := h.Savepoint(t.Context(), url)
				require.NoError(t, err)
				time.Sleep(10 * time.Second)
				require.NoError(t, h.Stop(t.Context()))

				from := arkflow.FromSavepoint(url)
				switch kind {
				case "fresh":
					from, saved, first = arkflow.StartFresh(), 0, memory.NewSink()
				case "savepoint without a bucket":
					rt.Bucket = nil
				}
				fail.Store(true)
				h, err = rt.Start(t.Context(), failingSales(second, fail), from, arkflow.Restart(2, time.Second))
				require.NoError(t, err)
				time.Sleep(4 * time.Second)
				require.Equal(t, saved, h.Status().Restored.Epoch)
				sealed, err := h.Checkpoint(t.Context())
				require.NoError(t, err)
				fail.Store(true)
				time.Sleep(4 * time.Second)
				require.Equal(t, sealed, h.Status().Restored.Epoch, "now there is an epoch of this start")
				require.NoError(t, h.Wait(t.Context()))
				require.Equal(t, 2, h.Status().Restarts)
				require.Equal(t, salesTotals(), shown(t, first, second))
			})
		})
	}
}

// slow opens buckets that take a minute to open.
type slow struct{}

func (slow) OpenBucketURL(ctx context.Context, _ *url.URL) (*blob.Bucket, error) {
	select {
	case <-time.After(time.Minute):
		return memblob.OpenBucket(nil), nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

var registerSlow = sync.OnceFunc(func() { blob.DefaultURLMux().RegisterBucket("slow", slow{}) })

// C5: a job that ends well ends after the savepoints that are being written; one that is cancelled gives them up.
func TestC5AnEndWaitsForSavepoints(t *testing.T) {
	registerSlow()
	for _, end := range []string{"stop", "drain", "end of input", "cancel"} {
		t.Run(end, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				bucket := memblob.OpenBucket(nil)
				defer bucket.Close()
				h, err := arkflow.Runtime{Bucket: bucket}.Start(t.Context(), failingSales(memory.NewSink(), new(atomic.Bool)))
				require.NoError(t, err)
				began := time.Now()
				saved := make(chan error, 1)
				go func() {
					_, err := h.Savepoint(t.Context(), "slow://one")
					saved <- err
				}()
				time.Sleep(2 * time.Second)
				switch end {
				case "stop":
					err = h.Stop(t.Context())
				case "drain":
					err = h.Drain(t.Context())
				case "cancel":
					require.NoError(t, h.Cancel(t.Context()))
					require.ErrorIs(t, <-saved, context.Canceled)
					require.Equal(t, 2*time.Second, time.Since(began))
					return
				}
				require.NoError(t, err)
				require.NoError(t, h.Wait(t.Context()))
				require.NoError(t, <-saved)
				require.Equal(t, time.Minute, time.Since(began))
			})
		})
	}
}
