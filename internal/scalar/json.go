package scalar

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/apache/arrow-go/v18/arrow"
)

// pathStep leads from a JSON value to one that it contains.
type pathStep struct {
	name  string
	index int // of an array's element; -1: the member of an object that name names
}

// bindJSON is json_get, the text of a value at a path (strings without quotes), and json_query, the value as JSON. What is not
// there is null, and so is JSON's null for json_get. A document that is no JSON as far as it has to be read is an error of the row.
func bindJSON(asText bool) func(*Call) error {
	return func(c *Call) error {
		path, err := c.path(1)
		if err != nil {
			return err
		}
		c.Nullable, c.Fails = true, true
		return c.gives(arrow.BinaryTypes.String, func(out *Out, args []Vec) {
			for i := range out.N {
				start := len(out.Chars)
				if !out.Skip(i) {
					s := args[0].Bytes(i)
					value, ok := follow(s, path)
					if ok && value != nil {
						ok = out.appendJSON(i, value, asText)
					} else if ok {
						out.Null(i)
					}
					if !ok {
						out.Chars = out.Chars[:start]
						out.Fail(i, quoted(s)+" is no JSON")
					}
				}
				out.End(i, start)
			}
		})
	}
}

// appendJSON writes a value; false where it is none.
func (o *Out) appendJSON(i int, value []byte, asText bool) bool {
	switch c := value[0]; {
	case asText && c == '"':
		var ok bool
		o.Chars, ok = unescape(o.Chars, value[1:len(value)-1])
		return ok
	case asText && string(value) == "null":
		o.Null(i)
		return true
	case c == '"' || c == '{' || c == '[':
		if !json.Valid(value) {
			return false
		}
	case !scalarJSON(value):
		return false
	}
	o.Chars = append(o.Chars, value...)
	return true
}

// path reads a constant path: $.a.b[0]['c d'], a member's name, or an element's number.
func (c *Call) path(i int) ([]pathStep, error) {
	if n, ok := c.whole(i); ok {
		if n < 0 || n > 1<<31-1 {
			return nil, argError(i, "elements are counted from 0", "is no element")
		}
		return []pathStep{{index: int(n)}}, nil
	}
	text := c.text(i)
	if !strings.HasPrefix(text, "$") {
		return []pathStep{{name: text, index: -1}}, nil
	}
	var path []pathStep
	for rest := text[1:]; rest != ""; {
		step, after, ok := pathPart(rest)
		if !ok {
			return nil, argError(i, "write it as $.a.b[0]['c d']", "is no path at %s", quoted([]byte(rest)))
		}
		path, rest = append(path, step), after
	}
	return path, nil
}

// pathPart reads .name, ["name"], ['name'] or [0].
func pathPart(s string) (step pathStep, rest string, ok bool) {
	if name, found := strings.CutPrefix(s, "."); found {
		n := strings.IndexAny(name, ".[")
		if n < 0 {
			n = len(name)
		}
		return pathStep{name: name[:n], index: -1}, name[n:], n > 0
	}
	inner, found := strings.CutPrefix(s, "[")
	if !found || inner == "" {
		return step, "", false
	}
	if q := inner[0]; q == '\'' || q == '"' {
		name, after, closed := strings.Cut(inner[1:], string(q)+"]")
		return pathStep{name: name, index: -1}, after, closed
	}
	digits, after, closed := strings.Cut(inner, "]")
	n, isInt := parseInt([]byte(digits))
	return pathStep{index: int(n)}, after, closed && isInt && n >= 0 && n < 1<<31
}

// follow gives the bytes of the value at a path, nil where there is none; false where the document is no JSON.
func follow(s []byte, path []pathStep) (value []byte, ok bool) {
	s = skipBlank(s)
	for _, p := range path {
		found := false
		if len(s) == 0 {
			return nil, false
		}
		switch {
		case s[0] == '{' && p.index < 0:
			s, found, ok = member(s, p.name)
		case s[0] == '[' && p.index >= 0:
			s, found, ok = element(s, p.index)
		default:
			_, ok = valueLength(s)
		}
		if !ok || !found {
			return nil, ok
		}
	}
	n, ok := valueLength(s)
	return s[:n], ok && (len(path) == 0 || n < len(s)) // what contains it is closed after it
}

func skipBlank(s []byte) []byte {
	for len(s) > 0 && (s[0] == ' ' || s[0] == '\t' || s[0] == '\n' || s[0] == '\r') {
		s = s[1:]
	}
	return s
}

// member gives the document from the value of an object's member on; the first one of a name counts.
func member(s []byte, name string) (rest []byte, found, ok bool) {
	s = skipBlank(s[1:])
	if len(s) > 0 && s[0] == '}' {
		return nil, false, true
	}
	for {
		n, ok := stringLength(s)
		if !ok {
			return nil, false, false
		}
		key := s[1 : n-1]
		s = skipBlank(s[n:])
		if len(s) == 0 || s[0] != ':' {
			return nil, false, false
		}
		s = skipBlank(s[1:])
		if sameName(key, name) {
			return s, true, true
		}
		var done bool
		if s, done, ok = nextItem(s, '}'); !ok || done {
			return nil, false, ok
		}
	}
}

