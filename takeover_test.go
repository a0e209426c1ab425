package arkflow_test

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/arkflow-go/arkflow"
	"github.com/arkflow-go/arkflow/connectors/memory"
	"github.com/stretchr/testify/require"
	"gocloud.dev/blob"
	"gocloud.dev/blob/memblob"
)

// on gives the runtime of a process.
func on(bucket *blob.Bucket, owner string, claimed arkflow.OnClaimed) arkflow.Runtime {
	return arkflow.Runtime{Bucket: bucket, Checkpoints: arkflow.Checkpoints{Owner: owner, OnClaimed: claimed}}
}

// E7, C4: a job that waits for a restart holds nothing. Another process that has claimed it meanwhile keeps it, whenever that was, and
// though it has ended: the restart is refused, and what its sinks would have written twice is not.
func TestE7ARestartDoesNotTakeTheJobBack(t *testing.T) {
	const fails, backoff = 10 * time.Second, 10 * time.Second
	for name, c := range map[string]struct {
		at   time.Duration                     // of the takeover, from the first start
		then func(*testing.T, *arkflow.Handle) // what the other process does at once
	}{
		"as it fails":                     {at: fails},
		"before the failure":              {at: fails - 100*time.Millisecond},
		"in the backoff":                  {at: fails + backoff/2},
		"just before the end":             {at: fails + backoff - time.Nanosecond},
		"in the backoff, and has stopped": {at: fails + backoff/2, then: func(t *testing.T, h *arkflow.Handle) { require.NoError(t, h.Stop(t.Context())) }},
		"in the backoff, and was cancelled": {at: fails + backoff/2, then: func(t *testing.T, h *arkflow.Handle) {
			require.NoError(t, h.Cancel(t.Context()))
		}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				bucket := memblob.OpenBucket(nil)
				defer bucket.Close()
				older, newer, last := memory.NewSink(), memory.NewSink(), memory.NewSink()
				fail := new(atomic.Bool)
				h1, err := on(bucket, "host-1", arkflow.TakeOver).Start(t.Context(), failingSales(older, fail), arkflow.Restart(9, backoff))
				require.NoError(t, err)
				go func() {
					time.Sleep(fails)
					fail.Store(true)
				}()
				time.Sleep(c.at)
				h2, err := on(bucket, "host-2", arkflow.TakeOver).Start(t.Context(), failingSales(newer, new(atomic.Bool)), arkflow.Restart(9, time.Second))
				require.NoError(t, err)
				if c.then != nil {
					c.then(t, h2)
				}
				err = h1.Wait(t.Context())
				require.ErrorIs(t, err, arkflow.ErrFenced)
				require.ErrorContains(t, err, "run 1: run 2 (host-2): a newer execution has claimed the job")
				require.ErrorContains(t, err, "OnClaimed: Standby")
				require.Equal(t, arkflow.Failed, h1.Status().State)
				if c.at > fails {
					require.ErrorContains(t, err, "told to fail", "why it was to be restarted")
				}
				if c.then == nil {
					require.NoError(t, h2.Wait(t.Context()))
					require.EqualValues(t, 2, h2.Status().Run)
					require.Zero(t, h2.Status().Restarts)
				}
				h3, err := on(bucket, "host-3", arkflow.TakeOver).Start(t.Context(), failingSales(last, new(atomic.Bool)))
				require.NoError(t, err)
				require.EqualValues(t, 3, h3.Status().Run, "nobody has claimed a run in between")
				require.NoError(t, h3.Wait(t.Context()))
				require.Equal(t, salesTotals(), shown(t, older, newer, last))
			})
		})
	}
}

// E7, C4: at the very instant one of both has the job, and which one both agree on.
func TestE7ATakeoverAtTheEndOfTheBackoff(t *testing.T) {
	for i := range 20 {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				bucket := memblob.OpenBucket(nil)
				defer bucket.Close()
				older, newer := memory.NewSink(), memory.NewSink()
				fail := new(atomic.Bool)
				h1, err := on(bucket, "host-1", arkflow.TakeOver).Start(t.Context(), failingSales(older, fail), arkflow.Restart(9, 10*time.Second))
				require.NoError(t, err)
				fail.Store(true)
				for e := range h1.Events(t.Context()) {
					if e.Kind == arkflow.EventRestart {
						break
					}
				}
				time.Sleep(10 * time.Second)
				h2, err := on(bucket, "host-2", arkflow.TakeOver).Start(t.Context(), failingSales(newer, new(atomic.Bool)), arkflow.Restart(9, time.Second))
				require.NoError(t, err)
				require.ErrorIs(t, h1.Wait(t.Context()), arkflow.ErrFenced)
				require.NoError(t, h2.Wait(t.Context()))
				require.Contains(t, []int64{2, 3}, h2.Status().Run)
				require.Equal(t, salesTotals(), shown(t, older, newer))
			})
		})
	}
}

