package arkflow_test

import (
	"fmt"
	"sort"
	"strings"
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

type sale struct {
	Shop   string    `arkflow:"shop"`
	At     time.Time `arkflow:"at"`
	Amount int64     `arkflow:"amount"`
}

type shopTotal struct {
	Shop  string    `arkflow:"shop"`
	Start time.Time `arkflow:"window_start"`
	Total int64     `arkflow:"total"`
}

const sales = 3000

func saleOf(i int64) sale {
	return sale{fmt.Sprintf("shop-%d", i%17), time.UnixMilli(i * 20).UTC(), i % 101}
}

// salesJob reads 3,000 sales in 30 s, of one minute, and adds them up by shop and 7 s.
func salesJob(parallelism int, out *memory.Sink) *arkflow.Job {
	j := arkflow.NewJob("sales", arkflow.Parallelism(parallelism), arkflow.CheckpointEvery(time.Second))
	j.Source("in", generate.Func(saleOf, generate.Count(sales), generate.Rate(100), generate.Splits(3)), arkflow.EventTime("at")).
		KeyBy("shop").
		Window("totals", window.Tumbling(7*time.Second), window.Sum("amount").As("total")).
		Sink("out", out)
	return j
}

func salesTotals() (out []string) {
	totals := map[string]int64{}
	for i := range int64(sales) {
		s := saleOf(i)
		totals[fmt.Sprint(s.Shop, " ", s.At.UnixMilli()/7000*7000)] += s.Amount
	}
	for k, v := range totals {
		out = append(out, fmt.Sprint(k, " ", v))
	}
	sort.Strings(out)
	return out
}

// shown gives the results without those that were written twice.
func shown(t *testing.T, sinks ...*memory.Sink) (out []string) {
	seen := map[string]bool{}
	for _, s := range sinks {
		totals, err := memory.Collect[shopTotal](s)
		require.NoError(t, err)
		for _, r := range totals {
			seen[fmt.Sprint(r.Shop, " ", r.Start.UnixMilli(), " ", r.Total)] = true
		}
	}
	for k := range seen {
		out = append(out, k)
	}
	sort.Strings(out)
	return out
}

// B7, C5, C6, B45: a job that is stopped goes on with its open windows where it was, at another parallelism too: no window is lost or
// doubled, and no row late, though tasks had other watermarks.
func TestC6StoppedJobGoesOnAtAnotherParallelism(t *testing.T) {
	for _, path := range [][]int{{1, 1}, {1, 4, 3, 1}, {2, 7}, {2, 1, 3, 2, 4}} {
		t.Run(fmt.Sprint(path), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				bucket := memblob.OpenBucket(nil)
				defer bucket.Close()
				var sinks []*memory.Sink
				rows := 0
				for i, p := range path {
					sinks = append(sinks, memory.NewSink())
					h, err := arkflow.Runtime{Bucket: bucket}.Start(t.Context(), salesJob(p, sinks[i]), arkflow.Rescale())
					require.NoError(t, err)
					if i < len(path)-1 {
						time.Sleep(5*time.Second + 500*time.Millisecond)
						require.NoError(t, h.Stop(t.Context()))
					} else {
						require.NoError(t, h.Wait(t.Context()))
					}
					rows += int(h.Status().Operator("in").RowsOut)
				}
				require.Equal(t, sales, rows, "no row is read twice after a clean stop")
				require.Equal(t, salesTotals(), shown(t, sinks...))
			})
		})
	}
}

// E7, C4: what a canceled job had written since its last epoch is written again, nothing else.
func TestC12CanceledJobRepeatsNoMoreThanSinceTheLastEpoch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bucket := memblob.OpenBucket(nil)
		defer bucket.Close()
		first, second := memory.NewSink(), memory.NewSink()
		h, err := arkflow.Runtime{Bucket: bucket}.Start(t.Context(), salesJob(2, first))
		require.NoError(t, err)
		time.Sleep(10*time.Second + 300*time.Millisecond)
		require.NoError(t, h.Cancel(t.Context()))
		h, err = arkflow.Runtime{Bucket: bucket}.Start(t.Context(), salesJob(2, second))
		require.NoError(t, err)
		require.Equal(t, int64(10), h.Status().Restored.Epoch)
		require.NoError(t, h.Wait(t.Context()))
		require.Equal(t, salesTotals(), shown(t, first, second))
		require.InDelta(t, sales-1000, h.Status().Operator("in").RowsOut, 3, "rows since the tenth second")
	})
}

