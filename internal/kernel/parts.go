package kernel

import (
	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/internal/keys"
	"github.com/arkflow-go/arkflow/internal/layout"
	"github.com/arkflow-go/arkflow/internal/partition"
)

// A window with very many keys makes every look-up a cache miss. Its rows are then only appended to one of 512 partitions
// by the high bits of the key's hash, and each partition is grouped, in one small table that all share, when
// the window fires or when it holds many more rows than groups. Grouping keeps the order of groups: a group stands at the
// same place of its partition as long as the pane is partitioned.

const foldRows = 4096 // a partition with fewer rows than this is not folded before it fires

// parts is the partitioned form of a pane.
type parts struct {
	*partition.Store
	stride int  // words of an entry: the key and one an argument
	stuck  bool // a sum left 64 bits: only a table can hold this pane
	full   func(at int)
	loan   *loan // to the last view of the pane; nil before the first
	picked []uint32
}

func newParts(a *Aggregator) *parts {
	p := &parts{stride: 1 + len(a.l.Args)}
	p.Store = partition.New(&a.chunks, p.stride)
	p.full = func(at int) {
		if !p.stuck && p.Pending(at) >= max(a.foldAt, 2*p.Groups(at)) {
			p.fold(a, at)
		}
	}
	return p
}

// small gives an empty table for the groups of one partition. Its hash skips the bits by which partitions are chosen.
func small(l *layout.Layout) *table {
	t := newTable(l)
	t.mul <<= partition.Bits
	return t
}

// load groups a partition into a table: the rows of groups are added as they are, then the entries are fed.
func (p *parts) load(s *scratch, t *table, at int, many bool) error {
	if err := p.loadRows(t, at); err != nil {
		return err
	}
	return p.feed(s, t, at, 0, p.Pending(at), many)
}

// loadRows adds the rows of groups of a partition to a table as they are.
func (p *parts) loadRows(t *table, at int) error {
	if err := t.reserve(p.Groups(at)); err != nil {
		return err
	}
	stride := t.l.Stride
	p.Rows(at, stride, func(rows []uint64) {
		for ; len(rows) > 0; rows = rows[stride:] {
			ref := t.insert(rows[0]*t.mul, rows[0], 0)
			copy(t.rows[ref:int(ref)+stride], rows[:stride])
			t.live++
		}
	})
	return nil
}

// feed groups entries of a partition from one on, up to another one.
func (p *parts) feed(s *scratch, t *table, at, from, to int, many bool) error {
	return p.Entries(at, from, to, func(entries []uint64) error { return p.feedSome(s, t, entries, many) })
}

// feedSome groups the entries of a chunk.
func (p *parts) feedSome(s *scratch, t *table, entries []uint64, many bool) error {
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
	for j := range t.l.Args {
		vals := s.vals[:n]
		for i := range vals {
			vals[i] = entries[i*p.stride+1+j]
		}
		t.addWordArgs(s, &t.l.Args[j], vals, refs)
	}
	return nil
}

// fold replaces the entries of a partition by the rows of its groups. If a view waits for the partition it is given the groups as they were.
func (p *parts) fold(a *Aggregator, at int) {
	t := a.smallTable()
	defer t.clearKeys()
	c, from := p.loan.take(at, p.Fresh(at)), 0
	if c != nil {
		defer c.Leave(at) // also where something panics: who asked would wait for it
	}
	if p.stuck = p.loadRows(t, at) != nil; c != nil && !p.stuck {
		from = p.loan.of.Pending(at)
		if p.stuck = p.feed(&a.folding, t, at, 0, from, true) != nil || t.spilled(); !p.stuck {
			c.put(at, t, &p.picked)
			c.Done(at)
		}
	}
	p.stuck = p.stuck || p.feed(&a.folding, t, at, from, p.Pending(at), true) != nil || t.spilled()
	if p.stuck {
		return
	}
	p.Drop(at, c != nil)
	for ref := t.l.Stride; ref < int(t.end); ref += t.l.Stride {
		p.Put(at, t.rows[ref:ref+t.l.Stride])
	}
}

// scatter takes over the live groups of a table.
func (p *parts) scatter(t *table) {
	for ref := t.l.Stride; ref < int(t.end); ref += t.l.Stride {
		if t.rows[ref+t.l.Count] != 0 {
			p.Put(partition.Of(t.rows[ref]), t.rows[ref:ref+t.l.Stride])
		}
	}
}

// release gives all memory back.
func (p *parts) release() {
	p.Release()
	p.loan.end()
	p.loan = nil
	p.stuck = false
}

// partArgs gives the keys and arguments of a block as words, or false where there is a null.
func (a *Aggregator) partArgs(b *column.Batch, n int, at rowAt) (ks []uint64, vals [][]uint64, ok bool) {
	l, s := a.l, &a.s
	if at.anyNull(s.keys[0], n) {
		return nil, nil, false
	}
	vals = a.vals[:0]
	for j := range l.Args {
		c := &b.Cols[l.Args[j].Col]
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
