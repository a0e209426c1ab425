package expr

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/internal/calc"
	"github.com/arkflow-go/arkflow/internal/tree"
)

// arithTimes computes with timestamps, dates and durations.
func (bd *binder) arithTimes(n *tree.Node, l, r bound) (bound, bool) {
	a, b := l.class(), r.class()
	sum := n.Op == tree.OpAdd || n.Op == tree.OpSub
	switch {
	case a == tree.ClassInstant && b == tree.ClassInstant && n.Op == tree.OpSub:
		unit := min(bd.commonUnit(&l, &r), tree.NanosPer(arrow.Second))
		t := &arrow.DurationType{Unit: tree.UnitFor(unit)}
		return bd.timesIn(n, l, r, unit, t)
	case a == tree.ClassInstant && b == tree.ClassDuration && sum && bd.timestamp(l), a == tree.ClassDuration && b == tree.ClassInstant && n.Op == tree.OpAdd && bd.timestamp(r):
		unit := bd.commonUnit(&l, &r)
		at := l
		if b == tree.ClassInstant {
			at = r
		}
		t := &arrow.TimestampType{Unit: tree.UnitFor(unit), TimeZone: tree.PlainType(at.typ).(*arrow.TimestampType).TimeZone}
		return bd.timesIn(n, l, r, unit, t)
	case a == tree.ClassDuration && b == tree.ClassDuration && sum:
		unit := bd.commonUnit(&l, &r)
		return bd.timesIn(n, l, r, unit, &arrow.DurationType{Unit: tree.UnitFor(unit)})
	case a == tree.ClassDuration && b == tree.ClassInt && (n.Op == tree.OpMul || n.Op == tree.OpDiv):
		return bd.arithInts(n, l, bd.cast(r, arrow.PrimitiveTypes.Int64), tree.PlainType(l.typ))
	case a == tree.ClassInt && b == tree.ClassDuration && n.Op == tree.OpMul:
		return bd.arithInts(n, bd.cast(l, arrow.PrimitiveTypes.Int64), r, tree.PlainType(r.typ))
	}
	bd.faultf(n, "timestamps take a duration to be added or subtracted; two instants have a difference", "there is no %s between %s of type %s and %s of type %s", tree.Symbols[n.Op], l.node, l.typ, r.node, r.typ)
	return bound{}, false
}

func (bd *binder) timestamp(x bound) bool { return tree.PlainType(x.typ).ID() == arrow.TIMESTAMP }

// commonUnit gives the finer unit of two temporal operands, in ns. A constant beside a column is first brought to the coarsest
// unit that holds it, not coarser than the column's, so that adding a minute does not change the unit.
func (bd *binder) commonUnit(l, r *bound) int64 {
	if l.lit != nil && r.lit == nil {
		*l = bd.coarsen(*l, tree.UnitOf(tree.PlainType(r.typ)))
	}
	if r.lit != nil && l.lit == nil {
		*r = bd.coarsen(*r, tree.UnitOf(tree.PlainType(l.typ)))
	}
	return min(tree.UnitOf(tree.PlainType(l.typ)), tree.UnitOf(tree.PlainType(r.typ)))
}

func (bd *binder) coarsen(x bound, unit int64) bound {
	for u := tree.UnitFor(unit); ; u = tree.UnitFor(tree.NanosPer(u) / 1000) {
		if x.lit.IsNull() {
			return bd.constant(x.node, tree.Literal{Type: withUnit(x.typ, u)})
		}
		if at := tree.PlaceOf(*x.lit, withUnit(x.typ, u)); at.Where == tree.PlaceExact {
			return bd.constant(x.node, at.Lit)
		}
		if u == arrow.Nanosecond {
			return x
		}
	}
}

// withUnit gives a timestamp or duration type with another unit; dates become timestamps.
func withUnit(t arrow.DataType, u arrow.TimeUnit) arrow.DataType {
	switch x := t.(type) {
	case *arrow.DurationType:
		return &arrow.DurationType{Unit: u}
	case *arrow.TimestampType:
		return &arrow.TimestampType{Unit: u, TimeZone: x.TimeZone}
	}
	return &arrow.TimestampType{Unit: u}
}

// timesIn adds or subtracts two temporal operands in a unit.
func (bd *binder) timesIn(n *tree.Node, l, r bound, unit int64, t arrow.DataType) (bound, bool) {
	return bd.arithInts(n, bd.inUnit(l, unit), bd.inUnit(r, unit), t)
}

// inUnit brings a temporal operand to a unit that is not coarser than its own. A value that does not fit is an error of the row.
func (bd *binder) inUnit(x bound, unit int64) bound {
	own := tree.UnitOf(tree.PlainType(x.typ))
	t := withUnit(tree.PlainType(x.typ), tree.UnitFor(unit))
	if x.lit != nil {
		if x.lit.IsNull() {
			return bd.constant(x.node, tree.Literal{Type: t})
		}
		if at := tree.PlaceOf(*x.lit, t); at.Where == tree.PlaceExact {
			return bd.constant(x.node, at.Lit)
		}
	}
	x = bd.widen(x)
	x.use()
	x.lit = nil
	if own != unit {
		what := &failure{node: x.node, kind: failConvert, a: x.typ, to: t}
		x.step = &mulStep{child: x.use(), c: own / unit, k: calc.SafeBits(own / unit), what: what, childFails: x.fails}
		x.fails = true
	}
	x.typ, x.kind = t, column.Int64
	return x
}
