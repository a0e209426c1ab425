package column

import (
	"errors"
	"fmt"
	"math"
	"sync/atomic"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// ErrTooLarge says that a column has more string bytes than one batch holds (2 GiB): cut the record into smaller ones.
var ErrTooLarge = errors.New("more than 2 GiB of string data in one column: cut the record into smaller ones")

// FromRecord views an Arrow record as a batch, without copying fixed-width values and plain strings. The batch
// holds a reference to the record until it is released. Slices, dictionaries, views and large strings are understood.
func FromRecord(p *Pool, rec arrow.RecordBatch) (*Batch, error) {
	if err := CheckSchema(rec.Schema()); err != nil {
		return nil, err
	}
	b := NewBatch(p, rec.Schema(), int(rec.NumRows()))
	rec.Retain()
	b.OnRelease(rec.Release)
	for i := range b.Cols {
		a := rec.Column(i)
		if a.Len() != b.Rows {
			b.Release()
			return nil, fmt.Errorf("column %q has %d values in a record of %d rows", rec.ColumnName(i), a.Len(), rec.NumRows())
		}
		if err := b.view(&b.Cols[i], a); err != nil {
			b.Release()
			return nil, fmt.Errorf("column %q: %w", rec.ColumnName(i), err)
		}
	}
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
	case c.Kind == Bytes:
		c.Offsets, c.Data = []int32{0}, nil
		if a.Len() > 0 {
			c.Offsets = View[int32](d.Buffers()[1].Bytes())[d.Offset() : d.Offset()+a.Len()+1]
			if d.Buffers()[2] != nil {
				c.Data = d.Buffers()[2].Bytes()
			}
		}
	case a.Len() == 0:
	case c.Kind == Bool:
		c.Data = b.alignBits(d.Buffers()[1].Bytes(), d.Offset(), a.Len())
	default:
		w := c.Kind.Width()
		c.Data = d.Buffers()[1].Bytes()[d.Offset()*w : (d.Offset()+a.Len())*w]
	}
	return nil
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
	values := &Column{Type: a.Dictionary().DataType(), Kind: KindOf(a.Dictionary().DataType())}
	if err := b.view(values, a.Dictionary()); err != nil {
		return err
	}
	var ap Appender
	ap.init(b.pool, c.Type)
	one := []uint32{0}
	total := 0
	for i := range a.Len() {
		if a.IsNull(i) {
			ap.Null()
			continue
		}
		code := a.GetValueIndex(i)
		if code < 0 || code >= a.Dictionary().Len() {
			ap.finish(b, c)
			return fmt.Errorf("row %d: dictionary code %d of %d values", i, code, a.Dictionary().Len())
		}
		if values.Kind == Bytes {
			if total += len(values.Bytes(code)); total > math.MaxInt32 {
				ap.finish(b, c)
				return ErrTooLarge
			}
		}
		one[0] = uint32(code)
		ap.appendRows(values, one)
	}
	typ := c.Type
	ap.finish(b, c)
	c.Type = typ
	return nil
}

// Record gives the rows that are there as an Arrow record that shares the batch's memory and keeps the batch alive
// until it is released. The caller owns it.
func (b *Batch) Record() arrow.RecordBatch {
	src := b.Compact()
	share := &share{batch: src}
	share.left.Store(1)
	cols := make([]arrow.Array, len(src.Cols))
	for i := range cols {
		cols[i] = src.Cols[i].array(src.Rows, share)
	}
	rec := array.NewRecordBatch(src.Schema, cols, int64(src.Rows))
	for _, c := range cols {
		c.Release()
	}
	share.Free(nil)
	return rec
}

// share is the allocator behind the buffers of a record: when the last is freed the batch is released.
type share struct {
	batch *Batch
	left  atomic.Int32
}

func (s *share) Allocate(size int) []byte { return make([]byte, size) }
func (s *share) Reallocate(size int, b []byte) []byte {
	return append(make([]byte, 0, size), b...)[:size]
}
func (s *share) Free([]byte) {
	if s.left.Add(-1) == 0 {
		s.batch.Release()
	}
}

func (s *share) buffer(v []byte) *memory.Buffer {
	s.left.Add(1)
	return memory.NewBufferWithAllocator(v, s)
}

// array gives the column as an Arrow array of its own type.
func (c *Column) array(n int, s *share) arrow.Array {
	switch c.Type.ID() {
	case arrow.LARGE_STRING, arrow.LARGE_BINARY, arrow.STRING_VIEW, arrow.BINARY_VIEW, arrow.DICTIONARY:
		return c.rebuild(n)
	}
	bufs := []*memory.Buffer{nil, s.buffer(c.Data)}
	if c.Nulls > 0 {
		bufs[0] = s.buffer(c.Valid)
	}
	if c.Kind == Bytes {
		bufs = []*memory.Buffer{bufs[0], s.buffer(BytesOf(c.Offsets)), bufs[1]}
	}
	d := array.NewData(c.Type, n, bufs, nil, c.Nulls, 0)
	for _, b := range bufs {
		if b != nil {
			b.Release()
		}
	}
	defer d.Release()
	return array.MakeFromData(d)
}

// rebuild makes the array of a type whose layout is not ours.
func (c *Column) rebuild(n int) arrow.Array {
	b := array.NewBuilder(memory.DefaultAllocator, c.Type)
	defer b.Release()
	for i := range n {
		if c.IsNull(i) {
			b.AppendNull()
			continue
		}
		switch x := b.(type) {
		case *array.LargeStringBuilder:
			x.Append(c.String(i))
		case *array.StringViewBuilder:
			x.Append(c.String(i))
		case *array.BinaryViewBuilder:
			x.Append(c.Bytes(i))
		case *array.BinaryBuilder:
			x.Append(c.Bytes(i))
		case *array.BinaryDictionaryBuilder:
			if err := x.Append(c.Bytes(i)); err != nil {
				x.AppendNull()
			}
		default:
			if err := b.AppendValueFromString(c.text(i)); err != nil {
				b.AppendNull()
			}
		}
	}
	return b.NewArray()
}

// text gives a value of a dictionary of numbers in the form that Arrow's builders parse.
func (c *Column) text(i int) string {
	v := *c
	if dt, ok := c.Type.(*arrow.DictionaryType); ok {
		v.Type = dt.ValueType
	}
	sh := &share{batch: &Batch{}}
	sh.left.Store(1 << 20)
	a := v.array(i+1, sh)
	defer a.Release()
	return a.ValueStr(i)
}
