package baseline

import "github.com/arkflow-go/arkflow/bench/events"

// Columns is what an engine with columnar accumulators can do: a table gives each key a group number, then each
// aggregate has one pass of its own. Groups stay over windows, counts and sums are cleared.
type Columns struct {
	index intIndex
	count []int64
	sum   []int64
	group [events.Rows]uint32
}

// NewColumns gives a table for so many keys.
func NewColumns(keys int64) *Columns {
	return &Columns{index: newIntIndex(keys, 0.5), count: make([]int64, keys), sum: make([]int64, keys)}
}

func (c *Columns) add(b *events.Batch, from, to int) {
	group := c.group[:to-from]
	c.index.find(b.Key[from:to], group)
	for _, g := range group {
		c.count[g]++
	}
	price := b.Price[from:to][:len(group)]
	for i, g := range group {
		c.sum[g] += price[i]
	}
}

func (c *Columns) fire(end int64, into *Result) {
	keys := c.index.keys
	count, sum := c.count[:len(keys)], c.sum[:len(keys)]
	rows, checksum := int64(0), uint64(0)
	for g, k := range keys {
		if count[g] != 0 {
			rows++
			checksum += events.WindowTerm(k, end, count[g], sum[g])
		}
	}
	clear(count)
	clear(sum)
	into.Rows += rows
	into.Checksum += checksum
}

// intIndex numbers keys in the order in which they are first seen.
type intIndex struct {
	slots []intSlot
	shift uint
	keys  []int64
}

type intSlot struct{ key, group int64 }

func newIntIndex(keys int64, load float64) intIndex {
	bits := tableBits(keys, load)
	x := intIndex{slots: make([]intSlot, 1<<bits), shift: 64 - bits, keys: make([]int64, 0, keys)}
	for i := range x.slots {
		x.slots[i].key = noKey
	}
	return x
}

func (x *intIndex) find(key []int64, group []uint32) {
	slots, shift, mask := x.slots, x.shift&63, uint64(len(x.slots)-1)
	group = group[:len(key)]
	for i, k := range key {
		at := uint64(k) * fibonacci >> shift
		for {
			s := &slots[at&mask]
			if s.key == k {
				group[i] = uint32(s.group)
				break
			}
			if s.key == noKey {
				s.key, s.group = k, int64(len(x.keys))
				x.keys = append(x.keys, k)
				continue
			}
			at++
		}
	}
}

// Slots keeps key, count and sum together, so that a row touches one cache line. It is faster than Columns and has no
// place for another aggregate.
type Slots struct {
	slots []wideSlot
	shift uint
}

type wideSlot struct{ key, count, sum int64 }

// NewSlots gives a table for so many keys.
func NewSlots(keys int64) *Slots {
	bits := tableBits(keys, 0.5)
	s := &Slots{slots: make([]wideSlot, 1<<bits), shift: 64 - bits}
	for i := range s.slots {
		s.slots[i].key = noKey
	}
	return s
}

func (t *Slots) add(b *events.Batch, from, to int) {
	slots, shift, mask := t.slots, t.shift&63, uint64(len(t.slots)-1)
	key := b.Key[from:to]
	price := b.Price[from:to][:len(key)]
	for i, k := range key {
		at := uint64(k) * fibonacci >> shift
		for {
			s := &slots[at&mask]
			if s.key == k {
				s.count++
				s.sum += price[i]
				break
			}
			if s.key == noKey {
				s.key = k
				continue
			}
			at++
		}
	}
}

func (t *Slots) fire(end int64, into *Result) {
	rows, checksum := int64(0), uint64(0)
	for i := range t.slots {
		if s := &t.slots[i]; s.count != 0 {
			rows++
			checksum += events.WindowTerm(s.key, end, s.count, s.sum)
			s.count, s.sum = 0, 0
		}
	}
	into.Rows += rows
	into.Checksum += checksum
}

// GoMap groups by Go's own map, as one writes it first.
type GoMap struct{ groups map[int64]*tally }

type tally struct{ count, sum int64 }

// NewGoMap gives an empty map.
func NewGoMap() *GoMap { return &GoMap{map[int64]*tally{}} }

func (m *GoMap) add(b *events.Batch, from, to int) {
	for i := from; i < to; i++ {
		t := m.groups[b.Key[i]]
		if t == nil {
			t = &tally{}
			m.groups[b.Key[i]] = t
		}
		t.count++
		t.sum += b.Price[i]
	}
}

func (m *GoMap) fire(end int64, into *Result) {
	for k, t := range m.groups {
		into.Rows++
		into.Checksum += events.WindowTerm(k, end, t.count, t.sum)
	}
	clear(m.groups)
}
