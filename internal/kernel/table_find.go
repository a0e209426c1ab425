package kernel

import (
	"bytes"
	"encoding/binary"

	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/internal/keys"
)

// The loops below write the group of each key of a block into refs, add the groups that are new, and count one row for
// each. The first pass only looks at home slots, so that its misses overlap; the second checks the keys.

// findWords is for keyWord without nulls.
func (t *table) findWords(refs []uint32, keys []uint64) {
	refs = refs[:len(keys)]
	slots, shift, mul := t.slots, t.shift&63, t.mul
	for i, k := range keys {
		refs[i] = slots[k*mul>>shift]
	}
	rows, live := t.rows, uint64(0)
	for i, k := range keys {
		ref := refs[i]
		r := (*[2]uint64)(rows[ref:])
		if r[0] != k || ref == 0 {
			ref = t.probeWord(k)
			refs[i] = ref
			r = (*[2]uint64)(rows[ref:])
		}
		live += (r[1] - 1) >> 63
		r[1]++
	}
	t.live += int(live)
}

// probeWord finds or adds the group of a key.
func (t *table) probeWord(k uint64) uint32 {
	h, mask := k*t.mul>>(t.shift&63), uint64(len(t.slots)-1)
	for {
		ref := t.slots[h&mask]
		if ref == 0 {
			ref = t.push(k, 0)
			t.slots[h&mask] = ref
			return ref
		}
		if t.rows[ref] == k {
			return ref
		}
		h++
	}
}

// addWords is findWords for blocks of which many keys are new: whether one is makes no branch.
func (t *table) addWords(refs []uint32, keys []uint64) {
	refs = refs[:len(keys)]
	slots, shift, mul, mask := t.slots, t.shift&63, t.mul, uint64(len(t.slots)-1)
	rows, live, end, stride := t.rows, uint64(0), t.end, uint32(t.l.Stride)
	for i, k := range keys {
		h := k * mul >> shift
		ref := slots[h&mask]
		for (rows[ref]^k)&-((uint64(ref)+(1<<32-1))>>32) != 0 { // taken by another key
			h++
			ref = slots[h&mask]
		}
		isNew := uint32((uint64(ref) - 1) >> 63)
		ref += end & -isNew
		end += stride & -isNew
		slots[h&mask] = ref
		refs[i] = ref
		r := (*[2]uint64)(rows[ref:])
		r[0] = k
		live += (r[1] - 1) >> 63
		r[1]++
	}
	t.end = end
	t.live += int(live)
}

// countRow counts one row of a group.
func (t *table) countRow(ref uint32) {
	r := &t.rows[int(ref)+t.l.Count]
	t.live += int((*r - 1) >> 63)
	*r++
}

// findWordsNull is for keyWord with nulls. at gives the physical row of row i of the block.
func (t *table) findWordsNull(refs []uint32, keys []uint64, c *column.Column, at rowAt) {
	for i, k := range keys {
		ref := t.nullRef
		switch {
		case !c.IsNull(at.row(i)):
			ref = t.probeWord(k)
		case ref == 0:
			ref = t.pushNull(1, 0, 0)
			t.nullRef = ref
		}
		refs[i] = ref
		t.countRow(ref)
	}
}

func (t *table) pushNull(mask uint8, k0, k1 uint64) uint32 {
	ref := t.push(k0, k1)
	t.nulls = append(t.nulls, nullGroup{ref, mask})
	return ref
}

// findPairs is for keyPair without nulls, and for keyBytes and keyEncoded (then long gives the bytes of row i).
func (t *table) findPairs(refs []uint32, s *scratch, n int, long func(i int) []byte) {
	refs = refs[:n]
	k0s, k1s, hash := s.k0[:n], s.k1[:n], s.hash[:n]
	slots, shift := t.slots, t.shift&63
	for i, h := range hash {
		refs[i] = slots[h>>shift]
	}
	rows, live := t.rows, uint64(0)
	for i, ref := range refs {
		r := (*[3]uint64)(rows[ref:])
		if r[0] != k0s[i] || r[1] != k1s[i] || ref == 0 {
			if long != nil && k1s[i]>>56 == keys.LongText {
				ref = t.probeLong(k0s[i], long(i))
			} else {
				ref = t.probePair(hash[i], k0s[i], k1s[i])
			}
			refs[i] = ref
			r = (*[3]uint64)(rows[ref:])
		}
		live += (r[2] - 1) >> 63
		r[2]++
	}
	t.live += int(live)
}

