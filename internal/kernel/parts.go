package kernel

import (
	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/internal/keys"
)

// A window with very many keys makes every look-up a cache miss. Its rows are then only appended to one of 512 partitions
// by the high bits of the key's hash, and each partition is grouped, in one small table that all share, when
// the window fires or when it holds many more rows than groups.

const (
	partBits   = 9
	partCount  = 1 << partBits
	chunkWords = 512  // of a chunk of a partition
	foldRows   = 4096 // a partition with fewer rows than this is not folded before it fires
)

// chunks lends the memory of partitions in chunks of chunkWords.
type chunks struct {
	buf  []uint64
	next []uint32 // the chunk after each chunk
	free []uint32
	used int
}

const noChunk = ^uint32(0)

func (c *chunks) get() uint32 {
	c.used++
	if n := len(c.free); n > 0 {
		id := c.free[n-1]
		c.free = c.free[:n-1]
		c.next[id] = noChunk
		return id
	}
	id := uint32(len(c.next))
	if need := (int(id) + 1) * chunkWords; need > len(c.buf) {
		buf := make([]uint64, max(need, min(2*len(c.buf), len(c.buf)+max(1<<20, len(c.buf)/4)), 1<<16))
		copy(buf, c.buf)
		c.buf = buf
	}
	c.next = append(c.next, noChunk)
	return id
}

func (c *chunks) put(id uint32) {
	c.used--
	c.free = append(c.free, id)
}

func (c *chunks) sizeBytes() int { return 8*cap(c.buf) + 4*cap(c.next) + 4*cap(c.free) }

// list is entries of a fixed number of words in chunks, in the order in which they came.
type list struct {
	first, last uint32
	full        int // entries in the chunks before the last
}

// parts is the partitioned form of a pane.
type parts struct {
	c      *chunks
	stride int // words of an entry: the key and one an argument
	per    int // entries in a chunk
	cur    [partCount]cursor
	raw    [partCount]list // entries
	done   [partCount]list // rows of groups as a table has them
	groups [partCount]int
	rows   int  // entries
	stuck  bool // a sum left 64 bits: only a table can hold this pane
}

// cursor is where the next entry of a partition goes, and the end of its chunk, in words of chunks.buf.
type cursor struct{ pos, end uint32 }

func newParts(c *chunks, l *Layout) *parts {
	p := &parts{c: c, stride: 1 + len(l.args)}
	p.per = chunkWords / p.stride
	for i := range p.raw {
		p.raw[i] = list{first: noChunk, last: noChunk}
		p.done[i] = p.raw[i]
	}
	return p
}

// append adds rows: keys and one slice of values an argument.
func (p *parts) append(a *Aggregator, keys []uint64, vals [][]uint64) {
	p.rows += len(keys)
	if len(vals) == 1 {
		p.appendPairs(a, keys, vals[0])
		return
	}
	buf := p.c.buf
	stride := uint32(p.stride)
	for i, k := range keys {
		at := k * fib >> (64 - partBits)
		c := &p.cur[at]
		if c.pos == c.end {
			p.extend(a, int(at))
			buf = p.c.buf
		}
		e := buf[c.pos : c.pos+stride]
		e[0] = k
		for j := range vals {
			e[1+j] = vals[j][i]
		}
		c.pos += stride
	}
}

// appendPairs is append with one argument.
func (p *parts) appendPairs(a *Aggregator, keys, vals []uint64) {
	buf := p.c.buf
	vals = vals[:len(keys)]
	for i, k := range keys {
		at := k * fib >> (64 - partBits)
		c := &p.cur[at]
		if c.pos == c.end {
			p.extend(a, int(at))
			buf = p.c.buf
		}
		e := (*[2]uint64)(buf[c.pos:])
		e[0], e[1] = k, vals[i]
		c.pos += 2
	}
}

// extend gives a partition a new chunk, after folding it where it holds many more rows than groups.
func (p *parts) extend(a *Aggregator, at int) {
	r := &p.raw[at]
	if n := r.full + p.lastRows(at); !p.stuck && n >= max(a.foldAt, 2*p.groups[at]) {
		p.fold(a, at)
	}
	if r.last != noChunk {
		r.full += p.per
	}
	id := p.c.link(r)
	pos := id * chunkWords
	p.cur[at] = cursor{pos, pos + uint32(p.per*p.stride)}
}

// link adds a chunk to a list.
func (c *chunks) link(l *list) uint32 {
	id := c.get()
	if l.last == noChunk {
		l.first = id
	} else {
		c.next[l.last] = id
	}
	l.last = id
	return id
}

// drop gives the chunks of a list back.
func (c *chunks) drop(l *list) {
	for id := l.first; id != noChunk; {
		next := c.next[id]
		c.put(id)
		id = next
	}
	*l = list{first: noChunk, last: noChunk}
}

