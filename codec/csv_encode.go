package codec

import (
	"strings"
	"unsafe"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/arkflow-go/arkflow/column"
)

// csvEncoder writes rows as records, fields in the order of the schema.
type csvEncoder struct {
	csvGrammar
	schema   *arrow.Schema
	columns  []textColumn
	null     string
	noHeader bool
}

func newCSVEncoder(f CSVFormat, s *arrow.Schema) *csvEncoder {
	e := &csvEncoder{csvGrammar: f.grammar(), schema: s, null: f.null, noHeader: f.noHeader}
	for _, field := range s.Fields() {
		e.columns = append(e.columns, textColumnOf(field.Type))
	}
	return e
}

// Header is part of Encoder.
func (e *csvEncoder) Header(dst []byte) []byte {
	if e.noHeader {
		return dst
	}
	for i, f := range e.schema.Fields() {
		if i > 0 {
			dst = append(dst, e.delim)
		}
		dst = e.appendText(dst, f.Name)
	}
	return append(dst, '\n')
}

// Encode is part of Encoder.
func (e *csvEncoder) Encode(dst []byte, b *column.Batch) ([]byte, error) {
	if err := suits(e.schema, b); err != nil {
		return dst, err
	}
	for i := range b.Len() {
		dst = append(e.appendRow(dst, b, b.Row(i)), '\n')
	}
	return dst, nil
}

// AppendRow is part of Encoder.
func (e *csvEncoder) AppendRow(dst []byte, b *column.Batch, row int) ([]byte, error) {
	if err := suits(e.schema, b); err != nil {
		return dst, err
	}
	return e.appendRow(dst, b, row), nil
}

func (e *csvEncoder) appendRow(dst []byte, b *column.Batch, row int) []byte {
	for i := range e.columns {
		if i > 0 {
			dst = append(dst, e.delim)
		}
		c := &b.Cols[i]
		switch {
		case c.IsNull(row):
			if e.null == "" && len(e.columns) == 1 {
				dst = append(dst, e.quote, e.quote)
			}
			dst = append(dst, e.null...)
		case e.columns[i].op == opText:
			dst = e.appendText(dst, c.String(row))
		default:
			dst = e.appendValue(dst, &e.columns[i], c, row)
		}
	}
	return dst
}

// appendValue appends a value that is no text: what JSON has for it, without quotes. Nothing in it needs any, unless it is the null text.
func (e *csvEncoder) appendValue(dst []byte, s *textColumn, c *column.Column, row int) []byte {
	at := len(dst)
	dst = s.appendValue(dst, c, row)
	if dst[at] == '"' {
		dst = append(dst[:at], dst[at+1:len(dst)-1]...)
	}
	if string(dst[at:]) == e.null {
		dst = append(dst[:at], e.quote)
		dst = append(append(dst, e.null...), e.quote)
	}
	return dst
}

// appendText appends a text, in quotes where it needs them: also where it would be taken for a null, or for a byte order mark.
func (e *csvEncoder) appendText(dst []byte, s string) []byte {
	end, holds := e.fieldEnd(unsafe.Slice(unsafe.StringData(s), len(s)), 0, len(s))
	if end == len(s) && holds == 0 && s != e.null && strings.IndexByte(s, '\n') < 0 && strings.IndexByte(s, '\r') < 0 {
		return append(dst, s...)
	}
	if s != e.null && !needsQuotes(s, e.csvGrammar) {
		return appendValid(dst, []byte(s))
	}
	return e.appendQuoted(dst, string(appendValid(nil, []byte(s))))
}

func (e *csvEncoder) appendQuoted(dst []byte, s string) []byte {
	dst = append(dst, e.quote)
	for {
		n := strings.IndexByte(s, e.quote)
		if n < 0 {
			return append(append(dst, s...), e.quote)
		}
		dst = append(append(dst, s[:n+1]...), e.quote)
		s = s[n+1:]
	}
}

// needsQuotes says whether a text cannot stand as it is.
func needsQuotes(s string, g csvGrammar) bool {
	return strings.IndexByte(s, g.delim) >= 0 || strings.IndexByte(s, g.quote) >= 0 || strings.ContainsAny(s, "\r\n") || strings.HasPrefix(s, "\uFEFF")
}
