package kernel

import (
	"errors"
	"slices"

	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/internal/extreme"
	"github.com/arkflow-go/arkflow/internal/keys"
	"github.com/arkflow-go/arkflow/internal/layout"
	"github.com/arkflow-go/arkflow/internal/sheet"
	"github.com/arkflow-go/arkflow/state"
)

// The saved form of a pane is a table with the columns
//
//	window_start      Int64, ms (whatever the caller names its panes by)
//	the key columns   in their own types
//	#rows             Int64
//	of each argument: <column>#nulls Int64, then of each accumulator
//	  sums            sum(c): Int64, Uint64 or Float64, and sum(c)#wraps Int64: times 2^64 to be added
//	                  of decimals sum(c)#low, sum(c)#high Uint64 and sum(c)#wraps: times 2^128
//	  Min, Max        Uint64 words in the order of the values (see ordered), inverted for Min; of decimals #low and #high;
//	                  of strings Binary, null where there was no value
//
// and the key group of each row.

// snapshotRows is the number of rows of a table of a snapshot.
const snapshotRows = 16 << 10

// Dump writes panes as tables, which are good until emit returns.
type Dump struct {
	page
	window, from int64
	keyCols      []int
	groups       int
	hash         []uint64
	group        []uint16 // of the table's rows
	sides        []int    // columns that are zero of tables without sides
}

func newDump(keys, l *layout.Layout, cells bool, maxParallelism, groups int, pool *column.Pool, emit func(state.Table) error) *Dump {
	d := &Dump{groups: maxParallelism}
	d.page = page{l: l, Sheet: sheet.Sheet{Schema: l.SnapshotSchema(cells), Pool: pool, Size: max(1, min(snapshotRows, groups))}, limit: column.MaxBatchBytes}
	d.fill = []filler{d.constant(0, &d.window)}
	d.page.keys = keyFillers(keys, 1)
	for i := range l.KeyCols {
		d.keyCols = append(d.keyCols, 1+i)
	}
	col := 1 + len(l.KeyCols)
	word := func(off int) {
		at := col
		d.fill = append(d.fill, func(s *page, i int, t *table, refs []uint32) error {
			s.copyWords(at, i, t, refs, off)
			return nil
		})
		col++
	}
	side := func(n int) {
		d.fill, d.sides = append(d.fill, sideFiller(col, n)), append(d.sides, col)
		col++
	}
	word(l.Count)
	for i := range l.Args {
		arg := &l.Args[i]
		side(arg.Nulls)
		for _, a := range arg.Accs {
			switch a.Kind {
			case layout.AccMaxBytes, layout.AccBest:
				d.fill = append(d.fill, heapFiller(col, a))
				col++
				continue
			case layout.AccSumDec, layout.AccMaxDec:
				word(a.Off)
				word(a.Off + 1)
			default:
				word(a.Off)
			}
			if a.Wraps() {
				side(a.Side)
			}
		}
	}
	if cells {
		d.fill = append(d.fill, d.constant(col, &d.from))
	}
	d.emit = func(b *column.Batch) error {
		return emit(d.table(b))
	}
	return d
}

// share makes tables share the columns that are the same in all rows: the numbers of the window, and with flat those of sides, as no table
// has any.
func (d *Dump) share(window, from int64, cells, flat bool) {
	d.Head = column.NewBatch(d.Pool, d.Schema, d.Size)
	put := func(col int, v int64) {
		data := make([]int64, d.Size)
		for i := range data {
			data[i] = v
		}
		d.Head.Cols[col].Data = column.BytesOf(data)
	}
	put(0, window)
	if cells {
		put(len(d.Head.Cols)-1, from)
	}
	for i, col := range d.sides {
		if flat && i == 0 {
			put(col, 0)
		} else if flat {
			d.Head.Cols[col].Data = d.Head.Cols[d.sides[0]].Data
		}
	}
}

func sideFiller(col, side int) filler {
	return func(s *page, at int, t *table, refs []uint32) error {
		if s.Shared(col) {
			return nil
		}
		dst := column.View[int64](s.B.Cols[col].Data)[at:][:len(refs)]
		if t.sides[side] == nil {
			clear(dst)
			return nil
		}
		for i, ref := range refs {
			dst[i] = t.sideAt(side, ref)
		}
		return nil
	}
}

