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

// replay is a source of the events [0, n). Each split keeps a few batches and fills those that have come back with the
// next events inside Poll. The CPU time of that can be taken out of a figure: see filling.
type replay struct {
	events *events.Generator
	text   bool // keys as text
	wide   bool // 37 columns more
	cut    int  // rows of a batch that is handed on; 0: all that one of the ring has
	n      int64
	splits int
	live   bool // do not measure the filling: it belongs to the figure
	moving *moving

	filled atomic.Int64 // ns of thread CPU time
}

// ringBatches is how many batches a split keeps.
const ringBatches = 4

func (s *replay) Kind() string { return "bench-replay" }

func (s *replay) Schema() *arrow.Schema {
	key := arrow.PrimitiveTypes.Int64
	if s.text {
		key = arrow.BinaryTypes.String
	}
	fields := []arrow.Field{
		{Name: "key", Type: key},
		{Name: "price", Type: arrow.PrimitiveTypes.Int64},
		{Name: "ts", Type: arrow.PrimitiveTypes.Int64},
	}
	if s.wide {
		fields = append(fields, wideFields()...)
	}
	return arrow.NewSchema(fields, nil)
}

func (s *replay) Splits(context.Context) ([]operator.Split, error) {
	splits := make([]operator.Split, s.splits)
	for i := range splits {
		splits[i].ID = strconv.Itoa(i)
	}
	return splits, nil
}

// Open gives the reader of the batches i, i+splits, i+2·splits, …
func (s *replay) Open(ctx *operator.Context, split operator.Split, position []byte) (operator.Reader, error) {
	first, err := strconv.Atoi(split.ID)
	if err != nil {
		return nil, fmt.Errorf("open split %q: %w", split.ID, err)
	}
	r := &replayReader{source: s, pool: ctx.Pool, schema: s.Schema(), at: int64(first) * events.Rows, wake: make(chan struct{}, 1)}
	if len(position) == 8 {
		r.at = int64(binary.LittleEndian.Uint64(position))
	}
	r.next = r.at / events.Rows
	r.ring[0].given = int(r.at % events.Rows)
	for i := range r.ring {
		slot := &r.ring[i]
		slot.events = events.NewBatch(events.Rows)
		if s.text {
			slot.events.Text = make([]byte, 0, events.Rows*events.TextBytes)
			slot.offsets = textOffsets()
		}
		if s.wide {
			slot.wide = newWideColumns()
		}
		slot.free.Store(true)
		slot.back = func() {
			if slot.out.Add(-1) > 0 {
				return
			}
			slot.free.Store(true)
			select {
			case r.wake <- struct{}{}:
			default:
			}
		}
	}
	return r, nil
}

func textOffsets() []int32 {
	off := make([]int32, events.Rows+1)
	for i := range off {
		off[i] = int32(i * events.TextBytes)
	}
	return off
}

// fillCPU is what the splits have spent on making events.
func (s *replay) fillCPU() time.Duration { return time.Duration(s.filled.Load()) }

type replayReader struct {
	source *replay
	pool   *column.Pool
	schema *arrow.Schema
	next   int64 // number of the batch that is filled next
	at     int64 // number of the event that Poll returns next

	ring   [ringBatches]ringSlot
	head   int // slot that Poll returns next
	ready  int // slots from head on that are filled
	locked bool
	wake   chan struct{}
}

type ringSlot struct {
	events  *events.Batch
	offsets []int32
	wide    *wideColumns
	given   int          // rows that Poll has returned
	out     atomic.Int64 // parts that the engine has not given back, those that it has yet to get among them
	free    atomic.Bool  // the engine has given it back
	back    func()
}

func (r *replayReader) Poll() (*column.Batch, error) {
	if m := r.source.moving; m != nil {
		ready, over := m.poll(r.at)
		if over {
			if r.locked {
				runtime.UnlockOSThread()
				r.locked = false
			}
			return nil, io.EOF
		}
		if !ready {
			return nil, nil
		}
	}
	if r.ready == 0 {
		if r.next*events.Rows >= r.source.n {
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
	slot := &r.ring[r.head]
	from, to := slot.given, len(slot.events.Key)
	if slot.free.Load() {
		slot.free.Store(false)
		parts := 1
		if r.source.cut > 0 {
			parts = (to - from + r.source.cut - 1) / r.source.cut
		}
		slot.out.Store(int64(parts))
	}
	if r.source.cut > 0 {
		to = min(to, from+r.source.cut)
	}
	b := r.batch(slot, from, to)
	slot.given = to
	r.at += int64(to - from)
	if to == len(slot.events.Key) {
		slot.given = 0
		r.head = (r.head + 1) % ringBatches
		r.ready--
		r.at = (r.at-1)/events.Rows*events.Rows + int64(r.source.splits)*events.Rows // the last batch may be short
	}
	return b, nil
}

// batch gives rows of a slot, which stay where they are.
func (r *replayReader) batch(slot *ringSlot, from, to int) *column.Batch {
	e := slot.events
	b := column.NewBatch(r.pool, r.schema, to-from)
	if r.source.text {
		b.Cols[0].Data, b.Cols[0].Offsets = e.Text, slot.offsets[from:to+1]
	} else {
		b.Cols[0].Data = column.BytesOf(e.Key[from:to])
	}
	b.Cols[1].Data = column.BytesOf(e.Price[from:to])
	b.Cols[2].Data = column.BytesOf(e.Time[from:to])
	if slot.wide != nil {
		slot.wide.attach(b, from, to)
	}
	b.OnRelease(slot.back)
	return b
}

// fill writes the next events into the batches that are back.
func (r *replayReader) fill() {
	s := r.source
	var began time.Duration
	if !s.live {
		if !r.locked {
			runtime.LockOSThread()
			r.locked = true
		}
		began = threadCPU()
	}
	for ; r.ready < ringBatches && r.next*events.Rows < s.n; r.ready++ {
		slot := &r.ring[(r.head+r.ready)%ringBatches]
		if !slot.free.Load() {
			break
		}
		start := r.next * events.Rows
		s.events.Fill(slot.events, start, int(min(events.Rows, s.n-start)))
		if slot.wide != nil {
			slot.wide.fill(slot.events)
		}
		if s.moving != nil {
			s.moving.fill(slot.events, start)
		}
		r.next += int64(s.splits)
	}
	if !s.live {
		s.filled.Add(int64(threadCPU() - began))
	}
}

func (r *replayReader) Ready() <-chan struct{} {
	if m := r.source.moving; m != nil && m.load && !m.started {
		return m.opened
	}
	return r.wake
}

func (r *replayReader) Position() ([]byte, error) {
	if m := r.source.moving; m != nil {
		m.barrier()
	}
	return binary.LittleEndian.AppendUint64(nil, uint64(r.at)), nil
}

// Close may be called by another goroutine than Poll: it leaves the thread alone, which ends with the task.
func (r *replayReader) Close() error { return nil }
