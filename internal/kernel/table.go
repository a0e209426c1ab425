package kernel

import (
	"cmp"
	"errors"
	"math"
	"math/bits"
	"slices"

	"github.com/arkflow-go/arkflow/internal/extreme"
	"github.com/arkflow-go/arkflow/internal/keys"
	"github.com/arkflow-go/arkflow/internal/layout"
	"github.com/arkflow-go/arkflow/internal/partition"
	"github.com/arkflow-go/arkflow/internal/spare"
)

// fib spreads keys over the high bits of the product.
const fib = partition.Spread

const (
	minSlots    = 64
	sparseSlots = 1 << 14 // tables up to this size are filled to a quarter, larger ones to a half
	maxWords    = math.MaxUint32
)

var errTooManyGroups = errors.New("more than 2^32 words of groups in one window: raise the parallelism or bound the keys")

// table maps keys to groups. A group is a row of Layout.stride words in rows, and its number ("ref") is the index of the
// row's first word. The slots of the hash table hold refs; 0 is a free slot, and row 0 is never used. A group whose
// count of rows is 0 is a key that was kept from an earlier window. Neither slots nor rows hold pointers.
type table struct {
	l     *layout.Layout
	slots []uint32
	shift uint   // index of a hash: hash >> shift
	mul   uint64 // keyWord: hash = key × mul
	rows  []uint64
	end   uint32 // words of rows in use
	live  int    // groups that have rows

	nullRef  uint32             // keyWord: the group of null, 0 where there is none
	nullRefs map[nullKey]uint32 // keyPair: groups of keys with a null
	nulls    []nullGroup        // keyWord, keyPair: groups whose key has a null, ascending
	bytes    []byte             // keyBytes, keyEncoded: keys that are too long for the row, see longKey
	sides    [][]int64          // by ref / stride; grown when first needed: counts of nulls, wraps of sums
	heaps    []extreme.Heap
	lease    *lease        // where a view may have the rows, sides and heaps too: see own
	lent     bool          // a view may have bytes and nulls, up to where they are
	spares   *spare.Memory // nil of tables that are never frozen
}

// nullGroup says which columns of a group's key are null: bit i for column i.
type nullGroup struct {
	ref  uint32
	mask uint8
}

type nullKey struct {
	mask   uint8 // bit i: column i is null
	k0, k1 uint64
}

func newTable(l *layout.Layout) *table {
	t := &table{l: l, mul: fib, end: uint32(l.Stride)}
	t.sides = make([][]int64, l.Sides)
	t.heaps = make([]extreme.Heap, l.Heaps)
	t.resize(minSlots)
	t.rows = make([]uint64, l.Stride*(1+minSlots/4))
	return t
}

// groups is the number of groups, those without rows included.
func (t *table) groups() int { return int(t.end)/t.l.Stride - 1 }

// refCount gives the number of rows of a group.
func (t *table) refCount(ref uint32) uint64 { return t.rows[int(ref)+t.l.Count] }

// slotsFor is the number of slots for n groups.
func slotsFor(n int) int {
	s := minSlots
	for s < 4*n && s < sparseSlots || s < 2*n {
		s *= 2
	}
	return s
}

// reserve makes room for n more groups, so that no loop over a block has to grow the table.
func (t *table) reserve(n int) error {
	if s := slotsFor(t.groups() + n); s > len(t.slots) {
		t.resize(s)
	}
	return t.reserveRows(n)
}

// reserveRows makes room for the rows of n more groups.
func (t *table) reserveRows(n int) error {
	need := int(t.end) + n*t.l.Stride
	if need <= len(t.rows) {
		return nil
	}
	if need > maxWords {
		return errTooManyGroups
	}
	size := len(t.rows) * 2
	if len(t.rows) > 1<<18 {
		size = len(t.rows) / 4 * 5
	}
	rows := make([]uint64, min(max(size, need), maxWords))
	copy(rows, t.rows[:t.end])
	t.rows = rows
	return nil
}

