package tree

import (
	"fmt"
	"math"
	"math/big"
	"reflect"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/arkflow-go/arkflow/internal/calc"
)

// Literal is a constant. Its value is, by the class of its type: nil (null), bool, int64 (signed integers; instants, times of day
// and durations in units of the type), uint64, float64 (exact for float32 too), string (strings and binaries), *big.Int
// (decimals: the unscaled value; never changed).
type Literal struct {
	Type  arrow.DataType // arrow.Null: null of any type
	Value any
}

var (
	typeTimestamp = &arrow.TimestampType{Unit: arrow.Nanosecond, TimeZone: "UTC"}
	TypeDuration  = &arrow.DurationType{Unit: arrow.Nanosecond}
)

// literalOf converts a Go value.
func literalOf(v any) (Literal, error) {
	switch x := v.(type) {
	case nil:
		return Literal{Type: arrow.Null}, nil
	case time.Time:
		return instantOf(x), nil
	case time.Duration:
		return Literal{TypeDuration, int64(x)}, nil
	case []byte:
		if x == nil {
			return Literal{Type: arrow.BinaryTypes.Binary}, nil
		}
		return Literal{arrow.BinaryTypes.Binary, string(x)}, nil
	}
	r := reflect.ValueOf(v)
	switch r.Kind() {
	case reflect.Pointer:
		if !r.IsNil() {
			return literalOf(r.Elem().Interface())
		}
		l, err := literalOf(reflect.Zero(r.Type().Elem()).Interface())
		return Literal{Type: l.Type}, err
	case reflect.Bool:
		return Literal{arrow.FixedWidthTypes.Boolean, r.Bool()}, nil
	case reflect.String:
		return Literal{arrow.BinaryTypes.String, r.String()}, nil
	case reflect.Int8:
		return Literal{arrow.PrimitiveTypes.Int8, r.Int()}, nil
	case reflect.Int16:
		return Literal{arrow.PrimitiveTypes.Int16, r.Int()}, nil
	case reflect.Int32:
		return Literal{arrow.PrimitiveTypes.Int32, r.Int()}, nil
	case reflect.Int, reflect.Int64:
		return Literal{arrow.PrimitiveTypes.Int64, r.Int()}, nil
	case reflect.Uint8:
		return Literal{arrow.PrimitiveTypes.Uint8, r.Uint()}, nil
	case reflect.Uint16:
		return Literal{arrow.PrimitiveTypes.Uint16, r.Uint()}, nil
	case reflect.Uint32:
		return Literal{arrow.PrimitiveTypes.Uint32, r.Uint()}, nil
	case reflect.Uint, reflect.Uint64, reflect.Uintptr:
		return Literal{arrow.PrimitiveTypes.Uint64, r.Uint()}, nil
	case reflect.Float32:
		return Literal{arrow.PrimitiveTypes.Float32, r.Float()}, nil
	case reflect.Float64:
		return Literal{arrow.PrimitiveTypes.Float64, r.Float()}, nil
	}
	return Literal{Type: arrow.Null}, fmt.Errorf("a Go value of type %T has no column type: give a scalar, string, []byte, time.Time or time.Duration", v)
}

// instantOf gives a time as a timestamp of the finest unit that reaches it: ns between the years 1678 and 2261, µs up to the
// year 294246, then s. Finer parts are cut off.
func instantOf(t time.Time) Literal {
	switch y := t.UTC().Year(); {
	case y > 1677 && y < 2262:
		return Literal{typeTimestamp, t.UnixNano()}
	case y > -290300 && y < 294247:
		return Literal{&arrow.TimestampType{Unit: arrow.Microsecond, TimeZone: "UTC"}, t.UnixMicro()}
	}
	return Literal{&arrow.TimestampType{Unit: arrow.Second, TimeZone: "UTC"}, t.Unix()}
}

// IsNull reports whether the constant is null.
func (l Literal) IsNull() bool { return l.Value == nil }

// Untyped reports whether the constant is null of any type.
func (l Literal) Untyped() bool { return l.Type.ID() == arrow.NULL }

// Number gives a numeric or temporal constant as an exact number, that of temporal types in ns.
// ok is false for NaN and infinities and for what is no number.
func (l Literal) Number() (r *big.Rat, ok bool) {
	switch v := l.Value.(type) {
	case *big.Rat: // on its way to a type
		return v, true
	case int64:
		r := new(big.Rat).SetInt64(v)
		return r.Mul(r, new(big.Rat).SetInt64(UnitOf(l.Type))), true
	case uint64:
		return new(big.Rat).SetInt(new(big.Int).SetUint64(v)), true
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, false
		}
		return new(big.Rat).SetFloat64(v), true
	case *big.Int:
		r := new(big.Rat).SetInt(v)
		return r.Mul(r, calc.ScaleStep(PlainType(l.Type).(*arrow.Decimal128Type).Scale)), true
	}
	return nil, false
}
