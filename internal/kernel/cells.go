package kernel

import (
	"slices"

	"github.com/arkflow-go/arkflow/column"
)

// Cells are accumulators of keys that an Index numbers. Sparse ones hold a row for each key that has rows, dense ones a
// row for each number: they are for what nearly all keys have, and can be subtracted from.
type Cells struct {
	x     *Index
	t     *table
	dense bool
	at    []uint32 // sparse: row of each number, 0 where there is none; nil while there is no map
	rows  int64
	form  *form // see View
}

// Cells gives sparse cells without rows.
func (x *Index) Cells() *Cells { return &Cells{x: x, t: x.table()} }

// DenseCells gives dense cells without rows.
func (x *Index) DenseCells() *Cells { return &Cells{x: x, t: x.table(), dense: true} }

// Close forgets all rows and lends the memory to other cells of the index.
func (c *Cells) Close() {
	if c.at != nil {
		c.unmap()
	}
	c.x.giveTable(c.t)
	c.t = nil
}

// thin makes dense cells sparse.
func (c *Cells) thin() {
	if !c.dense {
		return
	}
	c.t.own()
	c.form = nil
	t, stride, end := c.t, c.t.l.Stride, c.t.l.Stride
	for ref := stride; ref < int(t.end); ref += stride {
		if t.rows[ref+1] == 0 {
			continue
		}
		if end != ref {
			copy(t.rows[end:end+stride], t.rows[ref:ref+stride])
			for _, s := range t.sides {
				if g := ref / stride; g < len(s) {
					s[end/stride], s[g] = s[g], 0
				}
			}
		}
		end += stride
	}
	clear(t.rows[end:t.end])
	t.end, c.dense = uint32(end), false
}

// Clear forgets all rows.
func (c *Cells) Clear() {
	if c.at != nil {
		c.unmap()
	}
	c.t.own()
	clear(c.t.rows[:c.t.end])
	c.t.end, c.rows, c.form = uint32(c.t.l.Stride), 0, nil
	c.t.clearSides()
}

// Len is the number of keys that have rows.
func (c *Cells) Len() int {
	if c.dense {
		return c.t.live
	}
	return c.t.groups()
}

// Rows is the number of rows that were added.
func (c *Cells) Rows() int64 { return c.rows }

// SizeBytes is the memory of the accumulators.
func (c *Cells) SizeBytes() int { return c.t.sizeBytes() + 4*cap(c.at) }

// unmap gives the map back, all zero.
func (c *Cells) unmap() {
	stride := c.t.l.Stride
	for ref := stride; ref < int(c.t.end); ref += stride {
		c.at[c.t.rows[ref]] = 0
	}
	c.x.giveMap(c)
}

// ready makes room for n more cells and for every number.
func (c *Cells) ready(n int) error {
	c.t.own()
	numbers := c.x.Len() + 1
	if c.dense {
		stride := c.t.l.Stride
		if g := c.t.groups() + 1; g < numbers {
			if err := c.t.reserveRows(numbers - g); err != nil {
				return err
			}
			c.t.end = uint32(numbers * stride)
			for ref := g * stride; g < numbers; g++ {
				c.t.rows[ref] = uint64(g)
				ref += stride
			}
		}
		return nil
	}
	if c.at == nil {
		c.x.takeMap(c)
		c.at = growMap(c.at, numbers)
		stride := c.t.l.Stride
		for ref := stride; ref < int(c.t.end); ref += stride {
			c.at[c.t.rows[ref]] = uint32(ref)
		}
	} else {
		c.x.used(c)
		c.at = growMap(c.at, numbers)
	}
	return c.t.reserveRows(n)
}

func growMap(m []uint32, n int) []uint32 {
	if len(m) >= n {
		return m
	}
	m = slices.Grow(m, n-len(m))
	for i := len(m); i < cap(m); i++ {
		m[:cap(m)][i] = 0
	}
	return m[:cap(m)]
}

// locate writes the cell of each number, adds cells that are new and counts so many rows for each.
func (c *Cells) locate(refs, nums []uint32, count uint64) error {
	if err := c.ready(len(nums)); err != nil {
		return err
	}
	t := c.t
	rows, stride := t.rows, uint32(t.l.Stride)
	refs = refs[:len(nums)]
	if c.dense {
		live := uint64(0)
		for i, g := range nums {
			ref := g * stride
			refs[i] = ref
			live += (rows[ref+1] - 1) >> 63 & count
			rows[ref+1] += count
		}
		t.live += int(live)
		return nil
	}
	at, end := c.at, t.end
	for i, g := range nums {
		ref := at[g]
		isNew := uint32((uint64(ref) - 1) >> 63)
		ref += end & -isNew
		end += stride & -isNew
		at[g] = ref
		refs[i] = ref
		r := (*[2]uint64)(rows[ref:])
		r[0] = uint64(g)
		r[1] += count
	}
	t.end = end
	return nil
}

// AddRange adds the physical rows lo to hi of a batch to all cells of the list, which are of one index.
func AddRange(into []*Cells, b *column.Batch, lo, hi int) error {
	into[0].x.useKeys(b)
	for ; lo < hi; lo += blockRows {
		if err := addBlock(into, b, min(blockRows, hi-lo), rowAt{lo: lo}); err != nil {
			return err
		}
	}
	return nil
}

