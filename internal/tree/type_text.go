package tree

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/arkflow-go/arkflow/internal/calc"
)

// plainTypes are the types without parameters, by the name that Arrow gives them.
var plainTypes = map[string]arrow.DataType{
	"bool": arrow.FixedWidthTypes.Boolean,
	"int8": arrow.PrimitiveTypes.Int8, "int16": arrow.PrimitiveTypes.Int16, "int32": arrow.PrimitiveTypes.Int32, "int64": arrow.PrimitiveTypes.Int64,
	"uint8": arrow.PrimitiveTypes.Uint8, "uint16": arrow.PrimitiveTypes.Uint16, "uint32": arrow.PrimitiveTypes.Uint32, "uint64": arrow.PrimitiveTypes.Uint64,
	"float32": arrow.PrimitiveTypes.Float32, "float64": arrow.PrimitiveTypes.Float64,
	"utf8": arrow.BinaryTypes.String, "string": arrow.BinaryTypes.String, "binary": arrow.BinaryTypes.Binary,
	"date32": arrow.FixedWidthTypes.Date32, "date64": arrow.FixedWidthTypes.Date64,
}

// parseType reads the name of a type as Arrow writes it, such as "int64", "timestamp[ms, tz=UTC]" or "decimal(10, 2)".
func parseType(text string) (arrow.DataType, error) {
	if t, ok := plainTypes[text]; ok {
		return t, nil
	}
	if name, args, ok := cutArgs(text, "[", "]"); ok {
		unit, zone, _ := strings.Cut(args, ",")
		if u, ok := unitNamed(unit); ok {
			switch name {
			case "timestamp":
				return &arrow.TimestampType{Unit: u, TimeZone: strings.TrimPrefix(strings.TrimSpace(zone), "tz=")}, nil
			case "duration":
				return &arrow.DurationType{Unit: u}, nil
			case "time32":
				return &arrow.Time32Type{Unit: u}, nil
			case "time64":
				return &arrow.Time64Type{Unit: u}, nil
			}
		}
	}
	if name, args, ok := cutArgs(text, "(", ")"); ok && strings.HasPrefix(name, "decimal") {
		p, s, _ := strings.Cut(args, ",")
		precision, err1 := strconv.ParseInt(strings.TrimSpace(p), 10, 32)
		scale, err2 := strconv.ParseInt(strings.TrimSpace(s), 10, 32)
		if err1 == nil && err2 == nil && precision >= 1 && precision <= calc.MaxDigits && scale >= -calc.MaxDigits && scale <= calc.MaxDigits {
			return &arrow.Decimal128Type{Precision: int32(precision), Scale: int32(scale)}, nil
		}
	}
	return nil, fmt.Errorf("%q is no type; write it as int64, utf8, timestamp[ms, tz=UTC], decimal(10, 2)", text)
}

func cutArgs(text, open, end string) (name, args string, ok bool) {
	name, args, ok = strings.Cut(text, open)
	if !ok || !strings.HasSuffix(args, end) {
		return "", "", false
	}
	return name, strings.TrimSuffix(args, end), true
}

func unitNamed(name string) (arrow.TimeUnit, bool) {
	for _, u := range []arrow.TimeUnit{arrow.Second, arrow.Millisecond, arrow.Microsecond, arrow.Nanosecond} {
		if u.String() == name {
			return u, true
		}
	}
	return 0, false
}