// C5: a finished job that is started again reads nothing twice.
func TestB7FinishedJobReadsNothingTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bucket := memblob.OpenBucket(nil)
		defer bucket.Close()
		out := memory.NewSink()
		require.NoError(t, arkflow.Runtime{Bucket: bucket}.Run(t.Context(), salesJob(2, out)))
		require.Equal(t, salesTotals(), shown(t, out))
		again := memory.NewSink()
		h, err := arkflow.Runtime{Bucket: bucket}.Start(t.Context(), salesJob(2, again))
		require.NoError(t, err)
		require.NoError(t, h.Wait(t.Context()))
		require.Empty(t, shown(t, again))
		require.Zero(t, h.Status().Operator("in").RowsOut)
	})
}

// C6: without Rescale another number of tasks with state is refused, and the bucket stays as it was.
func TestC6OtherParallelismWithoutRescaleIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bucket := memblob.OpenBucket(nil)
		defer bucket.Close()
		h, err := arkflow.Runtime{Bucket: bucket}.Start(t.Context(), salesJob(2, memory.NewSink()))
		require.NoError(t, err)
		time.Sleep(3 * time.Second)
		require.NoError(t, h.Stop(t.Context()))
		_, err = arkflow.Runtime{Bucket: bucket}.Start(t.Context(), salesJob(3, memory.NewSink()))
		var bad *arkflow.IncompatibleError
		require.ErrorAs(t, err, &bad)
		require.ErrorContains(t, err, "the tasks with state differ (added: totals/2; removed: none): give Rescale() to redistribute it, or run with the parallelism that it was taken with")
		h, err = arkflow.Runtime{Bucket: bucket}.Start(t.Context(), salesJob(2, memory.NewSink()))
		require.NoError(t, err)
		require.NoError(t, h.Cancel(t.Context()))
	})
}

// C4: who starts a job that runs takes it over; the older execution ends and is not restarted.
func TestC4OlderExecutionIsFenced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bucket := memblob.OpenBucket(nil)
		defer bucket.Close()
		older, newer := memory.NewSink(), memory.NewSink()
		h1, err := arkflow.Runtime{Bucket: bucket}.Start(t.Context(), salesJob(1, older), arkflow.Restart(9, time.Second))
		require.NoError(t, err)
		time.Sleep(5*time.Second + 100*time.Millisecond)
		h2, err := arkflow.Runtime{Bucket: bucket}.Start(t.Context(), salesJob(1, newer))
		require.NoError(t, err)
		began := time.Now()
		require.ErrorIs(t, h1.Wait(t.Context()), arkflow.ErrFenced)
		require.LessOrEqual(t, time.Since(began), 5*time.Second)
		require.Zero(t, h1.Status().Restarts)
		require.NoError(t, h2.Wait(t.Context()))
		require.Equal(t, salesTotals(), shown(t, older, newer))
	})
}

// C4: who stands by waits for the end of the holder.
func TestC4StandbyTakesOverWhenTheHolderEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bucket := memblob.OpenBucket(nil)
		defer bucket.Close()
		first, second := memory.NewSink(), memory.NewSink()
		rt := arkflow.Runtime{Bucket: bucket, Checkpoints: arkflow.Checkpoints{OnClaimed: arkflow.Standby}}
		h1, err := rt.Start(t.Context(), salesJob(1, first))
		require.NoError(t, err)
		started := make(chan *arkflow.Handle)
		go func() {
			h2, err := rt.Start(t.Context(), salesJob(1, second))
			require.NoError(t, err)
			started <- h2
		}()
		time.Sleep(12 * time.Second)
		select {
		case <-started:
			t.Fatal("it did not wait")
		default:
		}
		require.NoError(t, h1.Stop(t.Context()))
		h2 := <-started
		require.NoError(t, h2.Wait(t.Context()))
		require.Equal(t, salesTotals(), shown(t, first, second))
	})
}