func heapFiller(col int, a layout.Accumulator) filler {
	return func(s *page, at int, t *table, refs []uint32) error {
		for i, ref := range refs {
			if w := t.rows[int(ref)+a.Off+1]; w != 0 {
				if a.Best != nil {
					s.tuple = t.heaps[a.Side].Dump(s.tuple[:0], a.Best, t.rows[int(ref)+a.Off], w)
					s.PutBytes(col, at+i, s.tuple)
				} else {
					s.PutBytes(col, at+i, t.heaps[a.Side].At(w))
				}
				continue
			}
			s.PutBytes(col, at+i, nil)
			s.Null(&s.B.Cols[col], at+i)
		}
		return nil
	}
}

// constant fills a column with what v is at the time.
func (d *Dump) constant(col int, v *int64) filler {
	return func(s *page, at int, _ *table, refs []uint32) error {
		if s.Shared(col) {
			return nil
		}
		dst := column.View[int64](s.B.Cols[col].Data)[at:]
		for i := range refs {
			dst[i] = *v
		}
		return nil
	}
}

// Add writes a pane, which is not changed.
func (d *Dump) Add(window int64, p *Pane) error {
	d.window = window
	return p.each(d.add)
}

// Close writes the last table.
func (d *Dump) Close() error { return d.flush() }

// table gives a batch as a table that shares its memory.
func (d *Dump) table(b *column.Batch) state.Table {
	d.group = slices.Grow(d.group[:0], b.Rows)[:b.Rows]
	t := state.Table{Schema: d.Schema, Rows: b.Rows, Cols: b.Cols, Groups: d.group}
	d.hash = keys.Hash(d.hash, b, d.keyCols)
	for i, h := range d.hash {
		t.Groups[i] = uint16(state.KeyGroup(h, d.groups))
	}
	return t
}

// Load reads saved rows into panes or cells.
type Load struct {
	l     *layout.Layout
	cells bool
	s     *scratch
	own   state.Range
	rows  []uint32
	more  int // rows of the table that were not looked at yet
	// into gives the groups of at most blockRows saved rows, whose keys are in s, the table they lie in, its number of rows and
	// where it counts live groups, if it does.
	into func(part state.PartID, window, from int64) (t *table, refs []uint32, rows *int64, live *int, err error)
}

// NewLoad gives a reader of saved panes that takes the rows of the key groups in own. pane gives the pane of a window. A group that a
// part has already is set anew.
func NewLoad(a *Aggregator, own state.Range, pane func(window int64) (*Pane, error)) *Load {
	d := &Load{l: a.l, s: &a.s, own: own}
	d.into = func(_ state.PartID, window, _ int64) (*table, []uint32, *int64, *int, error) {
		p, err := pane(window)
		if err == nil {
			err = p.Settle()
		}
		if err == nil {
			p.t.own()
			err = p.t.expect(d.more)
		}
		if err != nil {
			return nil, nil, nil, nil, err
		}
		refs, err := p.t.find(&a.s, len(d.rows), rowAt{rows: d.rows})
		if err == nil {
			p.t.uncount(refs)
		}
		return p.t, refs, &p.rows, nil, err // find counts live groups
	}
	return d
}

// NewCellLoad is NewLoad for cells.
func NewCellLoad(x *Index, own state.Range, cells func(part state.PartID, window, from int64) (*Cells, error)) *Load {
	d := &Load{l: x.l, cells: true, s: &x.s, own: own}
	d.into = func(part state.PartID, window, from int64) (*table, []uint32, *int64, *int, error) {
		c, err := cells(part, window, from)
		if err == nil {
			err = x.t.expect(d.more)
		}
		if err != nil {
			return nil, nil, nil, nil, err
		}
		nums, err := x.number(len(d.rows), rowAt{rows: d.rows})
		if err != nil {
			return nil, nil, nil, nil, err
		}
		var live *int
		if c.dense {
			live = &c.t.live
		}
		refs := x.refs[:len(nums)]
		return c.t, refs, &c.rows, live, c.locate(refs, nums, 0)
	}
	return d
}

