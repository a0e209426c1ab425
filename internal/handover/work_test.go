package handover

import (
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

func TestEachPieceIsDoneOnce(t *testing.T) {
	for range 200 {
		const n = 64
		w := New(n)
		var doneBy [n]int // 1: who came by, 2: who asked
		var group sync.WaitGroup
		group.Go(func() {
			for at := range n {
				if !w.Take(at) {
					continue
				}
				func() {
					defer w.Leave(at)
					if at%7 == 0 {
						return // it cannot do this one
					}
					doneBy[at] += 1
					w.Done(at)
				}()
			}
			w.Abandon()
		})
		w.Wait(time.Millisecond, 1)
		require.NoError(t, w.Finish(func(at int) error { doneBy[at] += 2; return nil }))
		for at, by := range doneBy {
			require.Contains(t, []int{1, 2}, by, "piece %d", at)
		}
		group.Wait()
		require.Zero(t, w.Left())
	}
}

func TestWaitingEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		w := New(10)
		go func() {
			for at := range 5 {
				<-time.After(45 * time.Millisecond) // after 45, 90, 135, 180 and 225 ms
				w.Take(at)
				w.Done(at)
			}
		}()
		w.Wait(100*time.Millisecond, 2)
		require.Equal(t, 300*time.Millisecond, time.Since(begin), "two lulls with two pieces, one with one")
		require.Equal(t, 5, w.Left())

		begin = time.Now()
		go func() { <-time.After(70 * time.Millisecond); w.Abandon() }()
		w.Wait(time.Hour, 1)
		require.Equal(t, 70*time.Millisecond, time.Since(begin))
		w.Wait(time.Hour, 1)
		require.Equal(t, 70*time.Millisecond, time.Since(begin), "it is over")

		begin = time.Now()
		w = New(1)
		go func() { <-time.After(70 * time.Millisecond); w.Take(0); w.Done(0) }()
		w.Wait(time.Hour, 1)
		require.Equal(t, 70*time.Millisecond, time.Since(begin), "all is done")
	})
}

func TestWhatFailsMayBeDoneLater(t *testing.T) {
	w := New(3)
	broken := errors.New("broken")
	var did []int
	require.ErrorIs(t, w.Finish(func(at int) error {
		if at == 1 {
			return broken
		}
		did = append(did, at)
		return nil
	}), broken)
	require.Equal(t, 2, w.Left())
	require.NoError(t, w.Finish(func(at int) error { did = append(did, at); return nil }))
	require.Equal(t, []int{0, 1, 2}, did)
	require.False(t, w.Take(1))
}
