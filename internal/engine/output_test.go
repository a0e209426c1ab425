package engine

import (
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/internal/link"
	"github.com/arkflow-go/arkflow/internal/plan"
	"github.com/arkflow-go/arkflow/operator"
	"github.com/arkflow-go/arkflow/shuffle"
	"github.com/stretchr/testify/require"
)

// edgeTo makes an edge to one receiver with room for so many batches.
func edgeTo(t *testing.T, room int) (*outEdge, *link.Inbox, *column.Pool, func(rows int) error) {
	x := &Execution{clock: operator.SystemClock{}, pool: column.NewDebugPool()}
	inbox := link.New(&link.Activity{})
	l := inbox.Connect(room)
	e := newOutEdge(&task{exec: x, ctx: t.Context()}, plan.Edge{Ship: plan.Forward}, nil, []*link.Link{l}, 128)
	schema := arrow.NewSchema([]arrow.Field{{Name: "n", Type: arrow.PrimitiveTypes.Int64}}, nil)
	return e, inbox, x.pool, func(rows int) error {
		b := column.NewBuilder(x.pool, schema)
		for i := range rows {
			b.Int64(0, int64(i))
			b.EndRow()
		}
		batch := b.Finish()
		defer batch.Release()
		return e.emit(batch)
	}
}

// arrived reads what a receiver has: the rows of a batch, or the kind of another element.
func arrived(in *link.Inbox) (out []any) {
	for {
		_, e, ok := in.Pop()
		switch {
		case !ok:
			return out
		case e.Batch != nil:
			out = append(out, e.Batch.Len())
			e.Batch.Release()
		default:
			out = append(out, e.Kind)
		}
	}
}

// E2: fragments are collected while the receiver is busy, and sent at once to one that waits.
func TestE2FragmentsAreCollectedWhileTheReceiverIsBusy(t *testing.T) {
	e, in, pool, emit := edgeTo(t, 8)
	for range 3 {
		require.NoError(t, emit(10))
	}
	require.Empty(t, arrived(in), "nothing says that the receiver waits")
	require.True(t, in.Rest())
	require.NoError(t, emit(1))
	require.Equal(t, []any{31}, arrived(in), "it waits: what was collected is sent with the rest")
	e.discard()
	require.NoError(t, pool.Check())

	e, in, pool, emit = edgeTo(t, 8)
	require.True(t, in.Rest())
	require.NoError(t, emit(10))
	require.Equal(t, []any{10}, arrived(in), "at once, whatever its size")
	require.NoError(t, emit(wholeRows))
	require.Equal(t, []any{wholeRows}, arrived(in), "a whole batch does not wait for others")
	for range flushRows / 1024 {
		require.NoError(t, emit(1024))
	}
	require.Equal(t, []any{flushRows}, arrived(in), "enough have been collected")
	e.discard()
	require.NoError(t, pool.Check())
}

// E2, T7: rows are sent before any control element that follows them; a watermark alone may wait with the rows that it follows.
func TestE2RowsAreSentBeforeControlElements(t *testing.T) {
	e, in, pool, emit := edgeTo(t, 8)
	require.NoError(t, emit(5))
	require.NoError(t, e.control(shuffle.Element{Kind: shuffle.Barrier, Epoch: 1}))
	require.NoError(t, emit(6))
	require.NoError(t, emit(7))
	require.NoError(t, e.watermark(10))
	require.NoError(t, e.setStatus(shuffle.Idle))
	require.NoError(t, e.watermark(20))
	require.Equal(t, []any{5, shuffle.Barrier, 13, shuffle.Watermark, shuffle.StatusOf, shuffle.Watermark}, arrived(in), "no batch has rows of both sides of a barrier")

	require.NoError(t, emit(8))
	require.NoError(t, e.watermark(30))
	require.Empty(t, arrived(in), "the watermark waits with its rows for a busy receiver")
	require.NoError(t, e.flush())
	require.Equal(t, []any{8, shuffle.Watermark}, arrived(in))
	require.NoError(t, pool.Check())
}
