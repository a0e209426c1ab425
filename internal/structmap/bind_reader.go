package structmap

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/internal/fault"
)

// step fills one field of every struct from one column.
type step struct {
	field
	index   int // of the column
	col     column.Kind
	exact   func(x int64) (int64, bool)
	instant func(x int64) (t int64, nanos int64, ok bool) // seconds and nanoseconds since the epoch
	read    readValue                                     // class nested: values that are not null
}

// bindReader finds the column of each field and checks that its values fit the field.
func bindReader(t reflect.Type, s *arrow.Schema) ([]step, error) {
	fields, err := fieldsOf(t)
	if err != nil {
		return nil, err
	}
	var faults fault.List
	names := make([]string, s.NumFields())
	for i := range names {
		names[i] = s.Field(i).Name
	}
	steps := make([]step, 0, len(fields))
	for _, f := range fields {
		at := s.FieldIndices(f.column)
		if len(at) == 0 {
			missing := fault.Unknown("column", f.column, names)
			missing.Path = fmt.Sprintf("field %q of %s", f.path, t)
			faults.Add(missing)
			continue
		}
		st := step{field: f, index: at[0]}
		typ := s.Field(at[0]).Type
		if f.class == nested {
			b := &nestedBinder{owner: t, column: f.column, faults: &faults}
			st.read = b.present(&f, typ, f.path)
			steps = append(steps, st)
			continue
		}
		if why, hint := st.match(typ); why != "" {
			faults.Add(&fault.Fault{
				Path:    fmt.Sprintf("field %q of %s", f.path, t),
				Problem: fmt.Sprintf("column %q has type %s, the field has type %s: %s", f.column, typ, f.goType(), why),
				Hint:    hint,
			})
			continue
		}
		steps = append(steps, st)
	}
	if err := faults.Err(); err != nil {
		return nil, err
	}
	return steps, nil
}

func (f *field) goType() string {
	if f.pointer {
		return "*" + f.typ.String()
	}
	return f.typ.String()
}

// match chooses how values of a column become values of the field, or says why they cannot.
func (st *step) match(t arrow.DataType) (why, hint string) {
	for t.ID() == arrow.DICTIONARY {
		t = t.(*arrow.DictionaryType).ValueType
	}
	st.col = column.KindOf(t)
	switch st.class {
	case signed, unsigned, float:
		return st.matchNumber(t)
	case boolean:
		if t.ID() == arrow.BOOL {
			return "", ""
		}
	case text:
		switch t.ID() {
		case arrow.STRING, arrow.LARGE_STRING, arrow.STRING_VIEW:
			return "", ""
		case arrow.BINARY, arrow.LARGE_BINARY, arrow.BINARY_VIEW:
			return "bytes need not be text", "make the field a []byte"
		}
	case binary:
		if st.col == column.Bytes {
			return "", ""
		}
	case instant:
		if st.instant = instantOf(t); st.instant != nil {
			return "", ""
		}
	case span:
		if st.exact = spanOf(t); st.exact != nil {
			return "", ""
		}
	}
	return "the one is never the other", "make the field " + suggest(t)
}

// matchNumber lets every value through that is the same number in the field.
func (st *step) matchNumber(t arrow.DataType) (why, hint string) {
	if !isNumber(t.ID()) {
		return "the one is never the other", "make the field " + suggest(t)
	}
	from, to := st.col, st.arrow.ID()
	cw, fw := from.Width(), int(st.typ.Size())
	ok := false
	switch st.class {
	case signed:
		ok = isSigned(from) && cw <= fw || isUnsigned(from) && cw < fw
	case unsigned:
		ok = isUnsigned(from) && cw <= fw
	case float:
		switch {
		case from == column.Float32 || from == column.Float64:
			ok = cw <= fw
		case to == arrow.FLOAT64: // 64-bit integers are checked row by row
			ok = true
		default:
			ok = cw <= 2
		}
	}
	if !ok {
		return "not every value fits", "make the field " + suggest(t)
	}
	return "", ""
}

func isNumber(id arrow.Type) bool {
	switch id {
	case arrow.INT8, arrow.INT16, arrow.INT32, arrow.INT64, arrow.UINT8, arrow.UINT16, arrow.UINT32, arrow.UINT64,
		arrow.FLOAT32, arrow.FLOAT64:
		return true
	}
	return false
}

func isSigned(k column.Kind) bool   { return k >= column.Int8 && k <= column.Int64 }
func isUnsigned(k column.Kind) bool { return k >= column.Uint8 && k <= column.Uint64 }

// suggest names the Go type that holds every value of a column type.
func suggest(t arrow.DataType) string {
	switch t.ID() {
	case arrow.STRING, arrow.LARGE_STRING, arrow.STRING_VIEW:
		return "a string"
	case arrow.BINARY, arrow.LARGE_BINARY, arrow.BINARY_VIEW:
		return "a []byte"
	case arrow.TIMESTAMP, arrow.DATE32, arrow.DATE64:
		return "a time.Time"
	case arrow.DURATION, arrow.TIME32, arrow.TIME64:
		return "a time.Duration"
	case arrow.BOOL:
		return "a bool"
	}
	if isNumber(t.ID()) {
		name := strings.ToLower(t.Name())
		if strings.HasPrefix(name, "i") || strings.HasPrefix(name, "e") || strings.HasPrefix(name, "o") {
			return "an " + name
		}
		return "a " + name
	}
	return "of another type, or leave it out by a tag `arkflow:\"-\"`"
}

// instantOf gives how a value of a date or timestamp column is an instant; nil for other types.
func instantOf(t arrow.DataType) func(int64) (sec, nanos int64, ok bool) {
	split := func(perSecond int64) func(int64) (int64, int64, bool) {
		nanos := 1_000_000_000 / perSecond
		return func(v int64) (int64, int64, bool) {
			s := v / perSecond
			r := v % perSecond
			if r < 0 {
				s, r = s-1, r+perSecond
			}
			return s, r * nanos, true
		}
	}
	switch x := t.(type) {
	case *arrow.Date32Type:
		return func(v int64) (int64, int64, bool) { return v * 86400, 0, true }
	case *arrow.Date64Type:
		return split(1000)
	case *arrow.TimestampType:
		if x.Unit == arrow.Second {
			// time.Time counts seconds from the year 1 in an int64: what would wrap there is no instant.
			return func(v int64) (int64, int64, bool) { return v, 0, v >= -1<<61 && v <= 1<<61 }
		}
		return split(int64(1_000_000_000 / x.Unit.Multiplier()))
	}
	return nil
}

// spanOf gives how a value of a duration or time-of-day column is nanoseconds; nil for other types.
func spanOf(t arrow.DataType) func(int64) (int64, bool) {
	var unit arrow.TimeUnit
	switch x := t.(type) {
	case *arrow.DurationType:
		unit = x.Unit
	case *arrow.Time32Type:
		unit = x.Unit
	case *arrow.Time64Type:
		unit = x.Unit
	default:
		return nil
	}
	nanos := int64(unit.Multiplier())
	return func(v int64) (int64, bool) {
		p := v * nanos
		return p, p/nanos == v
	}
}
