package kernel

import (
	"errors"
	"sync"

	"github.com/arkflow-go/arkflow/internal/layout"
	"github.com/arkflow-go/arkflow/internal/partition"
	"github.com/arkflow-go/arkflow/state"
)

// form is the identity of what groups lie in while each of them keeps its place.
type form struct{ _ byte }

// View is a pane or cells as they were at a barrier: a state.View. It is made in a time that does not depend on how many groups there
// are. A group changes by nothing but rows, which are counted; so those that changed since an earlier View are the ones whose count is
// another one, and a View that is closed need keep no more than the counts. Of a pane or cells whose groups do not lie any more where
// they lay at the earlier View, all count as changed: that is so once, when a pane is partitioned or moves into a table, or when dense cells become
// sparse.
type View struct {
	l            *layout.Layout
	keyLayout    *layout.Layout
	cells        bool
	window, from int64
	maxGroups    int // number of key groups

	form  *form
	added int64 // rows that the pane had got: where they are as many as at another View, nothing has changed
	bound int   // see Rows

	mu     sync.Mutex // guards what follows against the pane, which may take over what an earlier View of it has
	keys   *table     // of cells
	tables []*table   // the groups, one after the other
	counts [][]uint64 // the rows of each group of each of tables
	lease  *lease
	parts  *parts // frozen; nil once the View is settled
	closed bool
}

var errClosed = errors.New("the view of a table was closed")

// View gives a pane as it is. The rows of its Tables have the number of the window; maxParallelism is the number of key groups.
func (p *Pane) View(window int64, maxParallelism int) *View {
	if p.form == nil {
		p.form = new(form)
	}
	v := &View{l: p.a.l, keyLayout: p.a.l, window: window, maxGroups: maxParallelism, form: p.form, added: p.rows, bound: p.Live()}
	if last := p.last; last != nil && v.same(last) {
		last.mu.Lock()
		v.counts = last.counts
		if p.p != nil {
			v.tables = last.tables
		}
		last.mu.Unlock()
	}
	p.last = v
	switch {
	case v.tables != nil:
	case p.p != nil:
		v.parts = &parts{Store: p.p.Freeze(), stride: p.p.stride}
	default:
		v.freeze(p.t)
	}
	return v
}

func (v *View) freeze(t *table) {
	var f *table
	f, v.lease = t.freeze()
	v.tables = []*table{f}
}

// Views gives what makes views of cells of the index as they are, under two numbers that the rows of their Tables have.
func (x *Index) Views(maxParallelism int) func(c *Cells, window, from int64) *View {
	keys := x.t.freezeKeys()
	return func(c *Cells, window, from int64) *View {
		if c.form == nil {
			c.form = new(form)
		}
		v := &View{l: x.l, keyLayout: x.t.l, cells: true, window: window, from: from, maxGroups: maxParallelism, form: c.form,
			added: c.rows, bound: c.Len(), keys: keys}
		v.freeze(c.t)
		return v
	}
}

// same reports whether nothing has changed between the views.
func (v *View) same(then *View) bool { return v.form == then.form && v.added == then.added }

// Rows implements state.View.
func (v *View) Rows() int { return v.bound }