// element gives the document from an array's element on.
func element(s []byte, index int) (rest []byte, found, ok bool) {
	s = skipBlank(s[1:])
	if len(s) > 0 && s[0] == ']' {
		return nil, false, true
	}
	for ; index > 0; index-- {
		var done bool
		if s, done, ok = nextItem(s, ']'); !ok || done {
			return nil, false, ok
		}
	}
	return s, true, true
}

// nextItem skips a value and the comma after it; done where the closing bracket stands there instead.
func nextItem(s []byte, closing byte) (rest []byte, done, ok bool) {
	n, ok := valueLength(s)
	if !ok {
		return nil, false, false
	}
	s = skipBlank(s[n:])
	switch {
	case len(s) == 0 || s[0] != ',' && s[0] != closing:
		return nil, false, false
	case s[0] == closing:
		return nil, true, true
	}
	return skipBlank(s[1:]), false, true
}

// stringLength measures a string with its quotes.
func stringLength(s []byte) (int, bool) {
	if len(s) == 0 || s[0] != '"' {
		return 0, false
	}
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '"':
			return i + 1, true
		case '\\':
			i++
		}
	}
	return 0, false
}

// valueLength measures a value: strings and brackets are followed to their ends.
func valueLength(s []byte) (int, bool) {
	if len(s) == 0 {
		return 0, false
	}
	switch s[0] {
	case '"':
		return stringLength(s)
	case '{', '[':
		for i, depth := 0, 0; i < len(s); i++ {
			switch s[i] {
			case '"':
				n, ok := stringLength(s[i:])
				if !ok {
					return 0, false
				}
				i += n - 1
			case '{', '[':
				depth++
			case '}', ']':
				if depth--; depth == 0 {
					return i + 1, true
				}
			}
		}
		return 0, false
	}
	n := bytes.IndexAny(s, ",]} \t\r\n")
	if n < 0 {
		n = len(s)
	}
	return n, scalarJSON(s[:n])
}

// scalarJSON tells whether a token is true, false, null or a number.
func scalarJSON(s []byte) bool {
	switch string(s) {
	case "true", "false", "null":
		return true
	}
	if len(s) > 0 && s[0] == '-' {
		s = s[1:]
	}
	whole := digitsOf(s)
	if whole == 0 || whole > 1 && s[0] == '0' {
		return false
	}
	if s = s[whole:]; len(s) > 0 && s[0] == '.' {
		n := digitsOf(s[1:])
		if n == 0 {
			return false
		}
		s = s[1+n:]
	}
	if len(s) > 0 && (s[0] == 'e' || s[0] == 'E') {
		if s = s[1:]; len(s) > 0 && (s[0] == '+' || s[0] == '-') {
			s = s[1:]
		}
		n := digitsOf(s)
		return n > 0 && n == len(s)
	}
	return len(s) == 0
}

func digitsOf(s []byte) (n int) {
	for n < len(s) && s[n] >= '0' && s[n] <= '9' {
		n++
	}
	return n
}

// sameName compares a member's name as written with one.
func sameName(key []byte, name string) bool {
	if bytes.IndexByte(key, '\\') < 0 {
		return string(key) == name
	}
	plain, ok := unescape(nil, key)
	return ok && string(plain) == name
}

// escapes are the characters after a backslash.
var escapes = [256]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// unescape appends the text of a string that is written as s.
func unescape(dst, s []byte) ([]byte, bool) {
	for len(s) > 0 {
		n := bytes.IndexByte(s, '\\')
		if n < 0 {
			n = len(s)
		}
		for _, c := range s[:n] {
			if c < ' ' {
				return dst, false
			}
		}
		dst = append(dst, s[:n]...)
		if s = s[n:]; len(s) == 0 {
			break
		}
		if len(s) < 2 {
			return dst, false
		}
		if s[1] != 'u' {
			c := escapes[s[1]]
			if c == 0 {
				return dst, false
			}
			dst, s = append(dst, c), s[2:]
			continue
		}
		r, ok := hexRune(s)
		if !ok {
			return dst, false
		}
		s = s[6:]
		if utf16.IsSurrogate(r) {
			low, _ := hexRune(s)
			if pair := utf16.DecodeRune(r, low); pair != utf8.RuneError {
				s = s[6:]
				r = pair
			} else {
				r = utf8.RuneError
			}
		}
		dst = utf8.AppendRune(dst, r)
	}
	return dst, true
}

// hexRune reads \u00e9.
func hexRune(s []byte) (r rune, ok bool) {
	if len(s) < 6 || s[0] != '\\' || s[1] != 'u' {
		return 0, false
	}
	for _, c := range s[2:6] {
		switch {
		case c >= '0' && c <= '9':
			c -= '0'
		case c >= 'a' && c <= 'f':
			c -= 'a' - 10
		case c >= 'A' && c <= 'F':
			c -= 'A' - 10
		default:
			return 0, false
		}
		r = r<<4 | rune(c)
	}
	return r, true
}
