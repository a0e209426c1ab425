package typetext

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/arkflow-go/arkflow/internal/fault"
)

// simpleTypes are the types that a single word names in a JobSpec.
var simpleTypes = map[string]arrow.DataType{
	"bool":         arrow.FixedWidthTypes.Boolean,
	"int8":         arrow.PrimitiveTypes.Int8,
	"int16":        arrow.PrimitiveTypes.Int16,
	"int32":        arrow.PrimitiveTypes.Int32,
	"int64":        arrow.PrimitiveTypes.Int64,
	"uint8":        arrow.PrimitiveTypes.Uint8,
	"uint16":       arrow.PrimitiveTypes.Uint16,
	"uint32":       arrow.PrimitiveTypes.Uint32,
	"uint64":       arrow.PrimitiveTypes.Uint64,
	"float32":      arrow.PrimitiveTypes.Float32,
	"float64":      arrow.PrimitiveTypes.Float64,
	"string":       arrow.BinaryTypes.String,
	"large_string": arrow.BinaryTypes.LargeString,
	"string_view":  arrow.BinaryTypes.StringView,
	"binary":       arrow.BinaryTypes.Binary,
	"large_binary": arrow.BinaryTypes.LargeBinary,
	"binary_view":  arrow.BinaryTypes.BinaryView,
	"date32":       arrow.FixedWidthTypes.Date32,
	"date64":       arrow.FixedWidthTypes.Date64,
}

var unitNames = map[string]arrow.TimeUnit{"s": arrow.Second, "ms": arrow.Millisecond, "us": arrow.Microsecond, "ns": arrow.Nanosecond}

// Name gives the word by which a JobSpec names a column type: "int64", "timestamp[ms,UTC]", "time32[s]",
// "duration[ns]", "decimal(10,2)", "dictionary[int32,string]", "list[int64]", "struct[a:int64,b:string?]", "map[string,float64?]". A question mark says that there may
// be nulls. Parse reads it back.
func Name(t arrow.DataType) string {
	switch x := t.(type) {
	case *arrow.TimestampType:
		if x.TimeZone != "" {
			return fmt.Sprintf("timestamp[%s,%s]", x.Unit, x.TimeZone)
		}
		return fmt.Sprintf("timestamp[%s]", x.Unit)
	case *arrow.Time32Type:
		return fmt.Sprintf("time32[%s]", x.Unit)
	case *arrow.Time64Type:
		return fmt.Sprintf("time64[%s]", x.Unit)
	case *arrow.DurationType:
		return fmt.Sprintf("duration[%s]", x.Unit)
	case *arrow.Decimal128Type:
		return fmt.Sprintf("decimal(%d,%d)", x.Precision, x.Scale)
	case *arrow.DictionaryType:
		return fmt.Sprintf("dictionary[%s,%s]", Name(x.IndexType), Name(x.ValueType))
	case *arrow.ListType:
		return "list[" + within(x.ElemField()) + "]"
	case *arrow.LargeListType:
		return "large_list[" + within(x.ElemField()) + "]"
	case *arrow.MapType:
		return "map[" + Name(x.KeyType()) + "," + within(x.ItemField()) + "]"
	case *arrow.StructType:
		parts := make([]string, x.NumFields())
		for i, f := range x.Fields() {
			parts[i] = fieldName(f.Name) + ":" + within(f)
		}
		return "struct[" + strings.Join(parts, ",") + "]"
	}
	for name, s := range simpleTypes {
		if s.ID() == t.ID() {
			return name
		}
	}
	return t.String()
}

// Parse reads what Name gives. An unknown word is a fault that names the nearest ones.
func Parse(name string) (arrow.DataType, error) {
	if depth(name) > maxDepth {
		return nil, &fault.Fault{Problem: fmt.Sprintf("a type is nested more than %d deep", maxDepth)}
	}
	return parse(name)
}

// maxDepth bounds how deep types lie within each other.
const maxDepth = 64

// depth is how many brackets are open at a time.
func depth(name string) (most int) {
	open := 0
	for i := range len(name) {
		switch name[i] {
		case '[':
			open++
			most = max(most, open)
		case ']':
			open--
		}
	}
	return most
}

