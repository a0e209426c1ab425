package segment

import (
	"errors"
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/arkflow-go/arkflow/column"
)

// childTypes gives the types of the children of a nested type that column.CheckType accepts.
func childTypes(t arrow.DataType) []arrow.DataType {
	switch x := t.(type) {
	case *arrow.StructType:
		out := make([]arrow.DataType, x.NumFields())
		for i := range out {
			out[i] = x.Field(i).Type
		}
		return out
	case arrow.ListLikeType: // a map is a list of structs
		return []arrow.DataType{x.Elem()}
	}
	return nil
}

// verify says why a column does not hold so many values of a type: nothing that reads them reaches beyond its memory. Of the children of a list, of
// which some rows are taken, the number of nulls is that of all; with exact they have no others.
func verify(c *column.Column, t arrow.DataType, rows int, exact bool) error {
	if c.Kind != column.KindOf(t) {
		return fmt.Errorf("values of kind %s, the type %s has %s", c.Kind, t, column.KindOf(t))
	}
	if c.Nulls > 0 || c.Valid != nil {
		if len(c.Valid) < column.BitmapLen(rows) {
			return errors.New("the bitmap of nulls is too short")
		}
		if n := column.CountZeros(c.Valid, rows); n > c.Nulls || exact && n < c.Nulls {
			return fmt.Errorf("%d nulls, %d are told", n, c.Nulls)
		}
	}
	need := column.BitmapLen(rows)
	switch c.Kind {
	case column.Bool:
	case column.Bytes:
		_, err := verifyOffsets(c.Offsets, rows, len(c.Data))
		return err
	case column.List, column.Struct:
		return verifyChildren(c, t, rows, exact)
	default:
		need = rows * c.Kind.Width()
	}
	if len(c.Data) < need {
		return fmt.Errorf("%d bytes of values, %d are needed", len(c.Data), need)
	}
	return nil
}

func verifyChildren(c *column.Column, t arrow.DataType, rows int, exact bool) error {
	types := childTypes(t)
	if len(c.Children) != len(types) {
		return fmt.Errorf("%d children, the type %s has %d", len(c.Children), t, len(types))
	}
	if c.Kind == column.List {
		end, err := verifyOffsets(c.Offsets, rows, -1)
		if err != nil {
			return err
		}
		rows = end
	}
	for i := range types {
		if err := verify(&c.Children[i], types[i], rows, exact); err != nil {
			return fmt.Errorf("child %d: %w", i, err)
		}
	}
	return nil
}

// verifyOffsets checks that offsets begin at 0 or above, never fall, and end within size, where it is not negative. It gives the end.
func verifyOffsets(offsets []int32, rows, size int) (end int, err error) {
	if len(offsets) <= rows {
		return 0, fmt.Errorf("%d offsets for %d rows", len(offsets), rows)
	}
	last, falls := offsets[0], int32(0)
	if last < 0 {
		return 0, fmt.Errorf("offset %d", last)
	}
	for _, o := range offsets[1 : rows+1] {
		falls |= o - last // negative where o falls: both are >= 0 up to the first that is not
		falls |= o
		last = o
	}
	if falls < 0 {
		return 0, errors.New("offsets fall")
	}
	if size >= 0 && int(last) > size {
		return 0, fmt.Errorf("offset %d of %d bytes", last, size)
	}
	return int(last), nil
}

// sizeOf is the number of bytes that the values from <= i < to have in a stream, but for padding.
func sizeOf(c *column.Column, from, to int) int {
	n := 0
	if c.Nulls > 0 {
		n = column.BitmapLen(to - from)
	}
	switch c.Kind {
	case column.Bool:
		return n + column.BitmapLen(to-from)
	case column.Bytes:
		return n + 4*(to-from+1) + int(c.Offsets[to]-c.Offsets[from])
	case column.List:
		return n + 4*(to-from+1) + sizeOf(&c.Children[0], int(c.Offsets[from]), int(c.Offsets[to]))
	case column.Struct:
		for i := range c.Children {
			n += sizeOf(&c.Children[i], from, to)
		}
		return n
	}
	return n + (to-from)*c.Kind.Width()
}

// groupsOf gives the least and the greatest of key groups, of which there is at least one.
func groupsOf(groups []uint16) (least, most uint16) {
	least, most = groups[0], groups[0]
	for _, g := range groups[1:] {
		least, most = min(least, g), max(most, g)
	}
	return least, most
}
