package kernel

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"testing"
	"time"
	"unsafe"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/internal/aggregate"
	"github.com/arkflow-go/arkflow/internal/layout"
	"github.com/arkflow-go/arkflow/state"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// pages is where views take their tables from: what is kept of one too long is poison.
var pages = column.NewDebugPool()

// epochs is a store of one pane's state: what was sealed, a base and what changed since then.
type epochs struct {
	view   *View
	tables []state.Table
	want   []string // the results when it was frozen

	writing sync.WaitGroup
}

// seal writes a view beside the rows; changed is the number of groups that it may give where the last view is of the same form.
func (e *epochs) seal(t assert.TestingT, v *View, want []string, base, settle bool) {
	before, held := e.view, e.want
	if base || before == nil {
		e.tables, before, held = nil, nil, nil
	}
	var since state.View
	if before != nil {
		since = before
	}
	e.view, e.want = v, want
	e.writing.Go(func() {
		if settle {
			assert.NoError(t, v.Settle())
		}
		for range 2 { // it may be called again
			n := 0
			var got []state.Table
			assert.NoError(t, v.Each(since, func(t state.Table) error {
				n += t.Rows
				got = append(got, t.Clone())
				return nil
			}))
			if before == nil || before.form == v.form {
				assert.Equal(t, lacking(want, held), n, "rows of an epoch")
			}
			e.tables = append(e.tables, got...)
		}
		v.Close()
	})
}

// lacking is how many of the lines are not in another sorted list.
func lacking(lines, in []string) (n int) {
	for _, l := range lines {
		if _, ok := slices.BinarySearch(in, l); !ok {
			n++
		}
	}
	return n
}

// TestS6EpochsOfAPaneHoldWhatChanged: whatever happens to a pane between barriers (folds, a move into partitions or out of them, sums
// beyond 64 bits, nulls), base and deltas are what it was at the last barrier, and a delta has the changed groups alone.
func TestS6EpochsOfAPaneHoldWhatChanged(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		types := []arrow.DataType{rapid.SampledFrom([]arrow.DataType{arrow.PrimitiveTypes.Int64, arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Float64}).Draw(t, "key")}
		for range rapid.IntRange(0, 3).Draw(t, "args") {
			types = append(types, rapid.SampledFrom([]arrow.DataType{arrow.PrimitiveTypes.Int64, arrow.PrimitiveTypes.Uint64, arrow.PrimitiveTypes.Float32, arrow.PrimitiveTypes.Int16, arrow.FixedWidthTypes.Boolean}).Draw(t, "arg"))
		}
		s := fieldsOf(types...)
		l := layoutOf(t, s, 1, aggregate.CountValues, aggregate.Sum, aggregate.Min, aggregate.Max, aggregate.Avg)
		parted, plain := NewAggregator(l), NewAggregator(l)
		parted.many, parted.few, parted.foldAt = 20, 5, rapid.IntRange(1, 300).Draw(t, "fold")
		parted.patience = patience{rapid.SampledFrom([]int{0, mostWork}).Draw(t, "work"), time.Millisecond}
		plain.KeepExact()
		hot := rapid.Bool().Draw(t, "skew")
		for range rapid.IntRange(1, 3).Draw(t, "windows") {
			p, q := parted.Open(), plain.Open()
			e := &epochs{}
			for range rapid.IntRange(1, 6).Draw(t, "steps") {
				if rapid.IntRange(0, 4).Draw(t, "rows") > 0 {
					b := wordsBatch(t, s, hot)
					n := b.Rows
					if rapid.Bool().Draw(t, "few") {
						n = min(n, 20)
					}
					require.NoError(t, p.AddRange(b, 0, n))
					require.NoError(t, q.AddRange(b, 0, n))
					b.Release()
				}
				if rapid.IntRange(0, 9).Draw(t, "settle the pane") == 0 {
					require.NoError(t, p.Settle())
				}
				switch rapid.IntRange(0, 3).Draw(t, "barrier") {
				case 0:
				case 1:
					v := p.View(7, 128, pages)
					if rapid.Bool().Draw(t, "written in part") {
						stop := errors.New("stop")
						require.ErrorIs(t, cmpErr(v.Each(nil, func(state.Table) error { return stop }), v.Rows() == 0, stop), stop)
					}
					v.Close()
					v.Close()
					require.ErrorIs(t, v.Settle(), errClosed)
				default:
					e.writing.Wait()
					v := p.View(7, 128, pages)
					e.seal(t, v, rowsOf(t, q), rapid.IntRange(0, 5).Draw(t, "base") == 0, rapid.Bool().Draw(t, "settled first"))
				}
			}
			if rapid.Bool().Draw(t, "closes while it is written") {
				p.Close()
				p = nil
			}
			e.writing.Wait()
			if e.view != nil {
				fresh := NewAggregator(l)
				fresh.many = parted.many
				out := fresh.Open()
				load := NewLoad(fresh, state.Range{End: 128}, func(int64) (*Pane, error) { return out, nil })
				for _, table := range e.tables {
					require.NoError(t, load.Add(table))
				}
				require.Equal(t, e.want, rowsOf(t, out))
				rows := int64(0)
				require.NoError(t, out.each(func(t *table, refs []uint32) error {
					for _, ref := range refs {
						rows += int64(t.refCount(ref))
					}
					return nil
				}))
				require.Equal(t, rows, out.Rows())
			}
			if p != nil {
				p.Close()
			}
			q.Close()
		}
		require.Zero(t, parted.chunks.Held(), "all pins are gone")
		require.NoError(t, pages.Check())
		require.Zero(t, parted.chunks.Used)
	})
}