func parse(name string) (arrow.DataType, error) {
	if t, ok := simpleTypes[name]; ok {
		return t, nil
	}
	word, args, ok := typeArgs(name)
	if ok {
		t, known, err := parametric(word, args)
		if err != nil {
			return nil, &fault.Fault{Problem: fmt.Sprintf("type %q: %s", name, err)}
		}
		if known {
			return t, nil
		}
	}
	known := []string{"list[int64]", "struct[name:string,count:int64?]", "map[string,int64]", "timestamp[ms]", "timestamp[us,UTC]", "time32[s]", "time64[us]", "duration[ms]", "decimal(10,2)", "dictionary[int32,string]"}
	for n := range simpleTypes {
		known = append(known, n)
	}
	slices.Sort(known)
	return nil, fault.Unknown("type", name, known)
}

// typeArgs takes "word[a,b]" or "word(a,b)" apart, at the commas that stand in no brackets of their own.
func typeArgs(name string) (word string, args []string, ok bool) {
	at := strings.IndexAny(name, "[(")
	if at < 0 || len(name) < at+2 {
		return "", nil, false
	}
	closing := map[byte]byte{'[': ']', '(': ')'}[name[at]]
	if name[len(name)-1] != closing {
		return "", nil, false
	}
	inner := name[at+1 : len(name)-1]
	depth, from, quoted := 0, 0, false
	for i := 0; i < len(inner); i++ {
		switch c := inner[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '[' || c == '(':
			depth++
		case c == ']' || c == ')':
			depth--
		case c == ',' && depth == 0:
			args = append(args, strings.TrimSpace(inner[from:i]))
			from = i + 1
		}
	}
	return name[:at], append(args, strings.TrimSpace(inner[from:])), true
}

func parametric(word string, args []string) (t arrow.DataType, known bool, err error) {
	switch word {
	case "timestamp", "time32", "time64", "duration":
		unit, ok := unitNames[args[0]]
		if !ok {
			return nil, true, fmt.Errorf("unit %q is none of s, ms, us, ns", args[0])
		}
		return timeType(word, unit, args[1:])
	case "decimal":
		if len(args) != 2 {
			return nil, true, fmt.Errorf("want decimal(precision,scale)")
		}
		p, err1 := strconv.ParseInt(args[0], 10, 32)
		s, err2 := strconv.ParseInt(args[1], 10, 32)
		if err1 != nil || err2 != nil || p < 1 || p > 38 || s < -38 || s > p {
			return nil, true, fmt.Errorf("want 1 <= precision <= 38 and -38 <= scale <= precision")
		}
		return &arrow.Decimal128Type{Precision: int32(p), Scale: int32(s)}, true, nil
	case "list", "large_list", "map", "struct":
		t, err := nested(word, args)
		return t, true, err
	case "dictionary":
		if len(args) != 2 {
			return nil, true, fmt.Errorf("want dictionary[index,values]")
		}
		index, ok := simpleTypes[args[0]]
		if !ok || !arrow.IsInteger(index.ID()) {
			return nil, true, fmt.Errorf("index %q is no integer type", args[0])
		}
		values, err := parse(args[1])
		if err != nil {
			return nil, true, err
		}
		if _, nested := values.(*arrow.DictionaryType); nested {
			return nil, true, fmt.Errorf("a dictionary holds no dictionary")
		}
		return &arrow.DictionaryType{IndexType: index, ValueType: values}, true, nil
	}
	return nil, false, nil
}

func timeType(word string, unit arrow.TimeUnit, zone []string) (arrow.DataType, bool, error) {
	if word == "timestamp" {
		t := &arrow.TimestampType{Unit: unit}
		if len(zone) > 0 {
			t.TimeZone = zone[0]
		}
		return t, true, nil
	}
	if len(zone) > 0 {
		return nil, true, fmt.Errorf("only a timestamp has a zone")
	}
	coarse := unit == arrow.Second || unit == arrow.Millisecond
	switch {
	case word == "duration":
		return &arrow.DurationType{Unit: unit}, true, nil
	case word == "time32" && coarse:
		return &arrow.Time32Type{Unit: unit}, true, nil
	case word == "time64" && !coarse:
		return &arrow.Time64Type{Unit: unit}, true, nil
	}
	return nil, true, fmt.Errorf("time32 is in s or ms, time64 in us or ns")
}
