package expr

import (
	"fmt"
	"math"
	"math/big"
	"reflect"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
)

// literal is a constant. Its value is, by the class of its type: nil (null), bool, int64 (signed integers, durations in ns), uint64,
// float64 (exact for float32 too), string (strings and binaries), time.Time (instants), *big.Int (decimals: the unscaled value;
// never changed).
type literal struct {
	typ   arrow.DataType // arrow.Null: null of any type
	value any
}

var (
	typeTimestamp = &arrow.TimestampType{Unit: arrow.Nanosecond, TimeZone: "UTC"}
	typeDuration  = &arrow.DurationType{Unit: arrow.Nanosecond}
)

// literalOf converts a Go value.
func literalOf(v any) (literal, error) {
	switch x := v.(type) {
	case nil:
		return literal{typ: arrow.Null}, nil
	case time.Time:
		return literal{instantType(x), x.UTC().Round(0)}, nil
	case time.Duration:
		return literal{typeDuration, int64(x)}, nil
	case []byte:
		if x == nil {
			return literal{typ: arrow.BinaryTypes.Binary}, nil
		}
		return literal{arrow.BinaryTypes.Binary, string(x)}, nil
	}
	r := reflect.ValueOf(v)
	switch r.Kind() {
	case reflect.Pointer:
		if !r.IsNil() {
			return literalOf(r.Elem().Interface())
		}
		l, err := literalOf(reflect.Zero(r.Type().Elem()).Interface())
		return literal{typ: l.typ}, err
	case reflect.Bool:
		return literal{arrow.FixedWidthTypes.Boolean, r.Bool()}, nil
	case reflect.String:
		return literal{arrow.BinaryTypes.String, r.String()}, nil
	case reflect.Int8:
		return literal{arrow.PrimitiveTypes.Int8, r.Int()}, nil
	case reflect.Int16:
		return literal{arrow.PrimitiveTypes.Int16, r.Int()}, nil
	case reflect.Int32:
		return literal{arrow.PrimitiveTypes.Int32, r.Int()}, nil
	case reflect.Int, reflect.Int64:
		return literal{arrow.PrimitiveTypes.Int64, r.Int()}, nil
	case reflect.Uint8:
		return literal{arrow.PrimitiveTypes.Uint8, r.Uint()}, nil
	case reflect.Uint16:
		return literal{arrow.PrimitiveTypes.Uint16, r.Uint()}, nil
	case reflect.Uint32:
		return literal{arrow.PrimitiveTypes.Uint32, r.Uint()}, nil
	case reflect.Uint, reflect.Uint64, reflect.Uintptr:
		return literal{arrow.PrimitiveTypes.Uint64, r.Uint()}, nil
	case reflect.Float32:
		return literal{arrow.PrimitiveTypes.Float32, r.Float()}, nil
	case reflect.Float64:
		return literal{arrow.PrimitiveTypes.Float64, r.Float()}, nil
	}
	return literal{typ: arrow.Null}, fmt.Errorf("a Go value of type %T has no column type: give a scalar, string, []byte, time.Time or time.Duration", v)
}

// instantType is the finest timestamp type that holds t: ns between the years 1678 and 2261, else µs.
func instantType(t time.Time) arrow.DataType {
	if y := t.UTC().Year(); y > 1677 && y < 2262 {
		return typeTimestamp
	}
	return &arrow.TimestampType{Unit: arrow.Microsecond, TimeZone: "UTC"}
}

// null reports whether the constant is null.
func (l literal) null() bool { return l.value == nil }

// untyped reports whether the constant is null of any type.
func (l literal) untyped() bool { return l.typ.ID() == arrow.NULL }

// nanosOf gives an instant as nanoseconds since the epoch, however far away.
func nanosOf(t time.Time) *big.Int {
	n := new(big.Int).Mul(big.NewInt(t.Unix()), big.NewInt(int64(time.Second)))
	return n.Add(n, big.NewInt(int64(t.Nanosecond())))
}

// number gives a numeric, temporal or decimal constant as an exact number in the base of its class: instants and durations in ns.
// ok is false for NaN and infinities and for what is no number.
func (l literal) number() (r *big.Rat, ok bool) {
	switch v := l.value.(type) {
	case int64:
		return new(big.Rat).SetInt64(v), true
	case uint64:
		return new(big.Rat).SetInt(new(big.Int).SetUint64(v)), true
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, false
		}
		return new(big.Rat).SetFloat64(v), true
	case time.Time:
		return new(big.Rat).SetInt(nanosOf(v)), true
	case *big.Int:
		return new(big.Rat).SetFrac(v, pow10Big(int(l.typ.(*arrow.Decimal128Type).Scale))), true
	}
	return nil, false
}

func pow10Big(n int) *big.Int { return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil) }