// cmpErr is an error, or another one where there was nothing that could have failed.
func cmpErr(err error, empty bool, other error) error {
	if err == nil && empty {
		return other
	}
	return err
}

func fill(t testing.TB, p *Pane, s *arrow.Schema, lo, hi int, add int64) {
	const rows = 8192
	keys, vals := make([]int64, rows), make([]int64, rows)
	for ; lo < hi; lo += rows {
		n := min(rows, hi-lo)
		for i := range n {
			keys[i], vals[i] = int64(lo+i)*7919, add
		}
		b := column.NewBatch(nil, s, n)
		b.Cols[0].Data, b.Cols[1].Data = column.BytesOf(keys), column.BytesOf(vals)
		require.NoError(t, p.AddRange(b, 0, n))
	}
}

func TestCopiesGoIntoMemoryThatViewsGaveBack(t *testing.T) {
	s := fieldsOf(arrow.PrimitiveTypes.Int64, arrow.PrimitiveTypes.Int64)
	a := NewAggregator(layoutOf(t, s, 1, aggregate.Sum))
	a.KeepExact()
	p := a.Open()
	const n = 20_000
	fill(t, p, s, 0, n, math.MaxInt64) // sums wrap at the second round: there are sides
	fill(t, p, s, 0, n, math.MaxInt64)
	first, side := unsafe.SliceData(p.t.rows), unsafe.SliceData(p.t.sides[1])
	v := p.View(0, 128, pages)
	fill(t, p, s, 0, 1, 1)
	second := unsafe.SliceData(p.t.rows)
	require.NotSame(t, first, second, "the view has the memory")
	require.Zero(t, a.spares.SizeBytes())
	require.NoError(t, v.Settle())
	v.Close()
	require.Positive(t, a.spares.SizeBytes())
	require.GreaterOrEqual(t, a.SizeBytes([]*Pane{p}), a.spares.SizeBytes()+p.t.sizeBytes())
	w := p.View(0, 128, pages)
	fill(t, p, s, 0, 1, 1)
	require.Same(t, first, unsafe.SliceData(p.t.rows), "the view gave it back")
	require.Same(t, side, unsafe.SliceData(p.t.sides[1]))
	require.Zero(t, a.spares.SizeBytes())
	require.Len(t, tablesOf(t, w, v), 1)
	x := p.View(0, 128, pages)
	require.NoError(t, x.Each(w, func(table state.Table) error {
		require.Equal(t, 1, table.Rows, "what has changed since the barrier of w")
		return nil
	}))
	x.Close()
	had := unsafe.SliceData(p.t.rows)
	fill(t, p, s, 0, 1, 1)
	require.Same(t, had, unsafe.SliceData(p.t.rows), "nobody reads it any more")
	p.View(0, 128, pages) // an epoch that never ends
	p.Close()
	require.Zero(t, a.spares.SizeBytes(), "nothing is kept where there is no pane")
}

