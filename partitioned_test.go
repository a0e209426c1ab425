package arkflow_test

import (
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/arkflow-go/arkflow"
	"github.com/arkflow-go/arkflow/connectors/generate"
	"github.com/arkflow-go/arkflow/connectors/memory"
	"github.com/arkflow-go/arkflow/window"
	"github.com/stretchr/testify/require"
	"gocloud.dev/blob/memblob"
)

const (
	visitors = 300_000 // so many that a window of all of them is gathered by partition
	visits   = 4_000_000
)

type visit struct {
	Visitor int64     `arkflow:"visitor"`
	At      time.Time `arkflow:"at"`
	Pages   int64     `arkflow:"pages"`
}

type visitorTotal struct {
	Visitor int64 `arkflow:"visitor"`
	Visits  int64 `arkflow:"visits"`
	Pages   int64 `arkflow:"pages"`
}

// visitOf comes from each visitor once, then mostly from a few.
func visitOf(i int64) visit {
	v := i
	switch {
	case i < visitors:
	case i%3 == 0:
		v = i * 7919 % 1_000_003 % visitors
	default:
		v = i % 20
	}
	return visit{v, time.UnixMilli(i / 4000).UTC(), i % 11}
}

func visitsJob(parallelism int, out *memory.Sink) *arkflow.Job {
	j := arkflow.NewJob("visits", arkflow.Parallelism(parallelism), arkflow.CheckpointEvery(150*time.Millisecond))
	j.Source("in", generate.Func(visitOf, generate.Count(visits), generate.Rate(2_000_000)), arkflow.EventTime("at")).
		KeyBy("visitor").
		Window("totals", window.Tumbling(time.Hour).Unbounded(), window.Count().As("visits"), window.Sum("pages").As("pages")).
		Sink("out", out)
	return j
}

// S6, C6: a window that is gathered by partition, whose rows help to write its epochs, goes on from any of them: from the last one, at another parallelism,
// and from a savepoint that was taken of an epoch together with its delta.
func TestS6WindowsGatheredByPartitionGoOnFromAnyEpoch(t *testing.T) {
	want := make([]visitorTotal, visitors)
	for i := range int64(visits) {
		v := visitOf(i)
		w := &want[v.Visitor]
		w.Visitor, w.Visits, w.Pages = v.Visitor, w.Visits+1, w.Pages+v.Pages
	}
	check := func(t *testing.T, out *memory.Sink) {
		got, err := memory.Collect[visitorTotal](out)
		require.NoError(t, err)
		require.Len(t, got, visitors)
		for _, g := range got {
			if want[g.Visitor] != g {
				require.Equal(t, want[g.Visitor], g)
			}
		}
	}
	synctest.Test(t, func(t *testing.T) {
		bucket := memblob.OpenBucket(nil)
		defer bucket.Close()
		saved := "file://" + filepath.ToSlash(filepath.Join(t.TempDir(), "saved"))
		path := []int{1, 1, 2, 1}
		for i, p := range path {
			out := memory.NewSink()
			h, err := arkflow.Runtime{Bucket: bucket}.Start(t.Context(), visitsJob(p, out), arkflow.Rescale())
			require.NoError(t, err)
			time.Sleep(400 * time.Millisecond)
			if i == 1 {
				_, err := h.Savepoint(t.Context(), saved)
				require.NoError(t, err)
			}
			switch {
			case i == 0:
				require.NoError(t, h.Stop(t.Context()))
			case i < len(path)-1:
				require.NoError(t, h.Cancel(t.Context()), "what came after the last epoch comes again")
			default:
				require.NoError(t, h.Wait(t.Context()))
				check(t, out)
			}
			require.Greater(t, h.Status().Checkpoints.Completed, int64(1))
		}
		out := memory.NewSink()
		h, err := arkflow.Runtime{}.Start(t.Context(), visitsJob(1, out), arkflow.FromSavepoint(saved))
		require.NoError(t, err)
		require.NoError(t, h.Wait(t.Context()))
		check(t, out)
	})
}
