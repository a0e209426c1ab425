package operator_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/operator"
)

// element is what left an operator: rows, or a watermark.
type element struct {
	ids    []int64
	beside []hidden
	w      int64
}

// trail keeps what leaves, in order.
type trail struct{ elements []element }

func (l *trail) Emit(_ int, b *column.Batch) error {
	l.elements = append(l.elements, element{ids: append([]int64(nil), column.Values[int64](&b.Cols[0])[:b.Rows]...), beside: hiddenOf(b)})
	return nil
}

func (l *trail) mark(w int64) {
	if w != operator.MinWatermark {
		l.elements = append(l.elements, element{w: w})
	}
}

type numbered struct{ ID int64 }

// TestB65AsyncResultsLeaveBeforeTheWatermarkThatFollowsTheirRow drives an instance as a task does, with results in any order.
func TestB65AsyncResultsLeaveBeforeTheWatermarkThatFollowsTheirRow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		unordered := rapid.Bool().Draw(t, "unordered")
		cfg := operator.AsyncConfig{InFlight: rapid.IntRange(1, 6).Draw(t, "in flight"), Unordered: unordered}
		pool := column.NewDebugPool()
		ctx := newContext(pool, operator.Skip())
		woken := make(chan struct{}, 1)
		ctx.Wake = func() {
			select {
			case woken <- struct{}{}:
			default:
			}
		}
		op := operator.Async(func(_ context.Context, o order) (numbered, error) {
			for range rand.IntN(6) {
				runtime.Gosched()
			}
			if o.ID%7 == 6 {
				return numbered{}, errors.New("six")
			}
			return numbered{o.ID}, nil
		}, cfg)
		inst, _ := start(t, op, ctx, operator.Stream{Schema: orders})
		var out trail
		call := func(f func(operator.Output) (int64, error)) {
			w, err := f(&out)
			require.NoError(t, err)
			out.mark(w)
		}
		var sent []element // rows one by one, and watermarks
		next, bad := int64(0), 0
		for range rapid.IntRange(1, 12).Draw(t, "steps") {
			switch rapid.IntRange(0, 3).Draw(t, "step") {
			case 0, 1:
				rows := make([]order, rapid.IntRange(1, 9).Draw(t, "rows"))
				var kept []uint32
				for i := range rows {
					rows[i].ID = next
					if next%7 != 6 {
						kept = append(kept, uint32(i))
					} else {
						bad++
					}
					next++
				}
				for i, h := range wantHidden(false, kept...) {
					sent = append(sent, element{ids: []int64{rows[kept[i]].ID}, beside: []hidden{h}})
				}
				b := batch(pool, rows...)
				require.NoError(t, inst.Process(0, b, &out))
				b.Release()
			case 2:
				w := next * 10
				if n := len(sent); n > 0 && sent[n-1].ids == nil && sent[n-1].w == w {
					break // a watermark that has not grown is not told
				}
				sent = append(sent, element{w: w})
				call(func(o operator.Output) (int64, error) { return inst.(operator.WatermarkHandler).OnWatermark(w, o) })
			case 3:
				select {
				case <-woken:
					call(inst.(operator.WakeHandler).OnWake)
				default:
				}
			}
		}
		call(inst.(operator.Settler).Settle)
		require.NoError(t, inst.(operator.Closer).Close())
		noLeak(t, pool)
		requireOrder(t, sent, out.elements, unordered)
		require.Equal(t, int64(bad), ctx.Counters.Dropped()["error"])
	})
}

// requireOrder requires that all rows are there with their times, in order unless unordered, each before the watermarks that
// followed it, and that the last watermark is out.
func requireOrder(t require.TestingT, sent, got []element, unordered bool) {
	behind := map[int64]int64{} // by row: the first watermark that followed it
	beside := map[int64]hidden{}
	var order []int64
	last := operator.MinWatermark
	for i, e := range sent {
		if e.ids == nil {
			last = e.w
			continue
		}
		order = append(order, e.ids[0])
		beside[e.ids[0]] = e.beside[0]
		behind[e.ids[0]] = operator.MaxWatermark
		for _, f := range sent[i:] {
			if f.ids == nil {
				behind[e.ids[0]] = f.w
				break
			}
		}
	}
	w := operator.MinWatermark
	var rows []int64
	for _, e := range got {
		if e.ids == nil {
			require.Greater(t, e.w, w)
			w = e.w
		}
		for i, id := range e.ids {
			require.Less(t, w, behind[id], "row %d", id)
			require.Equal(t, beside[id], e.beside[i])
			rows = append(rows, id)
		}
	}
	require.Equal(t, last, w)
	if unordered {
		require.ElementsMatch(t, order, rows)
	} else {
		require.Equal(t, order, rows)
	}
}

