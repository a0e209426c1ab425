package codec

import (
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/internal/fault"
	"github.com/arkflow-go/arkflow/internal/structmap"
)

// CSVFormat is CSV by RFC 4180: a record a line, fields between delimiters, and a field that holds a delimiter, a quote or the end of a
// line between quotes, with quotes inside doubled. The zero value is open CSV with a header. A record ends with a newline, also after a
// carriage return; blank lines are no records. Quotes stand only around a whole field.
//
// With a header, the columns of a file are those that its first record names, in any order: columns that the schema has and the file has
// not are null, as long as the file has one of the schema's and those that are missing are nullable; columns that the schema has not are
// dropped and counted, or an error after FailUnknown. Without one the columns are those of the schema, in its order. A record with more or
// fewer fields is an error.
//
// A field that is not quoted and equals the null text is a null (see Null); where the column is not nullable it is an error, but for text:
// with the usual empty null text, an empty field of a text column that is not nullable is the empty string. What stands for the types is
// what JSONFormat says, without the quotes of JSON: 12 and 1.5e3, NaN and -Infinity, 2024-05-01T10:00:00Z, 1m30s, base64; a boolean is true
// or false, also True and TRUE. Nothing is trimmed and nothing coerced: " 12" is no number. Text that is no UTF-8 gets U+FFFD in place of
// what is wrong.
//
// Written are: a header; fields in quotes where they need them, and where a text would be taken for a null; nulls as the null text. A null
// in the only column is written as "" in quotes where the null text is empty, as an empty line is no record; it comes back as the empty
// string in a column of text.
type CSVFormat struct {
	schema   *arrow.Schema
	err      error
	noHeader bool
	strict   bool
	delim    byte // 0: comma
	quote    byte // 0: "
	null     string
}

// CSV is CSV with the given schema; nil means that it is inferred from the header and the first records.
func CSV(s *arrow.Schema) CSVFormat { return CSVFormat{schema: s} }

// CSVOf is CSV whose columns are the fields of struct type T, named by their `arkflow` tag, else their `json` tag, else their name.
// Pointers are nullable columns. A type that cannot be mapped is reported by Check.
func CSVOf[T any]() CSVFormat {
	s, err := structmap.SchemaOf[T]()
	return CSVFormat{schema: s, err: err}
}

// NoHeader gives the format without a header. Columns of an open schema are then called column_1, column_2, …
func (f CSVFormat) NoHeader() CSVFormat {
	f.noHeader = true
	return f
}

// Delimiter gives the format with another character between fields, one of ASCII that is neither a letter, a digit, a quote, part of a
// number or the end of a line. Defaults to a comma.
func (f CSVFormat) Delimiter(c byte) CSVFormat {
	f.delim = c
	return f
}

// Quote gives the format with another character around fields. Defaults to the double quote.
func (f CSVFormat) Quote(c byte) CSVFormat {
	f.quote = c
	return f
}

// Null gives the format with a text that stands for null where it is not quoted, such as "NULL" or `\N`. Defaults to the empty text.
func (f CSVFormat) Null(text string) CSVFormat {
	f.null = text
	return f
}

// FailUnknown gives the format with columns of a file that the schema does not have being errors. Defaults to dropping and counting them.
func (f CSVFormat) FailUnknown() CSVFormat {
	f.strict = true
	return f
}

// Kind is part of Format.
func (f CSVFormat) Kind() string { return "csv" }

// Schema is part of Format.
func (f CSVFormat) Schema() *arrow.Schema { return f.schema }

// WithSchema is part of Format.
func (f CSVFormat) WithSchema(s *arrow.Schema) Format {
	f.schema, f.err = s, nil
	return f
}

