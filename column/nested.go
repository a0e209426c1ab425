package column

import (
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// Columns of lists and structs hold their values in Children: columns of their own, without a schema. They pass through every
// operator that does not look into them; keys, expressions and aggregates take none.
//
//   - List (also of maps, which are lists of structs of a key and a value): value i is Children[0][Offsets[i]:Offsets[i+1]].
//   - Struct: a child for each field, with a value for each row; under a null it is undefined.

// IsNested reports whether values of the kind consist of others.
func (k Kind) IsNested() bool { return k == List || k == Struct }

// childTypes gives the types of the children of a nested type.
func childTypes(t arrow.DataType) []arrow.DataType {
	switch x := t.(type) {
	case *arrow.StructType:
		out := make([]arrow.DataType, x.NumFields())
		for i := range out {
			out[i] = x.Field(i).Type
		}
		return out
	case *arrow.MapType:
		return []arrow.DataType{x.Elem()}
	case arrow.ListLikeType:
		return []arrow.DataType{x.Elem()}
	}
	return nil
}

// CheckType reports why no column can be of a type, nil where one can.
func CheckType(t arrow.DataType) error {
	k := KindOf(t)
	if k == Invalid {
		return fmt.Errorf("type %s is not supported", t)
	}
	if !k.IsNested() {
		return nil
	}
	for _, c := range childTypes(t) {
		if c.ID() == arrow.DICTIONARY {
			return fmt.Errorf("type %s is not supported: a nested column holds no dictionary", t)
		}
		if err := CheckType(c); err != nil {
			return err
		}
	}
	return nil
}

// makeChildren gives c empty children.
func (c *Column) makeChildren() {
	types := childTypes(c.Type)
	c.Children = make([]Column, len(types))
	for i, t := range types {
		c.Children[i] = Column{Type: t, Kind: KindOf(t)}
	}
}

// NullColumn makes a column of n nulls in memory of b.
func (b *Batch) NullColumn(t arrow.DataType, n int) Column {
	c := Column{Type: t, Kind: KindOf(t)}
	b.allNull(&c, n, AllocZero[byte](b, BitmapLen(n)))
	return c
}

// gatherNested is Gather for lists and structs.
func gatherNested(out *Batch, dst, src *Column, rows []uint32) {
	dst.makeChildren()
	if src.Kind == Struct {
		for i := range dst.Children {
			Gather(out, &dst.Children[i], &src.Children[i], rows)
		}
		return
	}
	off := Alloc[int32](out, len(rows)+1)
	total := int32(0)
	off[0] = 0
	for i, r := range rows {
		total += src.Offsets[r+1] - src.Offsets[r]
		off[i+1] = total
	}
	buf := out.pool.Get(4 * int(total))
	inner := View[uint32](buf)[:0]
	for _, r := range rows {
		for k := src.Offsets[r]; k < src.Offsets[r+1]; k++ {
			inner = append(inner, uint32(k))
		}
	}
	Gather(out, &dst.Children[0], &src.Children[0], inner)
	out.pool.Put(buf)
	dst.Offsets = off
}

// sliceNested is sliceColumn for lists and structs.
func (b *Batch) sliceNested(c *Column, from, to int) {
	if c.Kind == List {
		c.Offsets = c.Offsets[from : to+1]
		return
	}
	c.Children = append([]Column(nil), c.Children...)
	for i := range c.Children {
		b.sliceColumn(&c.Children[i], from, to)
	}
}

// viewNested makes c show the values of an array of lists or structs.
func (b *Batch) viewNested(c *Column, a arrow.Array) error {
	c.makeChildren()
	if s, ok := a.(*array.Struct); ok {
		for i := range c.Children {
			if err := b.view(&c.Children[i], s.Field(i)); err != nil {
				return err
			}
		}
		return nil
	}
	l, ok := a.(array.ListLike)
	if !ok {
		return fmt.Errorf("type %s is not supported", a.DataType())
	}
	n := a.Len()
	if large, ok := a.(*array.LargeList); ok {
		off := Alloc[int32](b, n+1)
		off[0] = 0
		for i := range n {
			from, to := large.ValueOffsets(i)
			if to > 1<<31-1 {
				return ErrTooLarge
			}
			off[i], off[i+1] = int32(from), int32(to)
		}
		c.Offsets = off
	} else if c.Offsets = []int32{0}; n > 0 {
		d := a.Data()
		c.Offsets = View[int32](b.aligned(d.Buffers()[1].Bytes(), 4))[d.Offset() : d.Offset()+n+1]
	}
	return b.view(&c.Children[0], l.ListValues())
}

// nested gives a column of lists or structs as an Arrow array.
func (c *Column) nested(n int, s *share) arrow.Array {
	bufs := []*memory.Buffer{nil}
	if c.Nulls > 0 {
		bufs[0] = s.buffer(c.Valid)
	}
	inner := n
	switch {
	case c.Type.ID() == arrow.LARGE_LIST:
		wide := make([]int64, n+1)
		for i, o := range c.Offsets[:n+1] {
			wide[i] = int64(o)
		}
		bufs = append(bufs, memory.NewBufferBytes(BytesOf(wide)))
	case c.Kind == List:
		bufs = append(bufs, s.buffer(BytesOf(c.Offsets[:n+1])))
	}
	if c.Kind == List {
		inner = int(c.Offsets[n])
	}
	children := make([]arrow.ArrayData, len(c.Children))
	for i := range children {
		a := c.Children[i].array(inner, s)
		defer a.Release()
		children[i] = a.Data()
	}
	d := array.NewData(c.Type, n, bufs, children, c.Nulls, 0)
	defer d.Release()
	for _, b := range bufs {
		if b != nil {
			b.Release()
		}
	}
	return array.MakeFromData(d)
}

// Cell gives value i of a column as a plain Go value: nil, bool, int64, uint64, float64, a string, bytes (copied), the two words of
// a decimal, []any for a list, map[string]any for a struct, and for a map by the text of its keys. scalar is asked for values that are
// not nested.
func (c *Column) Cell(i int, scalar func(c *Column, i int) any) any {
	switch {
	case c.IsNull(i):
		return nil
	case c.Kind == Struct:
		t := c.Type.(*arrow.StructType)
		out := make(map[string]any, len(c.Children))
		for k := range c.Children {
			out[t.Field(k).Name] = c.Children[k].Cell(i, scalar)
		}
		return out
	case c.Type.ID() == arrow.MAP:
		out := make(map[string]any, c.Offsets[i+1]-c.Offsets[i])
		entries := &c.Children[0]
		for k := int(c.Offsets[i]); k < int(c.Offsets[i+1]); k++ {
			out[fmt.Sprint(entries.Children[0].Cell(k, scalar))] = entries.Children[1].Cell(k, scalar)
		}
		return out
	case c.Kind == List:
		out := make([]any, 0, c.Offsets[i+1]-c.Offsets[i])
		for k := c.Offsets[i]; k < c.Offsets[i+1]; k++ {
			out = append(out, c.Children[0].Cell(int(k), scalar))
		}
		return out
	}
	return scalar(c, i)
}
