package kernel

import (
	"fmt"
	"github.com/arkflow-go/arkflow/internal/extreme"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/internal/keys"
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
const snapshotRows = 64 << 10

var (
	snapInt   = arrow.PrimitiveTypes.Int64
	snapWord  = arrow.PrimitiveTypes.Uint64
	snapFloat = arrow.PrimitiveTypes.Float64
)

// SnapshotSchema is the schema of saved panes, or of saved cells.
func (l *Layout) SnapshotSchema(cells bool) *arrow.Schema {
	fields := []arrow.Field{{Name: "window_start", Type: snapInt}}
	for _, k := range l.keyCols {
		f := l.schema.Field(k)
		fields = append(fields, arrow.Field{Name: f.Name, Type: f.Type, Nullable: true})
	}
	add := func(name string, t arrow.DataType) {
		fields = append(fields, arrow.Field{Name: name, Type: t, Nullable: t.ID() == arrow.BINARY})
	}
	add("#rows", snapInt)
	for _, arg := range l.args {
		name := l.argName(&arg)
		add(name+"#nulls", snapInt)
		for _, a := range arg.accs {
			n := fmt.Sprintf("%s(%s)", a, name)
			switch a.kind {
			case accSumInt:
				add(n, snapInt)
				add(n+"#wraps", snapInt)
			case accSumUint:
				add(n, snapWord)
				add(n+"#wraps", snapInt)
			case accSumFloat:
				add(n, snapFloat)
			case accSumDec:
				add(n+"#low", snapWord)
				add(n+"#high", snapWord)
				add(n+"#wraps", snapInt)
			case accMaxDec:
				add(n+"#low", snapWord)
				add(n+"#high", snapWord)
			case accMax:
				add(n, snapWord)
			case accMaxBytes:
				add(n, arrow.BinaryTypes.Binary)
			case accBest:
				add(fmt.Sprintf("%s#%d", n, a.side), arrow.BinaryTypes.Binary)
			}
		}
	}
	if cells {
		add("#from", snapInt)
	}
	return arrow.NewSchema(fields, nil)
}

// argName names an argument in saved panes.
func (l *Layout) argName(arg *argument) string {
	name := "*"
	if arg.col >= 0 {
		name = l.schema.Field(arg.col).Name
	}
	if arg.where != 0 {
		name += " where " + l.schema.Field(arg.where-1).Name
	}
	return name
}

// Dump writes panes as tables whose memory belongs to the garbage collector.
type Dump struct {
	page
	window, from int64
	keyCols      []int
	groups       int
	hash         []uint64
}

// NewDump gives a writer of saved panes that have about so many groups together; maxParallelism is the number of key groups.
func NewDump(l *Layout, maxParallelism, groups int, emit func(state.Table)) *Dump {
	return newDump(l, l, false, maxParallelism, groups, emit)
}

// NewCellDump is NewDump for cells.
func NewCellDump(x *Index, maxParallelism, groups int, emit func(state.Table)) *Dump {
	return newDump(x.t.l, x.l, true, maxParallelism, groups, emit)
}

func newDump(keys, l *Layout, cells bool, maxParallelism, groups int, emit func(state.Table)) *Dump {
	d := &Dump{groups: maxParallelism}
	d.page = page{l: l, Sheet: sheet.Sheet{Schema: l.SnapshotSchema(cells), Size: max(1, min(snapshotRows, groups))}, limit: column.MaxBatchBytes}
	d.fill = []filler{d.constant(0, &d.window)}
	d.page.keys = keyFillers(keys, 1)
	for i := range l.keyCols {
		d.keyCols = append(d.keyCols, 1+i)
	}
	col := 1 + len(l.keyCols)
	word := func(off int) {
		at := col
		d.fill = append(d.fill, func(s *page, i int, t *table, refs []uint32) error {
			s.copyWords(at, i, t, refs, off)
			return nil
		})
		col++
	}
	word(l.count)
	for i := range l.args {
		arg := &l.args[i]
		d.fill = append(d.fill, sideFiller(col, arg.nulls))
		col++
		for _, a := range arg.accs {
			switch a.kind {
			case accMaxBytes, accBest:
				d.fill = append(d.fill, heapFiller(col, a))
				col++
				continue
			case accSumDec, accMaxDec:
				word(a.off)
				word(a.off + 1)
			default:
				word(a.off)
			}
			if a.wraps() {
				d.fill = append(d.fill, sideFiller(col, a.side))
				col++
			}
		}
	}
	if cells {
		d.fill = append(d.fill, d.constant(col, &d.from))
	}
	d.emit = func(b *column.Batch) error {
		emit(d.table(b))
		return nil
	}
	return d
}

// wraps reports whether the accumulator has a side that counts wraps.
func (a accumulator) wraps() bool {
	return a.kind == accSumInt || a.kind == accSumUint || a.kind == accSumDec
}

func sideFiller(col, side int) filler {
	return func(s *page, at int, t *table, refs []uint32) error {
		dst := column.View[int64](s.B.Cols[col].Data)[at:]
		for i, ref := range refs {
			dst[i] = t.sideAt(side, ref)
		}
		return nil
	}
}

func heapFiller(col int, a accumulator) filler {
	return func(s *page, at int, t *table, refs []uint32) error {
		for i, ref := range refs {
			if w := t.rows[int(ref)+a.off+1]; w != 0 {
				if a.best != nil {
					s.tuple = t.heaps[a.side].Dump(s.tuple[:0], a.best, t.rows[int(ref)+a.off], w)
					s.PutBytes(col, at+i, s.tuple)
				} else {
					s.PutBytes(col, at+i, t.heaps[a.side].At(w))
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

// AddCells writes cells, which are not changed, under two numbers that the caller names them by.
func (d *Dump) AddCells(window, from int64, c *Cells) error {
	d.window, d.from = window, from
	return c.t.each(&c.x.s, func(t *table, refs []uint32) error { return d.addCells(c.x.t, c.x.keyRefs(t, refs), t, refs) })
}

// Close writes the last table.
func (d *Dump) Close() error { return d.flush() }

// table gives a batch as a table. The batch's memory is not of a pool.
func (d *Dump) table(b *column.Batch) state.Table {
	t := state.Table{Schema: d.Schema, Rows: b.Rows, Cols: append([]column.Column(nil), b.Cols...), Groups: make([]uint16, b.Rows)}
	d.hash = keys.Hash(d.hash, b, d.keyCols)
	for i, h := range d.hash {
		t.Groups[i] = uint16(state.KeyGroup(h, d.groups))
	}
	return t
}

// Load reads saved rows into panes or cells.
type Load struct {
	l     *Layout
	cells bool
	s     *scratch
	own   state.Range
	rows  []uint32
	// into gives the groups of at most blockRows saved rows, whose keys are in s, and the table they lie in.
	into func(window, from int64) (t *table, refs []uint32, rows *int64, err error)
}

// NewLoad gives a reader of saved panes that takes the rows of the key groups in own. pane gives the pane of a window.
func NewLoad(a *Aggregator, own state.Range, pane func(window int64) (*Pane, error)) *Load {
	d := &Load{l: a.l, s: &a.s, own: own}
	d.into = func(window, _ int64) (*table, []uint32, *int64, error) {
		p, err := pane(window)
		if err == nil {
			err = p.Settle()
		}
		if err != nil {
			return nil, nil, nil, err
		}
		p.t.own()
		refs, err := p.t.find(&a.s, len(d.rows), rowAt{rows: d.rows})
		return p.t, refs, &p.rows, err
	}
	return d
}

// NewCellLoad is NewLoad for cells.
func NewCellLoad(x *Index, own state.Range, cells func(window, from int64) *Cells) *Load {
	d := &Load{l: x.l, cells: true, s: &x.s, own: own}
	d.into = func(window, from int64) (*table, []uint32, *int64, error) {
		nums, err := x.number(len(d.rows), rowAt{rows: d.rows})
		if err != nil {
			return nil, nil, nil, err
		}
		c, refs := cells(window, from), x.refs[:len(nums)]
		return c.t, refs, &c.rows, c.locate(refs, nums, 0)
	}
	return d
}

// Add reads a table.
func (d *Load) Add(t state.Table) error {
	if err := d.check(t); err != nil {
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
		d.rows = d.rows[:0]
		w, from := windows[lo], froms[lo]
		for ; lo < t.Rows && windows[lo] == w && froms[lo] == from && len(d.rows) < blockRows; lo++ {
			if d.own.Contains(int(t.Groups[lo])) {
				d.rows = append(d.rows, uint32(lo))
			}
		}
		if len(d.rows) == 0 {
			continue
		}
		if err := d.block(w, from, b); err != nil {
			return err
		}
	}
	return nil
}

// check compares the columns of a table with those that this layout saves.
func (d *Load) check(t state.Table) error {
	want := d.l.SnapshotSchema(d.cells)
	same := want.NumFields() == t.Schema.NumFields() && len(t.Cols) == want.NumFields() && len(t.Groups) == t.Rows
	for i := 0; same && i < want.NumFields(); i++ {
		same = want.Field(i).Name == t.Schema.Field(i).Name && arrow.TypeEqual(want.Field(i).Type, t.Schema.Field(i).Type)
	}
	if !same {
		return fmt.Errorf("saved windows have the columns %v, this job's have %v: keys, aggregates or their types have changed",
			fieldList(t.Schema), fieldList(want))
	}
	for i := range t.Cols {
		if !holds(&t.Cols[i], t.Rows) {
			return fmt.Errorf("saved windows are damaged: column %q has fewer than %d values", want.Field(i).Name, t.Rows)
		}
	}
	return nil
}

// holds reports whether the column's memory has that many values.
func holds(c *column.Column, rows int) bool {
	if c.Valid != nil && len(c.Valid) < column.BitmapLen(rows) {
		return false
	}
	switch c.Kind {
	case column.Bytes:
		if len(c.Offsets) <= rows {
			return false
		}
		last := int32(0)
		for _, o := range c.Offsets[:rows+1] {
			if o < last {
				return false
			}
			last = o
		}
		return int(last) <= len(c.Data)
	case column.Bool:
		return len(c.Data) >= column.BitmapLen(rows)
	}
	return len(c.Data) >= rows*c.Kind.Width()
}

func fieldList(s *arrow.Schema) (out []string) {
	for _, f := range s.Fields() {
		out = append(out, f.Name+" "+f.Type.String())
	}
	return out
}

// block adds the groups of at most blockRows saved rows.
func (d *Load) block(window, from int64, b *column.Batch) error {
	l, s := d.l, d.s
	s.keys = s.keys[:0]
	for i := range l.keyCols {
		s.keys = append(s.keys, &b.Cols[1+i])
	}
	t, refs, rows, err := d.into(window, from)
	if err != nil {
		return err
	}
	at := rowAt{rows: d.rows}
	if err := t.fill(refs, b, at); err != nil {
		return err
	}
	for _, ref := range refs {
		*rows += int64(t.refCount(ref))
	}
	return nil
}

// fill sets what groups, which are new, have gathered from saved rows.
func (t *table) fill(refs []uint32, b *column.Batch, at rowAt) error {
	l := t.l
	col := 1 + len(l.keyCols)
	next := func() *column.Column {
		col++
		return &b.Cols[col-1]
	}
	word := func(off int) {
		v := column.View[uint64](next().Data)
		for i, ref := range refs {
			t.rows[int(ref)+off] = v[at.row(i)]
		}
	}
	side := func(n int) {
		v := column.Values[int64](next())
		for i, ref := range refs {
			if x := v[at.row(i)]; x != 0 {
				t.side(n)[int(ref)/l.stride] = x
			}
		}
	}
	word(l.count)
	for _, arg := range l.args {
		side(arg.nulls)
		for _, a := range arg.accs {
			switch a.kind {
			case accBest:
				c := next()
				for i, ref := range refs {
					if row := at.row(i); !c.IsNull(row) {
						if err := t.heaps[a.side].Load((*[2]uint64)(t.rows[int(ref)+a.off:]), a.best, c.Bytes(row)); err != nil {
							return err
						}
					}
				}
				continue
			case accMaxBytes:
				c := next()
				for i, ref := range refs {
					if row := at.row(i); !c.IsNull(row) {
						v := c.Bytes(row)
						t.heaps[a.side].Replace((*[2]uint64)(t.rows[int(ref)+a.off:]), extreme.Prefix(v), v)
					}
				}
				continue
			case accSumDec, accMaxDec:
				word(a.off)
				word(a.off + 1)
			default:
				word(a.off)
			}
			if a.wraps() {
				side(a.side)
			}
		}
	}
	return nil
}
