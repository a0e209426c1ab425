package operator

import (
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/internal/structmap"
)

const (
	mapChunk    = 256      // rows that are structs at a time
	mapOutBytes = 64 << 20 // an output column with as many string bytes ends its batch
	excerptSize = 200      // bytes of a row in an error
)

// mapTask is a function in one task. The rows of a batch are read, mapped and written a chunk at a time, column by column.
type mapTask[In, Out any] struct {
	ctx    *Context
	fn     func(In) (Out, error)
	pure   func(In) Out // the same where it never fails and every Out can be written; else nil
	reader *structmap.Reader[In]
	writer *structmap.Writer[Out]
	in     []In
	out    []Out
	rows   *column.Builder
	kept   []uint32 // physical rows of those in rows, while `some`
	some   bool     // rows are not simply all physical rows
}

func newMapTask[In, Out any](ctx *Context, in Stream, w *structmap.Writer[Out], pure func(In) Out,
	fn func(In) (Out, error)) (Instance, error) {
	if !w.Total() {
		pure = nil
	}
	r, err := structmap.NewReader[In](in.Schema)
	if err != nil {
		return nil, err
	}
	return &mapTask[In, Out]{ctx: ctx, fn: fn, pure: pure, reader: r, writer: w, in: make([]In, mapChunk), out: make([]Out, mapChunk),
		rows: column.NewBuilder(ctx.Pool, w.Schema())}, nil
}

// Process implements Instance.
func (t *mapTask[In, Out]) Process(_ int, b *column.Batch, out Output) error {
	defer func() {
		t.rows.Discard()
		t.reader.End()
		clear(t.in)
		clear(t.out)
	}()
	t.reader.Begin(b)
	t.kept, t.some = t.kept[:0], b.Sel != nil
	for from := 0; from < b.Len(); from += mapChunk {
		n := min(mapChunk, b.Len()-from)
		made, err := t.mapChunk(b, from, n)
		if err != nil {
			return err
		}
		t.writer.Append(t.rows, t.out[:made])
		if t.rows.Bytes() >= mapOutBytes && from+n < b.Len() {
			if err := t.emit(b, from+n, out); err != nil {
				return err
			}
		}
	}
	return t.emit(b, b.Len(), out)
}

// mapChunk maps n rows from `from` on and gives how many it made; an error is one that the error policy does not let pass.
func (t *mapTask[In, Out]) mapChunk(b *column.Batch, from, n int) (made int, err error) {
	errs := t.reader.Read(from, t.in[:n])
	if errs == nil && t.pure != nil {
		for i := range t.in[:n] {
			t.out[i] = t.pure(t.in[i])
		}
		for i := 0; t.some && i < n; i++ {
			t.kept = append(t.kept, uint32(b.Row(from+i)))
		}
		return n, nil
	}
	for i := range n {
		var err error
		if errs != nil && errs[i] != nil {
			err = fieldError(errs[i])
		} else if t.out[made], err = t.call(t.in[i]); err != nil {
			err = &RowError{Err: err, Value: excerpt(t.in[i])}
		} else if err = t.writer.Check(&t.out[made]); err != nil {
			err = fieldError(err)
		}
		if err == nil {
			if made++; t.some {
				t.kept = append(t.kept, uint32(b.Row(from+i)))
			}
			continue
		}
		if err := t.ctx.RejectRows(b, []uint32{uint32(b.Row(from + i))}, func(int) error { return err }); err != nil {
			return made, err
		}
		if !t.some {
			t.some = true
			for k := range from + i {
				t.kept = append(t.kept, uint32(k))
			}
		}
	}
	return made, nil
}

// call calls the function, again where the error policy says so.
func (t *mapTask[In, Out]) call(in In) (out Out, err error) {
	out, err = t.fn(in)
	for attempt := 0; err != nil && t.ctx.Again(attempt); attempt++ {
		out, err = t.fn(in)
	}
	return out, err
}

// emit hands on the rows so far, which end before row `to` of the batch.
func (t *mapTask[In, Out]) emit(b *column.Batch, to int, out Output) error {
	if t.rows.Len() == 0 {
		return nil
	}
	if err := t.rows.Err(); err != nil {
		return fmt.Errorf("rows of the function: %w", err)
	}
	if !t.some && to < b.Len() { // the batch is cut: from here on rows are named one by one
		for k := range to {
			t.kept = append(t.kept, uint32(k))
		}
		t.some = true
	}
	made := t.rows.Finish()
	defer made.Release()
	if t.some {
		made.TakeTimes(b, t.kept)
	} else {
		made.TakeTimes(b, nil)
	}
	t.kept = t.kept[:0]
	return out.Emit(Main, made)
}

// fieldError gives an error of the struct mapping as one of the engine.
func fieldError(err error) error {
	var e *structmap.ValueError
	if errors.As(err, &e) {
		return &RowError{Field: e.Column, Value: e.Value, Problem: fmt.Sprintf("field %q %s", e.Field, e.Problem)}
	}
	return err
}

// excerpt shows a row, cut to excerptSize.
func excerpt(row any) string {
	s := fmt.Sprintf("%+v", row)
	if len(s) <= excerptSize {
		return s
	}
	cut := excerptSize
	for cut > 0 && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut] + "…"
}
