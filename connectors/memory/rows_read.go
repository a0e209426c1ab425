package memory

import (
	"fmt"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
)

// Rows gives each row as a map from column to value: nil, bool, int64, uint64, float64, string, []byte, time.Time
// (timestamps and dates, in UTC), time.Duration (durations and times of day), a decimal as its text, with as
// many decimal places as the column has, []any for a list, and map[string]any for a struct or a map.
func (s *Sink) Rows() []map[string]any {
	var out []map[string]any
	for _, rec := range s.Records() {
		at := len(out)
		for range rec.NumRows() {
			out = append(out, make(map[string]any, rec.NumCols()))
		}
		for k, col := range rec.Columns() {
			name := rec.ColumnName(k)
			for i := range col.Len() {
				out[at+i][name] = valueOf(col, i)
			}
		}
	}
	return out
}

func valueOf(a arrow.Array, i int) any {
	if a.IsNull(i) {
		return nil
	}
	switch x := a.(type) {
	case *array.Dictionary:
		return valueOf(x.Dictionary(), x.GetValueIndex(i))
	case *array.Struct:
		t := x.DataType().(*arrow.StructType)
		out := make(map[string]any, x.NumField())
		for k := range x.NumField() {
			out[t.Field(k).Name] = valueOf(x.Field(k), i)
		}
		return out
	case *array.Map:
		from, to := x.ValueOffsets(i)
		out := make(map[string]any, to-from)
		for k := from; k < to; k++ {
			out[fmt.Sprint(valueOf(x.Keys(), int(k)))] = valueOf(x.Items(), int(k))
		}
		return out
	case array.ListLike:
		from, to := x.ValueOffsets(i)
		out := make([]any, 0, to-from)
		for k := from; k < to; k++ {
			out = append(out, valueOf(x.ListValues(), int(k)))
		}
		return out
	case *array.Boolean:
		return x.Value(i)
	case *array.Int8:
		return int64(x.Value(i))
	case *array.Int16:
		return int64(x.Value(i))
	case *array.Int32:
		return int64(x.Value(i))
	case *array.Int64:
		return x.Value(i)
	case *array.Uint8:
		return uint64(x.Value(i))
	case *array.Uint16:
		return uint64(x.Value(i))
	case *array.Uint32:
		return uint64(x.Value(i))
	case *array.Uint64:
		return x.Value(i)
	case *array.Float32:
		return float64(x.Value(i))
	case *array.Float64:
		return x.Value(i)
	case *array.Timestamp:
		return x.Value(i).ToTime(x.DataType().(*arrow.TimestampType).Unit)
	case *array.Date32:
		return time.Unix(int64(x.Value(i))*86400, 0).UTC()
	case *array.Date64:
		return time.UnixMilli(int64(x.Value(i))).UTC()
	case *array.Duration:
		return time.Duration(x.Value(i)) * x.DataType().(*arrow.DurationType).Unit.Multiplier()
	case *array.Time32:
		return time.Duration(x.Value(i)) * x.DataType().(*arrow.Time32Type).Unit.Multiplier()
	case *array.Time64:
		return time.Duration(x.Value(i)) * x.DataType().(*arrow.Time64Type).Unit.Multiplier()
	case *array.Decimal128:
		return x.Value(i).ToString(x.DataType().(*arrow.Decimal128Type).Scale)
	case *array.Binary:
		return append([]byte{}, x.Value(i)...)
	case *array.LargeBinary:
		return append([]byte{}, x.Value(i)...)
	case *array.BinaryView:
		return append([]byte{}, x.Value(i)...)
	}
	return a.ValueStr(i)
}
