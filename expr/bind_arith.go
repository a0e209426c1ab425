package expr

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/internal/calc"
)

func (bd *binder) arith(n *node, l, r bound) (bound, bool) {
	switch {
	case l.untyped() && r.untyped():
		return bd.constant(n, literal{typ: arrow.PrimitiveTypes.Int64}), true
	case l.untyped():
		l = bd.constant(l.node, literal{typ: nullBeside(n.op, r)})
	case r.untyped():
		r = bd.constant(r.node, literal{typ: nullBeside(n.op, l)})
	}
	a, b := l.class(), r.class()
	switch {
	case a.numeric() && b.numeric():
		return bd.arithNumbers(n, l, r)
	case a == classInstant || a == classDuration || b == classDuration:
		return bd.arithTimes(n, l, r)
	}
	bd.faultf(n, "", "there is no %s between %s of type %s and %s of type %s", symbols[n.op], l.node, l.typ, r.node, r.typ)
	return bound{}, false
}

// nullBeside is the type of an untyped null on the other side of x.
func nullBeside(op operator, x bound) arrow.DataType {
	switch c := x.class(); {
	case c == classInstant:
		return typeDuration
	case c == classDuration && (op == opMul || op == opDiv):
		return arrow.PrimitiveTypes.Int64
	}
	return plainType(x.typ)
}

// arithNumbers computes with two numbers, in the type that the package comment gives.
func (bd *binder) arithNumbers(n *node, l, r bound) (bound, bool) {
	float := l.class() == classFloat || r.class() == classFloat
	t := floatType(l, r)
	if l.kind == column.Decimal || r.kind == column.Decimal {
		t = arrow.PrimitiveTypes.Float64
		if float {
			l, r = bd.floatAsDecimal(l, r), bd.floatAsDecimal(r, l)
			float = l.class() == classFloat || r.class() == classFloat
		}
		if !float {
			return bd.arithDecimals(n, l, r)
		}
	}
	if float {
		l, r = bd.cast(l, t), bd.cast(r, t)
		return bd.finish(n, &pairStep{op: n.op, kind: l.kind, a: l.use(), b: r.use()}, t, false, l, r)
	}
	if uintType(l, r) {
		u := arrow.PrimitiveTypes.Uint64
		what := &failure{node: n, a: u, b: u, to: u}
		l, r = bd.cast(l, u), bd.cast(r, u)
		return bd.finish(n, &pairStep{op: n.op, kind: column.Uint64, a: l.use(), b: r.use(), what: what}, u, true, l, r)
	}
	t = arrow.PrimitiveTypes.Int64
	l, r = bd.cast(l, t), bd.cast(r, t)
	return bd.arithInts(n, l, r, t)
}

// floatAsDecimal gives a float constant beside a decimal that is none as a decimal.
func (bd *binder) floatAsDecimal(x, other bound) bound {
	if x.lit == nil || other.lit != nil || x.lit.null() {
		return x
	}
	if d, ok := decimalOfFloat(*x.lit); ok {
		return bd.constant(x.node, d)
	}
	return x
}

// floatType is the type of arithmetic with a float: float32 where both sides are, or where one is and the other is a constant
// that float32 holds exactly.
func floatType(l, r bound) arrow.DataType {
	narrow := func(x, other bound) bool {
		if x.kind == column.Float32 {
			return true
		}
		if x.lit == nil || other.lit != nil {
			return false
		}
		return x.lit.null() || placeOf(*x.lit, arrow.PrimitiveTypes.Float32).where == placeExact
	}
	if (l.kind == column.Float32 || r.kind == column.Float32) && narrow(l, r) && narrow(r, l) {
		return arrow.PrimitiveTypes.Float32
	}
	return arrow.PrimitiveTypes.Float64
}

// uintType tells whether integers are computed in uint64: one side is, and the other is unsigned or a constant that is not
// negative.
func uintType(l, r bound) bool {
	unsigned := func(x, other bound) bool {
		if !signed(x.kind) {
			return true
		}
		if x.lit == nil || other.lit != nil {
			return false
		}
		v, _ := x.lit.value.(int64)
		return v >= 0
	}
	return (l.kind == column.Uint64 && r.kind == column.Uint64) ||
		(l.kind == column.Uint64 && unsigned(r, l) && !uintAdapts(l, r)) || (r.kind == column.Uint64 && unsigned(l, r) && !uintAdapts(r, l))
}

// uintAdapts tells whether a uint64 constant becomes int64 beside a signed column.
func uintAdapts(u, other bound) bool { return u.lit != nil && other.lit == nil && signed(other.kind) }

