package expr

import (
	"fmt"
	"reflect"
	"unsafe"

	"github.com/arkflow-go/arkflow/internal/structmap"
	"github.com/arkflow-go/arkflow/internal/tree"
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
	return FieldExpr[T]{Expr{&tree.Node{Op: tree.OpColumn, Name: name, Class: tree.FieldTypeOf(t), Fault: err}}}
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
