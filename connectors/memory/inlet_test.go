package memory

import (
	"context"
	"errors"
	"io"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/operator"
)

func open(t testing.TB, in operator.Source, position []byte) operator.Reader {
	splits, err := in.Splits(context.Background())
	require.NoError(t, err)
	require.Len(t, splits, 1)
	r, err := in.Open(newContext(column.NewPool()), splits[0], position)
	require.NoError(t, err)
	return r
}

// poll gives the ids of one batch; nil where there is none.
func poll(t testing.TB, r operator.Reader) []int64 {
	b, err := r.Poll()
	require.NoError(t, err)
	if b == nil {
		return nil
	}
	defer b.Release()
	return append([]int64(nil), column.Values[int64](b.Column("id"))...)
}

func send(t testing.TB, in *Inlet[item], from, n int) {
	for _, it := range items(from, n) {
		require.NoError(t, in.Send(context.Background(), it))
	}
}

func TestInletGivesRowsAsTheyAreSentAndEndsWhenClosed(t *testing.T) {
	in := NewInlet[item](InletConfig{})
	require.NoError(t, in.Check())
	require.Equal(t, "memory", in.Kind())
	require.Equal(t, 3, in.Schema().NumFields())
	r := open(t, in, nil)
	require.Nil(t, poll(t, r))
	send(t, in, 0, 3)
	<-r.Ready()
	require.Equal(t, numbers(0, 3), poll(t, r))
	send(t, in, 3, 1)
	require.NoError(t, in.Close())
	require.NoError(t, in.Close())
	require.ErrorIs(t, in.Send(context.Background(), item{}), ErrClosed)
	<-r.Ready()
	require.Equal(t, numbers(3, 1), poll(t, r))
	_, err := r.Poll()
	require.Equal(t, io.EOF, err)
	require.NoError(t, r.Close())
}

func TestInletHoldsSendersBackAtItsCapacity(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in := NewInlet[item](InletConfig{Capacity: 2})
		r := open(t, in, nil)
		var wg sync.WaitGroup
		sent := 0
		wg.Go(func() {
			for _, it := range items(0, 5) {
				if err := in.Send(t.Context(), it); err != nil {
					t.Error(err)
				}
				sent++
			}
		})
		synctest.Wait()
		require.Equal(t, 2, sent)
		require.Equal(t, numbers(0, 2), poll(t, r))
		synctest.Wait()
		require.Equal(t, 4, sent)

		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		start := time.Now()
		require.ErrorIs(t, in.Send(ctx, item{}), context.DeadlineExceeded)
		require.Equal(t, time.Minute, time.Since(start))

		require.Equal(t, numbers(2, 2), poll(t, r))
		wg.Wait()
		require.Equal(t, numbers(4, 1), poll(t, r))

		send(t, in, 5, 2)
		wg.Go(func() {
			if err := in.Send(t.Context(), item{}); !errors.Is(err, ErrClosed) {
				t.Errorf("a sender that waits is told of Close: %v", err)
			}
		})
		synctest.Wait()
		require.NoError(t, in.Close())
		wg.Wait()
		require.NoError(t, r.Close())
	})
}

func TestInletReadsAgainWhatItKeeps(t *testing.T) {
	in := NewInlet[item](InletConfig{Keep: 4})
	send(t, in, 0, 3)
	r := open(t, in, nil)
	require.Equal(t, numbers(0, 3), poll(t, r))
	p, err := r.Position()
	require.NoError(t, err)
	send(t, in, 3, 3)
	require.Equal(t, numbers(3, 3), poll(t, r))
	_, err = in.Open(newContext(nil), operator.Split{}, nil)
	require.ErrorContains(t, err, "another run reads it")
	require.NoError(t, r.Close())
	require.NoError(t, r.Close())

	again := open(t, in, p)
	<-again.Ready()
	require.Equal(t, numbers(3, 3), poll(t, again))
	require.NoError(t, again.Close())

	send(t, in, 6, 1)
	fresh := open(t, in, nil)
	require.Equal(t, numbers(6, 1), poll(t, fresh), "without a position, what nobody has read")
	require.NoError(t, fresh.Close())

	for position, want := range map[string]string{
		"0": "cannot read again from row 0: the oldest that is kept is 3; give InletConfig a greater Keep",
		"8": "cannot read from row 8: 7 have been sent in this process",
		"x": `"x" is no position`,
	} {
		_, err = in.Open(newContext(nil), operator.Split{}, []byte(position))
		require.ErrorContains(t, err, want)
	}
	require.Len(t, in.rows, 4)
}

func TestInletTakesRowsOfManySenders(t *testing.T) {
	in := NewInlet[item](InletConfig{Capacity: 8})
	r := open(t, in, nil)
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() { send(t, in, 100*g, 100) })
	}
	go func() {
		wg.Wait()
		_ = in.Close()
	}()
	seen := map[int64]bool{}
	for {
		b, err := r.Poll()
		if err == io.EOF {
			break
		}
		if b == nil {
			<-r.Ready()
			continue
		}
		for _, id := range column.Values[int64](b.Column("id")) {
			seen[id] = true
		}
		b.Release()
	}
	require.Len(t, seen, 400)
	require.NoError(t, r.Close())
}

func TestInletTellsWhatIsWrong(t *testing.T) {
	type bad struct{ C chan int }
	in := NewInlet[bad](InletConfig{Capacity: -1, Keep: -2})
	for _, want := range []string{"capacity: -1 is negative", "keep: -2 is negative", `field "C"`} {
		require.ErrorContains(t, in.Check(), want)
		require.ErrorContains(t, in.Send(context.Background(), bad{}), want)
	}
	require.Nil(t, in.Schema())
	_, err := in.Infer(context.Background())
	require.Error(t, err)
	_, err = in.Splits(context.Background())
	require.Error(t, err)
	_, err = in.Open(nil, operator.Split{}, nil)
	require.Error(t, err)
	good := NewInlet[item](InletConfig{})
	require.ErrorContains(t, good.Send(context.Background(), item{At: time.Unix(1<<50, 0)}), "does not fit")
	_, _, err = good.Config()
	require.ErrorContains(t, err, "cannot be written in a spec")
	require.Same(t, good, good.WithSchema(nil))
}

func TestLagIsTheRowsThatWaitToBeRead(t *testing.T) {
	lag := func(r operator.Reader) int64 {
		n, ok := r.(operator.LagReader).Lag()
		require.True(t, ok)
		return n
	}
	in := NewInlet[item](InletConfig{})
	r := open(t, in, nil)
	require.Zero(t, lag(r))
	send(t, in, 0, 3)
	require.Equal(t, int64(3), lag(r))
	require.Len(t, poll(t, r), 3)
	send(t, in, 3, 2)
	require.Equal(t, int64(2), lag(r))
	require.NoError(t, r.Close())
	r = open(t, in, []byte("1"))
	require.Equal(t, int64(4), lag(r), "those that it reads again included")
	require.NoError(t, r.Close())

	fixed := open(t, Of(items(0, 10)).InBatches(4), []byte("1"))
	for _, want := range []int64{9, 5, 1, 0} {
		require.Equal(t, want, lag(fixed))
		if want > 0 {
			poll(t, fixed)
		}
	}
	require.NoError(t, fixed.Close())
	require.Zero(t, lag(fixed))
}
