package tree

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/internal/calc"
)

// CommonType gives the type that holds the values of two types, no dictionaries, where a row takes one or the other; nil where there is
// none. It is the type of arithmetic for numbers, and the finer unit for times.
func CommonType(x, y arrow.DataType) arrow.DataType {
	a, b := ClassOf(x), ClassOf(y)
	switch {
	case arrow.TypeEqual(x, y):
		return x
	case a.Numeric() && b.Numeric():
		return commonNumber(x, y)
	case a != b:
		return nil
	case a == ClassText && textual(x) != textual(y):
		return nil
	case a == ClassText && textual(x):
		return arrow.BinaryTypes.String
	case a == ClassText:
		return arrow.BinaryTypes.Binary
	case a == ClassInstant && x.ID() != arrow.TIMESTAMP && y.ID() != arrow.TIMESTAMP:
		return arrow.FixedWidthTypes.Date64
	case a == ClassInstant:
		zone := ""
		for _, d := range []arrow.DataType{x, y} {
			if ts, ok := d.(*arrow.TimestampType); ok && zone == "" {
				zone = ts.TimeZone
			}
		}
		return &arrow.TimestampType{Unit: UnitFor(min(UnitOf(x), UnitOf(y))), TimeZone: zone}
	case UnitOf(x) < UnitOf(y):
		return x
	}
	return y
}

func commonNumber(x, y arrow.DataType) arrow.DataType {
	a, b := ClassOf(x), ClassOf(y)
	k, l := column.KindOf(x), column.KindOf(y)
	signed := func(k column.Kind) bool { return k >= column.Int8 && k <= column.Int64 }
	switch {
	case a == ClassFloat || b == ClassFloat:
		return arrow.PrimitiveTypes.Float64
	case a == ClassDecimal || b == ClassDecimal:
		p, q := decimalFor(x), decimalFor(y)
		d := &arrow.Decimal128Type{Scale: max(p.Scale, q.Scale)}
		d.Precision = min(max(p.Precision-p.Scale, q.Precision-q.Scale)+d.Scale, calc.MaxDigits)
		return d
	case !signed(k) && !signed(l) && (k == column.Uint64 || l == column.Uint64):
		return arrow.PrimitiveTypes.Uint64
	}
	return arrow.PrimitiveTypes.Int64
}

// decimalFor gives the decimal that holds a decimal or an integer type.
func decimalFor(t arrow.DataType) *arrow.Decimal128Type {
	if d, ok := t.(*arrow.Decimal128Type); ok {
		return d
	}
	return &arrow.Decimal128Type{Precision: DigitsOf(column.KindOf(t))}
}

// DigitsOf is the number of decimal digits that the values of an integer column can have.
func DigitsOf(k column.Kind) int32 {
	switch k {
	case column.Int8, column.Uint8:
		return 3
	case column.Int16, column.Uint16:
		return 5
	case column.Int32, column.Uint32:
		return 10
	case column.Uint64:
		return 20
	}
	return 19
}
