package kernel

import (
	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/internal/extreme"
	"github.com/arkflow-go/arkflow/internal/keys"
	"github.com/arkflow-go/arkflow/internal/layout"
	"github.com/arkflow-go/arkflow/internal/spare"
)

// Index numbers keys, from 1 on. The Cells that share it hold accumulators by these numbers, so that a key is looked up
// once however many of them it has. Use it from one goroutine.
type Index struct {
	l *layout.Layout // of cells: the key is the number
	// simple: all that is kept beside the count is one sum of integers.
	simple bool
	t      *table
	s      scratch
	nums   [blockRows]uint32 // of the rows of a block
	refs   [blockRows]uint32 // their cells
	keys   [blockRows]uint32 // rows of t

	partials partials

	mapped []*Cells   // those that have a map, the one used last at the end
	maps   [][]uint32 // maps that nobody has, all zero
	idle   []*table   // empty tables of cells
	spares spare.Memory
}

// maxMapped is the number of cells that keep a map from numbers to their rows: those that were written last.
const maxMapped = 4

// NewIndex gives an empty index for cells with the accumulators of a layout.
func NewIndex(l *layout.Layout) *Index {
	x := &Index{l: l.Cells(), t: newTable(l.Index())}
	x.simple = len(l.Args) == 1 && l.Args[0].Where == 0 && len(l.Args[0].Accs) == 1 && l.Args[0].Accs[0].Kind == layout.AccSumInt
	return x
}

// Len is the number of keys, those that have no cell any more included.
func (x *Index) Len() int { return x.t.groups() }

// number finds the numbers of the keys of a block and adds keys that are new.
func (x *Index) number(n int, at rowAt) ([]uint32, error) {
	if a := x.s.keys[0]; x.t.l.Mode == layout.KeyWord && !at.anyNull(a, n) {
		if err := x.t.reserve(n); err != nil {
			return nil, err
		}
		nums := x.nums[:n]
		x.t.numberWords(nums, keys.Words(x.s.k0[:], a, at.lo, n, at.rows))
		return nums, nil
	}
	refs, err := x.t.find(&x.s, n, at)
	if err != nil {
		return nil, err
	}
	nums := x.nums[:len(refs)]
	if x.t.l.Stride == 2 {
		for i, ref := range refs {
			nums[i] = ref / 2
		}
	} else {
		for i, ref := range refs {
			nums[i] = ref / 3
		}
	}
	return nums, nil
}

// numberWords is findWords for a table of keys alone: it writes the numbers of groups and counts nothing.
func (t *table) numberWords(nums []uint32, keys []uint64) {
	nums = nums[:len(keys)]
	slots, shift, mul := t.slots, t.shift&63, t.mul
	for i, k := range keys {
		nums[i] = slots[k*mul>>shift]
	}
	rows := t.rows
	for i, k := range keys {
		ref := nums[i]
		if rows[ref] != k || ref == 0 {
			ref = t.probeWord(k)
		}
		nums[i] = ref / 2
	}
}

// Lookup gives the number of the key of a physical row, 0 where it has none.
func (x *Index) Lookup(b *column.Batch, row int) uint32 {
	x.useKeys(b)
	return x.t.lookupRow(&x.s, rowAt{lo: row}) / uint32(x.t.l.Stride)
}

func (x *Index) useKeys(b *column.Batch) {
	x.s.keys = x.t.l.TakeKeys(x.s.keys[:0], b)
}

// keyRefs gives the rows of the keys of cells.
func (x *Index) keyRefs(t *table, refs []uint32) []uint32 {
	return keyRefsOf(x.keys[:], x.t, t, refs)
}

func keyRefsOf(out []uint32, keys, t *table, refs []uint32) []uint32 {
	out, stride := out[:len(refs)], uint32(keys.l.Stride)
	for i, ref := range refs {
		out[i] = uint32(t.rows[ref]) * stride
	}
	return out
}

// table gives an empty table of cells.
func (x *Index) table() *table {
	if n := len(x.idle); n > 0 {
		t := x.idle[n-1]
		x.idle = x.idle[:n-1]
		return t
	}
	t := &table{l: x.l, end: uint32(x.l.Stride), rows: make([]uint64, 8*x.l.Stride), spares: &x.spares}
	t.sides = make([][]int64, x.l.Sides)
	t.heaps = make([]extreme.Heap, x.l.Heaps)
	return t
}

