package operator

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/internal/calls"
	"github.com/arkflow-go/arkflow/internal/structmap"
)

// asyncTask is the calls of one task. Rows are in flight from submit until their result is collected; what is collected is
// handed on before the task waits or returns.
type asyncTask[In, Out any] struct {
	ctx    *Context
	cfg    AsyncConfig
	timed  bool // the stream has event times
	reader *structmap.Reader[In]
	writer *structmap.Writer[Out]
	calls  *calls.Pool[In, Out]
	slots  []asyncRow // by slot

	in    []In
	free  []int32 // slots
	order []int32 // ring of the slots in flight by row; ordered only
	head  int
	ended []int32

	marks []mark // watermarks that wait for rows before them, by time
	first int    // segment number of marks[0]
	open  int    // rows in flight that came after the last mark

	rows  []Out // collected, not yet columns
	cols  *column.Builder
	times []int64 // of each collected row
	nulls []int32 // collected rows without a time
	late  []column.LatePair
}

// mark is a watermark and the number of rows in flight that came after the mark before it, and that it must not overtake.
type mark struct {
	left int
	w    int64
}

// asyncRow is what the task knows of a row in flight.
type asyncRow struct {
	time    int64 // event time
	timed   bool
	late    int64 // J, where isLate
	isLate  bool
	segment int // of the watermark before which it leaves
	done    bool
}

// newCalls makes the calls of one task.
func newCalls[In, Out any](ctx *Context, cfg AsyncConfig, fn func(context.Context, In) (Out, error)) *calls.Pool[In, Out] {
	again := cfg.retryPolicy(ctx.OnError)
	retries, _ := again.Retries()
	return calls.New(calls.Config{Context: ctx.Context, InFlight: cfg.InFlight, Timeout: cfg.Timeout, Retries: retries, RetryAfter: again.RetryAfter,
		Now: ctx.Clock.Now, NewTimer: func(d time.Duration) calls.Timer { return ctx.Clock.NewTimer(d) }, Moving: ctx.Moving, Wake: ctx.Wake}, fn)
}

func newAsyncTask[In, Out any](ctx *Context, in Stream, w *structmap.Writer[Out], cfg AsyncConfig,
	fn func(context.Context, In) (Out, error)) (Instance, error) {
	r, err := structmap.NewReader[In](in.Schema)
	if err != nil {
		return nil, err
	}
	t := &asyncTask[In, Out]{ctx: ctx, cfg: cfg, timed: in.Time == EventTime, reader: r, writer: w, calls: newCalls(ctx, cfg, fn), slots: make([]asyncRow, cfg.InFlight),
		in: make([]In, mapChunk), free: make([]int32, cfg.InFlight), rows: make([]Out, 0, mapChunk), cols: column.NewBuilder(ctx.Pool, w.Schema())}
	for i := range t.free {
		t.free[i] = int32(cfg.InFlight - 1 - i)
	}
	if !cfg.Unordered {
		t.order = make([]int32, cfg.InFlight)
	}
	return t, nil
}

// inFlight is the number of rows whose result has not been collected.
func (t *asyncTask[In, Out]) inFlight() int { return t.cfg.InFlight - len(t.free) }

// Process implements Instance.
func (t *asyncTask[In, Out]) Process(_ int, b *column.Batch, out Output) error {
	defer func() {
		t.reader.End()
		clear(t.in)
	}()
	t.reader.Begin(b)
	late := b.Late
	for from := 0; from < b.Len(); from += mapChunk {
		n := min(mapChunk, b.Len()-from)
		errs := t.reader.Read(from, t.in[:n])
		for i := range n {
			if errs != nil && errs[i] != nil {
				err := t.ctx.RejectRows(b, []uint32{uint32(b.Row(from + i))}, func(int) error { return fieldError(errs[i]) })
				if err != nil {
					return err
				}
				continue
			}
			if err := t.makeRoom(out); err != nil {
				return err
			}
			late = t.submit(t.in[i], b, b.Row(from+i), late)
		}
	}
	if err := t.collect(out); err != nil {
		return err
	}
	if err := t.flush(out); err != nil {
		return err
	}
	if len(t.marks) > 0 && t.marks[0].left == 0 && t.ctx.Wake != nil {
		t.ctx.Wake() // a watermark may go on, which Process cannot tell
	}
	return nil
}

