package arkflowtest

import (
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/internal/structmap"
)

// plain gives a value that a user wrote as one of the types of a Row; false where it is of none.
func plain(v any) (any, bool) {
	switch x := v.(type) {
	case nil, bool, int64, uint64, float64, string, []byte, time.Time, time.Duration:
		return v, true
	case Decimal:
		return string(x), true
	}
	r := reflect.ValueOf(v)
	switch {
	case r.Kind() == reflect.Pointer && r.IsNil():
		return nil, true
	case r.Kind() == reflect.Pointer:
		return plain(r.Elem().Interface())
	case r.CanInt():
		return r.Int(), true
	case r.CanUint():
		return r.Uint(), true
	case r.CanFloat():
		return r.Float(), true
	case r.Kind() == reflect.Bool:
		return r.Bool(), true
	case r.Kind() == reflect.String:
		return r.String(), true
	case r.Kind() == reflect.Slice && r.Type().Elem().Kind() == reflect.Uint8:
		return r.Bytes(), true
	}
	return plainNested(r)
}

// plainNested is plain for slices, maps and structs; nil ones are null.
func plainNested(r reflect.Value) (any, bool) {
	switch r.Kind() {
	case reflect.Slice:
		if r.IsNil() {
			return nil, true
		}
		out := make([]any, r.Len())
		for i := range out {
			v, ok := plain(r.Index(i).Interface())
			if !ok {
				return nil, false
			}
			out[i] = v
		}
		return out, true
	case reflect.Map:
		if r.IsNil() {
			return nil, true
		}
		out := make(map[string]any, r.Len())
		for k, e := range r.Seq2() {
			v, ok := plain(e.Interface())
			if !ok {
				return nil, false
			}
			out[fmt.Sprint(k.Interface())] = v
		}
		return out, true
	case reflect.Struct:
		names, err := structmap.NamesOf(r.Type())
		if err != nil {
			return nil, false
		}
		out := make(map[string]any, len(names))
		for name, index := range names {
			v, ok := plain(r.FieldByIndex(index).Interface())
			if !ok {
				return nil, false
			}
			out[name] = v
		}
		return out, true
	}
	return nil, false
}

// Decimal is a decimal number as text, such as "12.50": a value for columns of a decimal type.
type Decimal string

// inferType gives the column type of a value: integers are Int64, unsigned ones Uint64, floats Float64, times Timestamp(µs, UTC).
func inferType(v any) (arrow.DataType, bool) {
	p, ok := plain(v)
	if !ok {
		return nil, false
	}
	switch p.(type) {
	case bool:
		return arrow.FixedWidthTypes.Boolean, true
	case int64:
		return arrow.PrimitiveTypes.Int64, true
	case uint64:
		return arrow.PrimitiveTypes.Uint64, true
	case float64:
		return arrow.PrimitiveTypes.Float64, true
	case string:
		return arrow.BinaryTypes.String, true
	case []byte:
		return arrow.BinaryTypes.Binary, true
	case time.Time:
		return &arrow.TimestampType{Unit: arrow.Microsecond, TimeZone: "UTC"}, true
	case time.Duration:
		return arrow.FixedWidthTypes.Duration_ns, true
	}
	return nil, true // a null tells nothing
}

// put appends a value to a column.
func put(a *column.Appender, v any) error {
	p, ok := plain(v)
	if !ok {
		return fmt.Errorf("a %T is not a value of a column", v)
	}
	t := a.Type()
	if d, ok := t.(*arrow.DictionaryType); ok {
		t = d.ValueType
	}
	fail := func() error { return fmt.Errorf("value %s (%T) does not fit type %s", text(v), v, t) }
	switch x := p.(type) {
	case nil:
		a.Null()
		return nil
	case bool:
		if a.Kind() != column.Bool {
			return fail()
		}
		a.Bool(x)
		return nil
	case time.Time:
		n, ok := instantIn(t, x)
		if !ok {
			return fail()
		}
		a.Int64(n)
		return nil
	case time.Duration:
		n, ok := spanIn(t, x)
		if !ok {
			return fail()
		}
		a.Int64(n)
		return nil
	case []byte:
		if a.Kind() != column.Bytes {
			return fail()
		}
		a.Bytes(x)
		return nil
	case []any:
		if a.Kind() != column.List || t.ID() == arrow.MAP {
			return fail()
		}
		return putList(a, x)
	case map[string]any:
		switch {
		case a.Kind() == column.Struct:
			return putStruct(a, t.(*arrow.StructType), x)
		case t.ID() == arrow.MAP:
			return putMap(a, x)
		}
		return fail()
	case string:
		if a.Kind() == column.Bytes {
			a.String(x)
			return nil
		}
		d, isDecimal := t.(*arrow.Decimal128Type)
		if !isDecimal {
			return fail()
		}
		n, err := decimal128.FromString(x, d.Precision, d.Scale)
		if err != nil {
			return fmt.Errorf("value %q does not fit type %s: %w", x, t, err)
		}
		a.Decimal(n.LowBits(), n.HighBits())
		return nil
	}
	if !putNumber(a, p) {
		return fail()
	}
	return nil
}

