package main

import (
	"context"
	"encoding/binary"
	"io"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/arkflow-go/arkflow/bench/events"
	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/operator"
)

// paced is a source of so many events a millisecond, at the moment they are due and not when the job is ready for them: the first
// event of the time t ms is due t ms after the start, and the others of that time spread over the millisecond behind it. Each
// millisecond those that have come due are handed on: an event comes up to 1 ms late, but the first of its millisecond, which ends windows.
type paced struct {
	events *events.Generator
	n      int64
	start  atomic.Pointer[time.Time]
}

func newPaced(keys, n, perMilli int64) *paced {
	s := &paced{events: events.NewGenerator(keys), n: n}
	s.events.PerMilli = perMilli
	return s
}

// due is the moment at which the first event of that time was due.
func (s *paced) due(ms int64) time.Time {
	return s.start.Load().Add(time.Duration(ms) * time.Millisecond)
}

func (s *paced) Kind() string { return "bench-paced" }

func (s *paced) Schema() *arrow.Schema { return (&replay{}).Schema() }

func (s *paced) Splits(context.Context) ([]operator.Split, error) {
	return []operator.Split{{ID: "0"}}, nil
}

func (s *paced) Open(ctx *operator.Context, _ operator.Split, _ []byte) (operator.Reader, error) {
	r := &pacedReader{source: s, pool: ctx.Pool, schema: s.Schema(), scratch: events.NewBatch(events.Rows),
		wake: make(chan struct{}, 1), done: make(chan struct{})}
	return r, nil
}

type pacedReader struct {
	source  *paced
	pool    *column.Pool
	schema  *arrow.Schema
	scratch *events.Batch
	next    int64
	due     atomic.Int64 // events whose moment has come
	wake    chan struct{}
	stop    atomic.Bool
	done    chan struct{} // closed when pace has returned
	pacing  bool
}

// pace makes events due as time passes, in a thread of its own so that nothing else delays it.
func (r *pacedReader) pace() {
	defer close(r.done)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	n, perMilli := r.source.n, r.source.events.PerMilli
	for ms := int64(0); r.due.Load() < n && !r.stop.Load(); ms++ {
		sleepUntil(r.source.due(ms))
		r.due.Store(min(n, ms*perMilli+1))
		select {
		case r.wake <- struct{}{}:
		default:
		}
	}
}

func (r *pacedReader) Poll() (*column.Batch, error) {
	if !r.pacing {
		now := time.Now()
		r.source.start.Store(&now)
		r.pacing = true
		go r.pace()
	}
	n := int(min(r.due.Load()-r.next, events.Rows))
	if n == 0 {
		if r.next == r.source.n {
			return nil, io.EOF
		}
		return nil, nil
	}
	e := r.scratch
	r.source.events.Fill(e, r.next, n)
	r.next += int64(n)
	b := column.NewBatch(r.pool, r.schema, n)
	for i, v := range [][]int64{e.Key, e.Price, e.Time} {
		to := column.Alloc[int64](b, n)
		copy(to, v)
		b.Cols[i].Data = column.BytesOf(to)
	}
	return b, nil
}

func (r *pacedReader) Ready() <-chan struct{} { return r.wake }

func (r *pacedReader) Position() ([]byte, error) {
	return binary.LittleEndian.AppendUint64(nil, uint64(r.next)), nil
}

func (r *pacedReader) Close() error {
	r.stop.Store(true)
	if r.pacing {
		<-r.done
	}
	return nil
}