// makeRoom waits until a slot is free.
func (t *asyncTask[In, Out]) makeRoom(out Output) error {
	for len(t.free) == 0 {
		if err := t.collect(out); err != nil {
			return err
		}
		if len(t.free) > 0 {
			return nil
		}
		if err := t.flush(out); err != nil {
			return err
		}
		if err := t.calls.Wait(); err != nil {
			return err
		}
	}
	return nil
}

// submit begins the call for a physical row. late are the late pairs from that row on; it gives those that are left.
func (t *asyncTask[In, Out]) submit(in In, b *column.Batch, row int, late []column.LatePair) []column.LatePair {
	slot := t.free[len(t.free)-1]
	t.free = t.free[:len(t.free)-1]
	t.calls.Slot(slot).In = in
	s := &t.slots[slot]
	s.segment = t.first + len(t.marks)
	s.timed = b.Times != nil && (b.TimeValid == nil || column.Bit(b.TimeValid, row))
	if s.timed {
		s.time = b.Times[row]
	}
	for len(late) > 0 && int(late[0].Row) < row {
		late = late[1:]
	}
	if s.isLate = len(late) > 0 && int(late[0].Row) == row; s.isLate {
		s.late = late[0].J
	}
	if t.order != nil {
		t.order[(t.head+t.inFlight()-1)%len(t.order)] = slot
	}
	t.open++
	t.calls.Submit(slot)
	return late
}

// collect takes the results that may leave by now.
func (t *asyncTask[In, Out]) collect(out Output) error {
	t.ended = t.calls.Take(t.ended[:0])
	for _, slot := range t.ended {
		t.slots[slot].done = true
		if t.order == nil {
			if err := t.takeResult(slot, out); err != nil {
				return err
			}
		}
	}
	for t.order != nil && t.inFlight() > 0 && t.slots[t.order[t.head]].done {
		slot := t.order[t.head]
		t.head = (t.head + 1) % len(t.order)
		if err := t.takeResult(slot, out); err != nil {
			return err
		}
	}
	return nil
}

// takeResult collects the result of a slot, or applies the error policy, and frees the slot.
func (t *asyncTask[In, Out]) takeResult(slot int32, out Output) error {
	c, s := t.calls.Slot(slot), &t.slots[slot]
	err := c.Err
	if err != nil {
		if err = failure(c); t.ctx.Err() != nil {
			return context.Cause(t.ctx)
		}
	} else if err = t.writer.Check(&c.Out); err != nil {
		err = fieldError(err)
	}
	if err != nil {
		if err := t.reject(c.In, err); err != nil {
			return err
		}
	} else {
		t.rows = append(t.rows, c.Out)
		t.addTime(s)
	}
	if i := s.segment - t.first; i < len(t.marks) {
		t.marks[i].left--
	} else {
		t.open--
	}
	*c, *s = calls.Slot[In, Out]{}, asyncRow{}
	t.free = append(t.free, slot)
	if len(t.rows) < mapChunk {
		return nil
	}
	t.toColumns()
	if t.cols.Len() >= collectRows || t.cols.Bytes() >= mapOutBytes {
		return t.flush(out)
	}
	return nil
}

// failure gives the error of a call. A panic of it goes on here.
func failure[In, Out any](c *calls.Slot[In, Out]) error {
	var p *calls.Panic
	if errors.As(c.Err, &p) {
		panic(&Panic{Value: p.Value, Stack: p.Stack})
	}
	return &RowError{Err: c.Err, Value: excerpt(c.In)}
}

