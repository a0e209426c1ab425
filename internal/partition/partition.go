package partition

import (
	"sync/atomic"

	"github.com/arkflow-go/arkflow/internal/chunk"
)

// Count is the number of partitions, two to the power of Bits.
const (
	Bits  = 9
	Count = 1 << Bits
)

// Spread is what a key is multiplied by: the high bits of the product are its partition. It is 2^64 divided by the golden ratio.
const Spread = 0x9E3779B97F4A7C15

// Of gives the partition of a key.
func Of(key uint64) int { return int(key * Spread >> (64 - Bits)) }

// Store is entries and rows of groups by partition, in the order in which they came. Use it from one goroutine.
type Store struct {
	c      *chunk.Memory
	pinned *chunk.Pinned // of a frozen store, in place of c
	stride int           // words of an entry
	per    int           // entries in a chunk

	cur    [Count]cursor
	raw    [Count]chunk.List // entries
	full   [Count]int        // entries of raw in the chunks before the last
	done   [Count]chunk.List // rows of groups
	groups [Count]int
	rows   int // entries

	pins  *atomic.Int32 // frozen stores of this one that are read
	fresh [Count]bool   // nothing was dropped since the last Freeze
}

// cursor is where the next entry of a partition goes, and the end of its chunk, in words of Memory.Buf.
type cursor struct{ pos, end uint32 }

// New gives an empty store whose entries have so many words.
func New(c *chunk.Memory, stride int) *Store {
	s := &Store{c: c, stride: stride, per: chunk.Words / stride, pins: new(atomic.Int32)}
	for i := range s.raw {
		s.raw[i], s.done[i] = chunk.Empty, chunk.Empty
	}
	return s
}

// Append adds entries: keys and one slice of values for each of the other words. Before a partition gets a new chunk, full is
// called with it, which may drop it.
func (s *Store) Append(keys []uint64, vals [][]uint64, full func(at int)) {
	s.rows += len(keys)
	if len(vals) == 1 {
		s.appendPairs(keys, vals[0], full)
		return
	}
	buf := s.c.Buf
	stride := uint32(s.stride)
	for i, k := range keys {
		at := k * Spread >> (64 - Bits)
		c := &s.cur[at]
		if c.pos == c.end {
			s.extend(int(at), full)
			buf = s.c.Buf
		}
		e := buf[c.pos : c.pos+stride]
		e[0] = k
		for j := range vals {
			e[1+j] = vals[j][i]
		}
		c.pos += stride
	}
}

// appendPairs is Append with one value.
func (s *Store) appendPairs(keys, vals []uint64, full func(at int)) {
	buf := s.c.Buf
	vals = vals[:len(keys)]
	for i, k := range keys {
		at := k * Spread >> (64 - Bits)
		c := &s.cur[at]
		if c.pos == c.end {
			s.extend(int(at), full)
			buf = s.c.Buf
		}
		e := (*[2]uint64)(buf[c.pos:])
		e[0], e[1] = k, vals[i]
		c.pos += 2
	}
}

// extend gives a partition a new chunk.
func (s *Store) extend(at int, full func(at int)) {
	full(at)
	r := &s.raw[at]
	if r.Last != chunk.None {
		s.full[at] += s.per
	}
	id := s.c.Link(r)
	pos := id * chunk.Words
	s.cur[at] = cursor{pos, pos + uint32(s.per*s.stride)}
}

// Pending is the number of entries of a partition.
func (s *Store) Pending(at int) int { return s.full[at] + s.last(at) }

// last is the number of entries in the last chunk of a partition.
func (s *Store) last(at int) int {
	last := s.raw[at].Last
	if last == chunk.None {
		return 0
	}
	return int(s.cur[at].pos-last*chunk.Words) / s.stride
}

// Groups is the number of rows of groups of a partition.
func (s *Store) Groups(at int) int { return s.groups[at] }

// memory is where the chunks are.
func (s *Store) memory() (buf []uint64, next []uint32) {
	if s.pinned != nil {
		return s.pinned.Buf, s.pinned.Next
	}
	return s.c.Buf, s.c.Next
}

// Entries gives the entries of a partition from one on, some at a time, up to another one.
func (s *Store) Entries(at, from, to int, f func(entries []uint64) error) error {
	buf, next := s.memory()
	for id := s.raw[at].First; from < to; id = next[id] {
		if n := min(to, s.per); from < n {
			if err := f(buf[int(id)*chunk.Words:][from*s.stride : n*s.stride]); err != nil {
				return err
			}
		}
		if to <= s.per {
			return nil // what comes after the last chunk of a frozen store is written by the other one
		}
		from, to = max(0, from-s.per), to-s.per
	}
	return nil
}

// Rows gives the rows of groups of a partition, of so many words each, some at a time.
func (s *Store) Rows(at, stride int, f func(rows []uint64)) {
	buf, next := s.memory()
	left := s.groups[at]
	for id := s.done[at].First; left > 0; id = next[id] {
		n := min(left, chunk.Words/stride)
		f(buf[int(id)*chunk.Words:][:n*stride])
		if left -= n; left == 0 {
			return
		}
	}
}

// Put appends the row of a group to a partition. All rows are of one length.
func (s *Store) Put(at int, row []uint64) {
	per := chunk.Words / len(row)
	if s.groups[at]%per == 0 {
		s.c.Link(&s.done[at])
	}
	pos := int(s.done[at].Last)*chunk.Words + s.groups[at]%per*len(row)
	copy(s.c.Buf[pos:], row)
	s.groups[at]++
}

// Drop forgets a partition. With unread it will not be read any more in the store that Freeze gave last, which is not unpinned yet.
func (s *Store) Drop(at int, unread bool) {
	s.rows -= s.Pending(at)
	give := s.c.Drop
	if n := s.pins.Load(); n == 0 || n == 1 && (unread || !s.fresh[at]) {
		give = s.c.Free
	}
	give(&s.raw[at])
	give(&s.done[at])
	s.full[at], s.groups[at], s.cur[at], s.fresh[at] = 0, 0, cursor{}, false
}

// Fresh reports whether a partition has been given entries at most since the last Freeze.
func (s *Store) Fresh(at int) bool { return s.fresh[at] }

// Release forgets all partitions.
func (s *Store) Release() {
	for at := range s.raw {
		s.Drop(at, false)
	}
}

// Upper is a bound on the number of groups: the entries and the rows of groups.
func (s *Store) Upper() int {
	n := s.rows
	for _, g := range s.groups {
		n += g
	}
	return n
}

// Freeze gives the store as it is, to be read by another goroutine until Unpin. The store must not be a frozen one.
func (s *Store) Freeze() *Store {
	for at := range s.fresh {
		s.fresh[at] = true
	}
	s.pins.Add(1)
	f := *s
	f.c, f.pinned = nil, s.c.Pin()
	return &f
}

// Unpin ends the life of a frozen store, by any goroutine. It may be called again.
func (s *Store) Unpin() {
	if s.pinned.Unpin() {
		s.pins.Add(-1)
	}
}

// Waiting is the number of entries of all partitions.
func (s *Store) Waiting() int { return s.rows }
