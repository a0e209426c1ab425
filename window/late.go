package window

import (
	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/operator"
)

// pairsReach reports whether a (row, J) pair of the batch may make its row late; lo is the least time of the rows.
func (x *task) pairsReach(b *column.Batch, lo int64) bool {
	if len(b.Late) == 0 {
		return false
	}
	j := b.Late[0].J
	for _, p := range b.Late {
		j = max(j, p.J)
	}
	return lo < x.grid.open(j, x.lateness)
}

// takeLate applies the late policy to the rows that are late for all their windows, e + L <= max(J, W), and gives the others
// (T4, W3).
func (x *task) takeLate(b *column.Batch, rows rowSet, out operator.Output) (rowSet, error) {
	kept, late, pairs := x.kept[:0], x.late[:0], b.Late // rows may view x.kept: it is filtered in place
	for i := range rows.len() {
		r := rows.at(i)
		edge := x.opened
		for len(pairs) > 0 && int(pairs[0].Row) < r {
			pairs = pairs[1:]
		}
		if len(pairs) > 0 && int(pairs[0].Row) == r {
			edge = max(edge, x.grid.open(pairs[0].J, x.lateness))
		}
		if b.Times[r] < edge {
			late = append(late, uint32(r))
			continue
		}
		kept = append(kept, uint32(r))
	}
	x.kept, x.late = kept, late
	x.ctx.Counters.AddLate(x.weigh(b, rowSet{rows: late}))
	return rowSet{rows: kept}, x.routeRows(b, late, out)
}

// takeNulls applies the late policy to the rows without event time and gives the others (T2).
func (x *task) takeNulls(b *column.Batch, rows rowSet, out operator.Output) (rowSet, error) {
	kept, nulls := x.kept[:0], x.late[:0]
	for i := range rows.len() {
		r := rows.at(i)
		if column.Bit(b.TimeValid, r) {
			kept = append(kept, uint32(r))
			continue
		}
		nulls = append(nulls, uint32(r))
	}
	x.kept, x.late = kept, nulls
	if x.route {
		x.ctx.Counters.AddLate(len(nulls))
	} else {
		x.ctx.Counters.Drop(operator.DropNullTimestamp, len(nulls))
	}
	return rowSet{rows: kept}, x.routeRows(b, nulls, out)
}

// routeRows emits rows on the late port, where the policy is Route.
func (x *task) routeRows(b *column.Batch, rows []uint32, out operator.Output) error {
	if !x.route || len(rows) == 0 {
		return nil
	}
	d := b.Derive()
	defer d.Release()
	d.Sel = column.Alloc[uint32](d, len(rows))
	copy(d.Sel, rows)
	return out.Emit(operator.Late, d)
}
