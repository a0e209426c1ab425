package link

import (
	"testing"
	"testing/synctest"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/shuffle"
	"github.com/stretchr/testify/require"
)

// E2: a link holds so many batches and no more; its sender waits for space, control elements do not; what arrives is the batch that was
// sent, not a copy, in the order in which it was sent.
func TestE2AFullLinkHoldsItsSender(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := column.NewDebugPool()
		in := New(&Activity{})
		l := in.Connect(2)
		var sent []*column.Batch
		for i := range 4 {
			sent = append(sent, dataOf(pool, i).Batch)
		}
		done := 0
		go func() {
			for _, b := range sent {
				if l.Send(t.Context(), shuffle.Element{Kind: shuffle.Data, Batch: b}) != nil {
					return
				}
				done++
			}
			_ = l.Send(t.Context(), shuffle.Element{Kind: shuffle.Barrier, Epoch: 5})
		}()
		synctest.Wait()
		require.Equal(t, 2, done, "the third batch waits")
		require.True(t, l.Full())
		require.NoError(t, l.Send(t.Context(), shuffle.Element{Kind: shuffle.Watermark, Time: 1}), "control elements never wait")
		pop := func() shuffle.Element {
			_, e, ok := in.Pop()
			require.True(t, ok)
			synctest.Wait()
			return e
		}
		first := pop()
		require.Same(t, sent[0], first.Batch)
		require.Equal(t, 3, done, "there is space for one more")
		second := pop()
		require.Same(t, sent[1], second.Batch)
		require.Equal(t, shuffle.Watermark, pop().Kind, "it came before the third batch")
		require.Same(t, sent[2], pop().Batch)
		require.Same(t, sent[3], pop().Batch)
		require.Equal(t, int64(5), pop().Epoch, "no batch comes after the barrier that follows it")
		for _, b := range sent {
			b.Release()
		}
		require.NoError(t, pool.Check())
	})
}

// E2: a link is bounded by bytes as well. A batch of any size fits into an empty one.
func TestE2ALinkOfLargeBatchesHoldsItsSender(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		schema := arrow.NewSchema([]arrow.Field{{Name: "text", Type: arrow.BinaryTypes.String}}, nil)
		large := func(bytes int) *column.Batch {
			b := column.NewBatch(nil, schema, 1)
			b.Cols[0].Data, b.Cols[0].Offsets = make([]byte, bytes), []int32{0, int32(bytes)}
			return b
		}
		in := New(&Activity{})
		l := in.Connect(8)
		done := 0
		go func() {
			for _, size := range []int{2 * MaxBytes, MaxBytes / 2, MaxBytes / 2, 1} {
				if l.Send(t.Context(), shuffle.Element{Kind: shuffle.Data, Batch: large(size)}) != nil {
					return
				}
				done++
			}
		}()
		for _, want := range []int{1, 3, 4, 4} {
			synctest.Wait()
			require.Equal(t, want, done)
			_, _, ok := in.Pop()
			require.True(t, ok)
		}
	})
}
