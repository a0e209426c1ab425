package structmap

import (
	"fmt"
	"reflect"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
)

// nestedType is the mapping of a struct, slice or map type within a struct.
type nestedType struct {
	typ    reflect.Type
	arrow  arrow.DataType
	fields []field // of a struct; else nil
	elem   *field  // of a slice, or the values of a map
	key    *field  // of a map; else nil
}

// nestedOf maps a type that lies within the structs outer, or says why it is no column.
func nestedOf(t reflect.Type, outer []reflect.Type) (n *nestedType, why string) {
	n = &nestedType{typ: t}
	switch t.Kind() {
	case reflect.Struct:
		if slices.Contains(outer, t) {
			return nil, fmt.Sprintf("%s contains itself", t)
		}
		fields, err := fieldsWithin(t, outer)
		if err != nil {
			return nil, err.Error()
		}
		n.fields = fields
		cols := make([]arrow.Field, len(fields))
		for i, f := range fields {
			cols[i] = arrow.Field{Name: f.column, Type: f.arrow, Nullable: f.nullable()}
		}
		n.arrow = arrow.StructOf(cols...)
	case reflect.Slice:
		if n.elem, why = elementOf(t.Elem(), outer); why != "" {
			return nil, why
		}
		n.arrow = arrow.ListOfField(arrow.Field{Name: "item", Type: n.elem.arrow, Nullable: n.elem.nullable()})
	default:
		if n.key, why = elementOf(t.Key(), outer); why != "" {
			return nil, why
		}
		switch n.key.class {
		case signed, unsigned, boolean, text:
		default:
			return nil, fmt.Sprintf("the keys of a map are texts, integers or booleans, not %s", t.Key())
		}
		if n.elem, why = elementOf(t.Elem(), outer); why != "" {
			return nil, why
		}
		m := arrow.MapOf(n.key.arrow, n.elem.arrow)
		m.SetItemNullable(n.elem.nullable())
		n.arrow = m
	}
	return n, ""
}

// elementOf maps the type of an element, key or value.
func elementOf(t reflect.Type, outer []reflect.Type) (*field, string) {
	f := &field{typ: t}
	if t.Kind() == reflect.Pointer {
		f.pointer, f.typ = true, t.Elem()
	}
	why := f.classify(outer)
	return f, why
}

// hasInstant reports whether a value of the field may hold an instant, which its column may not reach.
func (f *field) hasInstant() bool {
	if f.class == instant {
		return true
	}
	if f.class != nested {
		return false
	}
	for i := range f.value.fields {
		if f.value.fields[i].hasInstant() {
			return true
		}
	}
	return f.value.elem != nil && f.value.elem.hasInstant()
}
