package main

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"runtime"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/arkflow-go/arkflow/bench/events"
	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/operator"
)

// feed is where a ring takes its rows from.
type feed interface {
	schema() *arrow.Schema
	// slot makes the memory of one batch. It is called by several goroutines at once.
	slot() feedSlot
}

// feedSlot is the memory of one batch. It is used by one goroutine.
type feedSlot interface {
	// fill makes the n events that begin with event start. This is the work that a figure of replayed rows leaves out.
	fill(start int64, n int)
	// view makes a batch of that schema, with as many rows, that shows what was filled in.
	view(p *column.Pool) (*column.Batch, error)
}

// ring is a source of the events [0, n) of a feed. Each split keeps a few batches and fills those that have come back with the
// next events inside Poll, as replay does.
type ring struct {
	feed   feed
	n      int64
	rows   int64 // of a batch; 0: events.Rows
	round  int64 // a batch does not go over a multiple of this many events
	splits int
	live   bool // the filling belongs to the figure

	filled atomic.Int64 // ns of thread CPU time
}

func (s *ring) Kind() string { return "bench-ring" }

func (s *ring) Schema() *arrow.Schema { return s.feed.schema() }

func (s *ring) Splits(context.Context) ([]operator.Split, error) {
	splits := make([]operator.Split, s.splits)
	for i := range splits {
		splits[i].ID = strconv.Itoa(i)
	}
	return splits, nil
}

// Open gives the reader of the batches i, i+splits, i+2·splits, …
func (s *ring) Open(ctx *operator.Context, split operator.Split, position []byte) (operator.Reader, error) {
	first, err := strconv.Atoi(split.ID)
	if err != nil {
		return nil, fmt.Errorf("open split %q: %w", split.ID, err)
	}
	r := &ringReader{source: s, pool: ctx.Pool, next: int64(first), wake: make(chan struct{}, 1)}
	if len(position) == 8 {
		r.next = int64(binary.LittleEndian.Uint64(position))
	}
	r.returned = r.next
	for i := range r.slots {
		slot := &r.slots[i]
		slot.rows = s.feed.slot()
		slot.free.Store(true)
		slot.back = func() {
			slot.free.Store(true)
			select {
			case r.wake <- struct{}{}:
			default:
			}
		}
	}
	return r, nil
}

// span gives the events of a batch; n is 0 behind the last one.
func (s *ring) span(batch int64) (start int64, n int) {
	rows := s.rows
	if rows == 0 {
		rows = events.Rows
	}
	if s.round == 0 {
		start = batch * rows
		return start, int(max(0, min(rows, s.n-start)))
	}
	perRound := (s.round + rows - 1) / rows
	at := batch % perRound * rows
	start = batch/perRound*s.round + at
	return start, int(max(0, min(rows, s.round-at, s.n-start)))
}

// fillCPU is what the splits have spent on making events that do not count.
func (s *ring) fillCPU() time.Duration { return time.Duration(s.filled.Load()) }

type ringReader struct {
	source   *ring
	pool     *column.Pool
	next     int64 // number of the batch that is filled next
	returned int64 // number of the batch that Poll returns next

	slots  [ringBatches]feedBatch
	head   int // slot that Poll returns next
	ready  int // slots from head on that are filled
	locked bool
	wake   chan struct{}
}

type feedBatch struct {
	rows feedSlot
	free atomic.Bool // the engine has given it back
	back func()
}

func (r *ringReader) Poll() (*column.Batch, error) {
	if r.ready == 0 {
		if _, n := r.source.span(r.next); n == 0 {
			if r.locked {
				runtime.UnlockOSThread()
				r.locked = false
			}
			return nil, io.EOF
		}
		r.fill()
		if r.ready == 0 {
			return nil, nil // all batches are under way: wake tells when one is back
		}
	}
	slot := &r.slots[r.head]
	b, err := slot.rows.view(r.pool)
	if err != nil {
		return nil, err
	}
	r.head = (r.head + 1) % ringBatches
	r.ready--
	r.returned += int64(r.source.splits)
	slot.free.Store(false)
	b.OnRelease(slot.back)
	return b, nil
}

// fill writes the next events into the batches that are back.
func (r *ringReader) fill() {
	s := r.source
	var began time.Duration
	if !s.live {
		if !r.locked {
			runtime.LockOSThread()
			r.locked = true
		}
		began = threadCPU()
	}
	for ; r.ready < ringBatches; r.ready++ {
		slot := &r.slots[(r.head+r.ready)%ringBatches]
		start, n := s.span(r.next)
		if n == 0 || !slot.free.Load() {
			break
		}
		slot.rows.fill(start, n)
		r.next += int64(s.splits)
	}
	if !s.live {
		s.filled.Add(int64(threadCPU() - began))
	}
}

func (r *ringReader) Ready() <-chan struct{} { return r.wake }

func (r *ringReader) Position() ([]byte, error) {
	return binary.LittleEndian.AppendUint64(nil, uint64(r.returned)), nil
}

// Close may be called by another goroutine than Poll: it leaves the thread alone, which ends with the task.
func (r *ringReader) Close() error { return nil }