// C5, C7: a savepoint is a copy of its own, from which another job can begin.
func TestC5SavepointStartsAnotherJob(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := "file://" + t.TempDir() + "/one"
		first := memory.NewSink()
		h, err := arkflow.Runtime{}.Start(t.Context(), salesJob(2, first))
		require.NoError(t, err)
		time.Sleep(9 * time.Second)
		_, err = h.Savepoint(t.Context(), dir)
		require.NoError(t, err)
		_, err = h.Savepoint(t.Context(), dir)
		require.ErrorIs(t, err, arkflow.ErrSavepointExists)
		require.NoError(t, h.Cancel(t.Context()))

		second := memory.NewSink()
		h, err = arkflow.Runtime{}.Start(t.Context(), salesJob(5, second), arkflow.FromSavepoint(dir), arkflow.Rescale())
		require.NoError(t, err)
		require.NoError(t, h.Wait(t.Context()))
		require.Equal(t, salesTotals(), shown(t, first, second))

		other := arkflow.NewJob("other")
		other.Source("in", generate.Func(saleOf, generate.Count(sales), generate.Splits(3)), arkflow.EventTime("at")).Sink("out", memory.NewSink())
		_, err = arkflow.Runtime{}.Start(t.Context(), other, arkflow.FromSavepoint(dir))
		require.ErrorContains(t, err, `it is of another job than "other": give AllowJob("sales")`)
		require.ErrorContains(t, err, `operator "totals" (window) has state and is not in the job: put it back, or give AllowDropped("totals")`)
		h, err = arkflow.Runtime{}.Start(t.Context(), other, arkflow.FromSavepoint(dir, arkflow.AllowJob("sales")), arkflow.AllowDropped("totals"))
		require.NoError(t, err)
		require.NoError(t, h.Wait(t.Context()))
	})
}

// C5: a damaged last epoch is told of, and only FallBack steps back.
func TestC5DamagedEpochNeedsFallBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bucket := memblob.OpenBucket(nil)
		defer bucket.Close()
		rt := arkflow.Runtime{Bucket: bucket}
		first, second := memory.NewSink(), memory.NewSink()
		h, err := rt.Start(t.Context(), salesJob(1, first))
		require.NoError(t, err)
		time.Sleep(8*time.Second + 100*time.Millisecond)
		require.NoError(t, h.Cancel(t.Context()))
		name := newest(t, bucket, "/piece/")
		data, err := bucket.ReadAll(t.Context(), name)
		require.NoError(t, err)
		data[len(data)/2] ^= 1
		require.NoError(t, bucket.WriteAll(t.Context(), name, data, nil))
		_, err = rt.Start(t.Context(), salesJob(1, second))
		require.ErrorContains(t, err, name)
		require.ErrorContains(t, err, "FallBack()")
		h, err = rt.Start(t.Context(), salesJob(1, second), arkflow.FallBack())
		require.NoError(t, err)
		require.Equal(t, int64(7), h.Status().Restored.Epoch)
		require.NoError(t, h.Wait(t.Context()))
		require.Equal(t, salesTotals(), shown(t, first, second))
	})
}

// newest gives the last name, in their order, of those that hold a text.
func newest(t *testing.T, b *blob.Bucket, part string) (last string) {
	for it := b.List(nil); ; {
		o, err := it.Next(t.Context())
		if err != nil {
			require.NotEmpty(t, last)
			return last
		}
		if strings.Contains(o.Key, part) && o.Key > last {
			last = o.Key
		}
	}
}

// C4, C7: a job that does not fit is refused before it claims anything: the execution that runs goes on.
func TestC7JobThatDoesNotFitLeavesTheRunningOneAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bucket := memblob.OpenBucket(nil)
		defer bucket.Close()
		out := memory.NewSink()
		h, err := arkflow.Runtime{Bucket: bucket}.Start(t.Context(), salesJob(2, out))
		require.NoError(t, err)
		time.Sleep(5*time.Second + 100*time.Millisecond)
		for range 2 {
			var bad *arkflow.IncompatibleError
			_, err = arkflow.Runtime{Bucket: bucket}.Start(t.Context(), salesJob(3, memory.NewSink()))
			require.ErrorAs(t, err, &bad)
		}
		require.NoError(t, h.Wait(t.Context()))
		require.Equal(t, int64(1), h.Status().Run)
		require.Equal(t, salesTotals(), shown(t, out))
	})
}

