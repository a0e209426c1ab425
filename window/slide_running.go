package window

import (
	"math"

	"github.com/arkflow-go/arkflow/internal/kernel"
)

// running is the result of the slices of a window, kept while the window moves on.
type running interface {
	// enter adds a slice: those that are no stragglers in the order of time, each before the first window that has it is asked for.
	enter(s *slice) error
	// leave takes out a slice that no later window has.
	leave(s *slice) error
	// result is that of a window all of whose slices have entered; good until the next call of any method. It may be nil.
	result(start int64, slices, stragglers []*slice) (*kernel.Cells, error)
	// total is cells that rows which come to a slice after it has entered must be added to as well; nil where there are none.
	total() *kernel.Cells
	// reset forgets everything.
	reset()
	sizeBytes() int
}

// totals adds the slice that is new and subtracts the one that leaves: for counts and exact sums.
type totals struct {
	index *kernel.Index
	cells *kernel.Cells
}

func (t *totals) enter(s *slice) error {
	return t.total().Merge(s.cells)
}

func (t *totals) leave(s *slice) error { return t.cells.Subtract(s.cells) }

func (t *totals) result(int64, []*slice, []*slice) (*kernel.Cells, error) { return t.cells, nil }

func (t *totals) total() *kernel.Cells {
	if t.cells == nil {
		t.cells = t.index.DenseCells()
	}
	return t.cells
}

func (t *totals) reset() {
	if t.cells != nil {
		t.cells.Close()
		t.cells = nil
	}
}

func (t *totals) sizeBytes() int {
	if t.cells == nil {
		return 0
	}
	return t.cells.SizeBytes()
}

// tiers is for what cannot be subtracted: the two stacks of sums over a queue, in two tiers, so that no single window has to
// rebuild a long stack (W10).
//
// Time is cut into blocks of about √n slides, where n is the slides of a window, and into groups of blocks, both at fixed instants. A window
// is the end of one block, some whole blocks, and the beginning of another one; the whole blocks are the end of one group
// and the beginning of the next. So its result is the sum of four parts:
//
//	tail   of its first block: sums from each slide to the end of the block, made when the window enters the block
//	back   of the first group: sums from each block to the end of the group, made when the window enters the group
//	front  of the second group: the sum of its blocks so far
//	blocks of its last block: the sum of its slices so far
//
// and the stragglers. Every part is a sum in the order of time, over the same instants in every run: a restore gives
// the same bits.
type tiers struct {
	index  *kernel.Index
	window grid
	block  grid
	group  grid

	blocks  map[int64]*kernel.Cells // by start: the sum of the slices that have entered
	tail    map[int64]*kernel.Cells // by start of a window
	tailOf  int64                   // block of tail
	back    map[int64]*kernel.Cells // by start of a block
	backOf  int64                   // group of back
	front   *kernel.Cells
	frontOf int64 // group of front
	upTo    int64 // end of the blocks that are in front
	sum     *kernel.Cells
}

func newTiers(x *kernel.Index, w grid) *tiers {
	n := (w.size + w.step - 1) / w.step
	long := int64(math.Sqrt(float64(n))) * w.step
	whole := max(1, (w.size-1)/long-1) // blocks that lie inside a window, at least
	t := &tiers{index: x, window: w, block: gridOf(long, long, w.offset), group: gridOf(long*whole, long*whole, w.offset)}
	t.reset()
	return t
}

func (t *tiers) enter(s *slice) error {
	if s.straggler {
		return nil
	}
	at := t.block.floor(s.at)
	c := t.blocks[at]
	if c == nil {
		c = t.index.Densely(s.cells)
		t.blocks[at] = c
	}
	return c.Merge(s.cells)
}

func (t *tiers) leave(*slice) error { return nil }

func (t *tiers) total() *kernel.Cells { return nil }

