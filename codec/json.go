package codec

import (
	"bytes"
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/internal/fault"
	"github.com/arkflow-go/arkflow/internal/structmap"
)

// JSONFormat is JSON: each record is one object, in files and streams one a line. The zero value is open JSON, whose schema is
// inferred. Columns and what stands for them:
//
//	bool               true, false
//	integers           a number that is an integer and in range: 12, also 12.0 and 1.2e1
//	floats             a number in range, rounded to the nearest; "NaN", "Infinity", "-Infinity"
//	strings            a string; bytes that are no UTF-8 become U+FFFD
//	binaries           a string of base64 (standard alphabet, padded)
//	timestamp          a string of RFC 3339 (T or a space before the time), or an integer in the column's unit.
//	                   A column without a zone also takes a string without one. Parts finer than the unit are cut off.
//	                   Written in UTC without trailing zeros: "2024-05-01T10:00:00.25Z"; as integer outside years 0–9999
//	date32, date64     "2024-05-01", or an integer of days, of milliseconds
//	time32, time64     "15:04:05.25", or an integer in the column's unit
//	duration           an integer in the column's unit (this is written), or a Go duration "1m30s"
//	decimal            a number (this is written) or a string that holds one, with no more decimal places than the type has
//
// null, or a field that is missing, is a null; where the column is not nullable it is an error. Of a field that occurs twice the
// last one counts. Names are compared exactly, with their case. A number in a string column, a string in a number column, and an
// object or array in any column are errors: nothing is coerced. Fields that have no column are validated, dropped and counted,
// or an error after FailUnknown; values may be nested 1,000 deep. A record is an object: null, arrays and scalars are none.
type JSONFormat struct {
	schema *arrow.Schema
	strict bool
	err    error
}

// JSON is JSON with the given schema; nil means that it is inferred from the first records.
func JSON(s *arrow.Schema) JSONFormat { return JSONFormat{schema: s} }

// JSONOf is JSON whose columns are the fields of struct type T, named by their `arkflow` tag, else their `json` tag, else
// their name. Pointers are nullable columns. A type that cannot be mapped is reported by Check.
func JSONOf[T any]() JSONFormat {
	s, err := structmap.SchemaOf[T]()
	return JSONFormat{schema: s, err: err}
}

// FailUnknown gives the format with fields that have no column being errors. Defaults to dropping and counting them.
func (f JSONFormat) FailUnknown() JSONFormat {
	f.strict = true
	return f
}

// Kind is part of Format.
func (f JSONFormat) Kind() string { return "json" }

// Schema is part of Format.
func (f JSONFormat) Schema() *arrow.Schema { return f.schema }

// WithSchema is part of Format.
func (f JSONFormat) WithSchema(s *arrow.Schema) Format {
	f.schema, f.err = s, nil
	return f
}

// Check is part of Format.
func (f JSONFormat) Check() error {
	if f.err != nil || f.schema == nil {
		return f.err
	}
	return checkSchema(f.schema)
}

// HasHeader is part of RecordFormat: a file of JSON has none.
func (f JSONFormat) HasHeader() bool { return false }

// Cut is part of RecordFormat: a record is a line.
func (f JSONFormat) Cut(block []byte, final bool) (record []byte, p Progress) {
	n := bytes.IndexByte(block, '\n')
	switch {
	case n >= 0:
		return bytes.TrimSpace(block[:n]), Progress{Bytes: n + 1, Lines: 1}
	case final && len(block) > 0:
		return bytes.TrimSpace(block), Progress{Bytes: len(block), Lines: 1}
	}
	return nil, p
}

// NewDecoder is part of RecordFormat.
func (f JSONFormat) NewDecoder(p *column.Pool) (Decoder, error) {
	if err := f.Check(); err != nil {
		return nil, err
	}
	if f.schema == nil {
		return nil, &fault.Fault{Problem: "decode JSON: the schema is open", Hint: "give one, or infer it first"}
	}
	return newJSONDecoder(f, p), nil
}

// NewEncoder is part of RecordFormat.
func (f JSONFormat) NewEncoder(s *arrow.Schema) (Encoder, error) {
	if err := checkSchema(s); err != nil {
		return nil, err
	}
	if f.schema != nil && !f.schema.Equal(s) {
		return nil, &fault.Fault{Problem: fmt.Sprintf("encode JSON: the rows have columns %s, the format was given %s", names(s), names(f.schema)),
			Hint: "leave the schema of the format out: an encoder writes the columns that there are"}
	}
	return newJSONEncoder(s), nil
}

// NewInference is part of RecordFormat.
func (f JSONFormat) NewInference() Inference { return newJSONInference() }

func names(s *arrow.Schema) string {
	n := make([]string, s.NumFields())
	for i, f := range s.Fields() {
		n[i] = f.Name + " " + TypeName(f.Type)
	}
	return fmt.Sprintf("%q", n)
}
