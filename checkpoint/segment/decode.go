package segment

import (
	"encoding/binary"
	"fmt"
	"unsafe"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/internal/flatwalk"
)

// messageHead is what stands before the description of a message: the mark of a message and the length of the description.
const messageHead = 8

// endOfStream is the last message of a stream.
const endOfStream = "\xFF\xFF\xFF\xFF\x00\x00\x00\x00"

// cutMessage takes the description of a message from the beginning of a stream.
func cutMessage(b []byte) (message, rest []byte, ok bool) {
	if len(b) < messageHead || binary.LittleEndian.Uint32(b) != 0xFFFFFFFF {
		return nil, nil, false
	}
	n := int64(binary.LittleEndian.Uint32(b[4:]))
	if n < 8 || n%8 != 0 || n > int64(len(b)-messageHead) {
		return nil, nil, false
	}
	end := messageHead + int(n)
	return b[messageHead:end], b[end:], true
}

// lastSchema is the schema of the tables of the stream that was read last, which is most often that of the next.
type lastSchema struct {
	message string
	schema  *arrow.Schema
	types   []arrow.DataType // by which the stream has the columns
}

// decode reads an Arrow stream of one record batch as columns that view its memory. The first is the key group, the others are those of the schema
// that is in last then.
func decode(raw []byte, rows int, last *lastSchema) (cols []column.Column, err error) {
	message, rest, ok := cutMessage(raw)
	if !ok {
		return nil, damaged("the stream does not begin with a schema")
	}
	if last.message != string(message) {
		s, types, err := tableSchema(raw[:messageHead+len(message)])
		if err != nil {
			return nil, err
		}
		*last = lastSchema{string(message), s, types}
	}
	schema := last.schema
	if message, rest, ok = cutMessage(rest); !ok {
		return nil, damaged("the stream has no record batch")
	}
	d := newBatchReader(message)
	if d.bad || d.rows != int64(rows) || d.size > int64(len(rest)) {
		return nil, damaged("a record batch of %d rows in %d bytes, want %d rows in at most %d", d.rows, d.size, rows, len(rest))
	}
	if d.body = rest[:d.size]; string(rest[d.size:]) != endOfStream {
		return nil, damaged("the stream goes on behind its record batch")
	}
	cols = make([]column.Column, 1+schema.NumFields())
	for i := range cols {
		name, typ := groupName, arrow.PrimitiveTypes.Uint16
		if i > 0 {
			name, typ = schema.Field(i-1).Name, last.types[i-1]
		}
		err := d.column(&cols[i], typ, rows)
		if err == nil {
			err = verify(&cols[i], typ, rows, true)
		}
		if err != nil {
			return nil, damaged("column %q: %w", name, err)
		}
		if i > 0 && typ != schema.Field(i-1).Type {
			widen(&cols[i], schema.Field(i-1).Type)
		}
	}
	if cols[0].Nulls > 0 || d.nodes.Len() > 0 || d.buffers.Len() > 0 {
		return nil, damaged("the record batch is of another schema")
	}
	return cols, nil
}

// batchReader takes the columns of a record batch one after the other.
type batchReader struct {
	rows, size     int64 // size of the body in bytes
	body           []byte
	nodes, buffers flatwalk.Pairs
	bad            bool
}

func newBatchReader(message []byte) *batchReader {
	m, err := flatwalk.Read(message)
	return &batchReader{rows: m.Rows, size: m.Body, nodes: m.Nodes, buffers: m.Buffers, bad: err != nil || m.Kind != ipc.MessageRecordBatch || m.Compressed}
}

// next gives the next pair of a vector.
func (d *batchReader) next(p *flatwalk.Pairs) (a, b int64, err error) {
	a, b, ok := p.Next()
	if !ok {
		err = fmt.Errorf("the record batch is of another schema")
	}
	return a, b, err
}

// buffer gives the first n bytes of the next buffer, aligned for values of that width; all of it where n is negative.
func (d *batchReader) buffer(n, width int) ([]byte, error) {
	at, size, err := d.next(&d.buffers)
	switch {
	case err != nil:
		return nil, err
	case at < 0 || size < 0 || at > int64(len(d.body)) || size > int64(len(d.body))-at:
		return nil, fmt.Errorf("a buffer of %d bytes at %d of %d", size, at, len(d.body))
	case int64(n) > size:
		return nil, fmt.Errorf("%d bytes of values, %d are needed", size, n)
	case n < 0:
		n = int(size)
	}
	v := d.body[at : at+int64(n) : at+int64(n)]
	if width > 1 && uintptr(unsafe.Pointer(unsafe.SliceData(v)))%uintptr(width) != 0 {
		return nil, fmt.Errorf("a buffer at %d, which is no multiple of %d", at, width)
	}
	return v, nil
}

// column reads the next column, of that many rows.
func (d *batchReader) column(c *column.Column, t arrow.DataType, rows int) error {
	length, nulls, err := d.next(&d.nodes)
	if err != nil {
		return err
	}
	if length != int64(rows) || nulls < 0 || nulls > length {
		return fmt.Errorf("%d values with %d nulls in %d rows", length, nulls, rows)
	}
	*c = column.Column{Type: t, Kind: column.KindOf(t), Nulls: int(nulls)}
	bitmap := 0
	if nulls > 0 {
		bitmap = column.BitmapLen(rows)
	}
	valid, err := d.buffer(bitmap, 1)
	if err != nil {
		return err
	}
	if nulls > 0 {
		c.Valid = valid
	}
	switch c.Kind {
	case column.Bool:
		c.Data, err = d.buffer(column.BitmapLen(rows), 1)
	case column.Bytes:
		if err = d.offsets(c, rows); err == nil {
			c.Data, err = d.buffer(-1, 1)
		}
	case column.List:
		if err = d.offsets(c, rows); err == nil {
			err = d.children(c, -1)
		}
	case column.Struct:
		err = d.children(c, rows)
	default:
		w := c.Kind.Width()
		c.Data, err = d.buffer(rows*w, min(w, 8))
	}
	return err
}

func (d *batchReader) offsets(c *column.Column, rows int) error {
	if rows == 0 {
		c.Offsets = []int32{0}
		_, err := d.buffer(0, 1)
		return err
	}
	b, err := d.buffer(4*(rows+1), 4)
	c.Offsets = column.View[int32](b)
	return err
}

// children reads the children of a column, of that many values; where rows is negative, of a list, they say how many.
func (d *batchReader) children(c *column.Column, rows int) error {
	types := childTypes(c.Type)
	c.Children = make([]column.Column, len(types))
	if rows < 0 {
		ahead := d.nodes
		length, _, err := d.next(&ahead)
		if err != nil {
			return err
		}
		if rows = int(c.Offsets[len(c.Offsets)-1]); length != int64(rows) {
			return fmt.Errorf("lists of %d values together, there are %d", rows, length)
		}
	}
	for i := range types {
		if err := d.column(&c.Children[i], types[i], rows); err != nil {
			return fmt.Errorf("child %d: %w", i, err)
		}
	}
	return nil
}