func (t *tiers) result(start int64, slices, stragglers []*slice) (*kernel.Cells, error) {
	first := t.block.floor(start)
	last := t.block.floor(start + t.window.size - 1)
	next := first + t.block.step
	if t.tailOf != first || len(t.tail) == 0 {
		if err := t.makeTail(first, start, slices); err != nil {
			return nil, err
		}
	}
	if t.sum == nil {
		t.sum = t.index.DenseCells()
	}
	t.sum.Clear()
	parts := []*kernel.Cells{t.tail[start]}
	if next < last {
		if err := t.makeBack(next); err != nil {
			return nil, err
		}
		parts = append(parts, t.back[next])
		if after := t.backOf + t.group.step; after < last {
			if err := t.makeFront(after, last); err != nil {
				return nil, err
			}
			parts = append(parts, t.front)
		}
	}
	parts = append(parts, t.blocks[last])
	for _, s := range stragglers {
		if s.in(start) {
			parts = append(parts, s.cells)
		}
	}
	for _, c := range parts {
		if c != nil {
			if err := t.sum.Merge(c); err != nil {
				return nil, err
			}
		}
	}
	t.drop(next)
	return t.sum, nil
}

// makeTail makes the sums from each window start, from `start` on, to the end of a block.
func (t *tiers) makeTail(block, start int64, slices []*slice) error {
	closeAll(t.tail)
	t.tailOf = block
	end := block + t.block.step
	n := 0
	for n < len(slices) && slices[n].at < end {
		n++
	}
	var sum *kernel.Cells
	for at := end - t.window.step; at >= start; at -= t.window.step {
		lo := n
		for lo > 0 && slices[lo-1].at >= at {
			lo--
		}
		like := sum
		if lo < n {
			like = slices[lo].cells
		}
		next := t.index.Densely(like)
		for _, s := range slices[lo:n] {
			if err := next.Merge(s.cells); err != nil {
				return err
			}
		}
		if sum != nil {
			if err := next.Merge(sum); err != nil {
				return err
			}
		}
		n, sum = lo, next
		t.tail[at] = sum
	}
	return nil
}

// makeBack makes the sums from each block, from `block` on, to the end of its group.
func (t *tiers) makeBack(block int64) error {
	group := t.group.floor(block)
	if group == t.backOf && len(t.back) > 0 {
		return nil
	}
	closeAll(t.back)
	t.backOf = group
	var sum *kernel.Cells
	for at := group + t.group.step - t.block.step; at >= block; at -= t.block.step {
		next := t.index.Densely(t.blocks[at])
		for _, c := range [2]*kernel.Cells{t.blocks[at], sum} {
			if c != nil {
				if err := next.Merge(c); err != nil {
					return err
				}
			}
		}
		sum = next
		t.back[at] = sum
	}
	return nil
}

// makeFront makes the sum of the blocks of a group that are before last.
func (t *tiers) makeFront(group, last int64) error {
	if t.front == nil || t.frontOf != group {
		if t.front != nil {
			t.front.Close()
		}
		t.front, t.frontOf, t.upTo = t.index.Densely(t.blocks[group]), group, group
	}
	for ; t.upTo < last; t.upTo += t.block.step {
		if c := t.blocks[t.upTo]; c != nil {
			if err := t.front.Merge(c); err != nil {
				return err
			}
		}
	}
	return nil
}

// drop closes the blocks that are in tail or back.
func (t *tiers) drop(next int64) {
	for at, c := range t.blocks {
		if at < next || len(t.back) > 0 && t.group.floor(at) == t.backOf && next >= t.backOf {
			c.Close()
			delete(t.blocks, at)
		}
	}
}

func closeAll(m map[int64]*kernel.Cells) {
	for _, c := range m {
		c.Close()
	}
	clear(m)
}

func (t *tiers) reset() {
	if t.blocks == nil {
		t.blocks, t.tail, t.back = map[int64]*kernel.Cells{}, map[int64]*kernel.Cells{}, map[int64]*kernel.Cells{}
	}
	closeAll(t.blocks)
	closeAll(t.tail)
	closeAll(t.back)
	for _, c := range []**kernel.Cells{&t.front, &t.sum} {
		if *c != nil {
			(*c).Close()
			*c = nil
		}
	}
}

func (t *tiers) sizeBytes() (n int) {
	for _, m := range []map[int64]*kernel.Cells{t.blocks, t.tail, t.back} {
		for _, c := range m {
			n += c.SizeBytes()
		}
	}
	for _, c := range []*kernel.Cells{t.front, t.sum} {
		if c != nil {
			n += c.SizeBytes()
		}
	}
	return n
}
