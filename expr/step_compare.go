package expr

import (
	"bytes"

	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/internal/calc"
	"github.com/arkflow-go/arkflow/internal/tree"
)

// selector is a condition that can write the rows for which it is true without making a truth value a row.
type selector interface {
	// selectRows does so, unless ok is false.
	selectRows(ev *Evaluator, b block, kept *[blockRows]uint32) (n int, ok bool)
}

// selectRows writes the rows of a block for which a condition is true and counts them.
func (ev *Evaluator) selectRows(s step, b block, kept *[blockRows]uint32) int {
	if x, ok := s.(selector); ok {
		if n, ok := x.selectRows(ev, b, kept); ok {
			return n
		}
	}
	v := s.eval(ev, b, nil)
	n := calc.SelectTrue(kept, uint32(b.base), b.rows, v.data)
	ev.done(&v)
	return n
}

// truth gives a vec with room for truth values that has the validity of x.
func (ev *Evaluator) truth(x *vec, n int) vec {
	v := vec{}
	v.buf = ev.mask()
	v.data = v.buf[:n]
	ev.inherit(&v, x)
	return v
}

// finish turns truth around where asked and hides nulls.
func (v *vec) finish(negate bool) {
	if negate {
		calc.NotBytes(v.data, v.data)
	}
	v.hideNulls()
}

// constCompare compares numbers with a constant that is not NaN.
type constCompare[T calc.Number] struct {
	child step
	rel   relation
	c     T
}

func (s *constCompare[T]) eval(ev *Evaluator, b block, _ []byte) vec {
	x := s.child.eval(ev, b, nil)
	v := ev.truth(&x, b.n)
	calc.CompareConst(s.rel.op, v.data, column.View[T](x.data), s.c)
	ev.done(&x)
	v.finish(s.rel.negate)
	return v
}

func (s *constCompare[T]) selectRows(ev *Evaluator, b block, kept *[blockRows]uint32) (int, bool) {
	x := s.child.eval(ev, b, nil)
	defer ev.done(&x)
	if x.valid != nil {
		v := ev.truth(&x, b.n)
		calc.CompareConst(s.rel.op, v.data, column.View[T](x.data), s.c)
		v.finish(s.rel.negate)
		n := calc.SelectTrue(kept, uint32(b.base), b.rows, v.data)
		ev.done(&v)
		return n, true
	}
	if b.rows == nil {
		return calc.SelectConst(s.rel.op, s.rel.negate, kept, uint32(b.base), column.View[T](x.data), s.c), true
	}
	n := calc.SelectConst(s.rel.op, s.rel.negate, kept, 0, column.View[T](x.data), s.c)
	for i, place := range kept[:n] {
		kept[i] = b.rows[place]
	}
	return n, true
}

// maskedCompare is x & mask = want over int64: the comparison of a remainder by a power of two with a constant.
type maskedCompare struct {
	child      step
	mask, want int64
	negate     bool
}

// newMasked gives x % d = c, d a power of two, in a form without a remainder. For c > 0 the dividend must not be negative, for
// c < 0 it must be; for c = 0 its sign does not matter.
func newMasked(x step, d uint64, c int64, negate bool) *maskedCompare {
	low := int64(d - 1)
	s := &maskedCompare{child: x, mask: low, want: c & low, negate: negate}
	if c != 0 {
		s.mask |= -1 << 63
		s.want |= c & (-1 << 63)
	}
	return s
}

func (s *maskedCompare) eval(ev *Evaluator, b block, _ []byte) vec {
	x := s.child.eval(ev, b, nil)
	v := ev.truth(&x, b.n)
	to, mask, want := v.data, s.mask, s.want
	from := column.View[int64](x.data)
	to = to[:len(from)]
	for i, a := range from {
		var t byte
		if a&mask == want {
			t = 1
		}
		to[i] = t
	}
	ev.done(&x)
	v.finish(s.negate)
	return v
}

func (s *maskedCompare) selectRows(ev *Evaluator, b block, kept *[blockRows]uint32) (int, bool) {
	if b.rows != nil {
		return 0, false
	}
	x := s.child.eval(ev, b, nil)
	defer ev.done(&x)
	if x.valid != nil {
		return 0, false
	}
	return calc.SelectMasked(s.negate, kept, uint32(b.base), column.View[int64](x.data), s.mask, s.want), true
}

// pairCompare compares numbers of one kind; rel is less or equal. Operands are evaluated in the order in which they are
// written, so that a row's first error is that of the left one; with flip it is then b that is compared with a.
type pairCompare[T calc.Number] struct {
	a, b step
	flip bool
	rel  relation
}

