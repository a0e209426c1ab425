package kernel

import (
	"encoding/binary"
	"math"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/internal/keys"
)

// sheet is a batch that is being filled with groups, column by column.
type sheet struct {
	l      *Layout
	schema *arrow.Schema
	pool   *column.Pool
	keys   []filler // key columns
	fill   []filler // the others
	size   int      // rows of a full batch
	limit  int      // bytes of strings in one column of a batch, a single larger string excepted
	emit   func(b *column.Batch) error

	head   *column.Batch // where not nil: batches are derived from it and share its columns
	shared int           // columns from firstShared on that head has
	first  int
	b      *column.Batch
	n      int // rows filled
	text   []text
	tmp    [blockRows]uint64
	one    [1]uint64
	tuple  []byte   // scratch of bestFiller
	ties   []uint64 // where groups are spread: the word of the tuple of each row that is being added
}

// text is a Bytes column that is being filled: its bytes are a loan of the pool.
type text struct{ data []byte }

// filler writes one column, or all key columns, of groups to the rows from at on. There are at most blockRows groups.
type filler func(s *sheet, at int, t *table, refs []uint32) error

// add appends groups; full batches are emitted.
func (s *sheet) add(t *table, refs []uint32) error { return s.addCells(t, refs, t, refs) }

// addCells appends groups whose keys lie in another table, the i-th of refs at the i-th of keyRefs.
func (s *sheet) addCells(keys *table, keyRefs []uint32, t *table, refs []uint32) error {
	for len(refs) > 0 {
		if s.b == nil {
			s.begin()
		}
		n := min(len(refs), s.size-s.n, blockRows)
		if len(s.text) > 0 {
			var err error
			if n, err = s.fits(keys, keyRefs, t, refs[:n]); err != nil {
				return err
			}
			if n == 0 {
				continue
			}
		}
		for _, f := range s.keys {
			if err := f(s, s.n, keys, keyRefs[:n]); err != nil {
				return err
			}
		}
		for _, f := range s.fill {
			if err := f(s, s.n, t, refs[:n]); err != nil {
				return err
			}
		}
		s.n += n
		refs, keyRefs = refs[n:], keyRefs[n:]
		if s.ties != nil {
			s.ties = s.ties[n:]
		}
		if s.n == s.size {
			if err := s.flush(); err != nil {
				return err
			}
		}
	}
	return nil
}