// reject applies the error policy to a row; what a dead-letter sink is shown of it is the columns that the function saw.
func (t *asyncTask[In, Out]) reject(row In, err error) error {
	if t.ctx.OnError.DeadLetterSink() != nil {
		if seen, unfit := structmap.OneRow(t.ctx.Pool, row); unfit == nil {
			defer seen.Release()
			return t.ctx.RejectRows(seen, []uint32{0}, func(int) error { return err })
		}
	}
	return t.ctx.Reject(1, err)
}

// addTime collects the time of a result.
func (t *asyncTask[In, Out]) addTime(s *asyncRow) {
	at := int32(len(t.times))
	t.times = append(t.times, s.time)
	if !s.timed {
		t.nulls = append(t.nulls, at)
	}
	if s.isLate {
		t.late = append(t.late, column.LatePair{Row: at, J: s.late})
	}
}

func (t *asyncTask[In, Out]) toColumns() {
	t.writer.Append(t.cols, t.rows)
	clear(t.rows)
	t.rows = t.rows[:0]
}

// flush hands on what is collected.
func (t *asyncTask[In, Out]) flush(out Output) error {
	t.toColumns()
	n := t.cols.Len()
	if n == 0 {
		return nil
	}
	if err := t.cols.Err(); err != nil {
		return fmt.Errorf("rows of the function: %w", err)
	}
	made := t.cols.Finish()
	defer made.Release()
	if t.timed {
		made.Times = column.Alloc[int64](made, n)
		copy(made.Times, t.times)
		if len(t.nulls) > 0 {
			made.TimeValid = column.Alloc[byte](made, column.BitmapLen(n))
			for i := range made.TimeValid {
				made.TimeValid[i] = 0xFF
			}
			for _, i := range t.nulls {
				column.ClearBit(made.TimeValid, int(i))
			}
		}
		if len(t.late) > 0 {
			made.Late = column.Alloc[column.LatePair](made, len(t.late))
			copy(made.Late, t.late)
		}
	}
	t.times, t.nulls, t.late = t.times[:0], t.nulls[:0], t.late[:0]
	return out.Emit(Main, made)
}

// release gives the greatest watermark before which no row is in flight, once; MinWatermark where there is no new one. What is
// collected must have been handed on.
func (t *asyncTask[In, Out]) release() int64 {
	w, n := MinWatermark, 0
	for n < len(t.marks) && t.marks[n].left == 0 {
		w = t.marks[n].w
		n++
	}
	t.marks = append(t.marks[:0], t.marks[n:]...)
	t.first += n
	return w
}

// OnWake implements WakeHandler.
func (t *asyncTask[In, Out]) OnWake(out Output) (int64, error) {
	if err := t.collect(out); err != nil {
		return 0, err
	}
	if err := t.flush(out); err != nil {
		return 0, err
	}
	return t.release(), nil
}

// OnWatermark implements WatermarkHandler: the watermark waits for the rows before it.
func (t *asyncTask[In, Out]) OnWatermark(w int64, out Output) (int64, error) {
	if w == MaxWatermark {
		_, err := t.Settle(out)
		return w, err
	}
	if n := len(t.marks); t.open == 0 && n > 0 {
		t.marks[n-1].w = w
	} else {
		t.marks = append(t.marks, mark{t.open, w})
		t.open = 0
	}
	return t.OnWake(out)
}

// Settle implements Settler.
func (t *asyncTask[In, Out]) Settle(out Output) (int64, error) {
	for {
		if err := t.collect(out); err != nil {
			return 0, err
		}
		if err := t.flush(out); err != nil {
			return 0, err
		}
		if t.inFlight() == 0 {
			return t.release(), nil
		}
		if err := t.calls.Wait(); err != nil {
			return 0, err
		}
	}
}

// Close implements Closer.
func (t *asyncTask[In, Out]) Close() error {
	t.calls.Close()
	t.cols.Discard()
	return nil
}
