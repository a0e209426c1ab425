package column

import (
	"errors"
	"fmt"
	"math"
	"unsafe"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
)

// ErrTooLarge says that a column has more string bytes than one batch holds (2 GiB): cut the record into smaller ones.
var ErrTooLarge = errors.New("more than 2 GiB of string data in one column: cut the record into smaller ones")

// FromRecord views an Arrow record as a batch, without copying fixed-width values and plain strings. The batch
// holds a reference to the record until it is released. Slices, dictionaries, views and large strings are understood. A damaged record may
// make it panic; it then holds nothing.
func FromRecord(p *Pool, rec arrow.RecordBatch) (*Batch, error) {
	if err := CheckSchema(rec.Schema()); err != nil {
		return nil, err
	}
	b := NewBatch(p, rec.Schema(), int(rec.NumRows()))
	rec.Retain()
	b.OnRelease(rec.Release)
	whole := false
	defer func() {
		if !whole {
			b.Release()
		}
	}()
	for i := range b.Cols {
		a := rec.Column(i)
		if a.Len() != b.Rows {
			return nil, fmt.Errorf("column %q has %d values in a record of %d rows", rec.ColumnName(i), a.Len(), rec.NumRows())
		}
		if err := b.view(&b.Cols[i], a); err != nil {
			return nil, fmt.Errorf("column %q: %w", rec.ColumnName(i), err)
		}
	}
	whole = true
	return b, nil
}

// view makes c show the values of an array.
func (b *Batch) view(c *Column, a arrow.Array) error {
	d := a.Data()
	if c.Nulls = a.NullN(); c.Nulls > 0 {
		c.Valid = b.alignBits(d.Buffers()[0].Bytes(), d.Offset(), a.Len())
	}
	switch x := a.(type) {
	case *array.Dictionary:
		return b.decode(c, x)
	case *array.LargeString:
		return b.copyBytes(c, a.Len(), a.IsNull, x.Value)
	case *array.LargeBinary:
		return b.copyBytes(c, a.Len(), a.IsNull, x.ValueString)
	case *array.StringView:
		return b.copyBytes(c, a.Len(), a.IsNull, x.Value)
	case *array.BinaryView:
		return b.copyBytes(c, a.Len(), a.IsNull, x.ValueString)
	}
	switch {
	case c.Kind.IsNested():
		return b.viewNested(c, a)
	case c.Kind == Bytes:
		c.Offsets, c.Data = []int32{0}, nil
		if a.Len() > 0 {
			c.Offsets = View[int32](b.aligned(d.Buffers()[1].Bytes(), 4))[d.Offset() : d.Offset()+a.Len()+1]
			if d.Buffers()[2] != nil {
				c.Data = d.Buffers()[2].Bytes()
			}
		}
	case a.Len() == 0:
	case c.Kind == Bool:
		c.Data = b.alignBits(d.Buffers()[1].Bytes(), d.Offset(), a.Len())
	default:
		w := c.Kind.Width()
		c.Data = b.aligned(d.Buffers()[1].Bytes()[d.Offset()*w:(d.Offset()+a.Len())*w], min(w, 8))
	}
	return nil
}

// aligned gives v, or a copy of it where it does not begin at a multiple of w in memory, as typed views need it.
func (b *Batch) aligned(v []byte, w int) []byte {
	if uintptr(unsafe.Pointer(unsafe.SliceData(v)))%uintptr(w) == 0 {
		return v
	}
	c := Alloc[byte](b, len(v))
	copy(c, v)
	return c
}

// alignBits gives n bits from an offset as a bitmap that begins at its first bit.
func (b *Batch) alignBits(src []byte, offset, n int) []byte {
	if offset%8 == 0 {
		return src[offset/8 : offset/8+BitmapLen(n)]
	}
	dst := AllocZero[byte](b, BitmapLen(n))
	for i := range n {
		if Bit(src, offset+i) {
			SetBit(dst, i)
		}
	}
	return dst
}

func (b *Batch) copyBytes(c *Column, n int, null func(int) bool, value func(int) string) error {
	total := 0
	for i := range n {
		if !null(i) {
			total += len(value(i))
		}
	}
	if total > math.MaxInt32 {
		return ErrTooLarge
	}
	off, data := Alloc[int32](b, n+1), Alloc[byte](b, total)[:0]
	off[0] = 0
	for i := range n {
		if !null(i) {
			data = append(data, value(i)...)
		}
		off[i+1] = int32(len(data))
	}
	c.Offsets, c.Data = off, data
	return nil
}

// decode replaces codes by values: each batch has its own dictionary, so codes mean nothing across batches.
// A null in the dictionary itself is a null of the column.
func (b *Batch) decode(c *Column, a *array.Dictionary) error {
	n, size := a.Len(), a.Dictionary().Len()
	typ := c.Type
	values := &Column{Type: a.Dictionary().DataType(), Kind: c.Kind}
	if err := b.view(values, a.Dictionary()); err != nil {
		return err
	}
	codes := Alloc[uint32](b, n)
	valid := AllocZero[byte](b, BitmapLen(n))
	nulls, total := 0, 0
	for i := range n {
		codes[i] = 0
		if a.IsNull(i) {
			nulls++
			continue
		}
		code := a.GetValueIndex(i)
		if code < 0 || code >= size {
			return fmt.Errorf("row %d: dictionary code %d of %d values", i, code, size)
		}
		if values.IsNull(code) {
			nulls++
			continue
		}
		codes[i] = uint32(code)
		SetBit(valid, i)
		if c.Kind == Bytes {
			total += len(values.Bytes(code))
		}
	}
	if nulls == n {
		b.allNull(c, n, valid)
		return nil
	}
	if c.Kind == Bytes && nulls > 0 { // nulls take value 0's bytes with them
		total += nulls * len(values.Bytes(0))
	}
	if total > math.MaxInt32 {
		return ErrTooLarge
	}
	Gather(b, c, values, codes)
	c.Type, c.Nulls, c.Valid = typ, nulls, nil
	if nulls > 0 {
		c.Valid = valid
	}
	return nil
}

// allNull makes c n nulls; valid is a bitmap of n zeros.
func (b *Batch) allNull(c *Column, n int, valid []byte) {
	if c.Nulls = n; n > 0 {
		c.Valid = valid
	}
	switch c.Kind {
	case Bool:
		c.Data = AllocZero[byte](b, BitmapLen(n))
	case Bytes:
		c.Offsets = AllocZero[int32](b, n+1)
	case List:
		c.Offsets = AllocZero[int32](b, n+1)
		c.makeChildren()
		b.allNull(&c.Children[0], 0, nil)
	case Struct:
		c.makeChildren()
		for i := range c.Children {
			b.allNull(&c.Children[i], n, valid)
		}
	default:
		c.Data = AllocZero[byte](b, n*c.Kind.Width())
	}
}
