package expr

import (
	"math"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/internal/calc"
	"github.com/arkflow-go/arkflow/internal/tree"
)

// castStep brings numbers to the kind that an operator computes in. Only uint64 to int64 can fail.
type castStep struct {
	child    step
	from, to column.Kind
	scale    int32 // of a decimal that becomes a float
	what     *failure
}

func (s *castStep) eval(ev *Evaluator, b block, dst []byte) vec {
	x := s.child.eval(ev, b, nil)
	v := vec{}
	v.data, v.buf = ev.room(dst, b.n, s.to.Width())
	ev.inherit(&v, &x)
	switch s.to {
	case column.Int64:
		if s.from == column.Uint64 {
			s.checkSigned(ev, b, &v, &x)
		} else {
			castFrom(column.View[int64](v.data), s.from, x.data)
		}
	case column.Uint64:
		castFrom(column.View[uint64](v.data), s.from, x.data)
	case column.Float32:
		castFrom(column.View[float32](v.data), s.from, x.data)
	case column.Float64:
		if s.from == column.Decimal {
			to := column.View[float64](v.data)
			for i, d := range column.View[int128](x.data) {
				to[i] = calc.DecimalFloat(d, s.scale)
			}
		} else {
			castFrom(column.View[float64](v.data), s.from, x.data)
		}
	case column.Decimal:
		to := column.View[int128](v.data)
		if s.from == column.Uint64 {
			for i, u := range column.View[uint64](x.data) {
				to[i] = int128{u, 0}
			}
		} else {
			for i, a := range column.View[int64](x.data) {
				to[i] = int128{uint64(a), uint64(a >> 63)}
			}
		}
	}
	ev.done(&x)
	return v
}

func (s *castStep) checkSigned(ev *Evaluator, b block, v, x *vec) {
	from, to := column.View[uint64](x.data), column.View[int64](v.data)
	var all uint64
	for i, u := range from {
		all |= u
		to[i] = int64(u)
	}
	if all <= math.MaxInt64 {
		return
	}
	for i, u := range from {
		if u > math.MaxInt64 && !v.idle(i) {
			ev.fail(v, b, i, s.what, int128{u}, int128{})
		}
	}
}

// castFrom converts numbers of a kind.
func castFrom[T int64 | uint64 | float32 | float64](dst []T, from column.Kind, src []byte) {
	switch from {
	case column.Int8:
		convert(dst, column.View[int8](src))
	case column.Int16:
		convert(dst, column.View[int16](src))
	case column.Int32:
		convert(dst, column.View[int32](src))
	case column.Int64:
		convert(dst, column.View[int64](src))
	case column.Uint8:
		convert(dst, src)
	case column.Uint16:
		convert(dst, column.View[uint16](src))
	case column.Uint32:
		convert(dst, column.View[uint32](src))
	case column.Uint64:
		convert(dst, column.View[uint64](src))
	case column.Float32:
		convert(dst, column.View[float32](src))
	case column.Float64:
		convert(dst, column.View[float64](src))
	}
}

func convert[T, F calc.Number](dst []T, src []F) {
	dst = dst[:len(src)]
	for i, x := range src {
		dst[i] = T(x)
	}
}

// cast brings a bound operand to a kind and type of numbers.
func (bd *binder) cast(x bound, t arrow.DataType) bound {
	to := column.KindOf(t)
	if x.lit != nil {
		if l, ok := tree.ConvertExact(*x.lit, t); ok {
			return bd.constant(x.node, l)
		}
	}
	from := x.kind
	x.use()
	if from == to {
		x.typ, x.lit = t, nil
		return x
	}
	if to == column.Decimal && from != column.Uint64 && from != column.Int64 {
		x = bd.cast(x, arrow.PrimitiveTypes.Int64)
		from = x.kind
	}
	s := &castStep{child: x.use(), from: from, to: to}
	if from == column.Decimal {
		s.scale = tree.PlainType(x.typ).(*arrow.Decimal128Type).Scale
	}
	if from == column.Uint64 && to == column.Int64 {
		s.what = &failure{node: x.node, kind: failConvert, a: x.typ, to: t}
		x.fails = true
	}
	x.step, x.typ, x.kind, x.lit = s, t, to, nil
	return x
}
