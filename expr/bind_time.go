package expr

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/internal/calc"
)

// arithTimes computes with timestamps, dates and durations.
func (bd *binder) arithTimes(n *node, l, r bound) (bound, bool) {
	a, b := l.class(), r.class()
	sum := n.op == opAdd || n.op == opSub
	switch {
	case a == classInstant && b == classInstant && n.op == opSub:
		unit := min(bd.commonUnit(&l, &r), nanosPer(arrow.Second))
		t := &arrow.DurationType{Unit: unitFor(unit)}
		return bd.timesIn(n, l, r, unit, t)
	case a == classInstant && b == classDuration && sum && bd.timestamp(l), a == classDuration && b == classInstant && n.op == opAdd && bd.timestamp(r):
		unit := bd.commonUnit(&l, &r)
		at := l
		if b == classInstant {
			at = r
		}
		t := &arrow.TimestampType{Unit: unitFor(unit), TimeZone: plainType(at.typ).(*arrow.TimestampType).TimeZone}
		return bd.timesIn(n, l, r, unit, t)
	case a == classDuration && b == classDuration && sum:
		unit := bd.commonUnit(&l, &r)
		return bd.timesIn(n, l, r, unit, &arrow.DurationType{Unit: unitFor(unit)})
	case a == classDuration && b == classInt && (n.op == opMul || n.op == opDiv):
		return bd.arithInts(n, l, bd.cast(r, arrow.PrimitiveTypes.Int64), plainType(l.typ))
	case a == classInt && b == classDuration && n.op == opMul:
		return bd.arithInts(n, bd.cast(l, arrow.PrimitiveTypes.Int64), r, plainType(r.typ))
	}
	bd.faultf(n, "timestamps take a duration to be added or subtracted; two instants have a difference", "there is no %s between %s of type %s and %s of type %s", symbols[n.op], l.node, l.typ, r.node, r.typ)
	return bound{}, false
}

func (bd *binder) timestamp(x bound) bool { return plainType(x.typ).ID() == arrow.TIMESTAMP }

// commonUnit gives the finer unit of two temporal operands, in ns. A constant beside a column is first brought to the coarsest
// unit that holds it, not coarser than the column's, so that adding a minute does not change the unit.
func (bd *binder) commonUnit(l, r *bound) int64 {
	if l.lit != nil && r.lit == nil {
		*l = bd.coarsen(*l, unitOf(plainType(r.typ)))
	}
	if r.lit != nil && l.lit == nil {
		*r = bd.coarsen(*r, unitOf(plainType(l.typ)))
	}
	return min(unitOf(plainType(l.typ)), unitOf(plainType(r.typ)))
}

func (bd *binder) coarsen(x bound, unit int64) bound {
	for u := unitFor(unit); ; u = unitFor(nanosPer(u) / 1000) {
		if x.lit.null() {
			return bd.constant(x.node, literal{typ: withUnit(x.typ, u)})
		}
		if at := placeOf(*x.lit, withUnit(x.typ, u)); at.where == placeExact {
			return bd.constant(x.node, at.lit)
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
func (bd *binder) timesIn(n *node, l, r bound, unit int64, t arrow.DataType) (bound, bool) {
	return bd.arithInts(n, bd.inUnit(l, unit), bd.inUnit(r, unit), t)
}

// inUnit brings a temporal operand to a unit that is not coarser than its own. A value that does not fit is an error of the row.
func (bd *binder) inUnit(x bound, unit int64) bound {
	own := unitOf(plainType(x.typ))
	t := withUnit(plainType(x.typ), unitFor(unit))
	if x.lit != nil {
		if x.lit.null() {
			return bd.constant(x.node, literal{typ: t})
		}
		if at := placeOf(*x.lit, t); at.where == placeExact {
			return bd.constant(x.node, at.lit)
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
