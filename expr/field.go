package expr

import (
	"fmt"
	"reflect"
	"time"
	"unsafe"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/arkflow-go/arkflow/internal/structmap"
)

// FieldExpr is the column of a struct's field of type T. It is an Expr in every respect; T is checked against the
// column's type by Bind.
type FieldExpr[T any] struct{ Expr }

// Field is a column named by a selector of a struct's field instead of by a string, so that it survives renames:
//
//	amount := expr.Field(func(o *Order) *float64 { return &o.Amount })
//	big := amount.Gt(1000)
//
// The column is that which the field has by its `arkflow` tag, else its `json` tag, else its name. The selector is called
// once, with a zero struct. One that does not point to a field of it is a fault that Bind reports.
func Field[S, T any](selector func(*S) *T) FieldExpr[T] {
	s, t := reflect.TypeFor[S](), reflect.TypeFor[T]()
	offset, err := offsetOf(selector)
	name, ok := "", false
	if err == nil && s.Kind() != reflect.Struct {
		err = fmt.Errorf("field selector: %s is not a struct", s)
	}
	if err == nil {
		if name, ok = structmap.NameAt(s, offset); !ok {
			err = fmt.Errorf("field selector: %s has no field with a column where the selector for a %s points", s, t)
		}
	}
	return FieldExpr[T]{Expr{&node{op: opColumn, name: name, class: fieldTypeOf(t), fault: err}}}
}

// offsetOf finds how far into a struct a selector points.
func offsetOf[S, T any](selector func(*S) *T) (offset uintptr, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("field selector: panics with %v; give one that returns the address of a field, such as func(o *Order) *string { return &o.Status }", p)
		}
	}()
	if selector == nil {
		return 0, fmt.Errorf("field selector is nil")
	}
	var zero S
	base := new(S)
	at := selector(base)
	offset = uintptr(unsafe.Pointer(at)) - uintptr(unsafe.Pointer(base))
	if at == nil || offset >= max(unsafe.Sizeof(zero), 1) {
		return 0, fmt.Errorf("field selector: the pointer does not lead into the %T that it was given; return the address of one of its fields", zero)
	}
	return offset, nil
}

// fieldType is what kind of column a Go type can stand for.
type fieldType uint8

const (
	fieldAny fieldType = iota
	fieldBool
	fieldNumber
	fieldText
	fieldTime
	fieldDuration
)

var fieldTypeNames = [...]string{"anything", "bool", "number", "string", "time.Time", "time.Duration"}

func fieldTypeOf(t reflect.Type) fieldType {
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

// holds reports whether a column of type t can be what the Go field is. Numbers may stand for times (a count of units).
func (f fieldType) holds(t arrow.DataType) bool {
	c := classOf(t)
	switch f {
	case fieldBool:
		return c == classBool
	case fieldNumber:
		return c != classBool && c != classText
	case fieldText:
		return c == classText
	case fieldTime, fieldDuration:
		return c != classBool && c != classText && c != classFloat
	}
	return true
}