func (t *table) probePair(hash, k0, k1 uint64) uint32 {
	h, mask := hash>>(t.shift&63), uint64(len(t.slots)-1)
	for {
		ref := t.slots[h&mask]
		if ref == 0 {
			ref = t.push(k0, k1)
			t.slots[h&mask] = ref
			return ref
		}
		if r := t.rows[ref : ref+2]; r[0] == k0 && r[1] == k1 {
			return ref
		}
		h++
	}
}

// findPairsNull is for keyPair with nulls in a; b is nil for a decimal.
func (t *table) findPairsNull(refs []uint32, s *scratch, n int, a, b *column.Column, at rowAt) {
	for i := range n {
		k0, k1 := s.k0[i], s.k1[i]
		ref := uint32(0)
		if mask := nullMask(a, b, at.row(i)); mask == 0 {
			ref = t.probePair(s.hash[i], k0, k1)
		} else {
			ref = t.probeNull(nullKeyOf(mask, k0, k1, b == nil))
		}
		refs[i] = ref
		t.countRow(ref)
	}
}

// nullMask says which of the columns are null in a row.
func nullMask(a, b *column.Column, row int) (mask uint8) {
	if a.IsNull(row) {
		mask = 1
	}
	if b != nil && b.IsNull(row) {
		mask |= 2
	}
	return mask
}

// nullKeyOf clears the words that are null.
func nullKeyOf(mask uint8, k0, k1 uint64, decimal bool) nullKey {
	if mask&1 != 0 {
		k0 = 0
	}
	if mask&2 != 0 || decimal {
		k1 = 0
	}
	return nullKey{mask, k0, k1}
}

func (t *table) probeNull(k nullKey) uint32 {
	ref := t.nullRefs[k]
	if ref == 0 {
		if t.nullRefs == nil {
			t.nullRefs = map[nullKey]uint32{}
		}
		ref = t.pushNull(k.mask, k.k0, k.k1)
		t.nullRefs[k] = ref
	}
	return ref
}

// longKey gives the bytes of a long key from the second word of its row.
func (t *table) longKey(k1 uint64) []byte {
	at := t.bytes[k1&(1<<56-1):]
	n := binary.LittleEndian.Uint32(at)
	return at[4 : 4+n]
}

// probeLong finds or adds the group of a long key.
func (t *table) probeLong(hash uint64, key []byte) uint32 {
	if ref := t.lookupLong(hash, key); ref != 0 {
		return ref
	}
	at := uint64(len(t.bytes))
	t.bytes = binary.LittleEndian.AppendUint32(t.bytes, uint32(len(key)))
	t.bytes = append(t.bytes, key...)
	return t.insert(hash, hash, keys.LongText<<56|at)
}

func (t *table) lookupLong(hash uint64, key []byte) uint32 {
	h, mask := hash>>(t.shift&63), uint64(len(t.slots)-1)
	for {
		ref := t.slots[h&mask]
		if ref == 0 {
			return 0
		}
		if r := t.rows[ref : ref+2]; r[0] == hash && r[1]>>56 == keys.LongText && bytes.Equal(t.longKey(r[1]), key) {
			return ref
		}
		h++
	}
}

// lookup finds a group by the words of its key, 0 where there is none.
func (t *table) lookup(hash, k0, k1 uint64) uint32 {
	h, mask := hash>>(t.shift&63), uint64(len(t.slots)-1)
	for {
		ref := t.slots[h&mask]
		if ref == 0 || t.rows[ref] == k0 && (t.l.Count == 1 || t.rows[ref+1] == k1) {
			return ref
		}
		h++
	}
}