// Settle implements state.View: partitions are grouped.
func (v *View) Settle() error {
	v.mu.Lock()
	tables, counts, closed := v.tables, v.counts, v.closed
	v.mu.Unlock()
	switch {
	case closed:
		return errClosed
	case tables != nil && counts != nil:
		return nil
	case tables == nil:
		var err error
		if tables, err = v.group(); err != nil {
			return err
		}
	}
	if counts == nil {
		counts = countsOf(tables)
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.tables, v.counts = tables, counts
	if v.parts != nil {
		v.parts.Unpin()
		v.parts = nil
	}
	return nil
}

// group gives the groups of each partition.
func (v *View) group() ([]*table, error) {
	x := toucher{parts: v.parts, t: small(v.l)}
	tables := make([]*table, partition.Count)
	for at := range tables {
		var err error
		if tables[at], err = x.whole(at); err != nil {
			return nil, err
		}
		x.t.clearKeys()
	}
	return tables, nil
}

func countsOf(tables []*table) [][]uint64 {
	n := 0
	for _, t := range tables {
		n += t.groups()
	}
	all, out := make([]uint64, n), make([][]uint64, len(tables))
	for i, t := range tables {
		n := t.groups()
		rows, stride := t.rows[t.l.Count:], t.l.Stride
		for g := range all[:n] {
			all[g] = rows[(g+1)*stride]
		}
		out[i], all = all[:n:n], all[n:]
	}
	return out
}

// Each implements state.View.
func (v *View) Each(since state.View, emit func(state.Table) error) error {
	if v.closed {
		return errClosed
	}
	var known [][]uint64
	if then, ok := since.(*View); ok && v.form == then.form {
		then.mu.Lock()
		known = then.counts
		then.mu.Unlock()
		if known != nil && v.same(then) {
			v.mu.Lock()
			defer v.mu.Unlock()
			v.counts = known
			return nil
		}
	}
	v.mu.Lock()
	light := known != nil && v.tables == nil && len(known) == partition.Count
	v.mu.Unlock()
	if light {
		tables, were, err := v.touched(known)
		if err != nil {
			return err
		}
		return v.save(tables, countsOf(tables), were, emit)
	}
	if err := v.Settle(); err != nil {
		return err
	}
	return v.save(v.tables, v.counts, known, emit)
}

// save gives the groups whose number of rows is not the known one.
func (v *View) save(tables []*table, counts, known [][]uint64, emit func(state.Table) error) error {
	n, all := 0, 0
	for i, counts := range counts {
		n += changed(counts, countsAt(known, i), nil)
		all += len(counts)
	}
	if n == 0 {
		return nil
	}
	d := newDump(v.keyLayout, v.l, v.cells, v.maxGroups, n, emit)
	d.window, d.from = v.window, v.from
	step := blockRows
	if len(tables) > 1 {
		step = min(mixedRows*max(1, all/n), blockRows)
	}
	refs, keyRefs := make([]uint32, blockRows), make([]uint32, blockRows)
	for lo, more := 0, true; more; lo += step {
		more = false
		for i, t := range tables {
			counts, known := from(counts[i], lo), from(countsAt(known, i), lo)
			more = more || len(counts) > step
			list := refs[:changed(counts[:min(step, len(counts))], known, refs)]
			for j := range list {
				list[j] = (list[j] + uint32(lo) + 1) * uint32(t.l.Stride)
			}
			var err error
			if v.keys == nil {
				err = d.add(t, list)
			} else {
				err = d.addCells(v.keys, keyRefsOf(keyRefs, v.keys, t, list), t, list)
			}
			if err != nil {
				return err
			}
		}
	}
	return d.flush()
}

// mixedRows is how many groups of a partition are saved before those of the next: keys in the order of their hashes would
// make who loads them look long for a free slot.
const mixedRows = 32

// from is what is left of a list.
func from(list []uint64, n int) []uint64 { return list[min(n, len(list)):] }

func countsAt(counts [][]uint64, i int) []uint64 {
	if counts == nil {
		return nil
	}
	return counts[i]
}

// changed counts the groups that have rows and had not as many, and writes their indices into `into` if it is not nil.
func changed(counts, known []uint64, into []uint32) (n int) {
	for g, c := range counts {
		if c == 0 || g < len(known) && known[g] == c {
			continue
		}
		if into != nil {
			into[n] = uint32(g)
		}
		n++
	}
	return n
}

// Close implements state.View.
func (v *View) Close() {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.closed {
		return
	}
	v.closed = true
	v.tables, v.keys = nil, nil
	if v.parts != nil {
		v.parts.Unpin()
		v.parts = nil
	}
	if v.lease != nil {
		v.lease.end()
		v.lease = nil
	}
}
