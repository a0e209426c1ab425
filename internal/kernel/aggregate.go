package kernel

import (
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/internal/keys"
)

// Func is an aggregate function.
type Func uint8

// The aggregate functions.
const (
	CountRows   Func = iota // rows
	CountValues             // values that are not null
	Sum
	Min
	Max
	Avg
)

var funcNames = [...]string{"count", "count", "sum", "min", "max", "avg"}

func (f Func) String() string { return funcNames[f] }

// Agg is an aggregate of one column.
type Agg struct {
	Func Func
	Col  int    // column of the input; not used by CountRows
	Name string // of the output column
}

// ResultType is the type of the aggregate's output column, or an error where the function does not take the column's type
// (DESIGN W7).
func (a Agg) ResultType(s *arrow.Schema) (arrow.DataType, error) {
	if a.Func == CountRows || a.Func == CountValues {
		return arrow.PrimitiveTypes.Int64, nil
	}
	f := s.Field(a.Col)
	switch a.Func {
	case Min, Max:
		if keys.TypeOf(f.Type).Tag != keys.TagInvalid {
			return f.Type, nil
		}
	case Sum, Avg:
		if t := sumType(f.Type, a.Func == Avg); t != nil {
			return t, nil
		}
	}
	return nil, fmt.Errorf("%s of column %q: type %s has none", a.Func, f.Name, f.Type)
}

// sumType is the type of a sum or a mean, nil for types that have none.
func sumType(t arrow.DataType, avg bool) arrow.DataType {
	if d, ok := t.(*arrow.DictionaryType); ok {
		t = d.ValueType
	}
	switch k := keys.TypeOf(t); k.Tag {
	case keys.TagInt, keys.TagUint, keys.TagFloat:
		switch {
		case avg:
			return arrow.PrimitiveTypes.Float64
		case k.Tag == keys.TagInt:
			return arrow.PrimitiveTypes.Int64
		case k.Tag == keys.TagUint:
			return arrow.PrimitiveTypes.Uint64
		case column.KindOf(t) == column.Float32:
			return arrow.PrimitiveTypes.Float32
		}
		return arrow.PrimitiveTypes.Float64
	case keys.TagDuration:
		if !avg {
			return t
		}
	case keys.TagDecimal:
		d := t.(*arrow.Decimal128Type)
		if !avg {
			return &arrow.Decimal128Type{Precision: 38, Scale: d.Scale}
		}
		p := min(38, d.Precision+4)
		return &arrow.Decimal128Type{Precision: p, Scale: d.Scale + p - d.Precision}
	}
	return nil
}