func TestAnUnchangedPaneIsNotGroupedAgain(t *testing.T) {
	s := fieldsOf(arrow.PrimitiveTypes.Int64, arrow.PrimitiveTypes.Int64)
	a := NewAggregator(layoutOf(t, s, 1, aggregate.Sum))
	a.many = 100
	p := a.Open()
	fill(t, p, s, 0, 5000, 1)
	require.NotNil(t, p.p)
	v := p.View(0, 128, pages)
	require.NoError(t, v.Settle())
	require.False(t, a.chunks.Pins() > 0, "a settled view holds no chunk")
	w := p.View(0, 128, pages)
	require.Nil(t, w.parts, "it takes over what the last one has grouped")
	v.Close()
	w.Close()
	x := p.View(0, 128, pages)
	require.NotNil(t, x.parts)
	require.NoError(t, x.Each(w, func(state.Table) error { return errors.New("nothing has changed") }))
	require.Nil(t, x.tables, "nothing was grouped")
	x.Close()
	require.False(t, a.chunks.Pins() > 0)
	y := p.View(0, 128, pages)
	require.NoError(t, y.Each(x, func(state.Table) error { return errors.New("nothing has changed") }))
	n := 0
	require.NoError(t, y.Each(nil, func(t state.Table) error { n += t.Rows; return nil }), "a base may be asked for all the same")
	require.Equal(t, 5000, n)
	y.Close()
}

// replay loads tables into a new pane and gives its results.
func replay(t testing.TB, l *layout.Layout, tables ...[]state.Table) []string {
	a := NewAggregator(l)
	p := a.Open()
	load := NewLoad(a, state.Range{End: 128}, func(int64) (*Pane, error) { return p, nil })
	for _, list := range tables {
		for _, table := range list {
			require.NoError(t, load.Add(table))
		}
	}
	return rowsOf(t, p)
}

func TestALoadSetsWhatAPartHadBefore(t *testing.T) {
	s := fieldsOf(arrow.PrimitiveTypes.Int64, arrow.PrimitiveTypes.Int64, arrow.BinaryTypes.String)
	l, err := layout.New(s, []int{0}, []aggregate.Agg{{Func: aggregate.Sum, Col: 1, Names: []string{"sum"}},
		{Func: aggregate.Max, Col: 2, Names: []string{"max"}}, {Func: aggregate.ArgMax, Col: 1, Values: []int{2}, Ties: true, Names: []string{"tie"}}})
	require.NoError(t, err)
	a := NewAggregator(l)
	p := a.Open()
	add := func(rows ...[]any) {
		b := batchOf(s, rows...)
		b.Times = make([]int64, b.Rows)
		require.NoError(t, p.AddRange(b, 0, b.Rows))
	}
	add([]any{1, math.MaxInt64, "b"}, []any{1, math.MaxInt64, "a"}, []any{2, 5, "x"}) // the sum of 1 has left 64 bits
	v := p.View(0, 128, pages)
	base := tablesOf(t, v, nil)
	add([]any{1, math.MinInt64, "c"}) // and is back
	w := p.View(0, 128, pages)
	delta := tablesOf(t, w, v)
	require.Len(t, delta, 1)
	require.Equal(t, 1, delta[0].Rows)
	require.Equal(t, rowsOf(t, p), replay(t, l, base, delta))
	require.Equal(t, rowsOf(t, p), replay(t, l, base, delta, delta), "the same once more")
	bad := delta[0]
	bad.Cols = slices.Clone(bad.Cols)
	bad.Cols[2].Data = make([]byte, 8)
	err = NewLoad(a, state.Range{End: 128}, func(int64) (*Pane, error) { return a.Open(), nil }).Add(bad)
	require.ErrorIs(t, err, errNoRows)
}

