package codec

import "github.com/arkflow-go/arkflow/codec/internal/plain"

// maxDepth bounds how deep arrays and objects may be nested in a record.
const maxDepth = 1000

// syntaxError is where and why a text is no JSON.
type syntaxError struct {
	at      int
	problem string
}

const (
	notAnObject = "not a JSON object"
	textBehind  = "text behind the record"
	endOfRecord = "the record ends within a value"
	tooDeep     = "nested deeper than 1000 levels"
)

// skipSpace gives the index of the first byte from i on that is no white space.
func skipSpace(b []byte, i int) int {
	for i < len(b) {
		if c := b[i]; c != ' ' && c != '\n' && c != '\t' && c != '\r' {
			break
		}
		i++
	}
	return i
}

// skipValue gives the index behind the value at i, which it validates; negative after an error, which is then in e.
func skipValue(b []byte, i, depth int, e *syntaxError) int {
	if i >= len(b) {
		return e.set(i, endOfRecord)
	}
	switch c := b[i]; {
	case c == '"':
		end, _ := plain.StringEnd(b, i+1)
		if end < 0 {
			return e.string(b, -1-end)
		}
		return end + 1
	case c == '-' || c-'0' <= 9:
		end := plain.NumberEnd(b, i)
		if end < 0 {
			return e.set(i, "not a number")
		}
		return end
	case c == '{' || c == '[':
		if depth >= maxDepth {
			return e.set(i, tooDeep)
		}
		if c == '{' {
			return skipObject(b, i, depth, e)
		}
		return skipArray(b, i, depth, e)
	}
	end := literalEnd(b, i)
	if end < 0 {
		return e.set(i, "not a value")
	}
	return end
}

// literalEnd gives the index behind true, false or null at i, -1 if none of them stands there.
func literalEnd(b []byte, i int) int {
	for _, w := range [...]string{"true", "false", "null"} {
		if len(b)-i >= len(w) && string(b[i:i+len(w)]) == w {
			return i + len(w)
		}
	}
	return -1
}

func skipArray(b []byte, i, depth int, e *syntaxError) int {
	i = skipSpace(b, i+1)
	if i < len(b) && b[i] == ']' {
		return i + 1
	}
	for {
		if i = skipValue(b, i, depth+1, e); i < 0 {
			return -1
		}
		i = skipSpace(b, i)
		switch {
		case i >= len(b):
			return e.set(i, endOfRecord)
		case b[i] == ']':
			return i + 1
		case b[i] != ',':
			return e.set(i, "want , or ] in an array")
		}
		i = skipSpace(b, i+1)
	}
}

func skipObject(b []byte, i, depth int, e *syntaxError) int {
	i = skipSpace(b, i+1)
	if i < len(b) && b[i] == '}' {
		return i + 1
	}
	for {
		if i >= len(b) {
			return e.set(i, endOfRecord)
		}
		if b[i] != '"' {
			return e.set(i, "want a quoted field name")
		}
		if i = skipValue(b, i, depth+1, e); i < 0 {
			return -1
		}
		i = skipSpace(b, i)
		if i >= len(b) || b[i] != ':' {
			return e.set(i, "want : behind a field name")
		}
		if i = skipValue(b, skipSpace(b, i+1), depth+1, e); i < 0 {
			return -1
		}
		i = skipSpace(b, i)
		switch {
		case i >= len(b):
			return e.set(i, endOfRecord)
		case b[i] == '}':
			return i + 1
		case b[i] != ',':
			return e.set(i, "want , or } in an object")
		}
		i = skipSpace(b, i+1)
	}
}

func (e *syntaxError) set(at int, problem string) int {
	e.at, e.problem = at, problem
	return -1
}

// string says what is wrong with byte at of a string.
func (e *syntaxError) string(b []byte, at int) int {
	switch {
	case at >= len(b):
		return e.set(at, "the record ends within a string")
	case b[at] == '\\':
		return e.set(at, "not an escape sequence")
	}
	return e.set(at, "control character in a string")
}
