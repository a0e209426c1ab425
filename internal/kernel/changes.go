package kernel

import (
	"slices"

	"github.com/arkflow-go/arkflow/column"
)

// Changes are the groups of a pane that rows have changed after it had fired.
type Changes struct {
	refs  []uint32 // ascending
	known []uint32 // those that had rows before, ascending
}

// AddChanging adds physical rows and notes in ch, in place of what it held, which groups they have changed. The pane must
// not be partitioned (see KeepExact, Settle).
func (p *Pane) AddChanging(b *column.Batch, rows []uint32, ch *Changes) error {
	ch.refs, ch.known = ch.refs[:0], ch.known[:0]
	p.a.useKeys(b)
	for _, r := range rows {
		if ref := p.t.lookupRow(&p.a.s, rowAt{lo: int(r)}); ref != 0 && p.t.refCount(ref) > 0 {
			ch.known = append(ch.known, ref)
		}
	}
	if err := p.AddRows(b, rows); err != nil {
		return err
	}
	p.a.useKeys(b)
	for _, r := range rows {
		ch.refs = append(ch.refs, p.t.lookupRow(&p.a.s, rowAt{lo: int(r)}))
	}
	slices.Sort(ch.refs)
	slices.Sort(ch.known)
	ch.refs = slices.Compact(ch.refs)
	return nil
}

// WithUpdates makes the last column of the schema a bool: whether the row replaces an earlier one of its key and window.
func (r *Results) WithUpdates() *Results {
	col := r.Schema.NumFields() - 1
	r.fill = append(r.fill, func(s *page, at int, t *table, refs []uint32) error {
		if r.known == nil {
			return nil
		}
		c := &s.B.Cols[col]
		for i, ref := range refs {
			if r.known(t, ref) {
				column.SetBit(c.Data, at+i)
			}
		}
		return nil
	})
	return r
}

// WriteChanges emits the groups of a pane that have changed as corrections.
func (r *Results) WriteChanges(p *Pane, ch *Changes, start, end int64, times bool, emit func(b *column.Batch) error) error {
	r.known = func(_ *table, ref uint32) bool {
		_, ok := slices.BinarySearch(ch.known, ref)
		return ok
	}
	defer func() { r.known = nil }()
	return r.write(len(ch.refs), start, end, times, emit, func() error { return r.spread(p.t, ch.refs, p.t, ch.refs) })
}

// WriteCells emits the cells that have rows; see Write. Where marks is not nil they are corrections: a mark is how many of the rows
// of a number came after the window had fired.
func (r *Results) WriteCells(c *Cells, marks []uint32, start, end int64, times bool, emit func(b *column.Batch) error) error {
	if marks != nil {
		r.known = func(t *table, ref uint32) bool { return t.rows[ref+1] > uint64(marks[t.rows[ref]]) }
		defer func() { r.known = nil }()
	}
	return r.write(c.Len(), start, end, times, emit, func() error {
		return c.t.each(&c.x.s, func(t *table, refs []uint32) error {
			return r.spread(c.x.t, c.x.keyRefs(t, refs), t, refs)
		})
	})
}
