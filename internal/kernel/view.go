package kernel

import (
	"errors"
	"sync"

	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/internal/layout"
	"github.com/arkflow-go/arkflow/state"
)

// form is the identity of what groups lie in while each of them keeps its place.
type form struct{ _ byte }

// View is a pane or cells as they were at a barrier: a state.View. It is made in a time that does not depend on how many groups there
// are. A group changes by nothing but rows, which are counted; so those that changed since an earlier View are the ones whose count is
// another one, and a View that is closed need keep no more than their marks. Of a pane or cells whose groups do not lie any more where
// they lay at the earlier View, all count as changed: that is so once, when a pane is partitioned or moves into a table, or when dense cells become
// sparse.
type View struct {
	l            *layout.Layout
	keyLayout    *layout.Layout
	pool         *column.Pool
	cells        bool
	window, from int64
	maxGroups    int // number of key groups

	form  *form
	added int64 // rows that the pane had got: where they are as many as at another View, nothing has changed
	bound int   // see Rows

	mu     sync.Mutex // guards what follows against the pane, which may take over what an earlier View of it has
	keys   *table     // of cells
	tables []*table   // the groups, one after the other
	marks  [][]mark   // of each group of each of tables
	lease  *lease
	parts  *parts // frozen; nil once the View is settled
	loan   *loan
	taking *capture // of the parts, nil before they are asked for
	closed bool
}

var (
	errClosed = errors.New("the view of a table was closed")
	errSince  = errors.New("the view of a table is read as what changed since another one: settle it first")
)

// View gives a pane as it is. The rows of its Tables, in memory of the pool, have the number of the window; maxParallelism is the number of key
// groups.
func (p *Pane) View(window int64, maxParallelism int, pool *column.Pool) *View {
	if p.form == nil {
		p.form = new(form)
	}
	v := &View{l: p.a.l, keyLayout: p.a.l, pool: pool, window: window, maxGroups: maxParallelism, form: p.form, added: p.rows, bound: p.Live()}
	if last := p.last; last != nil && v.same(last) {
		last.mu.Lock()
		v.marks = last.marks
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
		p.p.loan.end()
		p.p.loan = &loan{of: v.parts.Store, patience: p.a.patience}
		v.loan = p.p.loan
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
func (x *Index) Views(maxParallelism int, pool *column.Pool) func(c *Cells, window, from int64) *View {
	keys := x.t.freezeKeys()
	return func(c *Cells, window, from int64) *View {
		if c.form == nil {
			c.form = new(form)
		}
		v := &View{l: x.l, keyLayout: x.t.l, pool: pool, cells: true, window: window, from: from, maxGroups: maxParallelism, form: c.form,
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
	tables, marks, closed := v.tables, v.marks, v.closed
	v.mu.Unlock()
	switch {
	case closed:
		return errClosed
	case tables != nil && marks != nil:
		return nil
	case tables == nil:
		c, err := v.capture(nil)
		if err != nil {
			return err
		}
		tables, marks = c.tables[:], c.marks[:]
	default:
		marks = marksOf(tables)
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.tables, v.marks, v.taking = tables, marks, nil
	if v.parts != nil {
		v.parts.Unpin()
		v.parts = nil
	}
	return nil
}

// mark tells the number of rows of a group, 0 if there is none, from those that it can have at a later View, as long as no more than maxMarked
// rows have come to all groups together.
type mark uint32

const maxMarked = 1<<31 - 1

func markOf(rows uint64) mark {
	if rows == 0 {
		return 0
	}
	return mark(rows) | 1<<31
}

func marksOf(tables []*table) [][]mark {
	n := 0
	for _, t := range tables {
		n += t.groups()
	}
	all, out := make([]mark, n), make([][]mark, len(tables))
	for i, t := range tables {
		n := t.groups()
		rows, stride := t.rows[t.l.Count:], t.l.Stride
		for g := range all[:n] {
			all[g] = markOf(rows[(g+1)*stride])
		}
		out[i], all = all[:n:n], all[n:]
	}
	return out
}

// known gives the marks of an earlier View by which changed groups are found, nil where they cannot be.
func (v *View) known(since state.View) [][]mark {
	then, ok := since.(*View)
	if !ok || v.form != then.form || v.added-then.added > maxMarked {
		return nil
	}
	then.mu.Lock()
	defer then.mu.Unlock()
	return then.marks
}

// Each implements state.View.
func (v *View) Each(since state.View, emit func(state.Table) error) error {
	v.mu.Lock()
	tables, marks, closed := v.tables, v.marks, v.closed
	v.mu.Unlock()
	if closed {
		return errClosed
	}
	known := v.known(since)
	if known != nil && v.same(since.(*View)) {
		v.note(known)
		return nil
	}
	if tables == nil && known != nil {
		c, err := v.capture(known)
		if err != nil {
			return err
		}
		v.note(c.marks[:])
		return v.save(c.tables[:], nil, nil, emit)
	}
	if tables == nil {
		if err := v.Settle(); err != nil {
			return err
		}
		return v.save(v.tables, nil, nil, emit)
	}
	if marks == nil {
		marks = marksOf(tables)
		v.note(marks)
	}
	return v.save(tables, marks, known, emit)
}

// note keeps what later Views are compared with.
func (v *View) note(marks [][]mark) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.marks = marks
}

// save gives the groups whose number of rows is not the known one; all where marks is nil.
func (v *View) save(tables []*table, marks, known [][]mark, emit func(state.Table) error) error {
	if known == nil {
		known = make([][]mark, len(tables))
	}
	n, all, flat := 0, 0, true
	for i, t := range tables {
		all += t.groups()
		flat = flat && !t.spilled()
		if marks != nil {
			n += changed(marks[i], known[i], nil)
		}
	}
	if marks == nil {
		n = all
	}
	if n == 0 {
		return nil
	}
	d := newDump(v.keyLayout, v.l, v.cells, v.maxGroups, n, v.pool, emit)
	d.share(v.window, v.from, v.cells, flat)
	defer d.close()
	step := blockRows
	if len(tables) > 1 {
		step = min(mixedRows*max(1, all/n), blockRows)
	}
	refs, keyRefs := make([]uint32, blockRows), make([]uint32, blockRows)
	for lo, more := 0, true; more; lo += step {
		more = false
		for i, t := range tables {
			count := min(step, t.groups()-lo)
			if count <= 0 {
				continue
			}
			more = more || lo+step < t.groups()
			list := refs[:count]
			if marks == nil {
				for j := range list {
					list[j] = uint32(j)
				}
			} else {
				list = refs[:changed(marks[i][lo:lo+count], from(known[i], lo), refs)]
			}
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
func from(list []mark, n int) []mark { return list[min(n, len(list)):] }

// changed counts the groups that have rows and had not as many, and writes their indices into `into` if it is not nil.
func changed(marks, known []mark, into []uint32) (n int) {
	for g, m := range marks {
		if m == 0 || g < len(known) && known[g] == m {
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
	v.tables, v.keys, v.taking = nil, nil, nil
	if v.parts != nil {
		v.parts.Unpin()
		v.parts = nil
	}
	if v.lease != nil {
		v.lease.end()
		v.lease = nil
	}
}
