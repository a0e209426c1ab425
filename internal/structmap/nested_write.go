package structmap

import (
	"cmp"
	"reflect"
	"slices"
	"time"
	"unsafe"

	"github.com/arkflow-go/arkflow/column"
)

// appendOne appends the value of the field that lies at p.
func (f *field) appendOne(a *column.Appender, p unsafe.Pointer) {
	if f.pointer {
		if p = *(*unsafe.Pointer)(p); p == nil {
			a.Null()
			return
		}
	}
	f.appendValues(a, p, 0, 1)
}

// append appends the struct, slice or map that lies at p.
func (n *nestedType) append(a *column.Appender, p unsafe.Pointer) {
	if n.fields != nil {
		for i := range n.fields {
			n.fields[i].appendOne(a.Child(i), unsafe.Add(p, n.fields[i].offset))
		}
		a.EndStruct()
		return
	}
	v := reflect.NewAt(n.typ, p).Elem()
	switch {
	case v.IsNil():
		a.Null()
	case n.key != nil:
		n.appendMap(a, v)
	default:
		base, stride := v.UnsafePointer(), n.typ.Elem().Size()
		for i := range v.Len() {
			n.elem.appendOne(a.Child(0), unsafe.Add(base, uintptr(i)*stride))
		}
		a.EndList()
	}
}

// appendMap appends a map, its entries in the order of their keys: equal maps are equal columns.
func (n *nestedType) appendMap(a *column.Appender, v reflect.Value) {
	keys := v.MapKeys()
	slices.SortFunc(keys, func(x, y reflect.Value) int {
		switch n.key.class {
		case text:
			return cmp.Compare(x.String(), y.String())
		case signed:
			return cmp.Compare(x.Int(), y.Int())
		case unsigned:
			return cmp.Compare(x.Uint(), y.Uint())
		}
		switch {
		case x.Bool() == y.Bool():
			return 0
		case y.Bool():
			return -1
		}
		return 1
	})
	key, value := reflect.New(n.typ.Key()), reflect.New(n.typ.Elem())
	entries := a.Child(0)
	for _, k := range keys {
		key.Elem().Set(k)
		value.Elem().Set(v.MapIndex(k))
		n.key.appendOne(entries.Child(0), key.UnsafePointer())
		n.elem.appendOne(entries.Child(1), value.UnsafePointer())
		entries.EndStruct()
	}
	a.EndList()
}

// instantOutOfReach gives an instant within the value at p that its column cannot hold, or nil.
func (f *field) instantOutOfReach(p unsafe.Pointer) *time.Time {
	if f.pointer {
		if p = *(*unsafe.Pointer)(p); p == nil {
			return nil
		}
	}
	if f.class == instant {
		if t := (*time.Time)(p); t.Unix() < minInstant || t.Unix() > maxInstant {
			return t
		}
		return nil
	}
	if f.class != nested {
		return nil
	}
	n := f.value
	for i := range n.fields {
		if in := &n.fields[i]; in.hasInstant() {
			if t := in.instantOutOfReach(unsafe.Add(p, in.offset)); t != nil {
				return t
			}
		}
	}
	if n.elem == nil || !n.elem.hasInstant() {
		return nil
	}
	v := reflect.NewAt(n.typ, p).Elem()
	if n.key == nil {
		base, stride := v.UnsafePointer(), n.typ.Elem().Size()
		for i := range v.Len() {
			if t := n.elem.instantOutOfReach(unsafe.Add(base, uintptr(i)*stride)); t != nil {
				return t
			}
		}
		return nil
	}
	for _, e := range v.Seq2() {
		own := reflect.New(n.typ.Elem())
		own.Elem().Set(e)
		if t := n.elem.instantOutOfReach(own.UnsafePointer()); t != nil {
			return t
		}
	}
	return nil
}
