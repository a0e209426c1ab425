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
	return p.Entries(at, func(entries []uint64) error { return p.feed(s, t, entries, many) })
}

// feed groups the entries of a chunk.
func (p *parts) feed(s *scratch, t *table, entries []uint64, many bool) error {
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

// fold replaces the entries of a partition by the rows of its groups.
func (p *parts) fold(a *Aggregator, at int) {
	t := a.smallTable()
	defer t.clearKeys()
	if err := p.load(&a.folding, t, at, true); err != nil || t.spilled() {
		p.stuck = true
		return
	}
	p.Drop(at)
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
