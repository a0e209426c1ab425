package structmap

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/arkflow-go/arkflow/internal/fault"
)

// class is how a field's value lies in memory.
type class uint8

const (
	signed class = iota
	unsigned
	float
	boolean
	text
	binary
	instant // time.Time
	span    // time.Duration
	nested  // a struct, slice or map
)

// field is one column of a struct type.
type field struct {
	column  string
	path    string // Go names from the outer struct, such as "Base.ID"
	offset  uintptr
	typ     reflect.Type // of the value: the pointed-to type of a pointer field
	class   class
	pointer bool
	arrow   arrow.DataType
	index   []int       // of the field, as reflect.Value.FieldByIndex takes it
	value   *nestedType // class nested
}

// nullable reports whether the field can hold a null: a pointer, a slice or a map can.
func (f *field) nullable() bool { return f.pointer || f.class == nested && f.value.fields == nil }

var (
	timeType     = reflect.TypeFor[time.Time]()
	durationType = reflect.TypeFor[time.Duration]()
)

// instantType is the column type of a time.Time: microseconds reach from the year -290308 to 294247, so that the zero
// time fits; finer parts of an instant are cut off (floor).
var instantType = &arrow.TimestampType{Unit: arrow.Microsecond, TimeZone: "UTC"}

// SchemaOf gives the columns of struct type T.
//
// Integers, floats, bool, string and []byte become the column of the same kind (int and uint have 64 bits), a time.Time a
// Timestamp(µs, UTC), a time.Duration a Duration(ns), a named type what its underlying type becomes. A pointer is a nullable
// column, and so are a slice (of anything but bytes), which is a list, and a map, which is a map: nil is null. A struct within a
// struct is a column of structs. Everything else is not nullable. Embedded structs are flattened, unexported fields and those
// tagged `arkflow:"-"` left out. Everything else is an error that names the field; all errors come together.
func SchemaOf[T any]() (*arrow.Schema, error) { return SchemaOfType(reflect.TypeFor[T]()) }

// SchemaOfType is SchemaOf for a type known at run time.
func SchemaOfType(t reflect.Type) (*arrow.Schema, error) {
	fields, err := fieldsOf(t)
	if err != nil {
		return nil, err
	}
	cols := make([]arrow.Field, len(fields))
	for i, f := range fields {
		cols[i] = arrow.Field{Name: f.column, Type: f.arrow, Nullable: f.nullable()}
	}
	return arrow.NewSchema(cols, nil), nil
}

// NameAt gives the column of the field of struct type t that begins at that offset; fields of embedded structs count
// from the beginning of t.
func NameAt(t reflect.Type, offset uintptr) (string, bool) {
	fields, err := fieldsOf(t)
	if err != nil {
		return "", false
	}
	for _, f := range fields {
		if f.offset == offset {
			return f.column, true
		}
	}
	return "", false
}

// NamesOf gives the columns of a struct type, and where reflect.Value.FieldByIndex finds the field of each.
func NamesOf(t reflect.Type) (map[string][]int, error) {
	fields, err := fieldsOf(t)
	if err != nil {
		return nil, err
	}
	out := make(map[string][]int, len(fields))
	for _, f := range fields {
		out[f.column] = f.index
	}
	return out, nil
}

// fieldsOf lists the columns of a struct type, or tells all that is wrong with it.
func fieldsOf(t reflect.Type) ([]field, error) { return fieldsWithin(t, nil) }

// fieldsWithin is fieldsOf for a struct that lies within others, from the outermost on.
func fieldsWithin(t reflect.Type, outer []reflect.Type) ([]field, error) {
	if t.Kind() != reflect.Struct || t == timeType {
		return nil, &fault.Fault{Problem: fmt.Sprintf("type %s is not a struct", t), Hint: "rows are structs with one exported field a column"}
	}
	var (
		out    []field
		faults fault.List
	)
	c := collector{outer: append(slices.Clone(outer), t), out: &out, faults: &faults}
	c.collect(t, "", 0, nil)
	seen := map[string]string{}
	for _, f := range out {
		if other, twice := seen[f.column]; twice {
			faults.Add(&fault.Fault{Problem: fmt.Sprintf("fields %q and %q of %s are both column %q", other, f.path, t, f.column),
				Hint: "name one of them by a tag `arkflow:\"name\"`"})
			continue
		}
		seen[f.column] = f.path
	}
	if len(out) == 0 && faults.Len() == 0 {
		faults.Add(&fault.Fault{Problem: fmt.Sprintf("type %s has no exported field", t), Hint: "rows are structs with one exported field a column"})
	}
	if err := faults.Err(); err != nil {
		return nil, err
	}
	return out, nil
}

