package codec

import (
	"bytes"
	"fmt"
	"github.com/arkflow-go/arkflow/codec/internal/plain"

	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/internal/fault"
)

// csvDecoder builds columns straight from the text of records, one pass, no table of fields. Numbers and plain texts are read where they
// stand, and what they end with is looked at once; everything else (quotes, nulls, odd numbers) takes a general way.
type csvDecoder struct {
	csvScan
	rows    rowSet
	columns []textColumn // by column of the schema
	order   []int32      // the column of each field; -1: there is none
	missing int          // fields without a column
	null    string
	odd     bool // the null text is a number or a boolean
	strict  bool
	unknown int64
	scratch []byte // a text without doubled quotes
	valid   []byte // a text in valid UTF-8, or bytes out of base64
	bad     csvFault
}

func newCSVDecoder(f CSVFormat, p *column.Pool) *csvDecoder {
	d := &csvDecoder{rows: newRowSet(p, f.schema), null: f.null, strict: f.strict}
	d.csvGrammar = f.grammar()
	_, isBool := boolean([]byte(f.null))
	d.odd = isBool || plain.NumberEnd([]byte(f.null), 0) >= 0
	for i, field := range f.schema.Fields() {
		d.columns = append(d.columns, textColumnOf(field.Type))
		d.order = append(d.order, int32(i))
	}
	return d
}

// Header is part of Decoder.
func (d *csvDecoder) Header(record []byte) error {
	fields, _, e := d.split(record)
	if e != nil {
		return fmt.Errorf("header: %s: %s", e.problem, excerptAt(record, e.at))
	}
	order, missing := make([]int32, len(fields)), 0
	seen := map[string]bool{}
	for i, name := range fields {
		if seen[name] {
			return fmt.Errorf("header: two columns are called %q", name)
		}
		seen[name] = true
		order[i] = -1
		if at := d.rows.schema.FieldIndices(name); len(at) > 0 {
			order[i] = int32(at[0])
			continue
		}
		if missing++; d.strict {
			return fmt.Errorf("header: column %q is not in the schema", name)
		}
	}
	for _, f := range d.rows.schema.Fields() {
		if !f.Nullable && !seen[f.Name] {
			hint := ""
			if near := fault.Nearest(f.Name, fields); len(near) > 0 {
				hint = fmt.Sprintf("; did you mean %q?", near[0])
			}
			return fmt.Errorf("header: column %q is missing, and it is not nullable%s", f.Name, hint)
		}
	}
	if missing == len(fields) {
		return fmt.Errorf("header: none of %s is among the columns of the file: %s (is the first record a header?)", names(d.rows.schema), excerpt(record))
	}
	d.order, d.missing = order, missing
	return nil
}

// Len is part of Decoder.
func (d *csvDecoder) Len() int { return d.rows.n }

// Finish is part of Decoder.
func (d *csvDecoder) Finish() *column.Batch { return d.rows.finish() }

// Unknown is part of Decoder.
func (d *csvDecoder) Unknown() int64 { return d.unknown }

// Discard is part of Decoder.
func (d *csvDecoder) Discard() { d.rows.discard() }

// Append is part of Decoder.
func (d *csvDecoder) Append(record []byte) error {
	d.b, d.final = record, true
	defer func() { d.b = nil }()
	d.begin(0)
	ok := d.record()
	if ok && d.next < len(record) {
		d.rows.undo()
		ok = d.giveUp(-1, excerptAt(record, d.next), textBehind)
	}
	if !ok {
		return d.recordError(1, 0)
	}
	d.unknown += int64(d.missing)
	return nil
}

// DecodeLines is part of Decoder. A record with a misplaced quote ends with the line that the quote stands in; one that is too long, with
// the line that the limit falls into.
func (d *csvDecoder) DecodeLines(block []byte, final bool, limits Limits) (p Progress, err error) {
	d.b, d.final = block, final
	defer func() { d.b = nil }()
	for d.rows.n < limits.Rows && p.Bytes < len(block) {
		at, line := p.Bytes, p.Lines+1
		if !d.begin(at) {
			break
		}
		if d.end == at {
			p.Bytes, p.Lines = d.next, line
			continue
		}
		ok := d.record()
		if d.short {
			break
		}
		if limits.RecordBytes > 0 && d.next-at > limits.RecordBytes && len(bytes.TrimSuffix(block[at:d.next], newline)) > limits.RecordBytes {
			if ok {
				d.rows.undo()
			}
			return d.passOver(p, at, limits.RecordBytes)
		}
		p.Bytes, p.Lines = d.next, p.Lines+d.lines
		if !ok {
			return p, d.recordError(int64(line), int64(at))
		}
		d.unknown += int64(d.missing)
		if limits.Lines != nil {
			*limits.Lines = append(*limits.Lines, int64(line))
		}
	}
	return p, nil
}

