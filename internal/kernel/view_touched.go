package kernel

import (
	"slices"

	"github.com/arkflow-go/arkflow/internal/extreme"
	"github.com/arkflow-go/arkflow/internal/partition"
)

// touched gives the groups of each partition that have entries, or not as many rows as is known of them, without grouping the others, and
// what is known of each. It notes the numbers of rows of all. The view is not settled by it: its chunks stay pinned until it is closed.
func (v *View) touched(known [][]uint64) (tables []*table, were [][]uint64, err error) {
	x := toucher{parts: v.parts, t: small(v.l)}
	counts := make([][]uint64, partition.Count)
	for at := range counts {
		if counts[at], err = x.partition(at, known[at], true); err != nil {
			return nil, nil, err
		}
		t := x.t
		tables = append(tables, &table{l: v.l, rows: slices.Clone(t.rows[:t.end]), end: t.end, live: t.live, sides: slices.Clone(t.sides), heaps: []extreme.Heap{}})
		were = append(were, x.were(known[at]))
		t.clearKeys()
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.counts = counts
	return tables, were, nil
}

// toucher groups parts of partitions, one after the other.
type toucher struct {
	*parts
	t      *table
	s      scratch
	refs   []uint32 // of each entry: its group in t
	places []uint32 // of each row of a group: the group in t, 0 where it is not there
	old    []int    // of each group in t: its place among all of the partition
}

// partition groups those that have entries, and if changed is set those with another number of rows than is known, into the empty table. It gives the numbers of
// rows of all groups, in their order: those that have a row, then those of entries alone as they came.
func (x *toucher) partition(at int, known []uint64, changed bool) (counts []uint64, err error) {
	t := x.t
	x.refs = x.refs[:0]
	if err := x.Entries(at, x.addKeys); err != nil {
		return nil, err
	}
	stride, count := t.l.Stride, t.l.Count
	counts = make([]uint64, x.Groups(at), x.Groups(at)+t.groups())
	x.places = slices.Grow(x.places[:0], len(counts))[:len(counts)]
	g := 0
	x.Rows(at, stride, func(rows []uint64) {
		if err == nil {
			err = t.reserve(len(rows) / stride)
		}
		for ; err == nil && len(rows) > 0; rows, g = rows[stride:], g+1 {
			n := rows[count]
			counts[g] = n
			ref := t.place(rows[0])
			if ref == 0 && changed && (g >= len(known) || known[g] != n) {
				ref = t.insert(rows[0]*t.mul, rows[0], 0)
				t.live++
			}
			if x.places[g] = ref; ref != 0 {
				row := t.rows[ref : int(ref)+stride]
				n += row[count] // those of entries have been counted
				copy(row, rows[:stride])
				row[count] = n
			}
		}
	})
	if err == nil {
		err = x.addArgs(at)
	}
	if err != nil {
		return nil, err
	}
	x.old = slices.Grow(x.old[:0], t.groups())[:t.groups()]
	for i := range x.old {
		x.old[i] = -1
	}
	for g, ref := range x.places {
		if ref != 0 {
			counts[g] = t.refCount(ref)
			x.old[int(ref)/stride-1] = g
		}
	}
	for i, g := range x.old {
		if g < 0 {
			x.old[i] = len(counts)
			counts = append(counts, t.refCount(uint32((i+1)*stride)))
		}
	}
	return counts, nil
}

// addKeys adds the groups of entries and counts them.
func (x *toucher) addKeys(entries []uint64) error {
	n := len(entries) / x.stride
	if err := x.t.reserve(n); err != nil {
		return err
	}
	for i := range x.s.k0[:n] {
		x.s.k0[i] = entries[i*x.stride]
	}
	had := len(x.refs)
	x.refs = slices.Grow(x.refs, n)[:had+n]
	x.t.addWords(x.refs[had:], x.s.k0[:n])
	return nil
}

// addArgs adds the arguments of entries.
func (x *toucher) addArgs(at int) error {
	refs := x.refs
	return x.Entries(at, func(entries []uint64) error {
		n := len(entries) / x.stride
		for j := range x.t.l.Args {
			vals := x.s.vals[:n]
			for i := range vals {
				vals[i] = entries[i*x.stride+1+j]
			}
			x.t.addWordArgs(&x.s, &x.t.l.Args[j], vals, refs[:n])
		}
		refs = refs[n:]
		return nil
	})
}

// whole gives all groups of a partition as a table that cannot be searched.
func (x *toucher) whole(at int) (*table, error) {
	t := x.t
	counts, err := x.partition(at, nil, false)
	if err != nil {
		return nil, err
	}
	stride := t.l.Stride
	out := &table{l: t.l, rows: make([]uint64, stride*(1+len(counts))), live: len(counts), sides: make([][]int64, len(t.sides)), heaps: []extreme.Heap{}}
	out.end = uint32(len(out.rows))
	g := 0
	x.Rows(at, stride, func(rows []uint64) {
		for ; len(rows) > 0; rows, g = rows[stride:], g+1 {
			row := rows[:stride]
			if ref := x.places[g]; ref != 0 {
				row = t.rows[ref : int(ref)+stride]
			}
			copy(out.rows[(g+1)*stride:], row)
		}
	})
	for i, g := range x.old {
		ref := uint32((i + 1) * stride)
		if g >= len(x.places) {
			copy(out.rows[(g+1)*stride:], t.rows[ref:int(ref)+stride])
		}
		for k, side := range t.sides {
			if side != nil {
				out.side(k)[g+1] = t.sideAt(k, ref)
			}
		}
	}
	return out, nil
}

// were gives what is known of the groups of the table.
func (x *toucher) were(known []uint64) []uint64 {
	out := make([]uint64, len(x.old))
	for i, g := range x.old {
		if g < len(known) {
			out[i] = known[g]
		}
	}
	return out
}

// place gives the group of a key, 0 where there is none.
func (t *table) place(k uint64) uint32 {
	h, mask := k*t.mul>>(t.shift&63), uint64(len(t.slots)-1)
	for {
		ref := t.slots[h&mask]
		if ref == 0 || t.rows[ref] == k {
			return ref
		}
		h++
	}
}
