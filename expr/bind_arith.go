package expr

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/internal/calc"
	"github.com/arkflow-go/arkflow/internal/tree"
)

func (bd *binder) arith(n *tree.Node, l, r bound) (bound, bool) {
	switch {
	case l.untyped() && r.untyped():
		return bd.constant(n, tree.Literal{Type: arrow.PrimitiveTypes.Int64}), true
	case l.untyped():
		l = bd.constant(l.node, tree.Literal{Type: nullBeside(n.Op, r)})
	case r.untyped():
		r = bd.constant(r.node, tree.Literal{Type: nullBeside(n.Op, l)})
	}
	l, r = bd.meantAsFloat(l, r), bd.meantAsFloat(r, l)
	a, b := l.class(), r.class()
	switch {
	case a.Numeric() && b.Numeric():
		return bd.arithNumbers(n, l, r)
	case a == tree.ClassInstant || a == tree.ClassDuration || b == tree.ClassDuration:
		return bd.arithTimes(n, l, r)
	}
	bd.faultf(n, "", "there is no %s between %s of type %s and %s of type %s", tree.Symbols[n.Op], l.node, l.typ, r.node, r.typ)
	return bound{}, false
}

// nullBeside is the type of an untyped null on the other side of x.
func nullBeside(op tree.Operator, x bound) arrow.DataType {
	switch c := x.class(); {
	case c == tree.ClassInstant:
		return tree.TypeDuration
	case c == tree.ClassDuration && (op == tree.OpMul || op == tree.OpDiv):
		return arrow.PrimitiveTypes.Int64
	}
	return tree.PlainType(x.typ)
}

// arithNumbers computes with two numbers, in the type that the package comment gives.
func (bd *binder) arithNumbers(n *tree.Node, l, r bound) (bound, bool) {
	float := l.class() == tree.ClassFloat || r.class() == tree.ClassFloat
	t := floatType(l, r)
	if l.kind == column.Decimal || r.kind == column.Decimal {
		t = arrow.PrimitiveTypes.Float64
		if float {
			l, r = bd.floatAsDecimal(l, r), bd.floatAsDecimal(r, l)
			float = l.class() == tree.ClassFloat || r.class() == tree.ClassFloat
		}
		if !float {
			return bd.arithDecimals(n, l, r)
		}
	}
	if float {
		l, r = bd.cast(l, t), bd.cast(r, t)
		return bd.finish(n, &pairStep{op: n.Op, kind: l.kind, a: l.use(), b: r.use()}, t, false, l, r)
	}
	if uintType(l, r) {
		u := arrow.PrimitiveTypes.Uint64
		what := &failure{node: n, a: u, b: u, to: u}
		l, r = bd.cast(l, u), bd.cast(r, u)
		return bd.finish(n, &pairStep{op: n.Op, kind: column.Uint64, a: l.use(), b: r.use(), what: what}, u, true, l, r)
	}
	t = arrow.PrimitiveTypes.Int64
	l, r = bd.cast(l, t), bd.cast(r, t)
	return bd.arithInts(n, l, r, t)
}

// meantAsFloat gives a decimal constant beside a float as the float that its digits mean: in `ratio > 0.1` it is the nearest to 0.1.
func (bd *binder) meantAsFloat(x, other bound) bound {
	if x.node.Op != tree.OpLiteral || x.kind != column.Decimal || x.lit.IsNull() || other.class() != tree.ClassFloat {
		return x
	}
	return bd.constant(x.node, x.lit.NearestTo(tree.PlainType(other.typ)))
}

// floatAsDecimal gives a float constant beside a decimal that is none as a decimal.
func (bd *binder) floatAsDecimal(x, other bound) bound {
	if x.lit == nil || other.lit != nil || x.lit.IsNull() {
		return x
	}
	if d, ok := tree.DecimalOfFloat(*x.lit); ok {
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
		return x.lit.IsNull() || tree.PlaceOf(*x.lit, arrow.PrimitiveTypes.Float32).Where == tree.PlaceExact
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
		v, _ := x.lit.Value.(int64)
		return v >= 0
	}
	return (l.kind == column.Uint64 && r.kind == column.Uint64) ||
		(l.kind == column.Uint64 && unsigned(r, l) && !uintAdapts(l, r)) || (r.kind == column.Uint64 && unsigned(l, r) && !uintAdapts(r, l))
}

// uintAdapts tells whether a uint64 constant becomes int64 beside a signed column.
func uintAdapts(u, other bound) bool { return u.lit != nil && other.lit == nil && signed(other.kind) }

