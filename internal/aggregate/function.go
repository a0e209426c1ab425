package aggregate

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
	First  // value of the earliest row; of several the least
	Last   // value of the latest row; of several the greatest
	ArgMin // values of the row with the least Col; of several the earliest, of those the one whose values are least
	ArgMax // the same with the greatest Col
)

var funcNames = [...]string{"count", "count", "sum", "min", "max", "avg", "first", "last", "argmin", "argmax"}

func (f Func) String() string { return funcNames[f] }

// Arg reports whether the function is ArgMin or ArgMax.
func (f Func) Arg() bool { return f == ArgMin || f == ArgMax }

// Count reports whether the function counts.
func (f Func) Count() bool { return f == CountRows || f == CountValues }

// Agg is an aggregate of columns.
type Agg struct {
	Func   Func
	Col    int // column of the input; not used by CountRows
	Where  int // column of a condition, plus one: rows for which it is not true do not count. 0: none
	Values []int
	Ties   bool     // ArgMin, ArgMax: all rows that share the extreme
	Names  []string // of the output columns: one, or of ArgMin and ArgMax as many as Values
}

// Fields gives the output columns, or an error where the function does not take the columns' types (DESIGN W7).
func (a Agg) Fields(s *arrow.Schema) ([]arrow.Field, error) {
	if a.Func.Count() {
		return []arrow.Field{{Name: a.Names[0], Type: arrow.PrimitiveTypes.Int64}}, nil
	}
	f := s.Field(a.Col)
	var t arrow.DataType
	switch a.Func {
	case Sum, Avg:
		t = sumType(f.Type, a.Func == Avg)
	default:
		if keys.TypeOf(f.Type).Tag != keys.TagInvalid {
			t = f.Type
		}
	}
	if t == nil {
		return nil, fmt.Errorf("%s of column %q: type %s has none", a.Func, f.Name, f.Type)
	}
	if !a.Func.Arg() {
		return []arrow.Field{{Name: a.Names[0], Type: t, Nullable: true}}, nil
	}
	var fields []arrow.Field
	for i, v := range a.Values {
		f := s.Field(v)
		if keys.TypeOf(f.Type).Tag == keys.TagInvalid {
			return nil, fmt.Errorf("%s of column %q: values of type %s cannot be kept", a.Func, f.Name, f.Type)
		}
		fields = append(fields, arrow.Field{Name: a.Names[i], Type: f.Type, Nullable: true})
	}
	return fields, nil
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
