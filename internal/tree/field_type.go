package tree

import (
	"reflect"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
)

// FieldType is what kind of column a Go type can stand for.
type FieldType uint8

const (
	fieldAny FieldType = iota
	fieldBool
	fieldNumber
	fieldText
	fieldTime
	fieldDuration
)

var FieldTypeNames = [...]string{"anything", "bool", "number", "string", "time.Time", "time.Duration"}

func FieldTypeOf(t reflect.Type) FieldType {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch {
	case t == reflect.TypeFor[time.Time]():
		return fieldTime
	case t == reflect.TypeFor[time.Duration]():
		return fieldDuration
	}
	switch t.Kind() {
	case reflect.Bool:
		return fieldBool
	case reflect.String:
		return fieldText
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return fieldText
		}
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64, reflect.Uint, reflect.Uint8, reflect.Uint16,
		reflect.Uint32, reflect.Uint64, reflect.Float32, reflect.Float64:
		return fieldNumber
	}
	return fieldAny
}

// Holds reports whether a column of type t can be what the Go field is. Numbers may stand for times (a count of units).
func (f FieldType) Holds(t arrow.DataType) bool {
	c := ClassOf(t)
	switch f {
	case fieldBool:
		return c == ClassBool
	case fieldNumber:
		return c != ClassBool && c != ClassText
	case fieldText:
		return c == ClassText
	case fieldTime, fieldDuration:
		return c != ClassBool && c != ClassText && c != ClassFloat
	}
	return true
}
