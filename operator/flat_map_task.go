package operator

import (
	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/internal/structmap"
)

// flatMapTask is a function of any number of rows in one task.
type flatMapTask[In, Out any] struct {
	ctx    *Context
	fn     flatMapFunc[In, Out]
	pure   func(In, func(Out)) // the same where it never fails and every Out can be written; else nil
	reader *structmap.Reader[In]
	in     []In
	main   *collect[Out]
	all    []rowsOut // main, then the side outputs
	sides  Sides
	emit   func(Out) // made once: what the function is given
	batch  *column.Batch
	out    Output
	err    error // of handing rows on while the function runs
}

func newFlatMapTask[In, Out any](ctx *Context, in Stream, w *structmap.Writer[Out], pure func(In, func(Out)), fn flatMapFunc[In, Out],
	sides []sideBound) (Instance, error) {
	if !w.Total() {
		pure = nil
	}
	r, err := structmap.NewReader[In](in.Schema)
	if err != nil {
		return nil, err
	}
	t := &flatMapTask[In, Out]{ctx: ctx, fn: fn, pure: pure, reader: r, in: make([]In, mapChunk), main: newCollect(ctx, Main, w)}
	t.all = []rowsOut{t.main}
	for i, s := range sides {
		rows := s.make(ctx, i+1)
		t.all = append(t.all, rows)
		t.sides.ports = append(t.sides.ports, sidePort{s.tag, rows})
	}
	t.emit = t.add
	if pure != nil {
		t.emit = t.addFinal
	}
	return t, nil
}

func (t *flatMapTask[In, Out]) add(row Out) { t.main.add(row, t.sides.row) }

// addFinal is add where no row is ever taken back: what is collected is handed on while the function runs.
func (t *flatMapTask[In, Out]) addFinal(row Out) {
	if t.err != nil {
		return
	}
	t.main.add(row, t.sides.row)
	if len(t.main.rows) == mapChunk {
		t.err = t.keep(t.main)
	}
}

// keep makes the rows of an output final and hands them on where they are many.
func (t *flatMapTask[In, Out]) keep(rows rowsOut) error {
	rows.keep()
	if rows.full() {
		return rows.emit(t.batch, t.out)
	}
	return nil
}

// Process implements Instance.
func (t *flatMapTask[In, Out]) Process(_ int, b *column.Batch, out Output) error {
	t.batch, t.out, t.err, t.sides.err = b, out, nil, nil
	defer func() {
		for _, rows := range t.all {
			rows.discard()
		}
		t.reader.End()
		clear(t.in)
		t.batch, t.out = nil, nil
	}()
	t.reader.Begin(b)
	for from := 0; from < b.Len(); from += mapChunk {
		n := min(mapChunk, b.Len()-from)
		if err := t.chunk(b, from, n); err != nil {
			return err
		}
	}
	for _, rows := range t.all {
		if err := rows.emit(b, out); err != nil {
			return err
		}
	}
	return nil
}

// chunk calls the function for n rows from `from` on. An error is one that the error policy does not let pass.
func (t *flatMapTask[In, Out]) chunk(b *column.Batch, from, n int) error {
	errs := t.reader.Read(from, t.in[:n])
	if errs == nil && t.pure != nil {
		for i := range t.in[:n] {
			t.sides.row = uint32(b.Row(from + i))
			if t.pure(t.in[i], t.emit); t.err != nil {
				return t.err
			}
		}
		return nil
	}
	for i := range n {
		t.sides.row = uint32(b.Row(from + i))
		var err error
		if errs != nil && errs[i] != nil {
			err = fieldError(errs[i])
		} else {
			err = t.call(t.in[i])
		}
		if t.err != nil {
			return t.err
		}
		if err == nil {
			continue
		}
		if err := t.ctx.RejectRows(b, []uint32{t.sides.row}, func(int) error { return err }); err != nil {
			return err
		}
	}
	return nil
}

// call calls the function for one row, again where the error policy says so. Where that is refused nothing of it is left. t.err is
// what ends the job whatever the policy.
func (t *flatMapTask[In, Out]) call(row In) error {
	err := t.try(row)
	for attempt := 0; err != nil && t.err == nil && t.ctx.Again(attempt); attempt++ {
		err = t.try(row)
	}
	if err != nil || t.err != nil {
		return err
	}
	for _, rows := range t.all {
		if t.err = t.keep(rows); t.err != nil {
			return nil
		}
	}
	return nil
}

// try calls the function once.
func (t *flatMapTask[In, Out]) try(row In) error {
	err := t.fn(row, t.emit, &t.sides)
	if t.err == nil {
		t.err = t.sides.err
	}
	if t.err != nil {
		return nil
	}
	if err != nil {
		err = &RowError{Err: err, Value: excerpt(row)}
	}
	for k := 0; k < len(t.all) && err == nil; k++ {
		err = t.all[k].check()
	}
	if err != nil {
		for _, rows := range t.all {
			rows.undo()
		}
	}
	return err
}