// expect makes room for n more groups at once where there are few.
func (t *table) expect(n int) error {
	if t.groups() >= n {
		return nil
	}
	return t.reserve(n)
}

// uncount takes back that find has counted a row for each.
func (t *table) uncount(refs []uint32) {
	count := t.rows[t.l.Count:]
	for _, ref := range refs {
		count[ref]--
	}
}

// Add reads a table.
func (d *Load) Add(t state.Table) error {
	if err := d.l.Check(t, d.cells); err != nil {
		return err
	}
	b := column.NewBatch(nil, t.Schema, t.Rows)
	defer b.Release()
	copy(b.Cols, t.Cols)
	windows := column.Values[int64](&b.Cols[0])
	froms := windows
	if d.cells {
		froms = column.Values[int64](&b.Cols[len(b.Cols)-1])
	}
	for lo := 0; lo < t.Rows; {
		d.rows, d.more = d.rows[:0], t.Rows-lo
		w, from := windows[lo], froms[lo]
		for ; lo < t.Rows && windows[lo] == w && froms[lo] == from && len(d.rows) < blockRows; lo++ {
			if d.own.Contains(int(t.Groups[lo])) {
				d.rows = append(d.rows, uint32(lo))
			}
		}
		if len(d.rows) == 0 {
			continue
		}
		if err := d.block(t.Part, w, from, b); err != nil {
			return err
		}
	}
	return nil
}

var errNoRows = errors.New("saved windows are damaged: a group has no rows")

// block sets the groups of at most blockRows saved rows.
func (d *Load) block(part state.PartID, window, from int64, b *column.Batch) error {
	l, s := d.l, d.s
	s.keys = s.keys[:0]
	for i := range l.KeyCols {
		s.keys = append(s.keys, &b.Cols[1+i])
	}
	t, refs, rows, live, err := d.into(part, window, from)
	if err != nil {
		return err
	}
	counts, saved := t.rows[l.Count:], column.View[uint64](b.Cols[1+len(l.KeyCols)].Data)
	for i, ref := range refs {
		n := saved[d.rows[i]]
		if n == 0 {
			return errNoRows
		}
		if live != nil && counts[ref] == 0 {
			*live++
		}
		*rows += int64(n - counts[ref])
		counts[ref] = n
	}
	return t.set(refs, b, rowAt{rows: d.rows})
}

// set makes groups, but for their number of rows, what saved rows say.
func (t *table) set(refs []uint32, b *column.Batch, at rowAt) error {
	l := t.l
	col := 2 + len(l.KeyCols)
	next := func() *column.Column {
		col++
		return &b.Cols[col-1]
	}
	word := func(off int) {
		v, rows := column.View[uint64](next().Data), t.rows[off:]
		for i, ref := range refs {
			rows[ref] = v[at.row(i)]
		}
	}
	side := func(n int) {
		v := column.Values[int64](next())
		for i, ref := range refs {
			if x := v[at.row(i)]; x != 0 || t.sides[n] != nil {
				t.side(n)[int(ref)/l.Stride] = x
			}
		}
	}
	for _, arg := range l.Args {
		side(arg.Nulls)
		for _, a := range arg.Accs {
			switch a.Kind {
			case layout.AccBest, layout.AccMaxBytes:
				if err := t.setTexts(a, next(), refs, at); err != nil {
					return err
				}
				continue
			case layout.AccSumDec, layout.AccMaxDec:
				word(a.Off)
				word(a.Off + 1)
			default:
				word(a.Off)
			}
			if a.Wraps() {
				side(a.Side)
			}
		}
	}
	return nil
}

// setTexts is set for an accumulator in a heap.
func (t *table) setTexts(a layout.Accumulator, c *column.Column, refs []uint32, at rowAt) error {
	h := &t.heaps[a.Side]
	for i, ref := range refs {
		r, row := (*[2]uint64)(t.rows[int(ref)+a.Off:]), at.row(i)
		h.Drop(r, a.Best)
		switch {
		case c.IsNull(row):
		case a.Best != nil:
			if err := h.Load(r, a.Best, c.Bytes(row)); err != nil {
				return err
			}
		default:
			v := c.Bytes(row)
			h.Replace(r, extreme.Prefix(v), v)
		}
	}
	t.tidy(h, a)
	return nil
}
