package codec

import (
	"encoding/base64"
	"github.com/arkflow-go/arkflow/codec/internal/plain"
	"time"
	"unicode/utf8"
	"unsafe"
)

// value decodes the value at i into a column and gives the index behind it; negative after an error.
func (d *jsonDecoder) value(b []byte, i, col int) int {
	if i >= len(b) {
		d.malformed(i, endOfRecord)
		return -1
	}
	c, s := &d.rows.cols[col], &d.columns[col]
	d.rows.claim(c)
	if b[i] == 'n' {
		return d.null(b, i, col)
	}
	switch s.op {
	case opInt:
		v, end, ok := plain.PlainInt(b, i)
		if !ok || v < s.lo || v > s.hi {
			return d.oddInt(b, i, col)
		}
		d.rows.putInt(c, v)
		return end
	case opFloat64:
		v, end, ok := plain.ScanFloat(b, i)
		if end < 0 || !ok {
			return d.oddFloat(b, i, col)
		}
		putFixed(&d.rows, c, v)
		return end
	case opText:
		if b[i] != '"' {
			return d.wrongKind(b, i, col)
		}
		return d.text(b, i, col)
	case opUint:
		v, end, ok := plain.PlainInt(b, i)
		if !ok || v < 0 || uint64(v) > s.top {
			return d.oddUint(b, i, col)
		}
		d.rows.putInt(c, v)
		return end
	case opBool:
		end := literalEnd(b, i)
		if end < 0 {
			return d.wrongKind(b, i, col)
		}
		d.rows.putBool(c, b[i] == 't')
		return end
	case opFloat32:
		v, end, ok := plain.ScanFloat32(b, i)
		if end < 0 || !ok {
			return d.oddFloat(b, i, col)
		}
		putFixed(&d.rows, c, v)
		return end
	case opDecimal:
		return d.decimal(b, i, col)
	}
	switch s.op {
	case opBase64:
		return d.base64(b, i, col)
	case opNested:
		return d.nested(b, i, col)
	}
	return d.time(b, i, col)
}

func (d *jsonDecoder) null(b []byte, i, col int) int {
	end := literalEnd(b, i)
	if end < 0 {
		d.malformed(i, "not a value")
		return -1
	}
	c := &d.rows.cols[col]
	if !c.nullish {
		return d.mismatch(col, i, end, "null, and the column is not nullable")
	}
	d.rows.putNull(c)
	return end
}

// wrongKind says that the value at i is of another kind than the column, or malformed.
func (d *jsonDecoder) wrongKind(b []byte, i, col int) int {
	return d.wrongKindOf(b, i, col, d.columns[col].want)
}

func (d *jsonDecoder) wrongKindOf(b []byte, i, col int, want string) int {
	end := skipValue(b, i, 1, &d.fail.syntaxError)
	if end < 0 {
		d.malformed(d.fail.at, d.fail.problem)
		return -1
	}
	kind := "a number"
	switch b[i] {
	case '"':
		kind = "a string"
	case '{':
		kind = "an object"
	case '[':
		kind = "an array"
	case 't', 'f':
		kind = "a boolean"
	}
	return d.mismatch(col, i, end, "want "+want+", not "+kind)
}

// integer gives the exact value of the number at i as an int64 of the column.
func (d *jsonDecoder) integer(b []byte, i, col int) (v int64, end int) {
	s := &d.columns[col]
	v, end, ok := plain.PlainInt(b, i)
	if ok && v >= s.lo && v <= s.hi {
		return v, end
	}
	if end = plain.NumberEnd(b, i); end < 0 {
		return 0, d.wrongKind(b, i, col)
	}
	v, problem := s.wholeInt(b[i:end])
	if problem != "" {
		return 0, d.mismatch(col, i, end, problem)
	}
	return v, end
}

func (d *jsonDecoder) outOfRange(from, to, col int) int {
	return d.mismatch(col, from, to, d.columns[col].beyondRange())
}

func (d *jsonDecoder) oddInt(b []byte, i, col int) int {
	v, end := d.integer(b, i, col)
	if end >= 0 {
		d.rows.putInt(&d.rows.cols[col], v)
	}
	return end
}

func (d *jsonDecoder) oddUint(b []byte, i, col int) int {
	end := plain.NumberEnd(b, i)
	if end < 0 {
		return d.wrongKind(b, i, col)
	}
	v, problem := d.columns[col].wholeUint(b[i:end])
	if problem != "" {
		return d.mismatch(col, i, end, problem)
	}
	d.rows.putInt(&d.rows.cols[col], int64(v))
	return end
}

// oddFloat takes the names of the floats that JSON has no number for, or says why there is none.
func (d *jsonDecoder) oddFloat(b []byte, i, col int) int {
	end := plain.NumberEnd(b, i)
	if end >= 0 {
		return d.outOfRange(i, end, col)
	}
	v, end := floatName(b, i)
	if end < 0 {
		return d.wrongKind(b, i, col)
	}
	if d.columns[col].op == opFloat32 {
		putFixed(&d.rows, &d.rows.cols[col], float32(v))
	} else {
		putFixed(&d.rows, &d.rows.cols[col], v)
	}
	return end
}

