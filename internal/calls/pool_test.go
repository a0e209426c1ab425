package calls

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// timer is one of the machine, which is the bubble's in a synctest.
type timer struct{ *time.Timer }

func (t timer) C() <-chan time.Time   { return t.Timer.C }
func (t timer) Reset(d time.Duration) { t.Timer.Reset(d) }
func (t timer) Stop()                 { t.Timer.Stop() }

// newPool makes a pool; moving counts what it tells, waked how often it wakes.
func newPool(t *testing.T, cfg Config, fn func(context.Context, int) (int, error)) (p *Pool[int, int], moving, waked *atomic.Int64) {
	moving, waked = &atomic.Int64{}, &atomic.Int64{}
	cfg.Context = t.Context()
	cfg.Now, cfg.NewTimer = time.Now, func(d time.Duration) Timer { return timer{time.NewTimer(d)} }
	cfg.RetryAfter = func(attempt int) time.Duration { return time.Second << attempt }
	cfg.Moving = func(n int) { moving.Add(int64(n)) }
	cfg.Wake = func() { waked.Add(1) }
	return New(cfg, fn), moving, waked
}

// all waits for n calls and gives their slots in the order in which they ended.
func all(t *testing.T, p *Pool[int, int], n int) (ended []int32) {
	for len(ended) < n {
		require.NoError(t, p.Wait())
		ended = p.Take(ended)
	}
	return ended
}

func TestCallsRunAtOnceOnAFixedNumberOfGoroutines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		before := runtime.NumGoroutine()
		p, moving, _ := newPool(t, Config{InFlight: 3}, func(_ context.Context, n int) (int, error) {
			<-time.After(time.Duration(n) * time.Second)
			return 2 * n, nil
		})
		start := time.Now()
		for round := range 4 {
			for i, n := range []int{3, 1, 2} {
				p.Slot(int32(i)).In = n
				p.Submit(int32(i))
			}
			require.Equal(t, []int32{1, 2, 0}, all(t, p, 3))
			require.Equal(t, 2, p.Slot(1).Out)
			require.Equal(t, time.Duration(3*(round+1))*time.Second, time.Since(start))
			require.LessOrEqual(t, runtime.NumGoroutine(), before+3)
		}
		synctest.Wait()
		require.Zero(t, moving.Load())
		p.Close()
	})
}

func TestACallThatFailsIsMadeAgainWithGrowingPauses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tries := 0
		p, moving, _ := newPool(t, Config{InFlight: 1, Retries: 3}, func(_ context.Context, n int) (int, error) {
			if tries++; tries <= n {
				return 0, fmt.Errorf("try %d", tries)
			}
			return tries, nil
		})
		defer p.Close()
		start := time.Now()
		p.Slot(0).In = 2
		p.Submit(0)
		all(t, p, 1)
		require.NoError(t, p.Slot(0).Err)
		require.Equal(t, 3, p.Slot(0).Out)
		require.Equal(t, 3*time.Second, time.Since(start), "1 s, then 2 s")
		tries = 0
		p.Slot(0).In = 9
		p.Submit(0)
		all(t, p, 1)
		require.EqualError(t, p.Slot(0).Err, "try 4")
		require.Zero(t, moving.Load())
	})
}

func TestATryThatTakesTooLongIsEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, moving, _ := newPool(t, Config{InFlight: 4, Timeout: time.Second, Retries: 1}, func(ctx context.Context, n int) (int, error) {
			select {
			case <-time.After(time.Duration(n) * 300 * time.Millisecond):
				return n, nil
			case <-ctx.Done():
				if n == 5 {
					return n, nil // it has a result all the same
				}
				return 0, ctx.Err()
			}
		})
		defer p.Close()
		start := time.Now()
		for i, n := range []int{9, 1, 5, 3} {
			p.Slot(int32(i)).In = n
			p.Submit(int32(i))
		}
		all(t, p, 4)
		require.EqualError(t, p.Slot(0).Err, "timed out after 1s: context canceled")
		require.NoError(t, p.Slot(1).Err)
		require.NoError(t, p.Slot(2).Err)
		require.NoError(t, p.Slot(3).Err)
		require.Equal(t, 3*time.Second, time.Since(start), "two tries of a second and the pause between")
		require.Zero(t, moving.Load())
	})
}

func TestAPanicIsTheErrorOfItsCallAndIsNotTriedAgain(t *testing.T) {
	for what, want := range map[string]string{"panic": "panic: boom", "goexit": "panic: user code ended its goroutine by runtime.Goexit, as FailNow of package testing does; return an error instead"} {
		tries := 0
		p, _, _ := newPool(t, Config{InFlight: 2, Retries: 5}, func(context.Context, int) (int, error) {
			if tries++; what == "panic" {
				panic("boom")
			}
			runtime.Goexit()
			return 0, nil
		})
		p.Submit(1)
		all(t, p, 1)
		var panicked *Panic
		require.ErrorAs(t, p.Slot(1).Err, &panicked)
		require.EqualError(t, panicked, want)
		require.Contains(t, string(panicked.Stack), "pool_test.go")
		require.Equal(t, 1, tries)
		p.Close()
	}
}

func TestCloseEndsCallsPausesAndDeadlines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, _, _ := newPool(t, Config{InFlight: 2, Timeout: time.Hour, Retries: 1}, func(ctx context.Context, n int) (int, error) {
			if n == 0 {
				return 0, errors.New("failed")
			}
			<-ctx.Done()
			return 0, ctx.Err()
		})
		p.Slot(1).In = 1
		p.Submit(0)
		p.Submit(1)
		synctest.Wait()
		p.Close() // the bubble ends only when every goroutine has
		require.Len(t, p.Take(nil), 2, "what has ended can still be taken")
	})
}

func TestWaitEndsWithTheContext(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	p := New(Config{Context: ctx, InFlight: 1}, func(ctx context.Context, n int) (int, error) {
		<-ctx.Done()
		runtime.Gosched()
		return 0, nil
	})
	p.Submit(0)
	cause := errors.New("the job was cancelled")
	go cancel(cause)
	for p.Wait() == nil { // a call that ended with the context may be told first
		p.Take(nil)
	}
	require.ErrorIs(t, p.Wait(), cause)
	p.Close()
}

func TestMovingAddsUpWhateverTheOrder(t *testing.T) {
	for range 50 {
		p, moving, waked := newPool(t, Config{InFlight: 3}, func(_ context.Context, n int) (int, error) {
			for range rand.IntN(4) {
				runtime.Gosched()
			}
			return n, nil
		})
		free, ended := []int32{0, 1, 2}, []int32{}
		sum := 0
		for n := range 30 {
			for len(free) == 0 {
				require.NoError(t, p.Wait())
				ended = p.Take(ended[:0])
				for _, s := range ended {
					sum += p.Slot(s).Out
				}
				free = append(free, ended...)
			}
			s := free[len(free)-1]
			free = free[:len(free)-1]
			p.Slot(s).In = n
			p.Submit(s)
		}
		for _, s := range all(t, p, 3-len(free)) {
			sum += p.Slot(s).Out
		}
		p.Close()
		require.Equal(t, 435, sum)
		require.Zero(t, moving.Load())
		require.LessOrEqual(t, waked.Load(), int64(30))
	}
}
