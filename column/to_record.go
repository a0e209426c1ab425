package column

import (
	"math"
	"sync/atomic"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// Record gives the rows that are there as an Arrow record that shares the batch's memory and keeps the batch alive
// until it is released. The caller owns it. A dictionary of more values than its code type has numbers (batches with
// different dictionaries were put together) gets 32-bit codes, and the record's schema says so.
func (b *Batch) Record() arrow.RecordBatch {
	src := b.Compact()
	share := &share{batch: src}
	share.left.Store(1)
	cols := make([]arrow.Array, len(src.Cols))
	for i := range cols {
		cols[i] = src.Cols[i].array(src.Rows, share)
	}
	rec := array.NewRecordBatch(schemaOf(src.Schema, cols), cols, int64(src.Rows))
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
	case arrow.DICTIONARY:
		return c.dictionary(n, s)
	case arrow.LARGE_STRING, arrow.LARGE_BINARY:
		wide := make([]int64, n+1)
		for i, o := range c.Offsets[:n+1] {
			wide[i] = int64(o)
		}
		return c.assemble(n, s, memory.NewBufferBytes(BytesOf(wide)), s.buffer(c.Data))
	case arrow.STRING_VIEW, arrow.BINARY_VIEW:
		return c.assemble(n, s, memory.NewBufferBytes(c.views(n)), s.buffer(c.Data))
	}
	if c.Kind.IsNested() {
		return c.nested(n, s)
	}
	if c.Kind == Bytes {
		return c.assemble(n, s, s.buffer(BytesOf(c.Offsets)), s.buffer(c.Data))
	}
	return c.assemble(n, s, s.buffer(c.Data))
}

// assemble makes an array of the column's type and validity out of buffers, which it releases.
func (c *Column) assemble(n int, s *share, bufs ...*memory.Buffer) arrow.Array {
	all := append([]*memory.Buffer{nil}, bufs...)
	if c.Nulls > 0 {
		all[0] = s.buffer(c.Valid)
	}
	d := array.NewData(c.Type, n, all, nil, c.Nulls, 0)
	defer d.Release()
	for _, b := range all {
		if b != nil {
			b.Release()
		}
	}
	return array.MakeFromData(d)
}

// views gives the headers of a view array, which speak of c.Data as its first buffer.
func (c *Column) views(n int) []byte {
	heads := make([]arrow.ViewHeader, n)
	for i := range heads {
		if c.IsNull(i) {
			continue
		}
		v := c.Bytes(i)
		heads[i].SetBytes(v)
		if !heads[i].IsInline() {
			heads[i].SetIndexOffset(0, c.Offsets[i])
		}
	}
	return BytesOf(heads)
}

// dictionary makes a dictionary array: each value that occurs once, in the order of first use.
func (c *Column) dictionary(n int, s *share) arrow.Array {
	typ := c.Type.(*arrow.DictionaryType)
	codes, first := c.codes(n)
	scratch := &Batch{}
	scratch.refs.Store(1)
	plain := *c
	plain.Type = typ.ValueType
	if c.Nulls > 0 {
		plain.Nulls, plain.Valid = 0, nil
	}
	values := Column{}
	Gather(scratch, &values, &plain, first)
	own := &share{batch: scratch}
	own.left.Store(1)
	dict := values.array(len(first), own)
	own.Free(nil)
	defer dict.Release()
	if len(first) > maxCodes(typ.IndexType) {
		typ = &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int32, ValueType: typ.ValueType, Ordered: typ.Ordered}
	}
	var valid *memory.Buffer
	if c.Nulls > 0 {
		valid = s.buffer(c.Valid)
		defer valid.Release()
	}
	index := memory.NewBufferBytes(narrow(codes, typ.IndexType.(arrow.FixedWidthDataType).Bytes()))
	d := array.NewDataWithDictionary(typ, n, []*memory.Buffer{valid, index}, c.Nulls, 0, dict.Data().(*array.Data))
	defer d.Release()
	return array.NewDictionaryData(d)
}

// codes numbers the values of a dictionary column; first is a row of each number. Nulls have number 0.
func (c *Column) codes(n int) (codes []uint32, first []uint32) {
	codes = make([]uint32, n)
	seen := make(map[string]uint32)
	var bit [1]byte
	for i := range n {
		if c.IsNull(i) {
			continue
		}
		var v []byte
		switch w := c.Kind.Width(); {
		case c.Kind == Bytes:
			v = c.Bytes(i)
		case c.Kind == Bool:
			if bit[0] = 0; c.Bool(i) {
				bit[0] = 1
			}
			v = bit[:]
		default:
			v = c.Data[i*w : (i+1)*w]
		}
		code, ok := seen[string(v)]
		if !ok {
			code = uint32(len(first))
			seen[string(v)] = code
			first = append(first, uint32(i))
		}
		codes[i] = code
	}
	return codes, first
}

// maxCodes is how many values a code of that type tells apart.
func maxCodes(t arrow.DataType) int {
	switch t.ID() {
	case arrow.INT8:
		return 1 << 7
	case arrow.UINT8:
		return 1 << 8
	case arrow.INT16:
		return 1 << 15
	case arrow.UINT16:
		return 1 << 16
	}
	return math.MaxInt32
}

// narrow gives codes as little-endian integers of w bytes.
func narrow(codes []uint32, w int) []byte {
	out := make([]byte, len(codes)*w)
	for i, code := range codes {
		for k := range min(w, 4) {
			out[i*w+k] = byte(code >> (8 * k))
		}
	}
	return out
}

// schemaOf gives s, or where an array got another type, a schema with the types of the arrays.
func schemaOf(s *arrow.Schema, cols []arrow.Array) *arrow.Schema {
	var fields []arrow.Field
	for i, c := range cols {
		if !arrow.TypeEqual(s.Field(i).Type, c.DataType()) {
			if fields == nil {
				fields = s.Fields()
			}
			fields[i].Type = c.DataType()
		}
	}
	if fields == nil {
		return s
	}
	meta := s.Metadata()
	return arrow.NewSchema(fields, &meta)
}