// collector lists the columns of one struct type.
type collector struct {
	outer  []reflect.Type // structs that it lies within, itself the last
	out    *[]field
	faults *fault.List
}

// collect appends the columns of t, which lies at base in the struct, at that index.
func (c *collector) collect(t reflect.Type, prefix string, base uintptr, at []int) {
	faults := c.faults
	for i := range t.NumField() {
		sf := t.Field(i)
		path := prefix + sf.Name
		name, skip, err := columnName(sf)
		if err != nil {
			faults.Add(&fault.Fault{Problem: fmt.Sprintf("field %q of %s: %s", path, t, err)})
			continue
		}
		if skip {
			continue
		}
		if sf.Anonymous && name == "" && sf.Type.Kind() == reflect.Struct && sf.Type != timeType {
			c.collect(sf.Type, path+".", base+sf.Offset, append(slices.Clone(at), i))
			continue
		}
		if !sf.IsExported() {
			if sf.Tag.Get("arkflow") != "" {
				faults.Add(&fault.Fault{Problem: fmt.Sprintf("field %q of %s has an arkflow tag and is not exported", path, t), Hint: "begin its name with a capital letter"})
			}
			continue
		}
		f := field{column: name, path: path, offset: base + sf.Offset, typ: sf.Type, index: append(slices.Clone(at), i)}
		if f.column == "" {
			f.column = sf.Name
		}
		if f.typ.Kind() == reflect.Pointer {
			f.pointer, f.typ = true, f.typ.Elem()
		}
		if why := f.classify(c.outer); why != "" {
			faults.Add(&fault.Fault{Problem: fmt.Sprintf("field %q of %s: type %s is no column: %s", path, t, sf.Type, why),
				Hint: "leave it out by a tag `arkflow:\"-\"`"})
			continue
		}
		*c.out = append(*c.out, f)
	}
}

// columnName gives the name in a field's tags, "" where there is none.
func columnName(sf reflect.StructField) (name string, skip bool, err error) {
	if tag, ok := sf.Tag.Lookup("arkflow"); ok {
		if tag == "-" {
			return "", true, nil
		}
		if tag == "" || strings.Contains(tag, ",") {
			return "", false, fmt.Errorf("tag `arkflow:%q` is no column name: it is one name without a comma, or \"-\"", tag)
		}
		return tag, false, nil
	}
	tag := sf.Tag.Get("json")
	if tag == "-" {
		return "", true, nil
	}
	name, _, _ = strings.Cut(tag, ",")
	return name, false, nil
}

// classify sets class and column type, or says why the type is no column.
func (f *field) classify(outer []reflect.Type) (why string) {
	t := f.typ
	switch {
	case t == timeType:
		f.class, f.arrow = instant, instantType
		return ""
	case t == durationType:
		f.class, f.arrow = span, arrow.FixedWidthTypes.Duration_ns
		return ""
	}
	if c, a, ok := scalarOf(t.Kind()); ok {
		f.class, f.arrow = c, a
		return ""
	}
	switch t.Kind() {
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			f.class, f.arrow = binary, arrow.BinaryTypes.Binary
			return ""
		}
		fallthrough
	case reflect.Struct, reflect.Map:
		if f.value, why = nestedOf(t, outer); why != "" {
			return why
		}
		f.class, f.arrow = nested, f.value.arrow
		return ""
	case reflect.Pointer:
		return "a pointer to a pointer is not supported"
	}
	return fmt.Sprintf("a %s is not supported", t.Kind())
}

// scalarOf gives class and column type of the kinds of which a value is a single one.
func scalarOf(k reflect.Kind) (class, arrow.DataType, bool) {
	switch k {
	case reflect.Int, reflect.Int64:
		return signed, arrow.PrimitiveTypes.Int64, true
	case reflect.Int32:
		return signed, arrow.PrimitiveTypes.Int32, true
	case reflect.Int16:
		return signed, arrow.PrimitiveTypes.Int16, true
	case reflect.Int8:
		return signed, arrow.PrimitiveTypes.Int8, true
	case reflect.Uint, reflect.Uint64:
		return unsigned, arrow.PrimitiveTypes.Uint64, true
	case reflect.Uint32:
		return unsigned, arrow.PrimitiveTypes.Uint32, true
	case reflect.Uint16:
		return unsigned, arrow.PrimitiveTypes.Uint16, true
	case reflect.Uint8:
		return unsigned, arrow.PrimitiveTypes.Uint8, true
	case reflect.Float32:
		return float, arrow.PrimitiveTypes.Float32, true
	case reflect.Float64:
		return float, arrow.PrimitiveTypes.Float64, true
	case reflect.Bool:
		return boolean, arrow.FixedWidthTypes.Boolean, true
	case reflect.String:
		return text, arrow.BinaryTypes.String, true
	}
	return 0, nil, false
}
