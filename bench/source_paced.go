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

// paced is a source of one event a millisecond, at the moment it is due and not when the job is ready for it: event i has
// the time i ms and is due i ms after the start.
type paced struct {
	events *events.Generator
	n      int64
	start  atomic.Pointer[time.Time]
}

func newPaced(keys, n int64) *paced {
	s := &paced{events: events.NewGenerator(keys), n: n}
	s.events.PerMilli = 1
	return s
}

// due is the moment at which the event of that time was due.
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

// pace makes one event due after the other, in a thread of its own so that nothing else delays it.
func (r *pacedReader) pace() {
	defer close(r.done)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for i := int64(0); i < r.source.n && !r.stop.Load(); i++ {
		sleepUntil(r.source.due(i))
		r.due.Store(i + 1)
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