// fits cuts groups to what the batch's string columns can still hold; a batch that holds no more is emitted.
func (s *sheet) fits(keys *table, keyRefs []uint32, t *table, refs []uint32) (int, error) {
	held := 0
	for i := range s.text {
		held = max(held, len(s.text[i].data))
	}
	if held+len(keys.bytes)+t.heapBytes() < s.limit {
		return len(refs), nil
	}
	for n, ref := range refs {
		if held += keys.keyBytes(keyRefs[n]) + t.stringBytes(ref); held >= s.limit {
			if n == 0 && s.n > 0 {
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
	if t.l.mode >= keyBytes && t.rows[ref+1]>>56 == longTag {
		return len(t.longKey(t.rows[ref+1]))
	}
	return maxInline
}

// stringBytes is the string bytes of a group's accumulators.
func (t *table) stringBytes(ref uint32) (n int) {
	for _, arg := range t.l.args {
		for _, a := range arg.accs {
			if w := t.rows[int(ref)+a.off+1:]; (a.kind == accMaxBytes || a.kind == accBest) && w[0] != 0 {
				n += len(t.heaps[a.side].At(w[0]))
			}
		}
	}
	return n
}

// begin makes the next batch.
func (s *sheet) begin() {
	if s.head != nil {
		s.b = s.head.Derive()
	} else {
		s.b = column.NewBatch(s.pool, s.schema, s.size)
	}
	s.n = 0
	s.text = s.text[:0]
	for i := range s.b.Cols {
		if s.head != nil && i >= s.first && i < s.first+s.shared {
			continue
		}
		c := &s.b.Cols[i]
		switch {
		case c.Kind == column.Bytes:
			c.Offsets = column.Alloc[int32](s.b, s.size+1)
			c.Offsets[0] = 0
			for len(s.text) <= i {
				s.text = append(s.text, text{})
			}
			s.text[i].data = s.pool.Get(32 * s.size)[:0]
		case c.Kind == column.Bool:
			c.Data = column.AllocZero[byte](s.b, column.BitmapLen(s.size))
		case c.Kind == column.Decimal:
			c.Data = column.BytesOf(column.Alloc[[2]uint64](s.b, s.size))
		default:
			c.Data = column.BytesOf(column.Alloc[uint64](s.b, (s.size*c.Kind.Width()+7)/8))
		}
	}
}

// take gives what was filled as a batch that the caller owns, nil where there is nothing.
func (s *sheet) take() *column.Batch {
	b := s.b
	if b == nil {
		return nil
	}
	s.b, b.Rows = nil, s.n
	for i := range b.Cols {
		c := &b.Cols[i]
		switch {
		case c.Kind == column.Bytes:
			c.Data, c.Offsets = s.text[i].data, c.Offsets[:s.n+1]
			b.Adopt(c.Data)
			s.text[i].data = nil
		case c.Kind == column.Bool:
			c.Data = c.Data[:column.BitmapLen(s.n)]
		default:
			c.Data = c.Data[:s.n*c.Kind.Width()]
		}
		if c.Valid != nil {
			c.Valid = c.Valid[:column.BitmapLen(s.n)]
		}
	}
	if b.Times != nil {
		b.Times = b.Times[:s.n]
	}
	return b
}

// flush emits what was filled.
func (s *sheet) flush() error {
	b := s.take()
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
func (s *sheet) close() {
	if b := s.take(); b != nil {
		b.Release()
	}
	if s.head != nil {
		s.head.Release()
		s.head = nil
	}
}

// null makes row at of a column null.
func (s *sheet) null(c *column.Column, at int) {
	if c.Valid == nil {
		c.Valid = column.Alloc[byte](s.b, column.BitmapLen(s.size))
		for i := range c.Valid {
			c.Valid[i] = 0xFF
		}
	}
	column.ClearBit(c.Valid, at)
	c.Nulls++
}

// words gives where the words of n rows of a column are best written before put: the column itself where it is 8 bytes wide.
func (s *sheet) words(c *column.Column, at, n int) []uint64 {
	if c.Kind.Width() == 8 {
		return column.View[uint64](c.Data)[at : at+n]
	}
	return s.tmp[:n]
}

// put writes canonical words as values of the column, unless they were written there (see words).
func (s *sheet) put(c *column.Column, at int, w []uint64) {
	switch c.Kind {
	case column.Int32, column.Uint32:
		shorten(column.View[uint32](c.Data)[at:at+len(w)], w)
	case column.Int16, column.Uint16:
		shorten(column.View[uint16](c.Data)[at:at+len(w)], w)
	case column.Int8, column.Uint8:
		shorten(c.Data[at:at+len(w)], w)
	case column.Float32:
		dst := column.View[float32](c.Data)[at : at+len(w)]
		for i, v := range w {
			dst[i] = float32(math.Float64frombits(v))
		}
	case column.Bool:
		for i, v := range w {
			c.Data[(at+i)>>3] |= byte(v&1) << ((at + i) & 7)
		}
	}
}

func shorten[T uint8 | uint16 | uint32](dst []T, w []uint64) {
	for i, v := range w {
		dst[i] = T(v)
	}
}

// grow gives the text of column i with room for n more bytes.
func (s *sheet) grow(i, n int) []byte {
	d := s.text[i].data
	if cap(d)-len(d) < n {
		next := s.pool.Get(max(len(d)+n, 2*cap(d)))
		copy(next, d)
		s.pool.Put(d)
		d = next[:len(d)]
		s.text[i].data = d
	}
	return d
}

// putBytes appends one value to a Bytes column.
func (s *sheet) putBytes(i, at int, v []byte) {
	d := append(s.grow(i, len(v)), v...)
	s.text[i].data = d
	s.b.Cols[i].Offsets[at+1] = int32(len(d))
}

// keyFillers write the key columns, which are the first from column `first` on.
func keyFillers(l *Layout, first int) []filler {
	switch l.mode {
	case keyWord:
		return []filler{func(s *sheet, at int, t *table, refs []uint32) error {
			s.keyWords(first, at, t, refs, 0)
			return nil
		}}
	case keyPair:
		if len(l.keyCols) == 1 {
			return []filler{func(s *sheet, at int, t *table, refs []uint32) error {
				s.keyDecimals(first, at, t, refs)
				return nil
			}}
		}
		return []filler{func(s *sheet, at int, t *table, refs []uint32) error {
			s.keyWords(first, at, t, refs, 0)
			s.keyWords(first+1, at, t, refs, 1)
			return nil
		}}
	case keyBytes:
		return []filler{func(s *sheet, at int, t *table, refs []uint32) error {
			s.keyStrings(first, at, t, refs)
			return nil
		}}
	}
	return []filler{func(s *sheet, at int, t *table, refs []uint32) error { return s.keyTuples(first, at, t, refs) }}
}

// keyWords writes word i of the keys.
func (s *sheet) keyWords(col, at int, t *table, refs []uint32, i int) {
	c := &s.b.Cols[col]
	w, rows := s.words(c, at, len(refs)), t.rows[i:]
	for j, ref := range refs {
		w[j] = rows[ref]
	}
	s.put(c, at, w)
	s.keyNulls(c, at, t, refs, 1<<i)
}

// keyNulls makes null the keys whose column of that bit is.
func (s *sheet) keyNulls(c *column.Column, at int, t *table, refs []uint32, bit uint8) {
	if len(t.nullSet) == 0 {
		return
	}
	for j, ref := range refs {
		if t.nullSet[ref]&bit != 0 {
			s.null(c, at+j)
		}
	}
}

func (s *sheet) keyDecimals(col, at int, t *table, refs []uint32) {
	c := &s.b.Cols[col]
	dst := column.View[[2]uint64](c.Data)[at:]
	for j, ref := range refs {
		dst[j] = [2]uint64{t.rows[ref], t.rows[ref+1]}
	}
	s.keyNulls(c, at, t, refs, 1)
}

func (s *sheet) keyStrings(col, at int, t *table, refs []uint32) {
	c := &s.b.Cols[col]
	d := s.grow(col, 16*len(refs))
	pos := len(d)
	d = d[:cap(d)]
	off := c.Offsets[at+1 : at+1+len(refs)]
	for j, ref := range refs {
		r := (*[2]uint64)(t.rows[ref:])
		switch tag := r[1] >> 56; tag {
		case longTag:
			key := t.longKey(r[1])
			s.text[col].data = d[:pos]
			d = s.grow(col, len(key)+16*(len(refs)-j))
			d = d[:cap(d)]
			pos += copy(d[pos:], key)
		case nullTag:
			s.null(c, at+j)
		default:
			binary.LittleEndian.PutUint64(d[pos:], r[0])
			binary.LittleEndian.PutUint64(d[pos+8:], r[1])
			pos += int(tag)
		}
		off[j] = int32(pos)
	}
	s.text[col].data = d[:pos]
}

// keyTuples writes all columns of encoded keys.
func (s *sheet) keyTuples(first, at int, t *table, refs []uint32) error {
	var inline [16]byte
	for j, ref := range refs {
		key := t.encodedKey(ref, &inline)
		for i := range t.l.keyCols {
			f, rest, err := keys.Decode(key)
			if err != nil {
				return err
			}
			key = rest
			s.putField(first+i, at+j, f)
		}
	}
	return nil
}

// putField writes a value that was read back.
func (s *sheet) putField(col, at int, f keys.Field) {
	c := &s.b.Cols[col]
	switch {
	case c.Kind == column.Bytes:
		s.putBytes(col, at, f.Bytes)
	case c.Kind == column.Decimal:
		column.View[[2]uint64](c.Data)[at] = [2]uint64{f.Word, f.High}
	case c.Kind.Width() == 8:
		column.View[uint64](c.Data)[at] = f.Word
	default:
		s.one[0] = f.Word
		s.put(c, at, s.one[:])
	}
	if f.Null {
		s.null(c, at)
	}
}

// encodedKey gives the written key of a group.
func (t *table) encodedKey(ref uint32, inline *[16]byte) []byte {
	r := t.rows[ref : ref+2]
	if r[1]>>56 == longTag {
		return t.longKey(r[1])
	}
	binary.LittleEndian.PutUint64(inline[:], r[0])
	binary.LittleEndian.PutUint64(inline[8:], r[1])
	return inline[:r[1]>>56]
}
