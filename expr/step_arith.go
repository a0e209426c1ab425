package expr

import (
	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/internal/calc"
	"github.com/arkflow-go/arkflow/internal/tree"
)

// pairStep computes a op b over int64, uint64, floats or decimals; what is nil where it cannot fail.
type pairStep struct {
	op       tree.Operator
	kind     column.Kind
	a, b     step
	what     *failure
	up, down int32 // decimals: powers of ten that bring a and b to the scale of the result
	digits   int32 // decimals: precision of the result
}

func (s *pairStep) eval(ev *Evaluator, b block, dst []byte) vec {
	x := s.a.eval(ev, b, nil)
	y := s.b.eval(ev, b, nil)
	v := vec{}
	v.data, v.buf = ev.room(dst, b.n, s.kind.Width())
	ev.both(&v, &x, &y, b.n)
	switch s.kind {
	case column.Int64:
		s.ints(ev, b, &v, column.View[int64](x.data), column.View[int64](y.data))
	case column.Uint64:
		s.uints(ev, b, &v, column.View[uint64](x.data), column.View[uint64](y.data))
	case column.Float32:
		calc.FloatPairs(s.op, column.View[float32](v.data), column.View[float32](x.data), column.View[float32](y.data))
	case column.Float64:
		calc.FloatPairs(s.op, column.View[float64](v.data), column.View[float64](x.data), column.View[float64](y.data))
	case column.Decimal:
		s.decimals(ev, b, &v, column.View[int128](x.data), column.View[int128](y.data))
	}
	ev.done(&x)
	ev.done(&y)
	return v
}

func (s *pairStep) ints(ev *Evaluator, b block, v *vec, x, y []int64) {
	dst, suspect := column.View[int64](v.data), false
	switch s.op {
	case tree.OpAdd:
		suspect = calc.AddPairs(dst, x, y)
	case tree.OpSub:
		suspect = calc.SubPairs(dst, x, y)
	case tree.OpMul:
		suspect = calc.MulPairs(dst, x, y)
	case tree.OpDiv:
		suspect = calc.DivPairs(dst, x, y)
	case tree.OpMod:
		suspect = calc.ModPairs(dst, x, y)
	}
	if !suspect {
		return
	}
	for i := range x {
		if calc.Overflows(s.op, x[i], y[i]) && !v.idle(i) {
			s.fail(ev, b, v, i, int128{uint64(x[i])}, int128{uint64(y[i])})
		}
	}
}

// fail reports a row; the negation of a is computed as 0 - a.
func (s *pairStep) fail(ev *Evaluator, b block, v *vec, i int, x, y int128) {
	if s.what.kind == failNegate {
		x = y
	}
	ev.fail(v, b, i, s.what, x, y)
}

func (s *pairStep) uints(ev *Evaluator, b block, v *vec, x, y []uint64) {
	dst, failed := column.View[uint64](v.data), false
	switch s.op {
	case tree.OpAdd:
		failed = calc.AddUints(dst, x, y)
	case tree.OpSub:
		failed = calc.SubUints(dst, x, y)
	case tree.OpMul:
		failed = calc.MulUints(dst, x, y)
	default:
		failed = calc.DivUints(dst, x, y, s.op == tree.OpMod)
	}
	if !failed {
		return
	}
	for i := range x {
		if calc.OverflowsUint(s.op, x[i], y[i]) && !v.idle(i) {
			s.fail(ev, b, v, i, int128{x[i]}, int128{y[i]})
		}
	}
}

func (s *pairStep) decimals(ev *Evaluator, b block, v *vec, x, y []int128) {
	dst := column.View[int128](v.data)
	for i := range x {
		r, ok := calc.DecimalPair(s.op, x[i], y[i], s.up, s.down, s.digits)
		dst[i] = r
		if !ok && !v.idle(i) {
			s.fail(ev, b, v, i, x[i], y[i])
		}
	}
}

// addStep is x + c over int64, |c| <= 2^62; a subtraction comes as the addition of -c.
type addStep struct {
	child step
	c     int64
	op    tree.Operator // as written
	what  *failure
}

func (s *addStep) eval(ev *Evaluator, b block, dst []byte) vec {
	x := s.child.eval(ev, b, nil)
	v := vec{}
	v.data, v.buf = ev.room(dst, b.n, 8)
	ev.inherit(&v, &x)
	from := column.View[int64](x.data)
	if calc.AddConst(column.View[int64](v.data), from, s.c) {
		written := s.c
		if s.op == tree.OpSub {
			written = -s.c
		}
		for i, a := range from {
			if calc.Overflows(tree.OpAdd, a, s.c) && !v.idle(i) {
				ev.fail(&v, b, i, s.what, int128{uint64(a)}, int128{uint64(written)})
			}
		}
	}
	ev.done(&x)
	return v
}

// mulStep is x * c over int64, 1 <= |c| <= 2^62.
type mulStep struct {
	child      step
	c          int64
	k          uint
	what       *failure
	childFails bool
}