// AddRows adds physical rows of a batch to all cells of the list, which are of one index.
func AddRows(into []*Cells, b *column.Batch, rows []uint32) error {
	into[0].x.useKeys(b)
	for len(rows) > 0 {
		n := min(blockRows, len(rows))
		if err := addBlock(into, b, n, rowAt{rows: rows[:n]}); err != nil {
			return err
		}
		rows = rows[n:]
	}
	return nil
}

func addBlock(into []*Cells, b *column.Batch, n int, at rowAt) error {
	x := into[0].x
	nums, err := x.number(n, at)
	if err != nil {
		return err
	}
	for _, c := range into {
		if b.Schema == x.l.Partial() {
			if err := c.addPartial(b, n, at, nums); err != nil {
				return err
			}
			continue
		}
		c.rows += int64(n)
		if c.dense && x.simple {
			if arg := &b.Cols[x.l.Args[0].Col]; !at.anyNull(arg, n) {
				if err := c.ready(n); err != nil {
					return err
				}
				c.t.countAndSum(nums, words(x.s.vals[:], arg, at.lo, n, at.rows))
				continue
			}
		}
		refs := x.refs[:n]
		if err := c.locate(refs, nums, 1); err != nil {
			return err
		}
		c.t.accumulate(&x.s, b, n, at, refs)
	}
	return nil
}

// countAndSum adds a row to the dense cell of each number: for layouts with one sum of integers and nothing else.
func (t *table) countAndSum(nums []uint32, vals []uint64) {
	cells, live := triples(t.rows), uint64(0)
	vals = vals[:len(nums)]
	for i, g := range nums {
		r := &cells[g]
		v, s := vals[i], r[2]
		n := s + v
		live += (r[1] - 1) >> 63
		r[1]++
		r[2] = n
		if int64((s^n)&(v^n)) < 0 {
			t.side(t.l.Args[0].Accs[0].Side)[g] += 1 - 2*int64(v>>63)
		}
	}
	t.live += int(live)
}

// Has reports whether the key of a physical row has rows here.
func (c *Cells) Has(b *column.Batch, row int) (bool, error) {
	g := c.x.Lookup(b, row)
	if g == 0 {
		return false, nil
	}
	if c.dense {
		ref := int(g) * c.t.l.Stride
		return ref < int(c.t.end) && c.t.rows[ref+1] > 0, nil
	}
	if err := c.ready(0); err != nil {
		return false, err
	}
	return c.at[g] != 0, nil
}

// Merge adds all rows of other cells.
func (c *Cells) Merge(src *Cells) error {
	if c.dense && src.dense && c.x.simple && !src.t.spilled() {
		if err := c.ready(0); err != nil {
			return err
		}
		c.t.addDense(src.t)
		return nil
	}
	if c.dense && src.dense {
		return src.t.each(&c.x.s, func(_ *table, refs []uint32) error { return c.take(src, nil, refs) })
	}
	return src.each(func(nums, from []uint32) error { return c.take(src, nums, from) })
}

// MergeMarked adds the rows of the keys whose mark is not zero.
func (c *Cells) MergeMarked(src *Cells, marks []uint32) error {
	return src.each(func(nums, from []uint32) error {
		n := 0
		for i, g := range nums {
			if int(g) < len(marks) && marks[g] != 0 {
				nums[n], from[n] = g, from[i]
				n++
			}
		}
		return c.take(src, nums[:n], from[:n])
	})
}

func (c *Cells) take(src *Cells, nums, from []uint32) error {
	if c.dense && src.dense {
		if err := c.ready(0); err != nil {
			return err
		}
		c.t.combine(src.t, from, from)
		return nil
	}
	refs := c.x.refs[:len(nums)]
	if err := c.locate(refs, nums, 0); err != nil {
		return err
	}
	c.t.combine(src.t, refs, from)
	return nil
}

// Subtract takes all rows of other cells, which had been merged, out of dense cells of a layout that is Subtractable.
func (c *Cells) Subtract(src *Cells) error {
	if c.dense && src.dense && c.x.simple && !src.t.spilled() {
		if err := c.ready(0); err != nil {
			return err
		}
		c.t.subtractDense(src.t)
		return nil
	}
	return src.each(func(nums, from []uint32) error {
		refs := c.x.refs[:len(nums)]
		if err := c.locate(refs, nums, 0); err != nil {
			return err
		}
		c.t.subtract(src.t, refs, from)
		return nil
	})
}

// each gives the cells that have rows, block by block: their numbers and where they lie.
func (c *Cells) each(f func(nums, refs []uint32) error) error {
	return c.t.each(&c.x.s, func(t *table, refs []uint32) error {
		nums := c.x.nums[:len(refs)]
		for i, ref := range refs {
			nums[i] = uint32(t.rows[ref])
		}
		return f(nums, refs)
	})
}

// Densely gives dense cells where others of the index were dense, that is where they held more than half of its keys; sparse
// ones otherwise.
func (x *Index) Densely(like *Cells) *Cells {
	if like != nil && 2*like.Len() > x.Len() {
		return x.DenseCells()
	}
	return x.Cells()
}
