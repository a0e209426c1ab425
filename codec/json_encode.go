package codec

import (
	"encoding/base64"
	"fmt"
	"github.com/arkflow-go/arkflow/codec/internal/plain"
	"strconv"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/arkflow-go/arkflow/column"
)

// jsonEncoder writes rows as JSON objects, one a line, fields in the order of the schema, nulls as null.
type jsonEncoder struct {
	schema  *arrow.Schema
	columns []textColumn
	lead    []string // what stands before each value: `{"first":`, `,"second":`
}

func newJSONEncoder(s *arrow.Schema) *jsonEncoder {
	e := &jsonEncoder{schema: s}
	for i, f := range s.Fields() {
		lead := []byte{','}
		if i == 0 {
			lead[0] = '{'
		}
		e.lead = append(e.lead, string(append(plain.AppendString(lead, f.Name), ':')))
		e.columns = append(e.columns, jsonColumnOf(f))
	}
	return e
}

// Header is part of Encoder: JSON has none.
func (e *jsonEncoder) Header(dst []byte) []byte { return dst }

// Encode is part of Encoder.
func (e *jsonEncoder) Encode(dst []byte, b *column.Batch) ([]byte, error) {
	if err := suits(e.schema, b); err != nil {
		return dst, err
	}
	for i := range b.Len() {
		dst = append(e.appendRow(dst, b, b.Row(i)), '\n')
	}
	return dst, nil
}

// AppendRow is part of Encoder.
func (e *jsonEncoder) AppendRow(dst []byte, b *column.Batch, row int) ([]byte, error) {
	if err := suits(e.schema, b); err != nil {
		return dst, err
	}
	return e.appendRow(dst, b, row), nil
}

// suits reports a batch of another schema than that of the encoder.
func suits(s *arrow.Schema, b *column.Batch) error {
	if b.Schema == s || b.Schema.Equal(s) {
		return nil
	}
	return fmt.Errorf("encode: the batch has schema %s, the encoder was made for %s", b.Schema, s)
}

func (e *jsonEncoder) appendRow(dst []byte, b *column.Batch, row int) []byte {
	if len(e.lead) == 0 {
		return append(dst, "{}"...)
	}
	for i := range e.columns {
		dst = append(dst, e.lead[i]...)
		c := &b.Cols[i]
		if c.IsNull(row) {
			dst = append(dst, "null"...)
			continue
		}
		dst = e.columns[i].appendValue(dst, c, row)
	}
	return append(dst, '}')
}

// appendValue appends a value that is not null.
func (s *textColumn) appendValue(dst []byte, c *column.Column, row int) []byte {
	switch s.op {
	case opInt:
		return strconv.AppendInt(dst, intAt(c, row), 10)
	case opUint:
		return strconv.AppendUint(dst, uintAt(c, row), 10)
	case opFloat64:
		return plain.AppendFloat64(dst, column.Values[float64](c)[row])
	case opFloat32:
		return plain.AppendFloat32(dst, column.Values[float32](c)[row])
	case opText:
		return plain.AppendString(dst, c.String(row))
	case opBool:
		return strconv.AppendBool(dst, c.Bool(row))
	case opInstant:
		return plain.AppendInstant(dst, intAt(c, row), s.perSec)
	case opDecimal:
		w := column.View[uint64](c.Data)
		return plain.AppendDecimal(dst, w[2*row], w[2*row+1], s.scale)
	case opBase64:
		dst = append(dst, '"')
		dst = base64.StdEncoding.AppendEncode(dst, c.Bytes(row))
		return append(dst, '"')
	case opNested:
		return s.nested.appendNested(dst, c, row)
	}
	return s.appendTime(dst, intAt(c, row))
}

// appendTime appends dates, times of day and durations.
func (s *textColumn) appendTime(dst []byte, v int64) []byte {
	const msPerDay = plain.SecondsPerDay * 1000
	switch s.op {
	case opDate32:
		if out, ok := plain.AppendDate(append(dst, '"'), v); ok {
			return append(out, '"')
		}
	case opDate64:
		if v%msPerDay == 0 {
			if out, ok := plain.AppendDate(append(dst, '"'), v/msPerDay); ok {
				return append(out, '"')
			}
		}
	case opClock32, opClock64:
		if sec := v / s.perSec; v >= 0 && sec < plain.SecondsPerDay {
			dst = plain.AppendClock(append(dst, '"'), sec, (v-sec*s.perSec)*(plain.NanosPerSec/s.perSec))
			return append(dst, '"')
		}
	}
	return strconv.AppendInt(dst, v, 10)
}

func intAt(c *column.Column, row int) int64 {
	switch c.Kind {
	case column.Int32:
		return int64(column.Values[int32](c)[row])
	case column.Int16:
		return int64(column.Values[int16](c)[row])
	case column.Int8:
		return int64(column.Values[int8](c)[row])
	}
	return column.Values[int64](c)[row]
}

func uintAt(c *column.Column, row int) uint64 {
	switch c.Kind {
	case column.Uint32:
		return uint64(column.Values[uint32](c)[row])
	case column.Uint16:
		return uint64(column.Values[uint16](c)[row])
	case column.Uint8:
		return uint64(column.Values[uint8](c)[row])
	}
	return column.Values[uint64](c)[row]
}