// E7, C4: two processes with restarts do not fight: who was taken over ends, and who has taken over is restarted as often as it fails.
func TestE7WhoHasTakenOverIsRestarted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bucket := memblob.OpenBucket(nil)
		defer bucket.Close()
		older, newer := memory.NewSink(), memory.NewSink()
		fail1, fail2 := new(atomic.Bool), new(atomic.Bool)
		h1, err := on(bucket, "host-1", arkflow.TakeOver).Start(t.Context(), failingSales(older, fail1), arkflow.Restart(9, 2*time.Second))
		require.NoError(t, err)
		for range 2 { // its own restarts go on
			time.Sleep(5 * time.Second)
			fail1.Store(true)
		}
		time.Sleep(6 * time.Second)
		require.EqualValues(t, 3, h1.Status().Run)
		fail1.Store(true)
		time.Sleep(time.Second)
		h2, err := on(bucket, "host-2", arkflow.TakeOver).Start(t.Context(), failingSales(newer, fail2), arkflow.Restart(9, 10*time.Second))
		require.NoError(t, err)
		fail2.Store(true)
		time.Sleep(time.Second)
		err = h1.Wait(t.Context())
		require.ErrorIs(t, err, arkflow.ErrFenced)
		require.ErrorContains(t, err, "run 3: run 4 (host-2)")
		require.NoError(t, h2.Wait(t.Context()))
		require.Equal(t, 1, h2.Status().Restarts)
		require.EqualValues(t, 5, h2.Status().Run)
		require.Equal(t, salesTotals(), shown(t, older, newer))
	})
}

// E7, C4: with Standby a restart waits for whoever has taken over meanwhile, as the start did.
func TestE7ARestartStandsByAgain(t *testing.T) {
	for _, end := range []string{"stop", "failure", "stop of the waiter", "cancel of the waiter"} {
		t.Run(end, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				bucket := memblob.OpenBucket(nil)
				defer bucket.Close()
				first, second := memory.NewSink(), memory.NewSink()
				fail1, fail2 := new(atomic.Bool), new(atomic.Bool)
				h1, err := on(bucket, "host-1", arkflow.Standby).Start(t.Context(), failingSales(first, fail1), arkflow.Restart(9, 10*time.Second))
				require.NoError(t, err)
				started := make(chan *arkflow.Handle)
				go func() {
					h2, err := on(bucket, "host-2", arkflow.Standby).Start(t.Context(), failingSales(second, fail2))
					require.NoError(t, err)
					started <- h2
				}()
				time.Sleep(5 * time.Second)
				fail1.Store(true)
				h2 := <-started
				time.Sleep(15 * time.Second)
				require.Equal(t, arkflow.Starting, h1.Status().State, "the backoff is over")
				require.Equal(t, arkflow.Running, h2.Status().State)
				require.EqualValues(t, 2, h2.Status().Run)
				switch end {
				case "stop":
					require.NoError(t, h2.Stop(t.Context()))
				case "failure":
					fail2.Store(true)
					require.ErrorContains(t, h2.Wait(t.Context()), "told to fail")
				case "stop of the waiter":
					require.ErrorContains(t, h1.Stop(t.Context()), "told to fail")
					require.NoError(t, h2.Wait(t.Context()))
					require.Equal(t, salesTotals(), shown(t, first, second))
					return
				case "cancel of the waiter":
					require.ErrorContains(t, h1.Cancel(t.Context()), "told to fail")
					require.NoError(t, h2.Cancel(t.Context()))
					return
				}
				require.NoError(t, h1.Wait(t.Context()))
				require.EqualValues(t, 3, h1.Status().Run)
				require.Equal(t, 1, h1.Status().Restarts)
				require.Equal(t, salesTotals(), shown(t, first, second))
			})
		})
	}
}

// E7: who waits for a restart, and whose claim somebody has deleted, does not know who else has the job.
func TestE7ARestartWithoutItsClaimIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bucket := memblob.OpenBucket(nil)
		defer bucket.Close()
		fail := new(atomic.Bool)
		h, err := on(bucket, "host-1", arkflow.TakeOver).Start(t.Context(), failingSales(memory.NewSink(), fail), arkflow.Restart(9, time.Minute))
		require.NoError(t, err)
		fail.Store(true)
		time.Sleep(time.Second)
		require.NoError(t, bucket.Delete(t.Context(), newest(t, bucket, "/claim/")))
		err = h.Wait(t.Context())
		require.ErrorIs(t, err, arkflow.ErrFenced)
		require.ErrorContains(t, err, "run 1: its claim was removed or replaced")
		require.Equal(t, 1, strings.Count(err.Error(), `job "sales"`))
	})
}
