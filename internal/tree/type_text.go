package tree

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/arkflow-go/arkflow/internal/calc"
)

// plainTypes are the types without parameters, by the names that Arrow and SQL give them.
var plainTypes = map[string]arrow.DataType{
	"bool": arrow.FixedWidthTypes.Boolean, "boolean": arrow.FixedWidthTypes.Boolean,
	"int8": arrow.PrimitiveTypes.Int8, "int16": arrow.PrimitiveTypes.Int16, "int32": arrow.PrimitiveTypes.Int32, "int64": arrow.PrimitiveTypes.Int64,
	"uint8": arrow.PrimitiveTypes.Uint8, "uint16": arrow.PrimitiveTypes.Uint16, "uint32": arrow.PrimitiveTypes.Uint32, "uint64": arrow.PrimitiveTypes.Uint64,
	"tinyint": arrow.PrimitiveTypes.Int8, "smallint": arrow.PrimitiveTypes.Int16, "int": arrow.PrimitiveTypes.Int32, "integer": arrow.PrimitiveTypes.Int32,
	"bigint": arrow.PrimitiveTypes.Int64, "float32": arrow.PrimitiveTypes.Float32, "real": arrow.PrimitiveTypes.Float32,
	"float64": arrow.PrimitiveTypes.Float64, "float": arrow.PrimitiveTypes.Float64, "double": arrow.PrimitiveTypes.Float64,
	"utf8": arrow.BinaryTypes.String, "string": arrow.BinaryTypes.String, "text": arrow.BinaryTypes.String, "varchar": arrow.BinaryTypes.String,
	"binary": arrow.BinaryTypes.Binary, "bytes": arrow.BinaryTypes.Binary, "large_utf8": arrow.BinaryTypes.LargeString,
	"large_binary": arrow.BinaryTypes.LargeBinary, "string_view": arrow.BinaryTypes.StringView, "binary_view": arrow.BinaryTypes.BinaryView,
	"date32": arrow.FixedWidthTypes.Date32, "date": arrow.FixedWidthTypes.Date32, "date64": arrow.FixedWidthTypes.Date64,
	"timestamp": arrow.FixedWidthTypes.Timestamp_ms, "time": arrow.FixedWidthTypes.Time64ns, "interval": arrow.FixedWidthTypes.Duration_ns,
}

// timestampDigits are the units of SQL's timestamp(digits).
var timestampDigits = map[string]arrow.TimeUnit{"0": arrow.Second, "3": arrow.Millisecond, "6": arrow.Microsecond, "9": arrow.Nanosecond}

// ParseType reads the name of a type as Arrow writes it, such as "int64", "timestamp[ms, tz=UTC]" or "decimal(10, 2)", or as SQL does.
func ParseType(text string) (arrow.DataType, error) {
	if t, ok := plainTypes[strings.ToLower(text)]; ok {
		return t, nil
	}
	if name, args, ok := cutArgs(text, "[", "]"); ok {
		if t := timeType(strings.ToLower(name), args); t != nil {
			return t, nil
		}
	}
	name, args, ok := cutArgs(text, "(", ")")
	switch strings.ToLower(name) {
	case "timestamp":
		if u, known := timestampDigits[args]; ok && known {
			return &arrow.TimestampType{Unit: u, TimeZone: "UTC"}, nil
		}
	case "decimal", "numeric", "decimal128":
		p, s, two := strings.Cut(args, ",")
		if !two {
			s = "0"
		}
		precision, err1 := strconv.ParseInt(strings.TrimSpace(p), 10, 32)
		scale, err2 := strconv.ParseInt(strings.TrimSpace(s), 10, 32)
		if err1 == nil && err2 == nil && precision >= 1 && precision <= calc.MaxDigits && scale >= -calc.MaxDigits && scale <= calc.MaxDigits {
			return &arrow.Decimal128Type{Precision: int32(precision), Scale: int32(scale)}, nil
		}
		return nil, fmt.Errorf("%q is no type; a decimal has 1 to %d digits: decimal(10, 2)", text, calc.MaxDigits)
	}
	return nil, fmt.Errorf("%q is no type; write it as int64, utf8, timestamp[ms, tz=UTC], decimal(10, 2)", text)
}

// timeType gives a type with a unit, nil where there is none of that name.
func timeType(name, args string) arrow.DataType {
	unit, zone, zoned := strings.Cut(args, ",")
	u, ok := unitNamed(strings.TrimSpace(unit))
	switch {
	case !ok || zoned && name != "timestamp":
		return nil
	case name == "timestamp":
		tz, found := strings.CutPrefix(strings.TrimSpace(zone), "tz=")
		if _, err := LoadZone(tz); zoned && (!found || err != nil) {
			return nil
		}
		return &arrow.TimestampType{Unit: u, TimeZone: tz}
	case name == "duration":
		return &arrow.DurationType{Unit: u}
	case name == "time32" && u <= arrow.Millisecond:
		return &arrow.Time32Type{Unit: u}
	case name == "time64" && u > arrow.Millisecond:
		return &arrow.Time64Type{Unit: u}
	}
	return nil
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

// LoadZone gives a time zone by its name, such as Europe/Berlin or UTC, or by its distance from UTC, such as +02:00. No name is UTC.
func LoadZone(name string) (*time.Location, error) {
	if name == "" || strings.EqualFold(name, "utc") {
		return time.UTC, nil
	}
	if at, err := time.Parse("Z07:00", name); err == nil {
		_, offset := at.Zone()
		return time.FixedZone(name, offset), nil
	}
	zone, err := time.LoadLocation(name)
	if err != nil || strings.EqualFold(name, "local") {
		return nil, fmt.Errorf("%q is no time zone; write it as Europe/Berlin, UTC or +02:00", name)
	}
	return zone, nil
}
