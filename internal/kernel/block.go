package kernel

import (
	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/internal/keys"
	"github.com/arkflow-go/arkflow/internal/layout"
)

// blockRows is the number of rows that one pass works on, so that what several passes share stays in the first caches.
const blockRows = 1024

// rowAt names the physical rows of a block: those of rows, or from lo on where rows is nil.
type rowAt struct {
	lo   int
	rows []uint32
}

func (a rowAt) row(i int) int {
	if a.rows != nil {
		return int(a.rows[i])
	}
	return a.lo + i
}

// anyNull reports whether a row of the block is null.
func (a rowAt) anyNull(c *column.Column, n int) bool {
	return c.AnyNull(a.lo, n, a.rows)
}

// scratch is the memory of the loops over one block.
type scratch struct {
	refs         [blockRows]uint32 // the group of each row
	k0, k1, hash [blockRows]uint64 // keys
	vals, vals2  [blockRows]uint64 // an argument's values, and a form of them
	rows         [blockRows]uint32 // rows whose argument is not null
	rowRefs      [blockRows]uint32 // their groups
	keys         []*column.Column  // key columns of the batch
	enc          []byte            // keyEncoded: written keys of the block
	encEnd       [blockRows]uint32
	tuple        []byte // see best
}

// find writes the group of each of n rows into s.refs, adds new groups and counts the rows. s.keys are the key columns.
// The refs are good until the table is emptied.
func (t *table) find(s *scratch, n int, at rowAt) ([]uint32, error) {
	if err := t.reserve(n); err != nil {
		return nil, err
	}
	refs := s.refs[:n]
	a := s.keys[0]
	switch t.l.Mode {
	case layout.KeyWord:
		keys := keys.Words(s.k0[:], a, at.lo, n, at.rows)
		if at.anyNull(a, n) {
			t.findWordsNull(refs, keys, a, at)
		} else {
			t.findWords(refs, keys)
		}
	case layout.KeyPair:
		b := s.pairKeys(n, at)
		if at.anyNull(a, n) || b != nil && at.anyNull(b, n) {
			t.findPairsNull(refs, s, n, a, b, at)
		} else {
			t.findPairs(refs, s, n, nil)
		}
	case layout.KeyBytes:
		s.bytesKeys(a, n, at)
		t.findPairs(refs, s, n, func(i int) []byte { return a.Bytes(at.row(i)) })
	default:
		s.encodedKeys(t.l, n, at)
		t.findPairs(refs, s, n, s.encoded)
	}
	return refs, nil
}

// lookupRow finds the group of one row without adding it; 0 where there is none.
func (t *table) lookupRow(s *scratch, at rowAt) uint32 {
	a := s.keys[0]
	row := at.row(0)
	switch t.l.Mode {
	case layout.KeyWord:
		if a.IsNull(row) {
			return t.nullRef
		}
		k := keys.Words(s.k0[:], a, at.lo, 1, at.rows)[0]
		return t.lookup(k*t.mul, k, 0)
	case layout.KeyPair:
		b := s.pairKeys(1, at)
		if mask := nullMask(a, b, row); mask != 0 {
			return t.nullRefs[nullKeyOf(mask, s.k0[0], s.k1[0], b == nil)]
		}
	case layout.KeyBytes:
		s.bytesKeys(a, 1, at)
		if s.k1[0]>>56 == keys.LongText {
			return t.lookupLong(s.k0[0], a.Bytes(row))
		}
	default:
		s.encodedKeys(t.l, 1, at)
		if s.k1[0]>>56 == keys.LongText {
			return t.lookupLong(s.k0[0], s.encoded(0))
		}
	}
	return t.lookup(s.hash[0], s.k0[0], s.k1[0])
}

// pairKeys fills k0, k1 and hash and gives the second key column, nil for a decimal.
func (s *scratch) pairKeys(n int, at rowAt) (b *column.Column) {
	a := s.keys[0]
	k0, k1, hash := s.k0[:n], s.k1[:n], s.hash[:n]
	if a.Kind == column.Decimal {
		v := column.View[[2]uint64](a.Data)
		for i := range k0 {
			d := v[at.row(i)]
			k0[i], k1[i] = d[0], d[1]
		}
	} else {
		b = s.keys[1]
		x := keys.Words(k0, a, at.lo, n, at.rows)
		copy(k0, x)
		copy(k1, keys.Words(k1, b, at.lo, n, at.rows))
	}
	for i, k := range k0 {
		hash[i] = keys.Fold(k, k1[i])
	}
	return b
}

// bytesKeys fills k0, k1 and hash from a Bytes column.
func (s *scratch) bytesKeys(c *column.Column, n int, at rowAt) {
	keys.TextWords(s.k0[:n], s.k1[:n], s.hash[:n], c, at.lo, at.rows)
}

// encodedKeys fills k0, k1 and hash from the written form of the key columns.
func (s *scratch) encodedKeys(l *layout.Layout, n int, at rowAt) {
	s.enc = s.enc[:0]
	for i := range n {
		for j, c := range s.keys {
			s.enc = keys.Append(s.enc, l.KeyTypes[j], c, at.row(i))
		}
		s.encEnd[i] = uint32(len(s.enc))
	}
	for i := range n {
		s.k0[i], s.k1[i], s.hash[i] = keys.TextWordsOf(s.encoded(i))
	}
}

// encoded gives the written key of row i of the block.
func (s *scratch) encoded(i int) []byte {
	lo := uint32(0)
	if i > 0 {
		lo = s.encEnd[i-1]
	}
	return s.enc[lo:s.encEnd[i]]
}