// lastRows is the number of entries in the last chunk of a partition.
func (p *parts) lastRows(at int) int {
	last := p.raw[at].last
	if last == noChunk {
		return 0
	}
	return int(p.cur[at].pos-last*chunkWords) / p.stride
}

// load groups a partition into a table: the rows of groups are added as they are, then the entries are fed.
func (p *parts) load(a *Aggregator, t *table, at int, many bool) error {
	if err := t.reserve(p.groups[at]); err != nil {
		return err
	}
	stride := t.l.stride
	left := p.groups[at]
	for id := p.done[at].first; id != noChunk; id = p.c.next[id] {
		words := p.c.buf[int(id)*chunkWords:][:chunkWords]
		for n := min(left, chunkWords/stride); n > 0; n-- {
			ref := t.insert(words[0]*t.mul, words[0], 0)
			copy(t.rows[ref:int(ref)+stride], words[:stride])
			words = words[stride:]
			t.live++
			left--
		}
	}
	for id := p.raw[at].first; id != noChunk; id = p.c.next[id] {
		n := p.per
		if id == p.raw[at].last {
			n = p.lastRows(at)
		}
		if err := p.feed(a, t, p.c.buf[int(id)*chunkWords:][:n*p.stride], many); err != nil {
			return err
		}
	}
	return nil
}

// feed groups the entries of a chunk.
func (p *parts) feed(a *Aggregator, t *table, entries []uint64, many bool) error {
	s := &a.folding
	n := len(entries) / p.stride
	if err := t.reserve(n); err != nil {
		return err
	}
	keys, refs := s.k0[:n], s.refs[:n]
	for i := range keys {
		keys[i] = entries[i*p.stride]
	}
	if many {
		t.addWords(refs, keys)
	} else {
		t.findWords(refs, keys)
	}
	for j := range t.l.args {
		vals := s.vals[:n]
		for i := range vals {
			vals[i] = entries[i*p.stride+1+j]
		}
		t.addWordArgs(s, &t.l.args[j], vals, refs)
	}
	return nil
}

// fold replaces the entries of a partition by the rows of its groups.
func (p *parts) fold(a *Aggregator, at int) {
	t := a.smallTable()
	defer t.clearKeys()
	if err := p.load(a, t, at, true); err != nil || t.spilled() {
		p.stuck = true
		return
	}
	p.rows -= p.raw[at].full + p.lastRows(at)
	p.c.drop(&p.raw[at])
	p.c.drop(&p.done[at])
	p.cur[at] = cursor{}
	p.groups[at] = 0
	p.store(t, at)
}

// store appends the groups of a table to the rows of groups of a partition.
func (p *parts) store(t *table, at int) {
	for ref := t.l.stride; ref < int(t.end); ref += t.l.stride {
		p.storeRow(t.rows[ref:ref+t.l.stride], at)
	}
}

func (p *parts) storeRow(row []uint64, at int) {
	per := chunkWords / len(row)
	if p.groups[at]%per == 0 {
		p.c.link(&p.done[at])
	}
	pos := int(p.done[at].last)*chunkWords + p.groups[at]%per*len(row)
	copy(p.c.buf[pos:], row)
	p.groups[at]++
}

// scatter takes over the live groups of a table.
func (p *parts) scatter(t *table) {
	for ref := t.l.stride; ref < int(t.end); ref += t.l.stride {
		if t.rows[ref+t.l.count] != 0 {
			p.storeRow(t.rows[ref:ref+t.l.stride], int(t.rows[ref]*fib>>(64-partBits)))
		}
	}
}

// release gives all memory back.
func (p *parts) release() {
	for i := range p.raw {
		p.c.drop(&p.raw[i])
		p.c.drop(&p.done[i])
		p.groups[i], p.cur[i] = 0, cursor{}
	}
	p.rows, p.stuck = 0, false
}

// upper is a bound on the number of groups.
func (p *parts) upper() int {
	n := p.rows
	for _, g := range p.groups {
		n += g
	}
	return n
}

// partArgs gives the keys and arguments of a block as words, or false where there is a null.
func (a *Aggregator) partArgs(b *column.Batch, n int, at rowAt) (ks []uint64, vals [][]uint64, ok bool) {
	l, s := a.l, &a.s
	if at.anyNull(s.keys[0], n) {
		return nil, nil, false
	}
	vals = a.vals[:0]
	for j := range l.args {
		c := &b.Cols[l.args[j].col]
		if at.anyNull(c, n) {
			return nil, nil, false
		}
		if len(a.argWords) <= j {
			a.argWords = append(a.argWords, make([]uint64, blockRows))
		}
		vals = append(vals, words(a.argWords[j], c, at.lo, n, at.rows))
	}
	a.vals = vals
	return keys.Words(s.k0[:], s.keys[0], at.lo, n, at.rows), vals, true
}