func TestAViewOfAClosedPaneKeepsItsLongKeys(t *testing.T) {
	s := fieldsOf(arrow.BinaryTypes.String)
	l := layoutOf(t, s, 1)
	a := NewAggregator(l)
	add := func(p *Pane, prefix string, n int) {
		var rows [][]any
		for i := range n {
			rows = append(rows, []any{fmt.Sprintf("%s: a key of more than fifteen bytes, %d", prefix, i)})
		}
		b := batchOf(s, rows...)
		require.NoError(t, p.AddRange(b, 0, b.Rows))
	}
	p := a.Open()
	add(p, "first", 100)
	p.Close()
	p = a.Open()
	add(p, "second", 10) // less than half of the table's keys: the next pane begins without them
	want := rowsOf(t, p)
	v := p.View(0, 128, pages)
	add(p, "second", 1)
	p.Close()
	p = a.Open()
	add(p, "third", 110)
	require.Equal(t, want, replay(t, l, tablesOf(t, v, nil)))
}

func TestViewsOfCellsThatBecomeSparse(t *testing.T) {
	s := fieldsOf(arrow.PrimitiveTypes.Int64, arrow.PrimitiveTypes.Int64)
	x := NewIndex(layoutOf(t, s, 1, aggregate.Sum))
	batch := func(lo, hi int) *column.Batch {
		var rows [][]any
		for k := lo; k < hi; k++ {
			rows = append(rows, []any{k, 1})
		}
		return batchOf(s, rows...)
	}
	first, c := x.Cells(), x.DenseCells()
	b := batch(0, 100)
	require.NoError(t, AddRange([]*Cells{first}, b, 0, b.Rows))
	b = batch(10, 40)
	require.NoError(t, AddRange([]*Cells{c}, b, 0, b.Rows))
	b = batch(20, 21)
	require.NoError(t, AddRange([]*Cells{c}, b, 0, b.Rows))
	v := x.Views(128, pages)(c, 1, 2)
	base := tablesOf(t, v, nil)
	first.Close()
	require.True(t, x.Compact([]*Cells{c}), "keys have other numbers, and the cells other places")
	b = batch(30, 31) // it lies where 20 lay, and has as many rows
	require.NoError(t, AddRange([]*Cells{c}, b, 0, b.Rows))
	w := x.Views(128, pages)(c, 1, 2)
	delta := tablesOf(t, w, v)
	b = batch(31, 33)
	require.NoError(t, AddRange([]*Cells{c}, b, 0, b.Rows))
	last := tablesOf(t, x.Views(128, pages)(c, 1, 2), w)
	require.Equal(t, 2, last[0].Rows)
	y := NewIndex(layoutOf(t, s, 1, aggregate.Sum))
	got := y.DenseCells()
	load := NewCellLoad(y, state.Range{End: 128}, func(_ state.PartID, at, from int64) (*Cells, error) {
		require.Equal(t, [2]int64{1, 2}, [2]int64{at, from})
		return got, nil
	})
	for _, list := range [][]state.Table{base, delta, last} {
		for _, table := range list {
			require.NoError(t, load.Add(table))
		}
	}
	require.Equal(t, c.Rows(), got.Rows())
	require.Equal(t, c.Len(), got.Len())
	for k := range 100 {
		key := batch(k, k+1)
		n, m := c.x.Lookup(key, 0), y.Lookup(key, 0)
		require.Equal(t, n != 0, m != 0, "key %d", k)
		if n != 0 {
			require.Equal(t, cellOf(c, n), cellOf(got, m), "key %d", k)
		}
	}
}

// cellOf gives what is gathered of a number.
func cellOf(c *Cells, n uint32) (words []uint64) {
	for ref := c.t.l.Stride; ref < int(c.t.end); ref += c.t.l.Stride {
		if c.t.rows[ref] == uint64(n) {
			return c.t.rows[ref+1 : ref+c.t.l.Stride]
		}
	}
	return nil
}
