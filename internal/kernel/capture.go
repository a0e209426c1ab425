package kernel

import (
	"slices"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/arkflow-go/arkflow/internal/extreme"
	"github.com/arkflow-go/arkflow/internal/handover"
	"github.com/arkflow-go/arkflow/internal/layout"
	"github.com/arkflow-go/arkflow/internal/partition"
)

// To write out a partitioned pane its partitions have to be grouped, which the rows that go on do sooner or later as well: they fold a
// partition when it is full. So a view asks for its partitions, and who folds one that is asked for hands over its groups on the way,
// as they were at the barrier: they lie in a table in the first caches then. What nobody folds soon the view groups by itself.

// loan is what a pane and its last view know of each other.
type loan struct {
	of    *partition.Store // frozen; the rows read nothing of it but how many entries there were
	asked atomic.Pointer[capture]
	over  atomic.Bool // the pane does not fold for this view any more
	patience
}

// patience is how a view waits for the rows: with more entries than work, as long as enough partitions are folded in each lull.
type patience struct {
	work int
	lull time.Duration
}

const (
	mostWork = 1 << 17
	lull     = 200 * time.Millisecond
	leastPer = partition.Count / 4 // partitions in a lull
)

// take gives who asks for a partition, whose groups the caller must put, or leave; nil where nobody does. With fresh nothing but entries has
// come to it since the barrier.
func (l *loan) take(at int, fresh bool) *capture {
	if l == nil || !fresh {
		return nil
	}
	if c := l.asked.Load(); c != nil && c.Take(at) {
		return c
	}
	return nil
}

// end tells the view that it has to do without the pane.
func (l *loan) end() {
	if l != nil {
		l.over.Store(true)
		if c := l.asked.Load(); c != nil {
			c.Abandon()
		}
	}
}

// capture is the groups of all partitions at a barrier, or those of them that have not as many rows as is known.
type capture struct {
	*handover.Work
	l      *layout.Layout
	known  [][]mark                // by partition and group; nil: all groups are wanted
	tables [partition.Count]*table // cannot be searched
	marks  [partition.Count][]mark // of all groups
}

func newCapture(l *layout.Layout, known [][]mark) *capture {
	return &capture{Work: handover.New(partition.Count), l: l, known: known}
}

// put takes the groups of a partition, which lie in the table in their order, without heaps and nulls.
func (c *capture) put(at int, t *table, scratch *[]uint32) {
	n, stride := t.groups(), t.l.Stride
	marks, refs := make([]mark, n), slices.Grow((*scratch)[:0], n)[:n]
	var known []mark
	if c.known != nil {
		known = c.known[at]
	}
	changed, had := 0, mark(0)
	for g, ref := 0, stride; g < n; g, ref = g+1, ref+stride {
		marks[g] = markOf(t.rows[ref+t.l.Count])
		if had = 0; g < len(known) {
			had = known[g]
		}
		refs[changed] = uint32(ref)
		if marks[g] != had {
			changed++
		}
	}
	refs = refs[:changed]
	out := &table{l: t.l, rows: make([]uint64, stride*(1+len(refs))), live: len(refs), sides: make([][]int64, len(t.sides)), heaps: []extreme.Heap{}}
	out.end = uint32(len(out.rows))
	to := out.rows[stride:]
	for _, ref := range refs {
		for k, w := range t.rows[ref : int(ref)+stride] {
			to[k] = w
		}
		to = to[stride:]
	}
	for k, side := range t.sides {
		for i := range refs {
			if side != nil {
				out.side(k)[i+1] = t.sideAt(k, refs[i])
			}
		}
	}
	c.marks[at], c.tables[at], *scratch = marks, out, refs
}

// capture gives the groups that have not as many rows as is known. What the rows hand over is nowhere else from then on: all that can be asked
// for again is the same.
func (v *View) capture(known [][]mark) (*capture, error) {
	c := v.taking
	if c == nil {
		c = newCapture(v.l, known)
		v.taking = c
	} else if unsafe.SliceData(c.known) != unsafe.SliceData(known) {
		return nil, errSince
	}
	v.loan.asked.Store(c)
	defer v.loan.asked.Store(nil)
	if v.parts.Waiting() > v.loan.work && !v.loan.over.Load() {
		c.Wait(v.loan.lull, leastPer)
	}
	if c.Left() == 0 {
		return c, nil
	}
	var s scratch
	var refs []uint32
	t := small(v.l)
	return c, c.Finish(func(at int) error {
		defer t.clearKeys()
		err := v.parts.load(&s, t, at, true)
		if err == nil {
			c.put(at, t, &refs)
		}
		return err
	})
}
