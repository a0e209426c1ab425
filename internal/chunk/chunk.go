package chunk

// Words is the number of words of a chunk.
const Words = 512

// None is the number of no chunk.
const None = ^uint32(0)

// Memory lends chunks, which have numbers: chunk id is Buf[id*Words : (id+1)*Words]. The zero value is ready. Buf moves when
// a chunk is linked.
type Memory struct {
	Buf  []uint64
	Next []uint32 // the chunk after each chunk in its list
	Used int      // chunks that are lent
	free []uint32
}

// List is a chain of chunks, in the order in which they were linked.
type List struct{ First, Last uint32 }

// Empty is a list without chunks.
var Empty = List{None, None}

func (m *Memory) get() uint32 {
	m.Used++
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
	for id := l.First; id != None; id = m.Next[id] {
		m.Used--
		m.free = append(m.free, id)
	}
	*l = Empty
}

// SizeBytes is the memory that is held.
func (m *Memory) SizeBytes() int { return 8*cap(m.Buf) + 4*cap(m.Next) + 4*cap(m.free) }
