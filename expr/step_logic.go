package expr

import (
	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/internal/calc"
)

// sameStep gives one truth value for every row that has a value; with null it gives null for every row.
type sameStep struct {
	child step
	truth byte
	null  bool
}

func (s *sameStep) eval(ev *Evaluator, b block, _ []byte) vec {
	x := s.child.eval(ev, b, nil)
	v := ev.truth(&x, b.n)
	ev.done(&x)
	calc.FillBytes(v.data, s.truth)
	if s.null {
		if v.mask == nil {
			v.mask = ev.mask()
		}
		v.valid = v.mask[:b.n]
		clear(v.valid)
	}
	v.hideNulls()
	return v
}

// nullStep tells which values are null, or with negate which are not.
type nullStep struct {
	child  step
	negate bool
}

func (s *nullStep) eval(ev *Evaluator, b block, _ []byte) vec {
	var x vec
	if c, ok := s.child.(*columnStep); ok {
		x = c.validity(ev, &ev.batch.Cols[c.index], b)
	} else {
		x = s.child.eval(ev, b, nil)
	}
	v := vec{}
	v.buf = ev.mask()
	v.data = v.buf[:b.n]
	switch {
	case x.valid == nil:
		calc.FillBytes(v.data, 1)
	default:
		copy(v.data, x.valid)
	}
	ev.done(&x)
	v.finish(!s.negate)
	return v
}

type notStep struct{ child step }

func (s *notStep) eval(ev *Evaluator, b block, _ []byte) vec {
	x := s.child.eval(ev, b, nil)
	v := ev.truth(&x, b.n)
	calc.NotBytes(v.data, x.data)
	ev.done(&x)
	v.hideNulls()
	return v
}

// logicStep is a and b, or a or b. Where b can fail it is evaluated only for the rows that a has not decided.
type logicStep struct {
	a, b   step
	or     bool
	bFails bool
}

func (s *logicStep) eval(ev *Evaluator, b block, _ []byte) vec {
	x := s.a.eval(ev, b, nil)
	if !s.bFails {
		y := s.b.eval(ev, b, nil)
		return s.combine(ev, b.n, &x, &y)
	}
	buf := pop(&ev.values, 8*blockRows)
	at := column.View[uint32](buf[:8*blockRows])[:2*blockRows] // places, then rows, of what is open
	n := 0
	open := s.open(ev, b.n, &x)
	for i, o := range open {
		at[n] = uint32(i)
		at[blockRows+n] = b.row(i)
		n += int(o)
	}
	ev.free(open)
	switch {
	case n == 0:
		ev.free(buf)
		v := ev.truth(&x, b.n)
		copy(v.data, x.data)
		ev.done(&x)
		return v
	case n == b.n:
		ev.free(buf)
		y := s.b.eval(ev, b, nil)
		return s.combine(ev, b.n, &x, &y)
	}
	y := s.b.eval(ev, block{n: n, rows: at[blockRows : blockRows+n]}, nil)
	w := ev.scatter(&y, at[:n], b.n)
	ev.free(buf)
	ev.done(&y)
	return s.combine(ev, b.n, &x, &w)
}

// open tells by a byte a row which rows x has not decided: for and those that are not false, for or those that are not true.
func (s *logicStep) open(ev *Evaluator, n int, x *vec) []byte {
	open := ev.mask()[:n]
	switch {
	case s.or:
		calc.NotBytes(open, x.data)
	case x.valid == nil:
		copy(open, x.data)
	default:
		calc.NotBytes(open, x.valid)
		calc.OrBytes(open, open, x.data)
	}
	return open
}

// scatter spreads truth values of some rows over all n of a block; the others become false, which changes nothing there.
func (ev *Evaluator) scatter(y *vec, places []uint32, n int) vec {
	w := vec{}
	w.buf = ev.mask()
	w.data = w.buf[:n]
	clear(w.data)
	for i, p := range places {
		w.data[p] = y.data[i]
	}
	if y.valid != nil {
		w.mask = ev.mask()
		w.valid = w.mask[:n]
		calc.FillBytes(w.valid, 1)
		for i, p := range places {
			w.valid[p] = y.valid[i]
		}
	}
	return w
}

// combine joins the truth of both sides and gives them back.
func (s *logicStep) combine(ev *Evaluator, n int, x, y *vec) vec {
	v := vec{}
	v.buf = ev.mask()
	v.data = v.buf[:n]
	if s.or {
		calc.OrBytes(v.data, x.data, y.data)
	} else {
		calc.AndBytes(v.data, x.data, y.data)
	}
	if x.valid != nil || y.valid != nil {
		v.mask = ev.mask()
		v.valid = v.mask[:n]
		s.combineValid(v.valid, x, y)
	}
	ev.done(x)
	ev.done(y)
	return v
}

// combineValid: the result has a value where both sides have one, or where one of them decides alone.
func (s *logicStep) combineValid(valid []byte, x, y *vec) {
	decides := byte(0) // what x.data and y.data are exclusive-ored with to get 1 where false decides
	if !s.or {
		decides = 1
	}
	for i := range valid {
		vx, vy := byte(1), byte(1)
		if x.valid != nil {
			vx = x.valid[i]
		}
		if y.valid != nil {
			vy = y.valid[i]
		}
		valid[i] = vx&vy | vx&(x.data[i]^decides) | vy&(y.data[i]^decides)
	}
}

// selectRows filters by a, then what is left by b. This needs b not to fail: it is not asked about rows where a is null.
func (s *logicStep) selectRows(ev *Evaluator, b block, kept *[blockRows]uint32) (int, bool) {
	if s.or || s.bFails {
		return 0, false
	}
	n := ev.selectRows(s.a, b, kept)
	if n == 0 {
		return 0, true
	}
	buf := pop(&ev.values, 8*blockRows)
	rows := column.View[uint32](buf[:8*blockRows])[:n]
	copy(rows, kept[:n])
	n = ev.selectRows(s.b, block{n: n, rows: rows}, kept)
	ev.free(buf)
	return n, true
}