// B7: a job that was drained has ended for good, though its input had not: what is left of it would all be late.
func TestB7DrainedJobReadsNothingMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bucket := memblob.OpenBucket(nil)
		defer bucket.Close()
		h, err := arkflow.Runtime{Bucket: bucket}.Start(t.Context(), salesJob(2, memory.NewSink()))
		require.NoError(t, err)
		time.Sleep(5 * time.Second)
		require.NoError(t, h.Drain(t.Context()))
		again := memory.NewSink()
		h, err = arkflow.Runtime{Bucket: bucket}.Start(t.Context(), salesJob(2, again))
		require.NoError(t, err)
		require.NoError(t, h.Wait(t.Context()))
		require.Zero(t, h.Status().Operator("in").RowsOut)
		require.Empty(t, shown(t, again))
	})
}

// C11: a split that is not there any more, and was not read to its end, is missed.
func TestC11SplitThatIsGoneIsMissed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bucket := memblob.OpenBucket(nil)
		defer bucket.Close()
		job := func(splits int) *arkflow.Job {
			j := arkflow.NewJob("sales", arkflow.CheckpointEvery(time.Second))
			j.Source("in", generate.Func(saleOf, generate.Count(sales), generate.Rate(100), generate.Splits(splits)), arkflow.EventTime("at")).
				Sink("out", memory.NewSink())
			return j
		}
		h, err := arkflow.Runtime{Bucket: bucket}.Start(t.Context(), job(3))
		require.NoError(t, err)
		time.Sleep(5 * time.Second)
		require.NoError(t, h.Stop(t.Context()))
		_, err = arkflow.Runtime{Bucket: bucket}.Start(t.Context(), job(2))
		require.ErrorContains(t, err, `had not read "2" to the end, and there is no such split any more: put it back, or give AllowDropped("in") to go on without its other rows`)
		h, err = arkflow.Runtime{Bucket: bucket}.Start(t.Context(), job(2), arkflow.AllowDropped("in"))
		require.NoError(t, err)
		require.NoError(t, h.Cancel(t.Context()))
	})
}

// C3: run numbers grow although somebody has deleted the claims.
func TestC3RunNumbersGrowAfterDeletes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bucket := memblob.OpenBucket(nil)
		defer bucket.Close()
		for want := int64(1); want <= 3; want++ {
			h, err := arkflow.Runtime{Bucket: bucket}.Start(t.Context(), salesJob(1, memory.NewSink()))
			require.NoError(t, err)
			require.Equal(t, want, h.Status().Run)
			time.Sleep(2 * time.Second)
			require.NoError(t, h.Stop(t.Context()))
			for it := bucket.List(nil); ; {
				o, err := it.Next(t.Context())
				if err != nil {
					break
				}
				if strings.Contains(o.Key, "/claim/") {
					require.NoError(t, bucket.Delete(t.Context(), o.Key))
				}
			}
		}
	})
}

// B42: what one task saved is taken by the owner of each key alone: the next checkpoint holds each entry once, and so does the one after it.
func TestB42EachEntryIsRestoredOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bucket := memblob.OpenBucket(nil)
		defer bucket.Close()
		rt := arkflow.Runtime{Bucket: bucket}
		first, last := memory.NewSink(), memory.NewSink()
		h, err := rt.Start(t.Context(), salesJob(1, first))
		require.NoError(t, err)
		time.Sleep(2500 * time.Millisecond)
		require.NoError(t, h.Stop(t.Context()))
		want := h.Status().Checkpoints.LastEntries
		require.Equal(t, int64(17), want, "a window of each shop")
		for range 2 {
			h, err = rt.Start(t.Context(), salesJob(2, memory.NewSink()), arkflow.Rescale())
			require.NoError(t, err)
			_, err = h.Checkpoint(t.Context())
			require.NoError(t, err)
			require.Equal(t, want, h.Status().Checkpoints.LastEntries)
			require.NoError(t, h.Cancel(t.Context()))
		}
		h, err = rt.Start(t.Context(), salesJob(2, last))
		require.NoError(t, err)
		require.NoError(t, h.Wait(t.Context()))
		require.Equal(t, salesTotals(), shown(t, first, last))
	})
}