func TestAsyncUnorderedLetsFastResultsPass(t *testing.T) {
	for _, unordered := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			pool := column.NewDebugPool()
			op := operator.Async(func(_ context.Context, o order) (numbered, error) {
				<-time.After([]time.Duration{0, 9, 8, 7, 7, 5}[o.ID] * time.Second)
				return numbered{o.ID}, nil
			}, operator.AsyncConfig{InFlight: 3, Unordered: unordered})
			inst, _ := start(t, op, newContext(pool, operator.Fail()), operator.Stream{Schema: orders})
			b := batch(pool, someOrders...)
			var out trail
			begin := time.Now()
			require.NoError(t, inst.Process(0, b, &out)) // five rows, three at a time
			_, err := inst.(operator.Settler).Settle(&out)
			require.NoError(t, err)
			var ids []int64
			for _, e := range out.elements {
				ids = append(ids, e.ids...)
			}
			if unordered {
				require.Equal(t, []int64{3, 2, 1, 5, 4}, ids)
				require.Equal(t, 14*time.Second, time.Since(begin))
			} else {
				require.Equal(t, []int64{1, 2, 3, 4, 5}, ids)
				require.Equal(t, 16*time.Second, time.Since(begin))
			}
			b.Release()
			require.NoError(t, inst.(operator.Closer).Close())
			noLeak(t, pool)
		})
	}
}

func TestE6AsyncErrors(t *testing.T) {
	type strict struct{ Tier string }
	broken := errors.New("no such tier")
	op := operator.Async(func(_ context.Context, s strict) (strict, error) {
		if s.Tier == "silver" {
			return s, broken
		}
		return s, nil
	}, operator.AsyncConfig{})
	run := func(ctx *operator.Context) error {
		inst, _ := start(t, op, ctx, operator.Stream{Schema: orders})
		b := batch(ctx.Pool, someOrders...)
		err := inst.Process(0, b, nothing{})
		if err == nil {
			_, err = inst.(operator.Settler).Settle(nothing{})
		}
		b.Release()
		require.NoError(t, inst.(operator.Closer).Close())
		noLeak(t, ctx.Pool)
		return err
	}
	ctx := newContext(column.NewDebugPool(), operator.Skip())
	require.NoError(t, run(ctx))
	requireDropped(t, ctx, map[string]int64{"error": 2})
	require.EqualError(t, run(newContext(column.NewDebugPool(), operator.Fail())), `Tier: field "Tier" is null; make the field a pointer to take nulls`)

	ctx = newContext(column.NewDebugPool(), operator.DeadLetter(nil))
	var records []string
	ctx.DeadLetter = func(r operator.Rejected) error {
		records = append(records, fmt.Sprintf("%s: %v", r.Record, r.Err))
		return nil
	}
	require.NoError(t, run(ctx))
	require.Len(t, records, 2)
	requireDropped(t, ctx, map[string]int64{"dead_letter": 2})
}