func (s *mulStep) eval(ev *Evaluator, b block, dst []byte) vec {
	v := vec{}
	v.data, v.buf = ev.room(dst, b.n, 8)
	to := column.View[int64](v.data)
	if src := ev.gathered(s.child, b, &v); src != nil {
		if calc.MulConstRows(to, src, b.rows, s.c, s.k) {
			for i, r := range b.rows {
				s.check(ev, b, &v, i, src[r])
			}
		}
		return v
	}
	x := s.child.eval(ev, b, nil)
	ev.inherit(&v, &x)
	from := column.View[int64](x.data)
	if calc.MulConst(to, from, s.c, s.k) {
		for i, a := range from {
			s.check(ev, b, &v, i, a)
		}
	}
	ev.done(&x)
	return v
}

func (s *mulStep) check(ev *Evaluator, b block, v *vec, i int, a int64) {
	if calc.Overflows(tree.OpMul, a, s.c) && !v.idle(i) {
		ev.fail(v, b, i, s.what, int128{uint64(a)}, int128{uint64(s.c)})
	}
}

// gathered gives a whole int64 column, where the rows of a block are to be gathered from it by the caller itself, with
// the rows' validity in v; nil where x is anything else.
func (ev *Evaluator) gathered(x step, b block, v *vec) []int64 {
	c, ok := x.(*columnStep)
	if !ok || b.rows == nil || c.kind != column.Int64 {
		return nil
	}
	col := &ev.batch.Cols[c.index]
	valid := c.validity(ev, col, b)
	v.valid, v.mask = valid.valid, valid.mask
	return column.Values[int64](col)
}

// wideStep is x * c over int64 as a decimal. It cannot fail.
type wideStep struct {
	child step
	c     int64
}

func (s *wideStep) eval(ev *Evaluator, b block, dst []byte) vec {
	x := s.child.eval(ev, b, nil)
	v := vec{}
	v.data, v.buf = ev.room(dst, b.n, 16)
	ev.inherit(&v, &x)
	calc.MulWide(column.View[int128](v.data), column.View[int64](x.data), s.c)
	ev.done(&x)
	return v
}

// divStep is x / d or x % d over int64 for a constant |d| >= 2. It cannot fail.
type divStep struct {
	child step
	by    calc.Divisor
	mod   bool
}

func (s *divStep) eval(ev *Evaluator, b block, dst []byte) vec {
	x := s.child.eval(ev, b, nil)
	v := vec{}
	v.data, v.buf = ev.room(dst, b.n, 8)
	ev.inherit(&v, &x)
	if s.mod {
		s.by.Mod(column.View[int64](v.data), column.View[int64](x.data))
	} else {
		s.by.Div(column.View[int64](v.data), column.View[int64](x.data))
	}
	ev.done(&x)
	return v
}

// ratioStep is x * c / d over int64 for constants c >= 1 and d >= 2. Blocks whose values are all neither negative nor huge,
// as counts and prices are, take one multiplication a row; others go the way of the two operators, and so do the
// blocks after such a one for a while.
type ratioStep struct {
	child step // cannot fail
	exact step
	r     calc.Ratio
	id    int // of the evaluator's memory of blocks that were out of range
}

// ratioRetry is the number of blocks for which the exact way is taken after a block out of range.
const ratioRetry = 31

func (s *ratioStep) eval(ev *Evaluator, b block, dst []byte) vec {
	if ev.avoid[s.id] > 0 {
		ev.avoid[s.id]--
		return s.exact.eval(ev, b, dst)
	}
	v := vec{}
	v.data, v.buf = ev.room(dst, b.n, 8)
	ok := false
	if src := ev.gathered(s.child, b, &v); src != nil {
		ok = s.r.ApplyRows(column.View[int64](v.data), src, b.rows)
	} else {
		x := s.child.eval(ev, b, nil)
		ev.inherit(&v, &x)
		ok = s.r.Apply(column.View[int64](v.data), column.View[int64](x.data))
		ev.done(&x)
	}
	if ok {
		return v
	}
	ev.done(&v)
	ev.avoid[s.id] = ratioRetry
	return s.exact.eval(ev, b, dst)
}

// negateStep is -x over floats and decimals.
type negateStep struct {
	child step
	kind  column.Kind
}

func (s *negateStep) eval(ev *Evaluator, b block, dst []byte) vec {
	x := s.child.eval(ev, b, nil)
	v := vec{}
	v.data, v.buf = ev.room(dst, b.n, s.kind.Width())
	ev.inherit(&v, &x)
	switch s.kind {
	case column.Float32:
		calc.Negate(column.View[float32](v.data), column.View[float32](x.data))
	case column.Float64:
		calc.Negate(column.View[float64](v.data), column.View[float64](x.data))
	default:
		to := column.View[int128](v.data)
		for i, d := range column.View[int128](x.data) {
			to[i] = calc.Negated(d)
		}
	}
	ev.done(&x)
	return v
}
