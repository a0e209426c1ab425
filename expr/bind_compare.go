package expr

import (
	"math"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/internal/calc"
	"github.com/arkflow-go/arkflow/internal/tree"
)

// relation is a comparison in the form that the loops know: less, less or equal, or equal, possibly negated. A comparison of two
// columns is brought to less or equal by swapping; le is used with constants only.
type relation struct {
	op     tree.Operator // opLt, opLe, opEq
	negate bool
}

func relationOf(op tree.Operator) relation {
	switch op {
	case tree.OpGt:
		return relation{tree.OpLe, true}
	case tree.OpGe:
		return relation{tree.OpLt, true}
	case tree.OpNe:
		return relation{tree.OpEq, true}
	}
	return relation{op, false}
}

// mirrored gives the operator with its sides swapped.
func mirrored(op tree.Operator) tree.Operator {
	switch op {
	case tree.OpLt:
		return tree.OpGt
	case tree.OpGt:
		return tree.OpLt
	case tree.OpLe:
		return tree.OpGe
	case tree.OpGe:
		return tree.OpLe
	}
	return op
}

// comparable records a fault where values of the types of l and r cannot be compared by an operator.
func (bd *binder) comparable(n *tree.Node, op tree.Operator, l, r bound) bool {
	a, b := l.class(), r.class()
	switch {
	case a == tree.ClassNull || b == tree.ClassNull:
		return true
	case a == tree.ClassBool && b == tree.ClassBool && op != tree.OpEq && op != tree.OpNe:
		bd.faultf(n, "use eq or ne", "booleans have no order")
		return false
	case a == b, a.Numeric() && b.Numeric():
		return true
	case a == tree.ClassTimeOfDay && b == tree.ClassDuration && r.lit != nil, b == tree.ClassTimeOfDay && a == tree.ClassDuration && l.lit != nil:
		return true
	}
	hint := ""
	switch {
	case a == tree.ClassInstant || b == tree.ClassInstant:
		hint = "compare it with a time.Time or another date or timestamp"
	case a == tree.ClassTimeOfDay || b == tree.ClassTimeOfDay:
		hint = "compare it with a time.Duration since midnight"
	case a == tree.ClassDuration || b == tree.ClassDuration:
		hint = "compare it with a time.Duration"
	}
	bd.faultf(n, hint, "%s of type %s cannot be compared with %s of type %s", l.node, l.typ, r.node, r.typ)
	return false
}

func (bd *binder) compare(n *tree.Node, l, r bound) (bound, bool) {
	if !bd.comparable(n, n.Op, l, r) {
		return bound{}, false
	}
	l, r = bd.meantAsFloat(l, r), bd.meantAsFloat(r, l)
	op := n.Op
	if l.lit != nil && r.lit == nil {
		l, r, op = r, l, mirrored(op)
	}
	if r.lit != nil && r.lit.IsNull() || l.lit != nil && l.lit.IsNull() {
		null := tree.Literal{Type: arrow.FixedWidthTypes.Boolean}
		if l.lit != nil {
			return bd.constant(n, null), true
		}
		return bd.truth(n, &sameStep{child: l.use(), null: true}, l, r)
	}
	s, ok := step(nil), true
	switch {
	case l.kind == column.Bool:
		s = &boolCompare{a: l.use(), b: r.use(), negate: op == tree.OpNe}
	case l.lit == nil && r.lit != nil:
		s = bd.compareConst(op, l, r)
	default:
		s, ok = bd.comparePair(n, op, l, r)
	}
	if !ok {
		return bound{}, false
	}
	return bd.truth(n, s, l, r)
}

// compareConst compares l with a constant that is not null. The constant is placed exactly among the values of l's type, so
// that the comparison happens in that type even where the constant does not fit in it.
func (bd *binder) compareConst(op tree.Operator, l, r bound) step {
	if l.kind == column.Bytes {
		text, _ := r.lit.Value.(string)
		return &textConst{child: l.use(), op: op, c: []byte(text)}
	}
	at := tree.PlaceOf(*r.lit, l.typ)
	switch at.Where {
	case tree.PlaceUnder:
		return &sameStep{child: l.use(), truth: calc.HoldsFor(op)[2]}
	case tree.PlaceAbove:
		switch op {
		case tree.OpEq, tree.OpNe:
			return &sameStep{child: l.use(), truth: calc.HoldsFor(op)[0]}
		case tree.OpLt:
			op = tree.OpLe
		case tree.OpGe:
			op = tree.OpGt
		}
	}
	if l.kind == column.Decimal {
		c := bd.constant(r.node, at.Lit)
		return &orderCompare{a: l.use(), b: c.use(), kind: orderDecimal, op: op}
	}
	if s := maskedFor(op, l, at.Lit); s != nil {
		return s
	}
	return newConstCompare(op, l, at.Lit)
}