func putList(a *column.Appender, list []any) error {
	for _, e := range list {
		if err := put(a.Child(0), e); err != nil {
			return err
		}
	}
	a.EndList()
	return nil
}

func putStruct(a *column.Appender, t *arrow.StructType, v map[string]any) error {
	for i, f := range t.Fields() {
		if err := put(a.Child(i), v[f.Name]); err != nil {
			return fmt.Errorf("field %q: %w", f.Name, err)
		}
	}
	a.EndStruct()
	return nil
}

// putMap appends a map whose keys are texts, in their order.
func putMap(a *column.Appender, v map[string]any) error {
	entries := a.Child(0)
	for _, k := range slices.Sorted(maps.Keys(v)) {
		err := put(entries.Child(0), k)
		if err == nil {
			err = put(entries.Child(1), v[k])
		}
		if err != nil {
			return fmt.Errorf("key %q: %w", k, err)
		}
		entries.EndStruct()
	}
	a.EndList()
	return nil
}

// putNumber appends a number that the column holds exactly.
func putNumber(a *column.Appender, v any) bool {
	k := a.Kind()
	switch x := v.(type) {
	case float64:
		if k == column.Float64 || k == column.Float32 {
			a.Float64(x)
			return true
		}
		if x != math.Trunc(x) || math.Abs(x) >= 1<<53 {
			return false
		}
		return putNumber(a, int64(x))
	case uint64:
		if k == column.Uint64 {
			a.Uint64(x)
			return true
		}
		if x > math.MaxInt64 {
			return false
		}
		return putNumber(a, int64(x))
	case int64:
		switch k {
		case column.Float32, column.Float64:
			a.Float64(float64(x))
			return true
		case column.Int8, column.Int16, column.Int32, column.Int64:
			bits := 8 * k.Width()
			if bits < 64 && (x < -1<<(bits-1) || x >= 1<<(bits-1)) {
				return false
			}
			a.Int64(x)
			return true
		case column.Uint8, column.Uint16, column.Uint32, column.Uint64:
			bits := 8 * k.Width()
			if x < 0 || bits < 64 && x >= 1<<bits {
				return false
			}
			a.Int64(x)
			return true
		}
	}
	return false
}

// instantIn is t as a value of a timestamp or date type, rounded towards minus infinity.
func instantIn(typ arrow.DataType, t time.Time) (int64, bool) {
	switch x := typ.(type) {
	case *arrow.TimestampType:
		switch x.Unit {
		case arrow.Second:
			return t.Unix(), true
		case arrow.Millisecond:
			return t.UnixMilli(), true
		case arrow.Microsecond:
			return t.UnixMicro(), true
		}
		return t.UnixNano(), true
	case *arrow.Date32Type:
		return floorDiv(t.Unix(), 86400), true
	case *arrow.Date64Type:
		return floorDiv(t.Unix(), 86400) * 86_400_000, true
	case *arrow.Int64Type:
		return t.UnixMilli(), true
	}
	return 0, false
}

// spanIn is d as a value of a duration or time-of-day type.
func spanIn(typ arrow.DataType, d time.Duration) (int64, bool) {
	switch x := typ.(type) {
	case *arrow.DurationType:
		return int64(d / x.Unit.Multiplier()), true
	case *arrow.Time32Type:
		return int64(d / x.Unit.Multiplier()), true
	case *arrow.Time64Type:
		return int64(d / x.Unit.Multiplier()), true
	}
	return 0, false
}