// arithInts computes over int64, the values of numbers or durations; t is the type of the result.
func (bd *binder) arithInts(n *tree.Node, l, r bound, t arrow.DataType) (bound, bool) {
	what := &failure{node: n, a: l.typ, b: r.typ, to: t}
	op := n.Op
	if l.lit != nil && r.lit == nil && (op == tree.OpAdd || op == tree.OpMul) {
		l, r, what.swap = r, l, true
	}
	fails := op == tree.OpAdd || op == tree.OpSub || op == tree.OpMul
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
	v, ok := x.lit.Value.(int64)
	return v, ok
}

// intsConst gives the step of an operator with a constant, or nil where there is no better one than that of pairs.
func (bd *binder) intsConst(op tree.Operator, l bound, c int64, what *failure) step {
	small := c >= -1<<62 && c <= 1<<62
	switch {
	case op == tree.OpAdd && small:
		return &addStep{child: l.use(), c: c, op: op, what: what}
	case op == tree.OpSub && small:
		return &addStep{child: l.use(), c: -c, op: op, what: what}
	case op == tree.OpMul && small && c != 0:
		return &mulStep{child: l.use(), c: c, k: calc.SafeBits(c), what: what, childFails: l.fails}
	case (op == tree.OpDiv || op == tree.OpMod) && calc.AbsOf(c) >= 2:
		s := &divStep{child: l.use(), by: calc.NewDivisor(c), mod: op == tree.OpMod}
		if op == tree.OpDiv && c > 0 {
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
func (bd *binder) arithDecimals(n *tree.Node, l, r bound) (bound, bool) {
	if n.Op == tree.OpDiv || n.Op == tree.OpMod {
		bd.faultf(n, "multiply by the inverse, or make one side a float", "decimals have no %s", tree.Symbols[n.Op])
		return bound{}, false
	}
	whole, c := wholeByDecimal(l, r)
	l, r = bd.asDecimal(l), bd.asDecimal(r)
	a, b := tree.PlainType(l.typ).(*arrow.Decimal128Type), tree.PlainType(r.typ).(*arrow.Decimal128Type)
	s := &pairStep{op: n.Op, kind: column.Decimal}
	t := &arrow.Decimal128Type{}
	if n.Op == tree.OpMul {
		t.Scale, t.Precision = a.Scale+b.Scale, min(a.Precision+b.Precision+1, calc.MaxDigits)
	} else {
		s.up, s.down = scaleGap(l, r)
		t.Scale = max(a.Scale, b.Scale)
		t.Precision = min(max(a.Precision-a.Scale, b.Precision-b.Scale)+t.Scale+1, calc.MaxDigits)
	}
	if t.Scale > calc.MaxDigits || max(s.up, s.down) > calc.MaxDigits {
		bd.faultf(n, "", "the result of %s %s %s would have more than %d digits after the point", a, tree.Symbols[n.Op], b, calc.MaxDigits)
		return bound{}, false
	}
	if n.Op == tree.OpMul && c != nil {
		return bd.finish(n, &wideStep{child: bd.cast(whole, arrow.PrimitiveTypes.Int64).step, c: int64(c.Words()[0])}, t, false, l, r)
	}
	s.a, s.b, s.digits = l.use(), r.use(), t.Precision
	s.what = &failure{node: n, a: a, b: b, to: t}
	return bd.finish(n, s, t, true, l, r)
}

// wholeByDecimal gives the side that is of signed integers and the other one where that is a decimal constant of at most 64 bits: no
// product of the two has more than 38 digits.
func wholeByDecimal(l, r bound) (whole bound, c *tree.Literal) {
	if l.lit != nil {
		l, r = r, l
	}
	if l.lit != nil || r.lit == nil || r.lit.IsNull() || !signed(l.kind) || r.kind != column.Decimal || !calc.Narrow(r.lit.Words()) {
		return bound{}, nil
	}
	return l, r.lit
}

func (bd *binder) negate(n *tree.Node) (bound, bool) {
	x, ok := bd.bind(n.Args[0])
	if !ok {
		return bound{}, false
	}
	t := tree.PlainType(x.typ)
	switch c := x.class(); {
	case c == tree.ClassNull:
		return bd.constant(n, tree.Literal{Type: arrow.PrimitiveTypes.Int64}), true
	case c == tree.ClassFloat || c == tree.ClassDecimal:
		return bd.finish(n, &negateStep{child: x.use(), kind: x.kind}, t, false, x)
	case c == tree.ClassInt:
		t = arrow.PrimitiveTypes.Int64
		x = bd.cast(x, t)
	case c != tree.ClassDuration:
		bd.faultf(n, "", "there is no negative of type %s", x.typ)
		return bound{}, false
	}
	zero := bd.constant(n, tree.Literal{Type: t, Value: int64(0)})
	what := &failure{node: n, kind: failNegate, a: t, to: t}
	return bd.finish(n, &pairStep{op: tree.OpSub, kind: column.Int64, a: zero.use(), b: x.use(), what: what}, t, true, zero, x)
}