func hasPrefix(b []byte, s string) bool { return len(b) >= len(s) && string(b[:len(s)]) == s }

// text decodes the string at i, whose opening quote is there.
func (d *jsonDecoder) text(b []byte, i, col int) int {
	end, holds := plain.StringEnd(b, i+1)
	if end < 0 {
		return d.malformedString(b, -1-end)
	}
	s := b[i+1 : end]
	if holds != 0 && (holds&plain.HasEscape != 0 || !utf8.Valid(s)) {
		d.scratch = plain.Unescape(d.scratch[:0], s)
		s = d.scratch
	}
	if !d.rows.putBytes(&d.rows.cols[col], s) {
		return d.tooMuch(col)
	}
	return end + 1
}

const tooMuchText = "more than 2 GiB of strings in one batch"

func (d *jsonDecoder) tooMuch(col int) int {
	return d.mismatch(col, 0, 0, tooMuchText)
}

// quoted gives the inside of the string at i without its escapes, and the index behind it.
func (d *jsonDecoder) quoted(b []byte, i int) (s []byte, end int) {
	end, holds := plain.StringEnd(b, i+1)
	if end < 0 {
		return nil, d.malformedString(b, -1-end)
	}
	s = b[i+1 : end]
	if holds != 0 {
		d.scratch = plain.Unescape(d.scratch[:0], s)
		s = d.scratch
	}
	return s, end + 1
}

func (d *jsonDecoder) base64(b []byte, i, col int) int {
	if b[i] != '"' {
		return d.wrongKind(b, i, col)
	}
	s, end := d.quoted(b, i)
	if end < 0 {
		return end
	}
	c := &d.rows.cols[col]
	at := len(c.data)
	most := base64.StdEncoding.DecodedLen(len(s))
	if at+most > cap(c.data) && !d.rows.growBytes(c, most) {
		return d.tooMuch(col)
	}
	n, err := base64.StdEncoding.Decode(c.data[at:at+most], s)
	if err != nil {
		return d.mismatch(col, i, end, "not base64")
	}
	c.data = c.data[:at+n]
	c.offsets[d.rows.n+1] = int32(at + n)
	return end
}

// decimal decodes a number, or a string that holds one.
func (d *jsonDecoder) decimal(b []byte, i, col int) int {
	s := &d.columns[col]
	var text []byte
	var end int
	if b[i] == '"' {
		if text, end = d.quoted(b, i); end < 0 {
			return end
		}
		if n := plain.NumberEnd(text, 0); n < 0 || n < len(text) {
			return d.mismatch(col, i, end, "want "+s.want+", not a string that is no number")
		}
	} else {
		if end = plain.NumberEnd(b, i); end < 0 {
			return d.wrongKind(b, i, col)
		}
		text = b[i:end]
	}
	hi, lo, problem := s.decimal(text)
	if problem != "" {
		return d.mismatch(col, i, end, problem)
	}
	d.rows.putDecimal(&d.rows.cols[col], lo, int64(hi))
	return end
}

// time decodes the types of time: a number is in the column's unit, a string has a form of its own for each type.
func (d *jsonDecoder) time(b []byte, i, col int) int {
	c, s := &d.rows.cols[col], &d.columns[col]
	if b[i] != '"' {
		return d.oddInt(b, i, col)
	}
	text, end := d.quoted(b, i)
	if end < 0 {
		return end
	}
	v, problem := s.parseTime(text)
	switch {
	case problem == beyond:
		return d.outOfRange(i, end, col)
	case problem != "":
		return d.mismatch(col, i, end, "want "+s.want+": "+problem)
	}
	d.rows.putInt(c, v)
	return end
}

const beyond = "out of range"

// parseTime reads the string form of a type of time; problem is empty if it is one.
func (s *textColumn) parseTime(text []byte) (v int64, problem string) {
	ok := true
	switch s.op {
	case opInstant:
		sec, nanos, zoned, is := plain.ParseInstant(text)
		if !is {
			return 0, "not an instant such as 2006-01-02T15:04:05Z"
		}
		if !zoned && s.zoned {
			return 0, "an instant without a zone"
		}
		v, ok = plain.InUnit(sec, nanos, s.perSec)
	case opDate32, opDate64:
		days, is := plain.ParseDate(text)
		if !is {
			return 0, "not a date such as 2006-01-02"
		}
		v = days
		if s.op == opDate64 {
			v *= plain.SecondsPerDay * 1000
		}
	case opClock32, opClock64:
		sec, nanos, rest, is := plain.ParseClock(text)
		if !is || len(rest) > 0 {
			return 0, "not a time of day such as 15:04:05"
		}
		v, ok = plain.InUnit(sec, nanos, s.perSec)
	default:
		span, err := time.ParseDuration(unsafe.String(unsafe.SliceData(text), len(text)))
		if err != nil {
			return 0, "not a duration such as 1m30s"
		}
		v = plain.FloorDiv(int64(span), plain.NanosPerSec/s.perSec)
	}
	if !ok {
		return 0, beyond
	}
	return v, ""
}
