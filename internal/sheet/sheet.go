package sheet

import (
	"math"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/internal/keys"
)

// MaxWords is how many words Words lends.
const MaxWords = 1024

// Sheet is a batch that is being filled, column by column.
type Sheet struct {
	Schema *arrow.Schema
	Pool   *column.Pool
	Size   int // rows of a full batch

	Head *column.Batch // where not nil: batches are derived from it and share the columns whose data it has

	B    *column.Batch // nil until Begin, and after Take
	N    int           // rows filled
	text [][]byte      // of Bytes columns: bytes on loan from the pool
	tmp  [MaxWords]uint64
	one  [1]uint64
}

// Begin makes the next batch.
func (s *Sheet) Begin() {
	if s.Head != nil {
		s.B = s.Head.Derive()
	} else {
		s.B = column.NewBatch(s.Pool, s.Schema, s.Size)
	}
	s.N = 0
	s.text = s.text[:0]
	for i := range s.B.Cols {
		if s.Shared(i) {
			continue
		}
		c := &s.B.Cols[i]
		switch {
		case c.Kind == column.Bytes:
			c.Offsets = column.Alloc[int32](s.B, s.Size+1)
			c.Offsets[0] = 0
			for len(s.text) <= i {
				s.text = append(s.text, nil)
			}
			s.text[i] = s.Pool.Get(32 * s.Size)[:0]
		case c.Kind == column.Bool:
			c.Data = column.AllocZero[byte](s.B, column.BitmapLen(s.Size))
		case c.Kind == column.Decimal:
			c.Data = column.BytesOf(column.Alloc[[2]uint64](s.B, s.Size))
		default:
			c.Data = column.BytesOf(column.Alloc[uint64](s.B, (s.Size*c.Kind.Width()+7)/8))
		}
	}
}

// Shared reports whether column i is one of Head, which nobody fills.
func (s *Sheet) Shared(i int) bool { return s.Head != nil && s.Head.Cols[i].Data != nil }

// Take gives what was filled as a batch that the caller owns, nil where there is nothing.
func (s *Sheet) Take() *column.Batch {
	b := s.B
	if b == nil {
		return nil
	}
	s.B, b.Rows = nil, s.N
	for i := range b.Cols {
		c := &b.Cols[i]
		switch {
		case c.Kind == column.Bytes:
			c.Data, c.Offsets = s.text[i], c.Offsets[:s.N+1]
			b.Adopt(c.Data)
			s.text[i] = nil
		case c.Kind == column.Bool:
			c.Data = c.Data[:column.BitmapLen(s.N)]
		default:
			c.Data = c.Data[:s.N*c.Kind.Width()]
		}
		if c.Valid != nil {
			c.Valid = c.Valid[:column.BitmapLen(s.N)]
		}
	}
	if b.Times != nil {
		b.Times = b.Times[:s.N]
	}
	return b
}

// Null makes row at of a column null.
func (s *Sheet) Null(c *column.Column, at int) {
	if c.Valid == nil {
		c.Valid = column.Alloc[byte](s.B, column.BitmapLen(s.Size))
		for i := range c.Valid {
			c.Valid[i] = 0xFF
		}
	}
	column.ClearBit(c.Valid, at)
	c.Nulls++
}

// Words gives where the words of n rows, at most MaxWords, of a column are best written before Put: the column itself where it is 8 bytes wide.
func (s *Sheet) Words(c *column.Column, at, n int) []uint64 {
	if c.Kind.Width() == 8 {
		return column.View[uint64](c.Data)[at : at+n]
	}
	return s.tmp[:n]
}

// Put writes canonical words as values of the column, unless they were written there (see Words).
func (s *Sheet) Put(c *column.Column, at int, w []uint64) {
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

// Grow gives the text of column i with room for n more bytes.
func (s *Sheet) Grow(i, n int) []byte {
	d := s.text[i]
	if cap(d)-len(d) < n {
		next := s.Pool.Get(max(len(d)+n, 2*cap(d)))
		copy(next, d)
		s.Pool.Put(d)
		d = next[:len(d)]
		s.text[i] = d
	}
	return d
}

// PutBytes appends one value to a Bytes column.
func (s *Sheet) PutBytes(i, at int, v []byte) {
	d := append(s.Grow(i, len(v)), v...)
	s.text[i] = d
	s.B.Cols[i].Offsets[at+1] = int32(len(d))
}

// PutField writes a value that was read back.
func (s *Sheet) PutField(col, at int, f keys.Field) {
	c := &s.B.Cols[col]
	switch {
	case c.Kind == column.Bytes:
		s.PutBytes(col, at, f.Bytes)
	case c.Kind == column.Decimal:
		column.View[[2]uint64](c.Data)[at] = [2]uint64{f.Word, f.High}
	case c.Kind.Width() == 8:
		column.View[uint64](c.Data)[at] = f.Word
	default:
		s.one[0] = f.Word
		s.Put(c, at, s.one[:])
	}
	if f.Null {
		s.Null(c, at)
	}
}

// Texts reports whether there are Bytes columns, and how many bytes the longest of them holds.
func (s *Sheet) Texts() (bytes int, some bool) {
	for _, d := range s.text {
		bytes = max(bytes, len(d))
	}
	return bytes, len(s.text) > 0
}

// SetText gives column i its text back after a Grow, with what was written behind it.
func (s *Sheet) SetText(i int, text []byte) { s.text[i] = text }
