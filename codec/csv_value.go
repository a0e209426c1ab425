package codec

import (
	"encoding/base64"
	"encoding/binary"
	"github.com/arkflow-go/arkflow/codec/internal/plain"
	"math"
	"unicode/utf8"
)

// plain decodes the field at i of a line where it is a plain number or boolean, or a text that is neither quoted nor null, and gives the
// index behind it; else -1, and nothing is stored.
func (d *csvDecoder) plain(line []byte, i int, c *colBuf, s *textColumn) (end int) {
	switch s.op {
	case opInt:
		v, end := shortInt(d.b, i)
		if end < 0 || end > len(line) {
			var ok bool
			if v, end, ok = plain.PlainInt(line, i); !ok {
				return -1
			}
		}
		if v < s.lo || v > s.hi || end < len(line) && line[end] != d.delim {
			return -1
		}
		d.rows.claim(c)
		d.rows.putInt(c, v)
		return end
	case opFloat64:
		v, end := shortFloat(d.b, i)
		if end < 0 || end > len(line) || end < len(line) && line[end] != d.delim {
			var ok bool
			v, end, ok = plain.ScanFloat(line, i)
			if end < 0 || !ok || end < len(line) && line[end] != d.delim {
				return -1
			}
		}
		d.rows.claim(c)
		putFixed(&d.rows, c, v)
		return end
	case opText:
		end, holds := d.fieldEnd(d.b, i, len(line))
		text := line[i:end]
		if holds != 0 || end < len(line) && line[end] == d.quote || string(text) == d.null {
			return -1
		}
		d.rows.claim(c)
		if !d.rows.putShort(c, d.b, i, end) {
			return -1
		}
		return end
	case opBool:
		end := i + 4
		is := hasPrefix(line[i:], "true")
		if !is && hasPrefix(line[i:], "false") {
			end++
		} else if !is {
			return -1
		}
		if end < len(line) && line[end] != d.delim {
			return -1
		}
		d.rows.claim(c)
		d.rows.putBool(c, is)
		return end
	}
	return -1
}

// shortInt reads an integer of at most 15 digits at i, if there are 16 bytes to look at; else, or where something else stands there, the
// index is negative. It does not look at what comes behind.
func shortInt(b []byte, i int) (v int64, end int) {
	if i+17 > len(b) {
		return 0, -1
	}
	neg := b[i] == '-'
	if neg {
		i++
	}
	w := binary.LittleEndian.Uint64(b[i:])
	n := plain.DigitsAhead(w)
	if n < 8 {
		if n == 0 || b[i] == '0' && n > 1 {
			return 0, -1
		}
		v, end = int64(plain.DigitsValue(w, n)), i+n
	} else {
		w2 := binary.LittleEndian.Uint64(b[i+8:])
		n = plain.DigitsAhead(w2)
		if n == 8 || b[i] == '0' {
			return 0, -1
		}
		v, end = int64(plain.DigitsValue(w, 8)), i+8
		if n > 0 {
			v, end = v*int64(plain.Pow10u64[n&7])+int64(plain.DigitsValue(w2, n)), end+n
		}
	}
	if neg {
		v = -v
	}
	return v, end
}

// shortFloat reads a number such as -1234567.25, of at most 7 digits before and behind the point, if there are 17 bytes to look at; else, or
// where something else stands there, the index is negative.
func shortFloat(b []byte, i int) (v float64, end int) {
	if i+18 > len(b) {
		return 0, -1
	}
	neg := b[i] == '-'
	if neg {
		i++
	}
	w := binary.LittleEndian.Uint64(b[i:])
	n := plain.DigitsAhead(w)
	if n == 0 || n == 8 || b[i] == '0' && n > 1 {
		return 0, -1
	}
	m := plain.DigitsValue(w, n)
	end = i + n
	if b[end] != '.' {
		v = float64(m)
	} else {
		w = binary.LittleEndian.Uint64(b[end+1:])
		if n = plain.DigitsAhead(w); n == 0 || n == 8 {
			return 0, -1
		}
		end += 1 + n
		v = float64(m*plain.Pow10u64[n&7]+plain.DigitsValue(w, n)) / plain.Pow10f64[n]
	}
	if neg {
		v = -v
	}
	return v, end
}

// quotedValue decodes the inside of a quoted field.
func (d *csvDecoder) quotedValue(text []byte, holds uint8, col int) bool {
	if holds&hasEscape != 0 {
		d.scratch = d.undouble(d.scratch[:0], text)
		text = d.scratch
	}
	return d.value(text, hasHigh, true, col)
}