// maskedFor gives the cheap form of x % 2^k = c and x % 2^k <> c, or nil.
func maskedFor(op tree.Operator, l bound, c tree.Literal) step {
	d, ok := l.step.(*divStep)
	v, isInt := c.Value.(int64)
	if !ok || !isInt || !d.mod || !d.by.Power || op != tree.OpEq && op != tree.OpNe {
		return nil
	}
	if calc.AbsOf(v) >= d.by.Abs {
		return &sameStep{child: d.child, truth: calc.HoldsFor(op)[0]}
	}
	return newMasked(d.child, d.by.Abs, v, op == tree.OpNe)
}

func newConstCompare(op tree.Operator, l bound, c tree.Literal) step {
	rel, x := relationOf(op), l.use()
	switch v := c.Value.(type) {
	case int64:
		switch l.kind {
		case column.Int8:
			return &constCompare[int8]{x, rel, int8(v)}
		case column.Int16:
			return &constCompare[int16]{x, rel, int16(v)}
		case column.Int32:
			return &constCompare[int32]{x, rel, int32(v)}
		}
		return &constCompare[int64]{x, rel, v}
	case uint64:
		switch l.kind {
		case column.Uint8:
			return &constCompare[uint8]{x, rel, uint8(v)}
		case column.Uint16:
			return &constCompare[uint16]{x, rel, uint16(v)}
		case column.Uint32:
			return &constCompare[uint32]{x, rel, uint32(v)}
		}
		return &constCompare[uint64]{x, rel, v}
	case float64:
		if math.IsNaN(v) {
			return newPairCompare(op, l.kind, x, newConst(c))
		}
		if l.kind == column.Float32 {
			return &constCompare[float32]{x, rel, float32(v)}
		}
		return &constCompare[float64]{x, rel, v}
	}
	return &sameStep{child: x, null: true}
}

// newPairCompare compares two columns of numbers of one kind.
func newPairCompare(op tree.Operator, k column.Kind, a, b step) step {
	flip := op == tree.OpGt || op == tree.OpLe
	if flip {
		op = mirrored(op)
	}
	rel := relationOf(op)
	switch k {
	case column.Int8:
		return &pairCompare[int8]{a, b, flip, rel}
	case column.Int16:
		return &pairCompare[int16]{a, b, flip, rel}
	case column.Int32:
		return &pairCompare[int32]{a, b, flip, rel}
	case column.Uint8:
		return &pairCompare[uint8]{a, b, flip, rel}
	case column.Uint16:
		return &pairCompare[uint16]{a, b, flip, rel}
	case column.Uint32:
		return &pairCompare[uint32]{a, b, flip, rel}
	case column.Uint64:
		return &pairCompare[uint64]{a, b, flip, rel}
	case column.Float32:
		return &pairCompare[float32]{a, b, flip, rel}
	case column.Float64:
		return &pairCompare[float64]{a, b, flip, rel}
	}
	return &pairCompare[int64]{a, b, flip, rel}
}

// comparePair compares two columns, or two constants.
func (bd *binder) comparePair(n *tree.Node, op tree.Operator, l, r bound) (step, bool) {
	switch {
	case l.kind == column.Bytes:
		return &orderCompare{a: l.use(), b: r.use(), kind: orderText, op: op}, true
	case l.class().Temporal():
		return bd.compareTimes(op, l, r), true
	case l.kind == column.Decimal || r.kind == column.Decimal:
		return bd.compareDecimals(n, op, l, r)
	case l.kind == r.kind:
		return newPairCompare(op, l.kind, l.use(), r.use()), true
	}
	if l.class() == tree.ClassFloat || r.class() == tree.ClassFloat {
		return bd.compareFloats(op, l, r), true
	}
	signedL, signedR := signed(l.kind), signed(r.kind)
	switch {
	case r.kind == column.Uint64 && signedL:
		l = bd.cast(l, arrow.PrimitiveTypes.Int64)
		return &orderCompare{a: l.use(), b: r.use(), kind: orderSignedUint, op: op}, true
	case l.kind == column.Uint64 && signedR:
		r = bd.cast(r, arrow.PrimitiveTypes.Int64)
		return &orderCompare{a: l.use(), b: r.use(), flip: true, kind: orderSignedUint, op: mirrored(op)}, true
	case l.kind == column.Uint64 || r.kind == column.Uint64:
		l, r = bd.cast(l, arrow.PrimitiveTypes.Uint64), bd.cast(r, arrow.PrimitiveTypes.Uint64)
	default:
		l, r = bd.cast(l, arrow.PrimitiveTypes.Int64), bd.cast(r, arrow.PrimitiveTypes.Int64)
	}
	return newPairCompare(op, l.kind, l.use(), r.use()), true
}