// Check is part of Format.
func (f CSVFormat) Check() error {
	var faults fault.List
	faults.Add(f.err)
	g := f.grammar()
	if !isDelimiter(g.delim) {
		faults.Add(&fault.Fault{Path: "delimiter", Problem: fmt.Sprintf("%q cannot stand between fields", g.delim), Hint: `write one such as ",", ";", "|" or "\t"`})
	}
	if !isDelimiter(g.quote) && g.quote != '"' {
		faults.Add(&fault.Fault{Path: "quote", Problem: fmt.Sprintf("%q cannot stand around fields", g.quote), Hint: `write one such as "'"`})
	}
	if g.delim == g.quote {
		faults.Add(&fault.Fault{Path: "quote", Problem: fmt.Sprintf("%q is the delimiter as well", g.quote)})
	}
	if needsQuotes(f.null, g) {
		faults.Add(&fault.Fault{Path: "null", Problem: fmt.Sprintf("%q holds a delimiter, a quote or the end of a line", f.null)})
	}
	if f.schema != nil {
		faults.Add(checkCSVSchema(f.schema))
	}
	return faults.Err()
}

func checkCSVSchema(s *arrow.Schema) error {
	if s.NumFields() == 0 {
		return &fault.Fault{Path: "schema", Problem: "CSV without a column", Hint: "give at least one"}
	}
	var faults fault.List
	faults.Add(checkSchema(s))
	for _, f := range s.Fields() {
		if column.KindOf(f.Type).IsNested() {
			faults.Add(&fault.Fault{Path: "schema." + f.Name, Problem: fmt.Sprintf("CSV has no %s", TypeName(f.Type)), Hint: "take the column apart, or use JSON"})
		}
	}
	return faults.Err()
}

// isDelimiter says whether c can be told from what values are written with.
func isDelimiter(c byte) bool {
	switch c {
	case 0, '\n', '\r', '"', '+', '-', '.', ':', '_', '=', '/', 0x7F:
		return false
	}
	return c < 0x80 && c-'0' > 9 && (c|0x20)-'a' > 25
}

// HasHeader is part of RecordFormat.
func (f CSVFormat) HasHeader() bool { return !f.noHeader }

// Cut is part of RecordFormat. A record with a misplaced quote ends with its line.
func (f CSVFormat) Cut(block []byte, final bool) (record []byte, p Progress) {
	s := csvScan{csvGrammar: f.grammar(), b: block, final: final}
	if !s.begin(0) {
		return nil, p
	}
	if s.end > 0 {
		for s.skipField() {
		}
		if s.short {
			return nil, p
		}
	}
	return block[:s.end], Progress{Bytes: s.next, Lines: s.lines}
}

// NewDecoder is part of RecordFormat.
func (f CSVFormat) NewDecoder(p *column.Pool) (Decoder, error) {
	if err := f.Check(); err != nil {
		return nil, err
	}
	if f.schema == nil {
		return nil, &fault.Fault{Problem: "decode CSV: the schema is open", Hint: "give one, or infer it first"}
	}
	return newCSVDecoder(f, p), nil
}

// NewEncoder is part of RecordFormat.
func (f CSVFormat) NewEncoder(s *arrow.Schema) (Encoder, error) {
	open := f
	open.schema = nil
	if err := open.Check(); err != nil {
		return nil, err
	}
	if err := checkCSVSchema(s); err != nil {
		return nil, err
	}
	if f.schema != nil && !f.schema.Equal(s) {
		return nil, &fault.Fault{Problem: fmt.Sprintf("encode CSV: the rows have columns %s, the format was given %s", names(s), names(f.schema)),
			Hint: "leave the schema of the format out: an encoder writes the columns that there are"}
	}
	return newCSVEncoder(f, s), nil
}

// NewInference is part of RecordFormat.
func (f CSVFormat) NewInference() Inference { return newCSVInference(f) }

func (f CSVFormat) grammar() csvGrammar {
	g := csvGrammar{delim: f.delim, quote: f.quote}
	if g.delim == 0 {
		g.delim = ','
	}
	if g.quote == 0 {
		g.quote = '"'
	}
	return g
}
