package structmap

import (
	"fmt"
	"reflect"
	"strings"
	"time"
	"unsafe"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/internal/fault"
)

// readValue stores the value of a row at dst.
type readValue func(c *column.Column, row int, dst unsafe.Pointer) error

// nestedBinder compiles how nested values of one field are read.
type nestedBinder struct {
	owner  reflect.Type // the struct that is filled
	column string       // of the schema
	faults *fault.List
}

func (b *nestedBinder) fault(path, hint, format string, args ...any) readValue {
	b.faults.Add(&fault.Fault{Path: fmt.Sprintf("field %q of %s", path, b.owner), Problem: fmt.Sprintf(format, args...), Hint: hint})
	return nil
}

// value compiles the reading of a field, with what becomes of nulls.
func (b *nestedBinder) value(f *field, t arrow.DataType, path string) readValue {
	read := b.present(f, t, path)
	if read == nil {
		return nil
	}
	size := f.typ.Size()
	return func(c *column.Column, row int, dst unsafe.Pointer) error {
		switch null := c.IsNull(row); {
		case null && f.pointer:
			*(*unsafe.Pointer)(dst) = nil
			return nil
		case null && f.nullable():
			reflect.NewAt(f.typ, dst).Elem().SetZero()
			return nil
		case null:
			return &ValueError{Column: b.column, Field: path, Problem: "is null; make the field a pointer to take nulls"}
		case f.pointer && size > 0:
			p := reflect.New(f.typ).UnsafePointer()
			*(*unsafe.Pointer)(dst) = p
			dst = p
		}
		return read(c, row, dst)
	}
}

// present compiles the reading of values that are not null into the pointed-to type.
func (b *nestedBinder) present(f *field, t arrow.DataType, path string) readValue {
	if f.class != nested {
		st := &step{field: *f}
		st.column, st.path = b.column, path
		if why, hint := st.match(t); why != "" {
			return b.fault(path, hint, "column %q holds %s here, the field has type %s: %s", b.column, t, f.goType(), why)
		}
		return st.readOne
	}
	n := f.value
	switch {
	case n.fields != nil:
		return b.object(n, t, path)
	case n.key != nil:
		return b.entries(n, t, path)
	}
	l, ok := t.(arrow.ListLikeType)
	if !ok || t.ID() == arrow.MAP || column.KindOf(t) != column.List {
		return b.fault(path, "", "column %q holds %s here, the field has type %s: the one is never the other", b.column, t, n.typ)
	}
	elem := b.value(n.elem, l.Elem(), path+"[]")
	if elem == nil {
		return nil
	}
	stride := n.typ.Elem().Size()
	return func(c *column.Column, row int, dst unsafe.Pointer) error {
		from, to := int(c.Offsets[row]), int(c.Offsets[row+1])
		list := reflect.MakeSlice(n.typ, to-from, to-from)
		base := list.UnsafePointer()
		for k := from; k < to; k++ {
			if err := elem(&c.Children[0], k, unsafe.Add(base, uintptr(k-from)*stride)); err != nil {
				return err
			}
		}
		reflect.NewAt(n.typ, dst).Elem().Set(list)
		return nil
	}
}

func (b *nestedBinder) object(n *nestedType, t arrow.DataType, path string) readValue {
	s, ok := t.(*arrow.StructType)
	if !ok {
		return b.fault(path, "", "column %q holds %s here, the field has type %s: the one is never the other", b.column, t, n.typ)
	}
	names := make([]string, s.NumFields())
	for i := range names {
		names[i] = s.Field(i).Name
	}
	type part struct {
		child  int
		offset uintptr
		read   readValue
	}
	var parts []part
	whole := true
	for i := range n.fields {
		f := &n.fields[i]
		at, found := s.FieldIdx(f.column)
		if !found {
			u := fault.Unknown("field", f.column, names)
			b.fault(path+"."+f.path, u.Hint, "%s in column %q", u.Problem, b.column)
			whole = false
			continue
		}
		read := b.value(f, s.Field(at).Type, path+"."+f.path)
		whole = whole && read != nil
		parts = append(parts, part{at, f.offset, read})
	}
	if !whole {
		return nil
	}
	return func(c *column.Column, row int, dst unsafe.Pointer) error {
		for i := range parts {
			p := &parts[i]
			if err := p.read(&c.Children[p.child], row, unsafe.Add(dst, p.offset)); err != nil {
				return err
			}
		}
		return nil
	}
}

func (b *nestedBinder) entries(n *nestedType, t arrow.DataType, path string) readValue {
	m, ok := t.(*arrow.MapType)
	if !ok {
		return b.fault(path, "", "column %q holds %s here, the field has type %s: the one is never the other", b.column, t, n.typ)
	}
	key, value := b.value(n.key, m.KeyType(), path+"[key]"), b.value(n.elem, m.ItemType(), path+"[]")
	if key == nil || value == nil {
		return nil
	}
	return func(c *column.Column, row int, dst unsafe.Pointer) error {
		from, to := int(c.Offsets[row]), int(c.Offsets[row+1])
		out := reflect.MakeMapWithSize(n.typ, to-from)
		k := reflect.New(n.typ.Key())
		for i := from; i < to; i++ {
			v := reflect.New(n.typ.Elem())
			if err := key(&c.Children[0].Children[0], i, k.UnsafePointer()); err != nil {
				return err
			}
			if err := value(&c.Children[0].Children[1], i, v.UnsafePointer()); err != nil {
				return err
			}
			out.SetMapIndex(k.Elem(), v.Elem())
		}
		reflect.NewAt(n.typ, dst).Elem().Set(out)
		return nil
	}
}

// readOne stores one value of a scalar column.
func (st *step) readOne(c *column.Column, row int, dst unsafe.Pointer) error {
	switch st.class {
	case text:
		*(*string)(dst) = strings.Clone(c.String(row))
	case binary:
		*(*[]byte)(dst) = append([]byte{}, c.Bytes(row)...)
	case boolean:
		*(*bool)(dst) = c.Bool(row)
	case instant:
		sec, nanos, ok := st.instant(intAt(c, st.col, row))
		if !ok {
			return st.valueError(c, row, "is no instant of time.Time")
		}
		*(*time.Time)(dst) = time.Unix(sec, nanos).UTC()
	case span:
		v, ok := st.exact(intAt(c, st.col, row))
		if !ok {
			return st.valueError(c, row, "is longer than a time.Duration (292 years)")
		}
		*(*int64)(dst) = v
	case float:
		v, exact := floatAt(c, st.col, row)
		if !exact {
			return st.valueError(c, row, "has no exact float64")
		}
		if st.typ.Size() == 4 {
			*(*float32)(dst) = float32(v)
		} else {
			*(*float64)(dst) = v
		}
	default:
		putInt(dst, st.typ.Size(), intAt(c, st.col, row))
	}
	return nil
}

// fillNested stores the values of n rows that are there and not null.
func (r *Reader[T]) fillNested(st *step, c *column.Column, dst unsafe.Pointer, stride uintptr, from, n int) {
	for i := range n {
		row, p := r.batch.Row(from+i), unsafe.Add(dst, uintptr(i)*stride)
		if c.IsNull(row) {
			if !st.pointer && st.nullable() {
				reflect.NewAt(st.typ, p).Elem().SetZero()
			}
			continue
		}
		if err := st.read(c, row, p); err != nil {
			r.fail(i, n, err)
		}
	}
}