func signed(k column.Kind) bool { return k >= column.Int8 && k <= column.Int64 }

// compareFloats compares a float with a number of another kind, exactly.
func (bd *binder) compareFloats(op tree.Operator, l, r bound) step {
	s := &orderCompare{op: op}
	whole := l.kind
	if l.class() == tree.ClassFloat {
		s.flip, s.op, whole = true, mirrored(op), r.kind
	}
	switch whole {
	case column.Int64:
		s.kind = orderSignedFloat
	case column.Uint64:
		s.kind = orderUintFloat
	default: // narrow integers and float32 are float64 exactly
		l, r = bd.cast(l, arrow.PrimitiveTypes.Float64), bd.cast(r, arrow.PrimitiveTypes.Float64)
		return newPairCompare(op, column.Float64, l.use(), r.use())
	}
	if s.flip {
		l = bd.cast(l, arrow.PrimitiveTypes.Float64)
	} else {
		r = bd.cast(r, arrow.PrimitiveTypes.Float64)
	}
	s.a, s.b = l.use(), r.use()
	return s
}

func (bd *binder) compareDecimals(n *tree.Node, op tree.Operator, l, r bound) (step, bool) {
	if l.class() == tree.ClassFloat || r.class() == tree.ClassFloat {
		l, r = bd.cast(l, arrow.PrimitiveTypes.Float64), bd.cast(r, arrow.PrimitiveTypes.Float64)
		return newPairCompare(op, column.Float64, l.use(), r.use()), true
	}
	l, r = bd.asDecimal(l), bd.asDecimal(r)
	s := &orderCompare{a: l.use(), b: r.use(), kind: orderDecimal, op: op}
	s.up, s.down = scaleGap(l, r)
	if max(s.up, s.down) > calc.MaxDigits {
		bd.faultf(n, "", "scales of %s and %s are more than %d digits apart", l.typ, r.typ, calc.MaxDigits)
		return nil, false
	}
	return s, true
}

// scaleGap gives the powers of ten that bring two decimals to one scale.
func scaleGap(l, r bound) (up, down int32) {
	a, b := tree.PlainType(l.typ).(*arrow.Decimal128Type).Scale, tree.PlainType(r.typ).(*arrow.Decimal128Type).Scale
	return max(b-a, 0), max(a-b, 0)
}

// asDecimal gives an integer as a decimal that holds all values of its type; a constant takes only the digits that it has.
func (bd *binder) asDecimal(x bound) bound {
	if x.kind == column.Decimal {
		return x
	}
	digits := tree.DigitsOf(x.kind)
	if x.lit != nil && !x.lit.IsNull() {
		r, _ := x.lit.Number()
		digits = calc.Digits(r.Num())
	}
	return bd.cast(x, &arrow.Decimal128Type{Precision: digits})
}

// compareTimes compares temporal values of one class, whatever their units.
func (bd *binder) compareTimes(op tree.Operator, l, r bound) step {
	a, b := tree.UnitOf(tree.PlainType(l.typ)), tree.UnitOf(tree.PlainType(r.typ))
	if a == b && l.kind == r.kind {
		return newPairCompare(op, l.kind, l.use(), r.use())
	}
	l, r = bd.widen(l), bd.widen(r)
	switch {
	case a == b:
		return newPairCompare(op, column.Int64, l.use(), r.use())
	case a > b:
		return &orderCompare{a: l.use(), b: r.use(), kind: orderUnits, op: op, factor: a / b}
	}
	return &orderCompare{a: l.use(), b: r.use(), flip: true, kind: orderUnits, op: mirrored(op), factor: b / a}
}

// widen gives the count of units of a temporal value as int64.
func (bd *binder) widen(x bound) bound {
	if x.kind == column.Int64 {
		return x
	}
	x.use()
	x.lit = nil
	return bd.cast(x, arrow.PrimitiveTypes.Int64)
}
