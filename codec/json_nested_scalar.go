package codec

import (
	"encoding/base64"
	"github.com/arkflow-go/arkflow/codec/internal/plain"
	"math"
	"unicode/utf8"

	"github.com/arkflow-go/arkflow/column"
)

// innerScalar decodes the value at i, which is not null, within a nested column.
func (d *jsonDecoder) innerScalar(b []byte, i, col int, n *nestedColumn, a *column.Appender) int {
	problem, end := "", -1
	switch {
	case n.op == opText && b[i] == '"':
		return d.innerText(b, i, a)
	case n.op == opBool:
		if end = literalEnd(b, i); end >= 0 {
			a.Bool(b[i] == 't')
		}
	case n.op == opFloat64 || n.op == opFloat32:
		problem, end = n.putFloat(b, i, a)
	case n.op == opDecimal:
		return d.innerDecimal(b, i, col, n, a)
	case n.op == opUint:
		if end = plain.NumberEnd(b, i); end >= 0 {
			var v uint64
			v, problem = n.wholeUint(b[i:end])
			a.Uint64(v)
		}
	case n.op == opBase64 && b[i] == '"', n.op >= opInstant && n.op <= opSpan && b[i] == '"':
		var text []byte
		if text, end = d.quoted(b, i); end < 0 {
			return -1
		}
		problem = n.putQuoted(text, a)
	case n.op == opInt || n.op >= opInstant && n.op <= opSpan:
		if end = plain.NumberEnd(b, i); end >= 0 {
			var v int64
			v, problem = n.wholeInt(b[i:end])
			a.Int64(v)
		}
	}
	switch {
	case end < 0:
		return d.wrongInner(b, i, col, n)
	case problem != "":
		return d.mismatchIn(n, col, i, end, problem)
	}
	return end
}

func (d *jsonDecoder) innerText(b []byte, i int, a *column.Appender) int {
	end, holds := plain.StringEnd(b, i+1)
	if end < 0 {
		return d.malformedString(b, -1-end)
	}
	s := b[i+1 : end]
	if holds != 0 && (holds&plain.HasEscape != 0 || !utf8.Valid(s)) {
		d.scratch = plain.Unescape(d.scratch[:0], s)
		s = d.scratch
	}
	a.Bytes(s)
	return end + 1
}

// putFloat appends the number at i, or the name of one that JSON has no number for.
func (n *nestedColumn) putFloat(b []byte, i int, a *column.Appender) (problem string, end int) {
	if end = plain.NumberEnd(b, i); end < 0 {
		v, end := floatName(b, i)
		if end >= 0 {
			a.Float64(v)
		}
		return "", end
	}
	if n.op == opFloat32 {
		v, _, ok := plain.ScanFloat32(b, i)
		if !ok {
			return n.beyondRange(), end
		}
		a.Float64(float64(v))
		return "", end
	}
	v, _, ok := plain.ScanFloat(b, i)
	if !ok {
		return n.beyondRange(), end
	}
	a.Float64(v)
	return "", end
}

// floatName reads the name of a float that JSON has no number for; end is negative where there is none.
func floatName(b []byte, i int) (v float64, end int) {
	switch rest := b[i:]; {
	case hasPrefix(rest, `"NaN"`):
		return math.NaN(), i + 5
	case hasPrefix(rest, `"Infinity"`):
		return math.Inf(1), i + 10
	case hasPrefix(rest, `"-Infinity"`):
		return math.Inf(-1), i + 11
	}
	return 0, -1
}

func (d *jsonDecoder) innerDecimal(b []byte, i, col int, n *nestedColumn, a *column.Appender) int {
	var (
		text []byte
		end  int
	)
	if b[i] == '"' {
		if text, end = d.quoted(b, i); end < 0 {
			return -1
		}
		if k := plain.NumberEnd(text, 0); k < 0 || k < len(text) {
			return d.mismatchIn(n, col, i, end, "want "+n.want+", not a string that is no number")
		}
	} else {
		if end = plain.NumberEnd(b, i); end < 0 {
			return d.wrongInner(b, i, col, n)
		}
		text = b[i:end]
	}
	hi, lo, problem := n.decimal(text)
	if problem != "" {
		return d.mismatchIn(n, col, i, end, problem)
	}
	a.Decimal(lo, int64(hi))
	return end
}

// putQuoted appends a binary or a time that is written as a string.
func (n *nestedColumn) putQuoted(text []byte, a *column.Appender) (problem string) {
	if n.op == opBase64 {
		v := make([]byte, base64.StdEncoding.DecodedLen(len(text)))
		k, err := base64.StdEncoding.Decode(v, text)
		if err != nil {
			return "not base64"
		}
		a.Bytes(v[:k])
		return ""
	}
	v, problem := n.parseTime(text)
	switch problem {
	case "":
		a.Int64(v)
		return ""
	case beyond:
		return n.beyondRange()
	}
	return "want " + n.want + ": " + problem
}