func TestE6AsyncShowsTheRowToADeadLetterSink(t *testing.T) {
	ctx := newContext(column.NewDebugPool(), operator.DeadLetter(anySink{}))
	var got []string
	ctx.DeadLetter = func(r operator.Rejected) error {
		rec := r.Batch.Record()
		defer rec.Release()
		for i, c := range rec.Columns() {
			got = append(got, rec.ColumnName(i)+"="+c.ValueStr(r.Row))
		}
		return nil
	}
	op := operator.Async(func(_ context.Context, o order) (numbered, error) { return numbered{}, errors.New("no") }, operator.AsyncConfig{})
	inst, _ := start(t, op, ctx, operator.Stream{Schema: orders})
	b := batch(ctx.Pool, someOrders[0])
	require.NoError(t, inst.Process(0, b, nothing{}))
	_, err := inst.(operator.Settler).Settle(nothing{})
	require.NoError(t, err)
	require.Equal(t, []string{"ID=1", "Tier=gold", "Amount=10"}, got)
	b.Release()
	require.NoError(t, inst.(operator.Closer).Close())
	noLeak(t, ctx.Pool)
}

type anySink struct{ operator.Sink }

func TestE5APanicOfACallIsOneOfTheTask(t *testing.T) {
	op := operator.Async(func(context.Context, order) (numbered, error) { panic("boom") }, operator.AsyncConfig{})
	pool := column.NewDebugPool()
	inst, _ := start(t, op, newContext(pool, operator.Skip()), operator.Stream{Schema: orders})
	b := batch(pool, someOrders...)
	defer func() {
		p, ok := recover().(*operator.Panic)
		require.True(t, ok)
		require.Equal(t, "boom", p.Value)
		require.Contains(t, string(p.Stack), "async_test.go")
		b.Release()
		require.NoError(t, inst.(operator.Closer).Close())
		noLeak(t, pool)
	}()
	require.NoError(t, inst.Process(0, b, nothing{}))
	_, err := inst.(operator.Settler).Settle(nothing{})
	require.NoError(t, err)
}

func TestAsyncBindTellsAllFaults(t *testing.T) {
	type bad struct{ C chan int }
	_, err := operator.Async[order, bad](nil, operator.AsyncConfig{InFlight: -1, Timeout: -1, Retries: -1, Backoff: -1}).Bind([]operator.Stream{keyed})
	for _, want := range []string{"function: the function is nil", "type chan int is no column", "in_flight: -1 is out of range; give 1 to 65536", "timeout: -1ns is negative",
		"retries: -1 is negative", "backoff: -1ns is negative"} {
		require.ErrorContains(t, err, want)
	}
}

func TestAsyncIsConfigured(t *testing.T) {
	a := operator.Async(func(_ context.Context, o order) (order, error) { return o, nil }, operator.AsyncConfig{InFlight: 3, Timeout: time.Second})
	lookup := func(string) (operator.Operator, error) { return a, nil }
	op, err := operator.AsyncFromConfig(map[string]any{"function": "f"}, lookup)
	require.NoError(t, err)
	require.Equal(t, "f: operator_test.order to operator_test.order, 3 in flight, timeout 1s", op.(operator.Described).Describe())
	config := map[string]any{"function": "f", "in_flight": int64(9), "ordered": false, "timeout_ms": int64(50), "retries": int64(2), "backoff_ms": int64(7)}
	op, err = operator.AsyncFromConfig(config, lookup)
	require.NoError(t, err)
	require.Equal(t, "f: operator_test.order to operator_test.order, 9 in flight, unordered, timeout 50ms, 2 retries from 7ms on", op.(operator.Described).Describe())
	back, err := op.(*operator.AsyncOperator).Config()
	require.NoError(t, err)
	require.Equal(t, config, back)
	_, err = operator.AsyncFromConfig(map[string]any{"function": "f", "in_flight": "many", "ordered": 1, "timeout_ms": "x", "retries": 1.5, "backoff_ms": true, "more": 1}, lookup)
	require.ErrorContains(t, err, `config.more: unknown field "more"`)
	_, err = operator.AsyncFromConfig(map[string]any{"function": "f", "in_flight": "many", "ordered": 1, "timeout_ms": "x", "retries": 1.5, "backoff_ms": true}, lookup)
	for _, want := range []string{"config.in_flight: want a whole number, not many", "config.ordered: want true or false, not 1", "config.timeout_ms: want milliseconds, not x",
		"config.retries: want a whole number, not 1.5", "config.backoff_ms: want milliseconds, not true"} {
		require.ErrorContains(t, err, want)
	}
	_, err = a.Config()
	require.ErrorContains(t, err, "the function has no name")
}
