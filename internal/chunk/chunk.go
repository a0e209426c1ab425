package chunk

import "sync/atomic"

// Words is the number of words of a chunk.
const Words = 512

// None is the number of no chunk.
const None = ^uint32(0)

// Memory lends chunks, which have numbers: chunk id is Buf[id*Words : (id+1)*Words]. The zero value is ready. Buf moves when
// a chunk is linked. Use it from one goroutine.
type Memory struct {
	Buf  []uint64
	Next []uint32 // the chunk after each chunk in its list
	Used int      // chunks that are lent
	free []uint32

	pins  *atomic.Int32 // views that are pinned; nil before the first
	limbo []uint32      // chunks that were dropped while there was a pin: not lent before all are gone
}

// List is a chain of chunks, in the order in which they were linked.
type List struct{ First, Last uint32 }

// Empty is a list without chunks.
var Empty = List{None, None}

func (m *Memory) get() uint32 {
	m.Used++
	m.thaw()
	if n := len(m.free); n > 0 {
		id := m.free[n-1]
		m.free = m.free[:n-1]
		m.Next[id] = None
		return id
	}
	id := uint32(len(m.Next))
	if need := (int(id) + 1) * Words; need > len(m.Buf) {
		buf := make([]uint64, max(need, min(2*len(m.Buf), len(m.Buf)+max(1<<20, len(m.Buf)/2)), 1<<16))
		copy(buf, m.Buf)
		m.Buf = buf
	}
	m.Next = append(m.Next, None)
	return id
}

// Link adds a chunk to a list and gives its number. What it holds is undefined.
func (m *Memory) Link(l *List) uint32 {
	id := m.get()
	if l.Last == None {
		l.First = id
	} else {
		m.Next[l.Last] = id
	}
	l.Last = id
	return id
}

// Chunk gives the words of a chunk.
func (m *Memory) Chunk(id uint32) []uint64 { return m.Buf[int(id)*Words:][:Words] }

// Drop takes the chunks of a list back.
func (m *Memory) Drop(l *List) {
	m.thaw()
	if m.Pins() > 0 {
		m.take(l, &m.limbo)
	} else {
		m.take(l, &m.free)
	}
}

// Free is Drop of a list that nobody reads, whatever is pinned: its chunks may be lent at once.
func (m *Memory) Free(l *List) { m.take(l, &m.free) }

func (m *Memory) take(l *List, to *[]uint32) {
	for id := l.First; id != None; id = m.Next[id] {
		m.Used--
		*to = append(*to, id)
	}
	*l = Empty
}

// Pin gives what the memory holds as it is now: chunks of lists that were linked before are not lent again until Unpin, and
// the words in them that were written do not change if their owner does not write them again. A list is to be read up to
// its last chunk of that moment. Another goroutine may read it.
func (m *Memory) Pin() *Pinned {
	m.thaw()
	if m.pins == nil {
		m.pins = new(atomic.Int32)
	}
	m.pins.Add(1)
	return &Pinned{Buf: m.Buf, Next: m.Next, pins: m.pins}
}

// Pinned is Memory as it was.
type Pinned struct {
	Buf  []uint64
	Next []uint32
	pins *atomic.Int32
}

// Unpin ends the reading, by any goroutine. It may be called again, and reports whether it was the first time.
func (p *Pinned) Unpin() bool {
	if p.pins == nil {
		return false
	}
	p.Buf, p.Next = nil, nil
	p.pins.Add(-1)
	p.pins = nil
	return true
}

// Pins is the number of pins.
func (m *Memory) Pins() int {
	if m.pins == nil {
		return 0
	}
	return int(m.pins.Load())
}

// thaw makes chunks free that were dropped while there was a pin.
func (m *Memory) thaw() {
	if len(m.limbo) > 0 && m.Pins() == 0 {
		m.free = append(m.free, m.limbo...)
		m.limbo = m.limbo[:0]
	}
}

// Held is the number of chunks that were dropped and wait for the end of a pin.
func (m *Memory) Held() int {
	m.thaw()
	return len(m.limbo)
}

// SizeBytes is the memory that is held.
func (m *Memory) SizeBytes() int {
	return 8*cap(m.Buf) + 4*cap(m.Next) + 4*cap(m.free) + 4*cap(m.limbo)
}