var newline = []byte{'\n'}

// passOver goes behind the line into which the limit of a record that is too long falls.
func (d *csvDecoder) passOver(p Progress, at, limit int) (Progress, error) {
	e := TooLong(limit, d.b[at:])
	e.Line, e.Offset = int64(p.Lines+1), int64(at)
	p.Bytes = len(d.b)
	if n := bytes.IndexByte(d.b[at+limit:], '\n'); n >= 0 {
		p.Bytes = at + limit + n + 1
	}
	p.Lines += max(1, bytes.Count(d.b[at:p.Bytes], newline))
	return p, e
}

// record decodes the record that begin has found. false: it is not whole (short), or d.bad says why it is none; the rows are as before.
func (d *csvDecoder) record() bool {
	d.rows.begin()
	first, n, ok := d.i, 0, true
	for {
		n = d.plainFields(n, ok)
		if d.i < 0 {
			break
		}
		col := int32(-1)
		if n < len(d.order) && ok {
			col = d.order[n]
		}
		n++
		if !d.anyField(col, &ok) {
			d.rows.drop()
			return !d.short && d.giveUp(-1, excerptAt(d.b[first:d.end], d.fail.at-first), d.fail.problem)
		}
		if !d.more() {
			break
		}
	}
	if ok && n != len(d.order) {
		ok = d.giveUp(-1, excerpt(d.b[first:d.end]), fmt.Sprintf("want %d fields, have %d", len(d.order), n))
	}
	if !ok {
		d.rows.drop()
		return false
	}
	d.rows.end() // no column is missing that must not be: Header has seen to it
	return true
}

// plainFields decodes fields from the n-th on as long as they are plain, and gives the number of the first that is not, at which d.i then
// stands; d.i is negative behind the last field of the record.
func (d *csvDecoder) plainFields(n int, ok bool) int {
	if !ok || d.odd {
		return n
	}
	line, i := d.b[:d.end], d.i
	for n < len(d.order) && d.order[n] >= 0 {
		col := d.order[n]
		end := d.plain(line, i, &d.rows.cols[col], &d.columns[col])
		if end < 0 {
			break
		}
		n++
		if end >= len(line) {
			i = -1
			break
		}
		i = end + 1
	}
	d.i = i
	return n
}

// anyField decodes the field at i into a column, of which -1 is none; i is then behind it. *ok becomes false where its value does not suit.
// false: the record is not whole, or malformed.
func (d *csvDecoder) anyField(col int32, ok *bool) bool {
	i := d.i
	if i < d.end && d.b[i] == d.quote {
		from, to, holds, whole := d.quoted()
		if !whole {
			return false
		}
		if col >= 0 {
			*ok = d.quotedValue(d.b[from:to], holds, int(col))
		}
		return true
	}
	end, holds := d.fieldEnd(d.b, i, d.end)
	if d.i = end; end < d.end && d.b[end] == d.quote {
		d.fail.set(end, bareQuote)
		return false
	}
	if col >= 0 {
		*ok = d.value(d.b[i:end], holds, false, int(col))
	}
	return true
}

// giveUp says why a record is given up; col is the column that a value does not suit, or -1.
func (d *csvDecoder) giveUp(col int, excerpt, problem string) bool {
	d.bad = csvFault{col, excerpt, problem}
	return false
}

// csvFault is why a record was given up.
type csvFault struct {
	column  int // -1: the record is malformed
	excerpt string
	problem string
}

// recordError makes the error of a record that was given up.
func (d *csvDecoder) recordError(line, offset int64) error {
	e := &RecordError{Line: line, Offset: offset, Problem: d.bad.problem, Excerpt: d.bad.excerpt}
	if d.bad.column >= 0 {
		e.Field = d.rows.schema.Field(d.bad.column).Name
	}
	return e
}
