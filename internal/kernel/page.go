package kernel

import (
	"encoding/binary"

	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/internal/keys"
	"github.com/arkflow-go/arkflow/internal/layout"
	"github.com/arkflow-go/arkflow/internal/sheet"
)

// page is a batch that is being filled with groups, column by column.
type page struct {
	sheet.Sheet
	l     *layout.Layout
	keys  []filler // key columns
	fill  []filler // the others
	limit int      // bytes of strings in one column of a batch, a single larger string excepted
	emit  func(b *column.Batch) error
	tuple []byte   // scratch of bestFiller
	ties  []uint64 // where groups are spread: the word of the tuple of each row that is being added
}

// filler writes one column, or all key columns, of groups to the rows from at on. There are at most blockRows groups.
type filler func(s *page, at int, t *table, refs []uint32) error

// add appends groups; full batches are emitted.
func (s *page) add(t *table, refs []uint32) error { return s.addCells(t, refs, t, refs) }

// addCells appends groups whose keys lie in another table, the i-th of refs at the i-th of keyRefs.
func (s *page) addCells(keys *table, keyRefs []uint32, t *table, refs []uint32) error {
	for len(refs) > 0 {
		if s.B == nil {
			s.Begin()
		}
		n := min(len(refs), s.Size-s.N, blockRows)
		if _, some := s.Texts(); some {
			var err error
			if n, err = s.fits(keys, keyRefs, t, refs[:n]); err != nil {
				return err
			}
			if n == 0 {
				continue
			}
		}
		for _, f := range s.keys {
			if err := f(s, s.N, keys, keyRefs[:n]); err != nil {
				return err
			}
		}
		for _, f := range s.fill {
			if err := f(s, s.N, t, refs[:n]); err != nil {
				return err
			}
		}
		s.N += n
		refs, keyRefs = refs[n:], keyRefs[n:]
		if s.ties != nil {
			s.ties = s.ties[n:]
		}
		if s.N == s.Size {
			if err := s.flush(); err != nil {
				return err
			}
		}
	}
	return nil
}

// fits cuts groups to what the batch's string columns can still hold; a batch that holds no more is emitted.
func (s *page) fits(keys *table, keyRefs []uint32, t *table, refs []uint32) (int, error) {
	held, _ := s.Texts()
	if held+len(keys.bytes)+t.heapBytes() < s.limit {
		return len(refs), nil
	}
	for n, ref := range refs {
		if held += keys.keyBytes(keyRefs[n]) + t.stringBytes(ref); held >= s.limit {
			if n == 0 && s.N > 0 {
				return 0, s.flush()
			}
			return max(n, 1), nil
		}
	}
	return len(refs), nil
}

func (t *table) heapBytes() (n int) {
	for i := range t.heaps {
		n += t.heaps[i].Len()
	}
	return n
}

// keyBytes is an upper bound of the string bytes of a group's key.
func (t *table) keyBytes(ref uint32) int {
	if t.l.Mode >= layout.KeyBytes && t.rows[ref+1]>>56 == keys.LongText {
		return len(t.longKey(t.rows[ref+1]))
	}
	return keys.InlineText
}

// stringBytes is the string bytes of a group's accumulators.
func (t *table) stringBytes(ref uint32) (n int) {
	for _, arg := range t.l.Args {
		for _, a := range arg.Accs {
			if w := t.rows[int(ref)+a.Off+1:]; (a.Kind == layout.AccMaxBytes || a.Kind == layout.AccBest) && w[0] != 0 {
				n += len(t.heaps[a.Side].At(w[0]))
			}
		}
	}
	return n
}

// flush emits what was filled.
func (s *page) flush() error {
	b := s.Take()
	if b == nil {
		return nil
	}
	defer b.Release()
	if b.Rows == 0 {
		return nil
	}
	return s.emit(b)
}

// close gives back what is held after the last flush, or after an error.
func (s *page) close() {
	if b := s.Take(); b != nil {
		b.Release()
	}
	if s.Head != nil {
		s.Head.Release()
		s.Head = nil
	}
}

