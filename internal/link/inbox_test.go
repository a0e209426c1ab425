package link

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/shuffle"
	"github.com/stretchr/testify/require"
)

var errGone = errors.New("gone")

func dataOf(pool *column.Pool, rows int) shuffle.Element {
	return shuffle.Element{Kind: shuffle.Data, Batch: column.NewBatch(pool, arrow.NewSchema(nil, nil), rows)}
}

// E3: a full or blocked link holds up nobody but its own sender, and control elements of one link do not wait behind the
// data of another.
func TestE3ControlElementsDoNotWaitBehindAnotherLinksData(t *testing.T) {
	pool := column.NewDebugPool()
	in := New(&Activity{})
	a, b := in.Connect(4), in.Connect(4)
	for range 4 {
		require.NoError(t, a.Send(t.Context(), dataOf(pool, 1)))
	}
	require.True(t, a.Full())
	require.NoError(t, b.Send(t.Context(), shuffle.Element{Kind: shuffle.Watermark, Time: 7}))
	require.NoError(t, b.Send(t.Context(), shuffle.Element{Kind: shuffle.Watermark, Time: 9}))
	require.NoError(t, b.Send(t.Context(), shuffle.Element{Kind: shuffle.Barrier, Epoch: 1}))
	var kinds []shuffle.Kind
	var times []int64
	for range 4 {
		i, e, ok := in.Pop()
		require.True(t, ok)
		if i == 1 {
			kinds, times = append(kinds, e.Kind), append(times, e.Time)
		}
		if e.Batch != nil {
			e.Batch.Release()
		}
	}
	require.Equal(t, []shuffle.Kind{shuffle.Watermark, shuffle.Barrier}, kinds, "a watermark that was not read is replaced by the next")
	require.Equal(t, int64(9), times[0])
	in.Block(0)
	_, _, ok := in.Pop()
	require.False(t, ok, "a blocked link is not read")
	in.Discard()
	require.NoError(t, pool.Check())
}

// Every element arrives once and in the order of its link, with senders and the receiver blocking each other all the time; and
// whenever all of them wait the activity is 0.
func TestInboxLosesNothingUnderContention(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := column.NewDebugPool()
		act := &Activity{}
		quiet := make(chan struct{}, 1)
		act.Quiet = func() {
			select {
			case quiet <- struct{}{}:
			default:
			}
		}
		in := New(act)
		const links, each = 3, 500
		act.moving.Store(links + 1)
		var senders sync.WaitGroup
		for range links {
			l := in.Connect(1)
			senders.Go(func() {
				defer act.Pause()
				for i := range each {
					require.NoError(t, l.Send(t.Context(), dataOf(pool, i)))
					require.NoError(t, l.Send(t.Context(), shuffle.Element{Kind: shuffle.Barrier, Epoch: int64(i)}))
				}
			})
		}
		next := make([]int, links)
		for got := 0; got < links*each*2; {
			i, e, ok := in.Pop()
			if !ok {
				if in.Rest() {
					act.Pause()
					<-in.wake
				}
				continue
			}
			got++
			if e.Batch != nil {
				require.Equal(t, next[i], e.Batch.Rows)
				e.Batch.Release()
				continue
			}
			require.Equal(t, int64(next[i]), e.Epoch)
			next[i]++
		}
		senders.Wait()
		require.Equal(t, int64(1), act.moving.Load(), "only the receiver moves")
		act.Pause()
		<-quiet
		require.NoError(t, pool.Check())
	})
}

func TestSendEndsWithTheContext(t *testing.T) {
	pool := column.NewDebugPool()
	in := New(&Activity{})
	l := in.Connect(1)
	require.NoError(t, l.Send(t.Context(), dataOf(pool, 1)))
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errGone)
	e := dataOf(pool, 1)
	require.ErrorIs(t, l.Send(ctx, e), errGone)
	e.Batch.Release()
	in.Discard()
	require.NoError(t, pool.Check())
}

func TestCommandsWakeAndComeFirst(t *testing.T) {
	in := New(&Activity{})
	require.True(t, in.Rest())
	in.Command(Command{Kind: CmdExit})
	<-in.wake
	require.False(t, in.Rest(), "there is a command to take")
	require.Len(t, in.TakeCommands(), 1)
	require.Empty(t, in.TakeCommands())
	require.True(t, in.Rest())
	in.Rise()
	require.True(t, in.Rest())
	in.Command(Command{Kind: CmdExit})
	in.Rise() // woken at the same moment: the wake-up is taken along
	require.Empty(t, in.wake)
}