// resize rebuilds the slots.
func (t *table) resize(n int) {
	t.slots = make([]uint32, n)
	t.shift = uint(64 - bits.TrailingZeros(uint(n)))
	nulls := t.nulls
	for ref := uint32(t.l.Stride); ref < t.end; ref += uint32(t.l.Stride) {
		if len(nulls) > 0 && nulls[0].ref == ref {
			nulls = nulls[1:]
			continue
		}
		t.link(t.hashOf(ref), ref)
	}
}

// nullMask says which columns of a group's key are null.
func (t *table) nullMask(ref uint32) uint8 {
	i, ok := slices.BinarySearchFunc(t.nulls, ref, func(n nullGroup, ref uint32) int { return cmp.Compare(n.ref, ref) })
	if !ok {
		return 0
	}
	return t.nulls[i].mask
}

// hashOf gives the hash of a group's key from its row.
func (t *table) hashOf(ref uint32) uint64 {
	r := t.rows[ref:]
	switch {
	case t.l.Mode == layout.KeyWord:
		return r[0] * t.mul
	case t.l.Mode != layout.KeyPair && r[1]>>56 == keys.LongText:
		return r[0]
	}
	return keys.Fold(r[0], r[1])
}

// link puts a ref into the first free slot from its home on.
func (t *table) link(hash uint64, ref uint32) {
	h, mask := hash>>(t.shift&63), uint64(len(t.slots)-1)
	for t.slots[h&mask] != 0 {
		h++
	}
	t.slots[h&mask] = ref
}

// insert adds a group whose key is known to be new; room was reserved.
func (t *table) insert(hash, k0, k1 uint64) uint32 {
	ref := t.push(k0, k1)
	t.link(hash, ref)
	return ref
}

// push adds a row without a slot.
func (t *table) push(k0, k1 uint64) uint32 {
	ref := t.end
	t.rows[ref] = k0
	if t.l.Count > 1 {
		t.rows[ref+1] = k1
	}
	t.end += uint32(t.l.Stride)
	return ref
}

// side gives the side column i with room for every group.
func (t *table) side(i int) []int64 {
	if n := len(t.rows)/t.l.Stride + 1; len(t.sides[i]) < n {
		t.sides[i] = append(t.sides[i], make([]int64, n-len(t.sides[i]))...)
	}
	return t.sides[i]
}

// sideAt reads a side column that may not be there.
func (t *table) sideAt(i int, ref uint32) int64 {
	if s := t.sides[i]; s != nil {
		if g := int(ref) / t.l.Stride; g < len(s) {
			return s[g]
		}
	}
	return 0
}

// spilled reports whether any side column is in use.
func (t *table) spilled() bool {
	for _, s := range t.sides {
		if s != nil {
			return true
		}
	}
	return false
}

// clearRows forgets the rows of all groups and keeps their keys.
func (t *table) clearRows() {
	s, k := t.l.Stride, t.l.Count
	rows := t.rows[:t.end]
	switch s - k {
	case 1:
		for i := s + k; i < len(rows); i += s {
			rows[i] = 0
		}
	case 2:
		for i := s + k; i+1 < len(rows); i += s {
			rows[i], rows[i+1] = 0, 0
		}
	default:
		for i := s; i < len(rows); i += s {
			clear(rows[i+k : i+s])
		}
	}
	t.clearSides()
}

func (t *table) clearSides() {
	t.live = 0
	for i := range t.sides {
		t.sides[i] = nil
	}
	for i := range t.heaps {
		t.heaps[i].Reset()
	}
}

// clearKeys empties the table and keeps its memory.
func (t *table) clearKeys() {
	clear(t.slots)
	clear(t.rows[:t.end])
	t.end = uint32(t.l.Stride)
	t.nullRef, t.bytes = 0, t.bytes[:0]
	if t.lent {
		t.bytes, t.lent = nil, false
	}
	t.nullRefs, t.nulls = nil, nil
	t.clearSides()
}

// sizeBytes is the memory that the table holds.
func (t *table) sizeBytes() int {
	n := 4*len(t.slots) + 8*len(t.rows) + cap(t.bytes) + 48*len(t.nullRefs) + 8*cap(t.nulls)
	for _, s := range t.sides {
		n += 8 * cap(s)
	}
	for i := range t.heaps {
		n += t.heaps[i].Cap()
	}
	return n
}