// arithInts computes over int64, the values of numbers or durations; t is the type of the result.
func (bd *binder) arithInts(n *node, l, r bound, t arrow.DataType) (bound, bool) {
	what := &failure{node: n, a: l.typ, b: r.typ, to: t}
	op := n.op
	if l.lit != nil && r.lit == nil && (op == opAdd || op == opMul) {
		l, r, what.swap = r, l, true
	}
	fails := op == opAdd || op == opSub || op == opMul
	if c, ok := wholeConst(r); ok && l.lit == nil {
		if s := bd.intsConst(op, l, c, what); s != nil {
			return bd.finish(n, s, t, fails, l, r)
		}
	}
	return bd.finish(n, &pairStep{op: op, kind: column.Int64, a: l.use(), b: r.use(), what: what}, t, true, l, r)
}

func wholeConst(x bound) (int64, bool) {
	if x.lit == nil {
		return 0, false
	}
	v, ok := x.lit.value.(int64)
	return v, ok
}

// intsConst gives the step of an operator with a constant, or nil where there is no better one than that of pairs.
func (bd *binder) intsConst(op operator, l bound, c int64, what *failure) step {
	small := c >= -1<<62 && c <= 1<<62
	switch {
	case op == opAdd && small:
		return &addStep{child: l.use(), c: c, op: op, what: what}
	case op == opSub && small:
		return &addStep{child: l.use(), c: -c, op: op, what: what}
	case op == opMul && small && c != 0:
		return &mulStep{child: l.use(), c: c, k: calc.SafeBits(c), what: what, childFails: l.fails}
	case (op == opDiv || op == opMod) && calc.AbsOf(c) >= 2:
		s := &divStep{child: l.use(), by: calc.NewDivisor(c), mod: op == opMod}
		if op == opDiv && c > 0 {
			return bd.ratio(l, c, s)
		}
		return s
	}
	return nil
}

// ratio gives x / d, where x may be y * c, as one step if that is worth it.
func (bd *binder) ratio(l bound, d int64, exact *divStep) step {
	s := &ratioStep{exact: exact, id: bd.ratios}
	if m, ok := l.step.(*mulStep); ok && m.c > 0 && !m.childFails {
		s.child, s.r = m.child, calc.NewRatio(m.c, d)
	} else if !l.fails && !exact.by.Power {
		s.child, s.r = l.use(), calc.NewRatio(1, d)
	} else {
		return exact
	}
	bd.ratios++
	return s
}

// arithDecimals computes with decimals and integers by the rules of SQL: sums have the greater scale, products the sum of
// scales, and as many digits as the result can need, at most 38.
func (bd *binder) arithDecimals(n *node, l, r bound) (bound, bool) {
	if n.op == opDiv || n.op == opMod {
		bd.faultf(n, "multiply by the inverse, or make one side a float", "decimals have no %s", symbols[n.op])
		return bound{}, false
	}
	l, r = bd.asDecimal(l), bd.asDecimal(r)
	a, b := plainType(l.typ).(*arrow.Decimal128Type), plainType(r.typ).(*arrow.Decimal128Type)
	s := &pairStep{op: n.op, kind: column.Decimal}
	t := &arrow.Decimal128Type{}
	if n.op == opMul {
		t.Scale, t.Precision = a.Scale+b.Scale, min(a.Precision+b.Precision+1, calc.MaxDigits)
	} else {
		s.up, s.down = scaleGap(l, r)
		t.Scale = max(a.Scale, b.Scale)
		t.Precision = min(max(a.Precision-a.Scale, b.Precision-b.Scale)+t.Scale+1, calc.MaxDigits)
	}
	if t.Scale > calc.MaxDigits || max(s.up, s.down) > calc.MaxDigits {
		bd.faultf(n, "", "the result of %s %s %s would have more than %d digits after the point", a, symbols[n.op], b, calc.MaxDigits)
		return bound{}, false
	}
	s.a, s.b, s.digits = l.use(), r.use(), t.Precision
	s.what = &failure{node: n, a: a, b: b, to: t}
	return bd.finish(n, s, t, true, l, r)
}

func (bd *binder) negate(n *node) (bound, bool) {
	x, ok := bd.bind(n.args[0])
	if !ok {
		return bound{}, false
	}
	t := plainType(x.typ)
	switch c := x.class(); {
	case c == classNull:
		return bd.constant(n, literal{typ: arrow.PrimitiveTypes.Int64}), true
	case c == classFloat || c == classDecimal:
		return bd.finish(n, &negateStep{child: x.use(), kind: x.kind}, t, false, x)
	case c == classInt:
		t = arrow.PrimitiveTypes.Int64
		x = bd.cast(x, t)
	case c != classDuration:
		bd.faultf(n, "", "there is no negative of type %s", x.typ)
		return bound{}, false
	}
	zero := bd.constant(n, literal{t, int64(0)})
	what := &failure{node: n, kind: failNegate, a: t, to: t}
	return bd.finish(n, &pairStep{op: opSub, kind: column.Int64, a: zero.use(), b: x.use(), what: what}, t, true, zero, x)
}
