package codec

import (
	"bytes"
	"encoding/binary"
	"github.com/arkflow-go/arkflow/codec/internal/plain"

	"github.com/arkflow-go/arkflow/column"
)

// jsonDecoder builds columns straight from the text of JSON objects, one pass, no tree.
//
// Fields are found by prediction: records tend to have the same fields in the same order, so behind field f comes the field
// that came behind f last time, and one comparison with its quoted name (and colon) confirms it. Only a miss costs a look-up
// by name. Names that have no column are learned as well, up to maxLearned.
type jsonDecoder struct {
	rows    rowSet
	columns []textColumn // by column of the schema
	fields  []jsonField  // the columns of the schema, then names learned
	index   map[string]int32
	first   int32 // the field that records begin with
	strict  bool
	unknown int64
	scratch []byte
	fail    recordFault
}

// jsonField is a field name.
type jsonField struct {
	head   [2]uint64 // the first 16 bytes of quoted
	mask   [2]uint64 // of the bytes that head has
	quoted string    // `"name":`
	next   int32     // the field that came behind it last time
	column int32     // -1: there is none
}

func newJSONField(name string, col int32) jsonField {
	f := jsonField{quoted: string(append(plain.AppendString(nil, name), ':')), column: col}
	for i := range min(len(f.quoted), 16) {
		f.head[i/8] |= uint64(f.quoted[i]) << (i % 8 * 8)
		f.mask[i/8] |= 0xFF << (i % 8 * 8)
	}
	return f
}

// at reports whether quoted stands at the beginning of b.
func (f *jsonField) at(b []byte) bool {
	n := len(f.quoted)
	if len(b) < 16 {
		return len(b) >= n && string(b[:n]) == f.quoted
	}
	if (binary.LittleEndian.Uint64(b)^f.head[0])&f.mask[0]|(binary.LittleEndian.Uint64(b[8:])^f.head[1])&f.mask[1] != 0 {
		return false
	}
	return n <= 16 || len(b) >= n && string(b[16:n]) == f.quoted[16:]
}

const (
	maxLearned     = 512 // names without a column
	maxLearnedName = 128 // bytes of such a name
	noField        = -1
)

// recordFault is why a record was given up; the RecordError is made of it outside the hot path.
type recordFault struct {
	syntaxError
	column int // -1: the record is malformed
	from   int // the excerpt is [from:to) of the record, or around at where it is malformed
	to     int // 0: there is none
	field  string
	path   string // of the value within a nested column; empty: the column itself
}

func newJSONDecoder(f JSONFormat, p *column.Pool) *jsonDecoder {
	d := &jsonDecoder{rows: newRowSet(p, f.schema), strict: f.strict, index: map[string]int32{}}
	for i, field := range f.schema.Fields() {
		d.columns = append(d.columns, jsonColumnOf(field))
		d.learn(field.Name, int32(i))
	}
	for i := range d.fields {
		d.fields[i].next = int32((i + 1) % len(d.fields))
	}
	return d
}

func (d *jsonDecoder) learn(name string, col int32) int32 {
	at := int32(len(d.fields))
	d.fields = append(d.fields, newJSONField(name, col))
	d.index[name] = at
	return at
}

// Len is part of Decoder.
func (d *jsonDecoder) Len() int { return d.rows.n }

// Finish is part of Decoder.
func (d *jsonDecoder) Finish() *column.Batch { return d.rows.finish() }

// Unknown is part of Decoder.
func (d *jsonDecoder) Unknown() int64 { return d.unknown }

// Discard is part of Decoder.
func (d *jsonDecoder) Discard() { d.rows.discard() }

// Header is part of Decoder: JSON has none.
func (d *jsonDecoder) Header([]byte) error { return nil }

// Append is part of Decoder.
func (d *jsonDecoder) Append(record []byte) error {
	if d.record(record) {
		return nil
	}
	return d.fault(record, 1, 0)
}

// DecodeLines is part of Decoder.
func (d *jsonDecoder) DecodeLines(block []byte, final bool, max Limits) (Progress, error) {
	var p Progress
	for d.rows.n < max.Rows && p.Bytes < len(block) {
		line := block[p.Bytes:]
		at := p.Bytes
		if n := bytes.IndexByte(line, '\n'); n >= 0 {
			line = line[:n]
			p.Bytes += n + 1
		} else if final {
			p.Bytes = len(block)
		} else {
			break
		}
		p.Lines++
		if len(line) == 0 || line[0] != '{' && skipSpace(line, 0) == len(line) {
			continue
		}
		if max.RecordBytes > 0 && len(line) > max.RecordBytes {
			e := TooLong(max.RecordBytes, line)
			e.Line, e.Offset = int64(p.Lines), int64(at)
			return p, e
		}
		if !d.record(line) {
			return p, d.fault(line, int64(p.Lines), int64(at))
		}
		if max.Lines != nil {
			*max.Lines = append(*max.Lines, int64(p.Lines))
		}
	}
	return p, nil
}

// record decodes one record. false: d.fail says why not, and the rows are as before.
func (d *jsonDecoder) record(b []byte) bool {
	d.rows.begin()
	before := d.unknown
	if !d.object(b) {
		d.rows.drop()
		d.unknown = before
		return false
	}
	if missing := d.rows.end(); missing >= 0 {
		d.fail = recordFault{column: missing, syntaxError: syntaxError{problem: "missing, and the column is not nullable"}}
		d.rows.drop()
		d.unknown = before
		return false
	}
	return true
}

