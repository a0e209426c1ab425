package window

import (
	"errors"
	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/expr"
	"github.com/arkflow-go/arkflow/operator"
)

// computer makes the columns of aggregates that are expressions.
type computer struct {
	b          *bound
	evaluators []*expr.Evaluator
	errs       expr.Errors
}

func newComputer(b *bound) computer {
	c := computer{b: b}
	for _, p := range b.programs {
		c.evaluators = append(c.evaluators, p.New())
	}
	return c
}

// compute gives the rows with all columns of the layout; the caller owns the batch. Rows for which an expression cannot be computed
// follow the error policy. The batch is nil where no row is left. now is the time of arrival on a processing-time stream.
func (x *task) compute(b *column.Batch, rows rowSet, now int64) (*column.Batch, rowSet, error) {
	c := &x.computer
	c.errs.Reset()
	d := selected(b, rows)
	defer func() { d.Release() }()
	out, err := c.eval(d)
	if err != nil {
		return nil, rowSet{}, err
	}
	if n := c.errs.Len(); n > 0 {
		out.Release()
		if err := x.ctx.Reject(n, rowError(c.errs.First())); err != nil {
			return nil, rowSet{}, err
		}
		rest := c.errs.Without(d)
		if rest == nil {
			return nil, rowSet{}, nil
		}
		d.Release()
		d = rest
		c.errs.Reset()
		if out, err = c.eval(d); err != nil {
			return nil, rowSet{}, err
		}
	}
	if x.processing && x.b.layout.Timed() {
		out.Times = column.Alloc[int64](out, out.Rows)
		for i := range out.Times {
			out.Times[i] = now
		}
	}
	return out, rowSet{hi: out.Rows}, nil
}

// selected gives rows of a batch as a batch; the caller owns it.
func selected(b *column.Batch, rows rowSet) *column.Batch {
	d := b.Derive()
	switch {
	case rows.rows != nil:
		d.Sel = rows.rows
	case rows.len() < b.Rows:
		d.Sel = column.Alloc[uint32](d, rows.len())
		for i := range d.Sel {
			d.Sel[i] = uint32(rows.lo + i)
		}
	default:
		d.Sel = nil
	}
	return d
}

// computes reports whether compute has anything to do. What is computed of partial results is in them.
func (x *task) computes(b *column.Batch) bool {
	return (len(x.b.programs) > 0 || x.processing && x.b.layout.Timed()) && b.Schema != x.b.layout.Partial()
}

// rowError gives an error of an expression as one of the engine.
func rowError(err error) error {
	if e := (*expr.RowError)(nil); errors.As(err, &e) {
		return &operator.RowError{Field: e.Expr, Problem: e.Problem}
	}
	return err
}

// eval gives the rows of a batch that are there, with the columns that are read and those that are computed.
func (c *computer) eval(b *column.Batch) (out *column.Batch, err error) {
	n := len(b.Cols)
	if b.Sel == nil {
		out = b.Derive()
		out.Schema = c.b.schema
		for range c.evaluators {
			out.Cols = append(out.Cols, column.Column{})
		}
	} else {
		out = column.NewBatch(b.Pool(), c.b.schema, len(b.Sel))
		out.TakeTimes(b, b.Sel)
		done := make(map[int]bool, len(c.b.used))
		for _, at := range c.b.used {
			if !done[at] {
				done[at] = true
				column.Gather(out, &out.Cols[at], &b.Cols[at], b.Sel)
			}
		}
	}
	for i, ev := range c.evaluators {
		if err = ev.Eval(out, &out.Cols[n+i], b, &c.errs); err != nil {
			out.Release()
			return nil, err
		}
	}
	return out, nil
}