// value decodes the text of a field into a column. false: d.bad says why not.
func (d *csvDecoder) value(text []byte, holds uint8, quoted bool, col int) bool {
	c, s := &d.rows.cols[col], &d.columns[col]
	isText := s.op == opText || s.op == opBase64
	isNull := !quoted && string(text) == d.null || quoted && len(text) == 0 && d.null == "" && !isText
	if isNull && (c.nullish || !isText || d.null != "") {
		if !c.nullish {
			return d.giveUp(col, excerpt(text), "null, and the column is not nullable")
		}
		d.rows.claim(c)
		d.rows.putNull(c)
		return true
	}
	if s.op == opText && holds != 0 && !utf8.Valid(text) {
		d.valid = appendValid(d.valid[:0], text)
		text = d.valid
	}
	d.rows.claim(c)
	if problem := d.store(c, s, text); problem != "" {
		return d.giveUp(col, excerpt(text), problem)
	}
	return true
}

// appendValid appends text with U+FFFD in place of each byte that is no UTF-8.
func appendValid(dst, text []byte) []byte {
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRune(text[i:])
		dst = utf8.AppendRune(dst, r)
		i += n
	}
	return dst
}

// store puts the value that a text stands for into the current row; problem says why it does not suit the column.
func (d *csvDecoder) store(c *colBuf, s *textColumn, text []byte) (problem string) {
	isNumber := plain.NumberEnd(text, 0) == len(text)
	switch s.op {
	case opText:
		if !d.rows.putBytes(c, text) {
			return tooMuchText
		}
		return ""
	case opBase64:
		return d.storeBase64(c, text)
	case opBool:
		is, ok := boolean(text)
		if !ok {
			return "want " + s.want
		}
		d.rows.putBool(c, is)
		return ""
	case opFloat64, opFloat32:
		return d.storeFloat(c, s, text, isNumber)
	case opUint:
		if !isNumber {
			return "want " + s.want
		}
		v, problem := s.wholeUint(text)
		d.rows.putInt(c, int64(v))
		return problem
	case opDecimal:
		if !isNumber {
			return "want " + s.want
		}
		hi, lo, problem := s.decimal(text)
		d.rows.putDecimal(c, lo, int64(hi))
		return problem
	}
	var v int64
	switch {
	case isNumber:
		v, problem = s.wholeInt(text)
	case s.op == opInt:
		problem = "want " + s.want
	default:
		switch v, problem = s.parseTime(text); {
		case problem == beyond:
			problem = s.beyondRange()
		case problem != "":
			problem = "want " + s.want + ": " + problem
		}
	}
	if problem == "" {
		d.rows.putInt(c, v)
	}
	return problem
}

// boolean reads true and false in the forms in which programs write them.
func boolean(text []byte) (is, ok bool) {
	switch string(text) {
	case "true", "True", "TRUE":
		return true, true
	case "false", "False", "FALSE":
		return false, true
	}
	return false, false
}

func (d *csvDecoder) storeFloat(c *colBuf, s *textColumn, text []byte, isNumber bool) (problem string) {
	v, v32, ok := math.NaN(), float32(math.NaN()), true
	switch {
	case isNumber && s.op == opFloat64:
		v, _, ok = plain.ScanFloat(text, 0)
	case isNumber:
		v32, _, ok = plain.ScanFloat32(text, 0)
	case string(text) == "Infinity":
		v, v32 = math.Inf(1), float32(math.Inf(1))
	case string(text) == "-Infinity":
		v, v32 = math.Inf(-1), float32(math.Inf(-1))
	case string(text) != "NaN":
		return "want " + s.want
	}
	if !ok {
		return s.beyondRange()
	}
	if s.op == opFloat64 {
		putFixed(&d.rows, c, v)
	} else {
		putFixed(&d.rows, c, v32)
	}
	return ""
}

func (d *csvDecoder) storeBase64(c *colBuf, text []byte) (problem string) {
	n := base64.StdEncoding.DecodedLen(len(text))
	if cap(d.valid) < n {
		d.valid = make([]byte, n)
	}
	n, err := base64.StdEncoding.Decode(d.valid[:n], text)
	if err != nil {
		return "not base64"
	}
	if !d.rows.putBytes(c, d.valid[:n]) {
		return tooMuchText
	}
	return ""
}