// object decodes the fields of a record.
func (d *jsonDecoder) object(b []byte) bool {
	i := 0
	if len(b) == 0 || b[0] != '{' {
		if i = skipSpace(b, 0); i == len(b) || b[i] != '{' {
			return d.malformed(i, notAnObject)
		}
	}
	i++
	if i < len(b) && b[i] != '"' {
		if i = skipSpace(b, i); i < len(b) && b[i] == '}' {
			return d.end(b, i+1)
		}
	}
	expect := &d.first
	for {
		f, at := d.name(b, i, expect)
		if at < 0 {
			return false
		}
		i = at
		if f >= 0 && d.fields[f].column >= 0 {
			i = d.value(b, i, int(d.fields[f].column))
		} else {
			i = d.skip(b, i, f)
		}
		if i < 0 {
			return false
		}
		if f >= 0 {
			expect = &d.fields[f].next
		}
		if i >= len(b) || b[i] <= ' ' {
			if i = skipSpace(b, i); i >= len(b) {
				return d.malformed(i, "the record ends within an object")
			}
		}
		switch b[i] {
		case ',':
			i++
		case '}':
			return d.end(b, i+1)
		default:
			return d.malformed(i, "want , or } behind a value")
		}
		if i < len(b) && b[i] <= ' ' {
			i = skipSpace(b, i)
		}
	}
}

// end sees to it that nothing follows the record.
func (d *jsonDecoder) end(b []byte, i int) bool {
	if i < len(b) {
		if i = skipSpace(b, i); i < len(b) {
			return d.malformed(i, textBehind)
		}
	}
	return true
}

// name finds out which field is named at i and gives the index of its value; negative after an error. *expect is the
// field that is likely.
func (d *jsonDecoder) name(b []byte, i int, expect *int32) (field int32, at int) {
	if guess := *expect; int(guess) < len(d.fields) {
		f := &d.fields[guess]
		if f.at(b[i:]) {
			return guess, valueStart(b, i+len(f.quoted))
		}
		// One optional field may be absent: try the one behind it, and keep the order that was learned.
		guess = f.next
		if f = &d.fields[guess]; f.at(b[i:]) {
			return guess, valueStart(b, i+len(f.quoted))
		}
	}
	return d.lookup(b, i, expect)
}

func valueStart(b []byte, i int) int {
	if i < len(b) && b[i] <= ' ' {
		return skipSpace(b, i)
	}
	return i
}

// lookup is name without a guess that holds.
func (d *jsonDecoder) lookup(b []byte, i int, expect *int32) (field int32, at int) {
	if i >= len(b) || b[i] != '"' {
		d.malformed(i, "want a quoted field name")
		return noField, -1
	}
	end, holds := plain.StringEnd(b, i+1)
	if end < 0 {
		d.malformedString(b, -1-end)
		return noField, -1
	}
	name := b[i+1 : end]
	if holds != 0 {
		d.scratch = plain.Unescape(d.scratch[:0], name)
		name = d.scratch
	}
	at = skipSpace(b, end+1)
	if at >= len(b) || b[at] != ':' {
		d.malformed(at, "want : behind a field name")
		return noField, -1
	}
	at = skipSpace(b, at+1)
	field, ok := d.index[string(name)]
	if !ok {
		if len(d.fields) >= len(d.columns)+maxLearned || len(name) > maxLearnedName {
			return noField, at
		}
		field = d.learn(string(name), noField)
		return field, at // expect may point into the array that learn has replaced
	}
	*expect = field
	return field, at
}

// skip passes over the value at i of field f, which has no column.
func (d *jsonDecoder) skip(b []byte, i int, f int32) int {
	d.unknown++
	if d.strict {
		d.fail = recordFault{column: -1, syntaxError: syntaxError{at: i, problem: "no column for this field"}}
		if f >= 0 {
			d.fail.field = d.fields[f].quoted[1 : len(d.fields[f].quoted)-2]
		}
		return -1
	}
	end := skipValue(b, i, 1, &d.fail.syntaxError)
	if end < 0 {
		d.malformed(d.fail.at, d.fail.problem)
	}
	return end
}

func (d *jsonDecoder) malformed(at int, problem string) bool {
	d.fail = recordFault{column: -1, syntaxError: syntaxError{at: at, problem: problem}}
	return false
}

func (d *jsonDecoder) malformedString(b []byte, at int) int {
	var e syntaxError
	e.string(b, at)
	d.malformed(e.at, e.problem)
	return -1
}

// mismatch says that the value at [from:to) does not suit a column.
func (d *jsonDecoder) mismatch(col, from, to int, problem string) int {
	d.fail = recordFault{column: col, from: from, to: to, syntaxError: syntaxError{problem: problem}}
	return -1
}

// fault makes the error of a record that was given up.
func (d *jsonDecoder) fault(b []byte, line, offset int64) error {
	f := &d.fail
	e := &RecordError{Line: line, Offset: offset, Problem: f.problem, Field: f.field}
	from, to := f.from, f.to
	switch {
	case f.column >= 0:
		if e.Field = f.path; e.Field == "" {
			e.Field = d.rows.schema.Field(f.column).Name
		}
		if to == 0 {
			return e
		}
		e.Excerpt = excerpt(b[from:to])
	default:
		e.Excerpt = excerptAt(b, f.at)
	}
	return e
}