// giveTable keeps an emptied table for the next cells, where there are few.
func (x *Index) giveTable(t *table) {
	if !t.detach() || len(x.idle) >= 2*idleTables {
		return
	}
	clear(t.rows[:t.end])
	t.end = uint32(t.l.Stride)
	t.clearSides()
	x.idle = append(x.idle, t)
}

// takeMap gives cells a map, taking that of those that were not used for longest.
func (x *Index) takeMap(c *Cells) {
	if len(x.mapped) == maxMapped {
		x.mapped[0].unmap()
	}
	x.mapped = append(x.mapped, c)
	if n := len(x.maps); n > 0 {
		c.at = x.maps[n-1]
		x.maps = x.maps[:n-1]
	}
}

func (x *Index) giveMap(c *Cells) {
	for i, m := range x.mapped {
		if m == c {
			x.mapped = append(x.mapped[:i], x.mapped[i+1:]...)
			break
		}
	}
	x.maps = append(x.maps, c.at)
	c.at = nil
}

// used moves cells to the end of mapped.
func (x *Index) used(c *Cells) {
	n := len(x.mapped)
	if x.mapped[n-1] == c {
		return
	}
	for i, m := range x.mapped {
		if m == c {
			copy(x.mapped[i:], x.mapped[i+1:])
			x.mapped[n-1] = c
			return
		}
	}
}

// Compact forgets keys that no cell has, where they are more than half, and reports whether it did: the numbers of the others
// have then changed. cells are all cells of the index that are to live on; dense ones
// become sparse.
func (x *Index) Compact(cells []*Cells) bool {
	keep := make([]uint32, x.Len()+1)
	n := 0
	for _, c := range cells {
		for ref := c.t.l.Stride; ref < int(c.t.end); ref += c.t.l.Stride {
			if k := &keep[c.t.rows[ref]]; *k == 0 && c.t.rows[ref+1] > 0 {
				*k = 1
				n++
			}
		}
	}
	if 2*n > x.Len() {
		return false
	}
	for len(x.mapped) > 0 {
		x.mapped[0].unmap()
	}
	x.maps = nil
	if len(cells) == 0 {
		x.idle = fewIdle(x.idle)
		x.spares.Drop()
	}
	for _, c := range cells {
		c.thin()
	}
	t := newTable(x.t.l)
	for g := 1; g < len(keep); g++ {
		if keep[g] != 0 {
			keep[g] = t.copyKey(x.t, uint32(g*x.t.l.Stride)) / uint32(t.l.Stride)
		}
	}
	x.t = t
	for _, c := range cells {
		c.t.own()
		for ref := c.t.l.Stride; ref < int(c.t.end); ref += c.t.l.Stride {
			c.t.rows[ref] = uint64(keep[c.t.rows[ref]])
		}
	}
	return true
}

// copyKey adds a key of another table, which t does not have.
func (t *table) copyKey(src *table, ref uint32) uint32 {
	if t.reserve(1) != nil {
		return 0 // t has no more groups than src
	}
	k0, k1 := src.rows[ref], uint64(0)
	if t.l.Count > 1 {
		k1 = src.rows[ref+1]
	}
	mask := src.nullMask(ref)
	switch {
	case mask != 0 && t.l.Mode == layout.KeyWord:
		t.nullRef = t.pushNull(1, k0, 0)
		return t.nullRef
	case mask != 0:
		return t.probeNull(nullKeyOf(mask, k0, k1, len(t.l.KeyCols) == 1))
	case t.l.Mode >= layout.KeyBytes && k1>>56 == keys.LongText:
		return t.probeLong(k0, src.longKey(k1))
	}
	return t.insert(src.hashOf(ref), k0, k1)
}

// SizeBytes is the memory of the keys, and of what cells share.
func (x *Index) SizeBytes() int {
	n := x.t.sizeBytes() + x.spares.SizeBytes()
	for _, m := range x.maps {
		n += 4 * cap(m)
	}
	for _, t := range x.idle {
		n += t.sizeBytes()
	}
	return n
}

// Numbers appends the numbers of the keys of physical rows, those of rows or from lo to hi where rows is nil. Keys that are new get
// one.
func (x *Index) Numbers(dst []uint32, b *column.Batch, lo, hi int, rows []uint32) ([]uint32, error) {
	x.useKeys(b)
	if rows != nil {
		lo, hi = 0, len(rows)
	}
	for lo < hi {
		n := min(blockRows, hi-lo)
		at := rowAt{lo: lo}
		if rows != nil {
			at.rows = rows[lo : lo+n]
		}
		nums, err := x.number(n, at)
		if err != nil {
			return dst, err
		}
		dst = append(dst, nums...)
		lo += n
	}
	return dst, nil
}