// keyFillers write the key columns, which are the first from column `first` on.
func keyFillers(l *layout.Layout, first int) []filler {
	switch l.Mode {
	case layout.KeyWord:
		return []filler{func(s *page, at int, t *table, refs []uint32) error {
			s.keyWords(first, at, t, refs, 0)
			return nil
		}}
	case layout.KeyPair:
		if len(l.KeyCols) == 1 {
			return []filler{func(s *page, at int, t *table, refs []uint32) error {
				s.keyDecimals(first, at, t, refs)
				return nil
			}}
		}
		return []filler{func(s *page, at int, t *table, refs []uint32) error {
			s.keyWords(first, at, t, refs, 0)
			s.keyWords(first+1, at, t, refs, 1)
			return nil
		}}
	case layout.KeyBytes:
		return []filler{func(s *page, at int, t *table, refs []uint32) error {
			s.keyStrings(first, at, t, refs)
			return nil
		}}
	}
	return []filler{func(s *page, at int, t *table, refs []uint32) error { return s.keyTuples(first, at, t, refs) }}
}

// keyWords writes word i of the keys.
func (s *page) keyWords(col, at int, t *table, refs []uint32, i int) {
	c := &s.B.Cols[col]
	w, rows := s.Words(c, at, len(refs)), t.rows[i:]
	for j, ref := range refs {
		w[j] = rows[ref]
	}
	s.Put(c, at, w)
	s.keyNulls(c, at, t, refs, 1<<i)
}

// keyNulls makes null the keys whose column of that bit is.
func (s *page) keyNulls(c *column.Column, at int, t *table, refs []uint32, bit uint8) {
	if len(t.nulls) == 0 {
		return
	}
	for j, ref := range refs {
		if t.nullMask(ref)&bit != 0 {
			s.Null(c, at+j)
		}
	}
}

func (s *page) keyDecimals(col, at int, t *table, refs []uint32) {
	c := &s.B.Cols[col]
	dst := column.View[[2]uint64](c.Data)[at:]
	for j, ref := range refs {
		dst[j] = [2]uint64{t.rows[ref], t.rows[ref+1]}
	}
	s.keyNulls(c, at, t, refs, 1)
}

func (s *page) keyStrings(col, at int, t *table, refs []uint32) {
	c := &s.B.Cols[col]
	d := s.Grow(col, 16*len(refs))
	pos := len(d)
	d = d[:cap(d)]
	off := c.Offsets[at+1 : at+1+len(refs)]
	for j, ref := range refs {
		r := (*[2]uint64)(t.rows[ref:])
		switch tag := r[1] >> 56; tag {
		case keys.LongText:
			key := t.longKey(r[1])
			s.SetText(col, d[:pos])
			d = s.Grow(col, len(key)+16*(len(refs)-j))
			d = d[:cap(d)]
			pos += copy(d[pos:], key)
		case keys.NullText:
			s.Null(c, at+j)
		default:
			binary.LittleEndian.PutUint64(d[pos:], r[0])
			binary.LittleEndian.PutUint64(d[pos+8:], r[1])
			pos += int(tag)
		}
		off[j] = int32(pos)
	}
	s.SetText(col, d[:pos])
}

// keyTuples writes all columns of encoded keys.
func (s *page) keyTuples(first, at int, t *table, refs []uint32) error {
	var inline [16]byte
	for j, ref := range refs {
		key := t.encodedKey(ref, &inline)
		for i := range t.l.KeyCols {
			f, rest, err := keys.Decode(key)
			if err != nil {
				return err
			}
			key = rest
			s.PutField(first+i, at+j, f)
		}
	}
	return nil
}

// encodedKey gives the written key of a group.
func (t *table) encodedKey(ref uint32, inline *[16]byte) []byte {
	r := t.rows[ref : ref+2]
	if r[1]>>56 == keys.LongText {
		return t.longKey(r[1])
	}
	binary.LittleEndian.PutUint64(inline[:], r[0])
	binary.LittleEndian.PutUint64(inline[8:], r[1])
	return inline[:r[1]>>56]
}
