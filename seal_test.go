package arkflow_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/arkflow-go/arkflow"
	"github.com/arkflow-go/arkflow/checkpoint"
	"github.com/arkflow-go/arkflow/connectors/drop"
	"github.com/arkflow-go/arkflow/connectors/generate"
	"github.com/arkflow-go/arkflow/internal/harness"
	"github.com/stretchr/testify/require"
)

// slowStore takes its time for each epoch, the longer the earlier the epoch is.
type slowStore struct {
	slow   func(epoch int64) time.Duration
	sealed []int64
	open   int
	most   int
}

func (s *slowStore) Seal(ctx context.Context, e *checkpoint.Epoch) error {
	s.open++
	s.most = max(s.most, s.open)
	defer func() { s.open-- }()
	select {
	case <-time.After(s.slow(e.Number)):
		s.sealed = append(s.sealed, e.Number)
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (s *slowStore) Release(context.Context, *checkpoint.Epoch) {}

func startWith(t *testing.T, s *slowStore) *arkflow.Handle {
	j := arkflow.NewJob("slow")
	j.Source("in", generate.Source{Context: `{"n": 1}`, Interval: time.Second}, arkflow.ProcessingTime()).
		Sink("out", drop.Sink{})
	h, err := arkflow.Runtime{}.Start(t.Context(), j, arkflow.Harness(&harness.Config{Store: s, CheckpointEvery: -1}))
	require.NoError(t, err)
	return h
}

// An epoch is in flight until it is sealed: the next begins after it, so that no older one is taken for the last.
func TestC10EpochsAreSealedInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &slowStore{slow: func(epoch int64) time.Duration { return 10 * time.Second / time.Duration(epoch) }}
		h := startWith(t, s)
		results := make(chan int64, 8)
		for range 3 {
			go func() {
				n, err := h.Checkpoint(t.Context())
				require.NoError(t, err)
				results <- n
			}()
			synctest.Wait()
		}
		time.Sleep(time.Second)
		require.Empty(t, results, "the first epoch takes 10 s")
		require.NoError(t, h.Stop(t.Context()), "the end waits for the epoch that is being sealed")
		require.Equal(t, []int64{1, 2}, s.sealed)
		require.Equal(t, 1, s.most)
		require.Equal(t, []int64{1, 2, 2}, []int64{<-results, <-results, <-results}, "those who waited got the last epoch")
	})
}

func TestC10ASealThatTakesTooLongIsInterrupted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &slowStore{slow: func(int64) time.Duration { return 24 * time.Hour }}
		h := startWith(t, s)
		for epoch := 1; epoch <= 5; epoch++ {
			_, err := h.Checkpoint(t.Context())
			require.ErrorContains(t, err, fmt.Sprintf("epoch %d: seal: not sealed within 10m0s of its barriers", epoch))
		}
		err := h.Wait(t.Context())
		require.ErrorContains(t, err, "5 epochs in a row have failed, the last: epoch 5: seal: not sealed within")
		require.True(t, errors.Is(err, context.Canceled))
		require.Zero(t, s.open)
	})
}
