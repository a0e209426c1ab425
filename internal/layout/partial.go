package layout

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/arkflow-go/arkflow/column"
)

// Partial is the schema of partial results. Batches are known by the pointer.
func (l *Layout) Partial() *arrow.Schema { return l.partial }

// Exact reports whether the result of a group is the same to the bit however its rows are gathered: sums of floats are not.
func (l *Layout) Exact() bool {
	for _, arg := range l.Args {
		for _, a := range arg.Accs {
			if a.Kind == AccSumFloat {
				return false
			}
		}
	}
	return true
}

// Keys gives the key columns of a batch of rows or of partial results.
func (l *Layout) Keys(b *column.Batch) []int {
	if b.Schema == l.partial {
		return l.partialKeys
	}
	return l.KeyCols
}

// Weigh is the number of rows that physical rows of a batch stand for: those in rows, or lo to hi where rows is nil.
func (l *Layout) Weigh(b *column.Batch, lo, hi int, rows []uint32) (n int) {
	if b.Schema != l.partial {
		if rows != nil {
			return len(rows)
		}
		return hi - lo
	}
	counts := column.Values[int64](&b.Cols[1+len(l.KeyCols)])
	if rows != nil {
		for _, r := range rows {
			n += int(counts[r])
		}
		return n
	}
	for _, c := range counts[lo:hi] {
		n += int(c)
	}
	return n
}

// TakeKeys points at the key columns of a batch.
func (l *Layout) TakeKeys(into []*column.Column, b *column.Batch) []*column.Column {
	for _, k := range l.Keys(b) {
		into = append(into, &b.Cols[k])
	}
	return into
}
