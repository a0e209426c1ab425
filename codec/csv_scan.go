package codec

import (
	"bytes"
	"encoding/binary"
	"math/bits"
)

// csvGrammar is what separates and surrounds fields.
type csvGrammar struct {
	delim byte
	quote byte
}

// fieldEnd gives the index of the first delimiter or quote from i on, end if there is none before it. It may look at bytes behind end.
func (g csvGrammar) fieldEnd(b []byte, i, end int) (at int, holds uint8) {
	delims, quotes := ones*uint64(g.delim), ones*uint64(g.quote)
	high := uint64(0)
	for i < end {
		if i+8 > len(b) {
			for ; i < end && b[i] != g.delim && b[i] != g.quote; i++ {
				high |= uint64(b[i])
			}
			break
		}
		w := binary.LittleEndian.Uint64(b[i:])
		d, q := w^delims, w^quotes
		if m := ((d-ones)&^d | (q-ones)&^q) & highs; m != 0 {
			n := bits.TrailingZeros64(m) &^ 7
			high |= w & (1<<n - 1)
			i += n >> 3
			break
		}
		high |= w
		i += 8
	}
	if high&highs != 0 {
		holds = hasHigh
	}
	return min(i, end), holds
}

// csvScan goes through the fields of one record of b.
type csvScan struct {
	csvGrammar
	b     []byte
	final bool // b ends with the end of a record
	i     int  // the next field begins here
	end   int  // of the last line looked at, without its terminator
	next  int  // behind its terminator
	lines int
	short bool // the record is not whole
	fail  syntaxError
}

// What stands where a record is malformed.
const (
	bareQuote   = "a quote within a field that is not quoted"
	behindQuote = "text behind the closing quote of a field"
	openQuote   = "a quoted field is not closed"
)

// begin finds the end of the first line from at on, which is that of the record unless a field is quoted. false: it is not whole.
func (s *csvScan) begin(at int) bool {
	s.i, s.lines, s.short = at, 1, false
	return s.line(at)
}

// line finds the end of the line that goes on at i.
func (s *csvScan) line(i int) bool {
	n := bytes.IndexByte(s.b[i:], '\n')
	switch {
	case n >= 0:
		s.end, s.next = i+n, i+n+1
	case s.final:
		s.end, s.next = len(s.b), len(s.b)
	default:
		s.short = true
		return false
	}
	if s.end > i && s.b[s.end-1] == '\r' {
		s.end--
	}
	return true
}

// quoted scans the quoted field at i and gives its inside, quotes in it still doubled; i is then behind it. false: the record is not whole
// or malformed.
func (s *csvScan) quoted() (from, to int, holds uint8, ok bool) {
	from = s.i + 1
	j := from
	for {
		n := bytes.IndexByte(s.b[j:], s.quote)
		if n < 0 || j+n+1 == len(s.b) && !s.final {
			if !s.final {
				s.short = true
				return 0, 0, 0, false
			}
			s.lines += bytes.Count(s.b[from:], []byte{'\n'})
			s.end, s.next = len(s.b), len(s.b)
			s.fail.set(s.i, openQuote)
			return 0, 0, 0, false
		}
		j += n + 1
		if j == len(s.b) || s.b[j] != s.quote {
			break
		}
		holds |= hasEscape
		j++
	}
	to, s.i = j-1, j
	if j > s.end {
		s.lines += bytes.Count(s.b[from:to], []byte{'\n'})
		if !s.line(j) {
			return 0, 0, 0, false
		}
	}
	if s.i < s.end && s.b[s.i] != s.delim {
		s.fail.set(s.i, behindQuote)
		return 0, 0, 0, false
	}
	return from, to, holds, true
}

// more passes over the delimiter at i; false at the end of the record.
func (s *csvScan) more() bool {
	if s.i >= s.end {
		return false
	}
	s.i++
	return true
}

// skipField passes over a field and the delimiter behind it; false at the end of the record, or where it is not whole or malformed.
func (s *csvScan) skipField() bool {
	_, _, ok := s.field()
	return ok && s.more()
}

// field scans a field and gives its text, with quotes around it where it has them.
func (s *csvScan) field() (from, to int, ok bool) {
	from = s.i
	if from < s.end && s.b[from] == s.quote {
		_, _, _, ok = s.quoted()
		return from, s.i, ok
	}
	s.i, _ = s.fieldEnd(s.b, from, s.end)
	if s.i < s.end && s.b[s.i] == s.quote {
		s.fail.set(s.i, bareQuote)
		return from, s.i, false
	}
	return from, s.i, true
}

// unquote gives the value of a field that field has given, and whether it was quoted.
func (g csvGrammar) unquote(text []byte) (value []byte, quoted bool) {
	if len(text) < 2 || text[0] != g.quote {
		return text, false
	}
	return g.undouble(nil, text[1:len(text)-1]), true
}

// undouble appends s with each doubled quote once.
func (g csvGrammar) undouble(dst, s []byte) []byte {
	for {
		n := bytes.IndexByte(s, g.quote)
		if n < 0 {
			return append(dst, s...)
		}
		dst = append(dst, s[:n+1]...)
		s = s[min(n+2, len(s)):]
	}
}

// split gives the fields of a whole record; the texts are copies.
func (g csvGrammar) split(record []byte) (fields []string, quoted []bool, e *syntaxError) {
	s := csvScan{csvGrammar: g, b: record, final: true}
	s.begin(0)
	for {
		from, to, ok := s.field()
		if !ok {
			return nil, nil, &s.fail
		}
		text, q := g.unquote(record[from:to])
		fields, quoted = append(fields, string(text)), append(quoted, q)
		if !s.more() {
			return fields, quoted, nil
		}
	}
}
