package kernel

import (
	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/internal/chunk"
	"github.com/arkflow-go/arkflow/internal/keys"
)

// A window with very many keys makes every look-up a cache miss. Its rows are then only appended to one of 512 partitions
// by the high bits of the key's hash, and each partition is grouped, in one small table that all share, when
// the window fires or when it holds many more rows than groups.

const (
	partBits  = 9
	partCount = 1 << partBits
	foldRows  = 4096 // a partition with fewer rows than this is not folded before it fires
)

// parts is the partitioned form of a pane.
type parts struct {
	c      *chunk.Memory
	stride int // words of an entry: the key and one an argument
	per    int // entries in a chunk
	cur    [partCount]cursor
	raw    [partCount]chunk.List // entries
	full   [partCount]int        // entries of raw in the chunks before the last
	done   [partCount]chunk.List // rows of groups as a table has them
	groups [partCount]int
	rows   int  // entries
	stuck  bool // a sum left 64 bits: only a table can hold this pane
}

// cursor is where the next entry of a partition goes, and the end of its chunk, in words of Memory.Buf.
type cursor struct{ pos, end uint32 }

func newParts(c *chunk.Memory, l *Layout) *parts {
	p := &parts{c: c, stride: 1 + len(l.args)}
	p.per = chunk.Words / p.stride
	for i := range p.raw {
		p.raw[i] = chunk.Empty
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
	buf := p.c.Buf
	stride := uint32(p.stride)
	for i, k := range keys {
		at := k * fib >> (64 - partBits)
		c := &p.cur[at]
		if c.pos == c.end {
			p.extend(a, int(at))
			buf = p.c.Buf
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
	buf := p.c.Buf
	vals = vals[:len(keys)]
	for i, k := range keys {
		at := k * fib >> (64 - partBits)
		c := &p.cur[at]
		if c.pos == c.end {
			p.extend(a, int(at))
			buf = p.c.Buf
		}
		e := (*[2]uint64)(buf[c.pos:])
		e[0], e[1] = k, vals[i]
		c.pos += 2
	}
}

// extend gives a partition a new chunk, after folding it where it holds many more rows than groups.
func (p *parts) extend(a *Aggregator, at int) {
	r := &p.raw[at]
	if n := p.full[at] + p.lastRows(at); !p.stuck && n >= max(a.foldAt, 2*p.groups[at]) {
		p.fold(a, at)
	}
	if r.Last != chunk.None {
		p.full[at] += p.per
	}
	id := p.c.Link(r)
	pos := id * chunk.Words
	p.cur[at] = cursor{pos, pos + uint32(p.per*p.stride)}
}

// lastRows is the number of entries in the last chunk of a partition.
func (p *parts) lastRows(at int) int {
	last := p.raw[at].Last
	if last == chunk.None {
		return 0
	}
	return int(p.cur[at].pos-last*chunk.Words) / p.stride
}

// load groups a partition into a table: the rows of groups are added as they are, then the entries are fed.
func (p *parts) load(a *Aggregator, t *table, at int, many bool) error {
	if err := t.reserve(p.groups[at]); err != nil {
		return err
	}
	stride := t.l.stride
	left := p.groups[at]
	for id := p.done[at].First; id != chunk.None; id = p.c.Next[id] {
		words := p.c.Buf[int(id)*chunk.Words:][:chunk.Words]
		for n := min(left, chunk.Words/stride); n > 0; n-- {
			ref := t.insert(words[0]*t.mul, words[0], 0)
			copy(t.rows[ref:int(ref)+stride], words[:stride])
			words = words[stride:]
			t.live++
			left--
		}
	}
	for id := p.raw[at].First; id != chunk.None; id = p.c.Next[id] {
		n := p.per
		if id == p.raw[at].Last {
			n = p.lastRows(at)
		}
		if err := p.feed(a, t, p.c.Buf[int(id)*chunk.Words:][:n*p.stride], many); err != nil {
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
	p.rows -= p.full[at] + p.lastRows(at)
	p.c.Drop(&p.raw[at])
	p.full[at] = 0
	p.c.Drop(&p.done[at])
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
	per := chunk.Words / len(row)
	if p.groups[at]%per == 0 {
		p.c.Link(&p.done[at])
	}
	pos := int(p.done[at].Last)*chunk.Words + p.groups[at]%per*len(row)
	copy(p.c.Buf[pos:], row)
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
		p.c.Drop(&p.raw[i])
		p.c.Drop(&p.done[i])
		p.groups[i], p.full[i], p.cur[i] = 0, 0, cursor{}
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
