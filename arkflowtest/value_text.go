package arkflowtest

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/arkflow-go/arkflow/column"
)

// Row is a row by the names of its columns. Values are nil, bool, int64, uint64, float64, string, []byte, time.Time
// (timestamps and dates, in UTC), time.Duration (durations and times of day), a decimal as its text, []any for a list, and
// map[string]any for a struct or a map.
type Row = map[string]any

// cell gives the value of physical row i of a column.
func cell(c *column.Column, i int) any {
	if c.IsNull(i) {
		return nil
	}
	if c.Kind.IsNested() {
		return c.Cell(i, cell)
	}
	t := c.Type
	if d, ok := t.(*arrow.DictionaryType); ok {
		t = d.ValueType
	}
	switch c.Kind {
	case column.Bool:
		return c.Bool(i)
	case column.Int8:
		return int64(column.Values[int8](c)[i])
	case column.Int16:
		return int64(column.Values[int16](c)[i])
	case column.Int32:
		return integerCell(t, int64(column.Values[int32](c)[i]))
	case column.Int64:
		return integerCell(t, column.Values[int64](c)[i])
	case column.Uint8:
		return uint64(column.Values[uint8](c)[i])
	case column.Uint16:
		return uint64(column.Values[uint16](c)[i])
	case column.Uint32:
		return uint64(column.Values[uint32](c)[i])
	case column.Uint64:
		return column.Values[uint64](c)[i]
	case column.Float32:
		return float64(column.Values[float32](c)[i])
	case column.Float64:
		return column.Values[float64](c)[i]
	case column.Decimal:
		w := column.View[uint64](c.Data)[2*i : 2*i+2]
		return decimal128.New(int64(w[1]), w[0]).ToString(t.(*arrow.Decimal128Type).Scale)
	}
	switch t.ID() {
	case arrow.BINARY, arrow.LARGE_BINARY, arrow.BINARY_VIEW:
		return append([]byte{}, c.Bytes(i)...)
	}
	return strings.Clone(c.String(i))
}

// integerCell gives what an integer of a type stands for.
func integerCell(t arrow.DataType, v int64) any {
	switch x := t.(type) {
	case *arrow.TimestampType:
		switch x.Unit {
		case arrow.Second:
			return time.Unix(v, 0).UTC()
		case arrow.Millisecond:
			return time.UnixMilli(v).UTC()
		case arrow.Microsecond:
			return time.UnixMicro(v).UTC()
		}
		return time.Unix(floorDiv(v, 1e9), v-floorDiv(v, 1e9)*1e9).UTC()
	case *arrow.Date32Type:
		return time.Unix(v*86400, 0).UTC()
	case *arrow.Date64Type:
		return time.UnixMilli(v).UTC()
	case *arrow.DurationType:
		return time.Duration(v) * x.Unit.Multiplier()
	case *arrow.Time32Type:
		return time.Duration(v) * x.Unit.Multiplier()
	case *arrow.Time64Type:
		return time.Duration(v) * x.Unit.Multiplier()
	}
	return v
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

// text is the form in which values are compared and shown: numbers are equal where they are the same number, whatever their Go
// type; instants where they are the same instant.
func text(v any) string { return string(appendText(nil, v)) }

// appendText is text, appended.
func appendText(s []byte, v any) []byte {
	switch x := v.(type) {
	case nil:
		return append(s, "null"...)
	case bool:
		return strconv.AppendBool(s, x)
	case int64:
		return strconv.AppendInt(s, x, 10)
	case uint64:
		return strconv.AppendUint(s, x, 10)
	case float64:
		if x == math.Trunc(x) && math.Abs(x) < 1<<63 {
			return strconv.AppendInt(s, int64(x), 10) // 3.0 is 3, −0.0 is 0
		}
		return strconv.AppendFloat(s, x, 'g', -1, 64)
	case string:
		return strconv.AppendQuote(s, x)
	case []byte:
		return fmt.Appendf(s, "0x%x", x)
	case time.Time:
		return x.UTC().AppendFormat(s, time.RFC3339Nano)
	case time.Duration:
		return append(s, x.String()...)
	case []any:
		s = append(s, '[')
		for i, e := range x {
			if i > 0 {
				s = append(s, ' ')
			}
			s = appendText(s, e)
		}
		return append(s, ']')
	case map[string]any:
		s = append(s, '{')
		for i, k := range slices.Sorted(maps.Keys(x)) {
			if i > 0 {
				s = append(s, ' ')
			}
			s = append(append(s, k...), ':')
			s = appendText(s, x[k])
		}
		return append(s, '}')
	}
	if n, ok := plain(v); ok {
		return appendText(s, n)
	}
	return fmt.Append(s, v)
}

// compare orders two values of one column; null comes first, NaN last.
func compare(a, b any) int {
	switch {
	case a == nil && b == nil:
		return 0
	case a == nil:
		return -1
	case b == nil:
		return 1
	}
	switch x := a.(type) {
	case int64:
		if y, ok := b.(int64); ok {
			return cmp.Compare(x, y)
		}
	case uint64:
		if y, ok := b.(uint64); ok {
			return cmp.Compare(x, y)
		}
	case float64:
		if y, ok := b.(float64); ok {
			if math.IsNaN(x) != math.IsNaN(y) {
				return -cmp.Compare(x, y) // cmp has NaN first
			}
			return cmp.Compare(x, y)
		}
	case time.Time:
		if y, ok := b.(time.Time); ok {
			return x.Compare(y)
		}
	case time.Duration:
		if y, ok := b.(time.Duration); ok {
			return cmp.Compare(x, y)
		}
	}
	return strings.Compare(text(a), text(b))
}