func (s *pairCompare[T]) eval(ev *Evaluator, b block, _ []byte) vec {
	x := s.a.eval(ev, b, nil)
	y := s.b.eval(ev, b, nil)
	v := ev.truthOf(&x, &y, b.n)
	l, r := column.View[T](x.data), column.View[T](y.data)
	if s.flip {
		l, r = r, l
	}
	calc.ComparePairs(s.rel.op, v.data, l, r)
	ev.done(&x)
	ev.done(&y)
	v.finish(s.rel.negate)
	return v
}

// truthOf gives a vec with room for truth values that is null where x or y is.
func (ev *Evaluator) truthOf(x, y *vec, n int) vec {
	v := vec{}
	v.buf = ev.mask()
	v.data = v.buf[:n]
	ev.both(&v, x, y, n)
	return v
}

// boolCompare is a = b over truth values.
type boolCompare struct {
	a, b   step
	negate bool
}

func (s *boolCompare) eval(ev *Evaluator, b block, _ []byte) vec {
	x := s.a.eval(ev, b, nil)
	y := s.b.eval(ev, b, nil)
	v := ev.truthOf(&x, &y, b.n)
	for i := range v.data {
		v.data[i] = x.data[i] ^ y.data[i] ^ 1
	}
	ev.done(&x)
	ev.done(&y)
	v.finish(s.negate)
	return v
}

// textConst compares strings or binaries with a constant.
type textConst struct {
	child step
	op    tree.Operator
	c     []byte
}

func (s *textConst) eval(ev *Evaluator, b block, _ []byte) vec {
	x := s.child.eval(ev, b, nil)
	v := ev.truth(&x, b.n)
	off, chars, c := x.text.Offsets, x.text.Data, s.c
	to := v.data[:len(x.rows)]
	switch {
	case s.op != tree.OpEq && s.op != tree.OpNe:
		holds := calc.HoldsFor(s.op)
		for i, r := range x.rows {
			to[i] = holds[bytes.Compare(chars[off[r]:off[r+1]], c)+1]
		}
	case len(c) >= 8:
		calc.EqualLong(to, off, chars, x.rows, c)
	default:
		for i, r := range x.rows {
			at, end := off[r], off[r+1]
			var t byte
			if int(end-at) == len(c) && string(chars[at:end]) == string(c) {
				t = 1
			}
			to[i] = t
		}
	}
	ev.done(&x)
	v.finish(s.op == tree.OpNe)
	return v
}

// orderKind says which values an orderCompare compares.
type orderKind uint8

const (
	orderText        orderKind = iota
	orderDecimal               // int128, int128
	orderSignedUint            // int64, uint64
	orderSignedFloat           // int64, float64
	orderUintFloat             // uint64, float64
	orderUnits                 // int64, int64 of a unit that is factor times finer
)

// orderCompare compares values of two kinds or of no simple kind, row by row. With flip b is compared with a, see pairCompare.
type orderCompare struct {
	a, b     step
	flip     bool
	kind     orderKind
	op       tree.Operator
	factor   int64
	up, down int32 // decimals: powers of ten that bring a and b to one scale
}

func (s *orderCompare) eval(ev *Evaluator, b block, _ []byte) vec {
	x := s.a.eval(ev, b, nil)
	y := s.b.eval(ev, b, nil)
	v := ev.truthOf(&x, &y, b.n)
	if s.flip {
		s.compare(v.data, &y, &x)
	} else {
		s.compare(v.data, &x, &y)
	}
	ev.done(&x)
	ev.done(&y)
	v.finish(false)
	return v
}

func (s *orderCompare) compare(to []byte, x, y *vec) {
	holds := calc.HoldsFor(s.op)
	switch s.kind {
	case orderText:
		for i := range to {
			to[i] = holds[bytes.Compare(x.text.Bytes(int(x.rows[i])), y.text.Bytes(int(y.rows[i])))+1]
		}
	case orderDecimal:
		p, q := column.View[int128](x.data), column.View[int128](y.data)
		for i := range to {
			to[i] = holds[calc.CmpDecimals(p[i], q[i], s.up, s.down)+1]
		}
	case orderSignedUint:
		p, q := column.View[int64](x.data), column.View[uint64](y.data)
		for i := range to {
			to[i] = holds[calc.CmpSignedUint(p[i], q[i])+1]
		}
	case orderSignedFloat:
		p, q := column.View[int64](x.data), column.View[float64](y.data)
		for i := range to {
			to[i] = holds[calc.CmpSignedFloat(p[i], q[i])+1]
		}
	case orderUintFloat:
		p, q := column.View[uint64](x.data), column.View[float64](y.data)
		for i := range to {
			to[i] = holds[calc.CmpUintFloat(p[i], q[i])+1]
		}
	case orderUnits:
		p, q := column.View[int64](x.data), column.View[int64](y.data)
		for i := range to {
			to[i] = holds[calc.CmpUnits(p[i], q[i], s.factor)+1]
		}
	}
}
