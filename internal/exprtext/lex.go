package exprtext

import (
	"encoding/hex"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

type tokenKind uint8

const (
	tokEnd    tokenKind = iota
	tokWord             // a name or a keyword, as written
	tokName             // "name"
	tokNumber           // 12, 1.25, .5, 1e3
	tokString           // 'text'
	tokBytes            // x'00ff'
	tokSymbol           // an operator or a bracket, == as =, != as <>, && as and, || as or
)

type token struct {
	kind     tokenKind
	text     string // the value; of a word as written
	word     string // of a word in lower case, of a symbol itself
	pos, end int
}

// describe gives the token as a message names it.
func (t *token) describe(text string) string {
	if t.kind == tokEnd {
		return "the end"
	}
	s := text[t.pos:t.end]
	if r := []rune(s); len(r) > 20 {
		s = string(r[:20]) + "…"
	}
	return strconv.Quote(s)
}

// symbols are the operators and brackets, the longer ones first.
var symbols = []string{"->>", "->", "::", "==", "!=", "<>", "<=", ">=", "&&", "||", "=", "<", ">", "+", "-", "*", "/", "%", "(", ")", "[", "]", ","}

// aliases are symbols that stand for others.
var aliases = map[string]string{"==": "=", "!=": "<>", "&&": "and", "||": "or"}

// next reads the token at p.at.
func (p *parser) next() token {
	s := p.text
	for p.at < len(s) && strings.IndexByte(" \t\r\n", s[p.at]) >= 0 {
		p.at++
	}
	t := token{pos: p.at, end: p.at}
	if p.at == len(s) {
		return t
	}
	switch c := s[p.at]; {
	case c == '\'':
		t.kind = tokString
		t.text = p.quoted('\'', "text")
	case c == '"':
		t.kind = tokName
		if t.text = p.quoted('"', "name"); t.text == "" {
			p.fail(t.pos, "an empty text is written ''", "a column's name is not empty")
		}
	case (c == 'x' || c == 'X') && strings.HasPrefix(s[p.at+1:], "'"):
		p.at++
		t.kind = tokBytes
		b, err := hex.DecodeString(p.quoted('\'', "text"))
		if err != nil {
			p.fail(t.pos, "write two hexadecimal digits a byte, such as x'00ff'", "bytes are not hexadecimal")
		}
		t.text = string(b)
	case c >= '0' && c <= '9' || c == '.' && p.at+1 < len(s) && s[p.at+1] >= '0' && s[p.at+1] <= '9':
		t.kind = tokNumber
		p.number()
		t.text = s[t.pos:p.at]
	case startsWord(s[p.at:]):
		t.kind = tokWord
		for p.at < len(s) {
			r, n := utf8.DecodeRuneInString(s[p.at:])
			if r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) {
				break
			}
			p.at += n
		}
		t.text = s[t.pos:p.at]
		t.word = strings.ToLower(t.text)
	default:
		p.symbol(&t)
	}
	t.end = p.at
	return t
}

func startsWord(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return r == '_' || unicode.IsLetter(r)
}

func (p *parser) symbol(t *token) {
	for _, sym := range symbols {
		if strings.HasPrefix(p.text[p.at:], sym) {
			p.at += len(sym)
			t.kind, t.word, t.text = tokSymbol, sym, sym
			if a, ok := aliases[sym]; ok {
				t.word = a
			}
			return
		}
	}
	r, n := utf8.DecodeRuneInString(p.text[p.at:])
	hint := ""
	switch r {
	case '!':
		hint = "write not"
	case '`':
		hint = "quote a name with double quotes"
	case ';':
		hint = "an expression has no end mark"
	case '&', '|':
		hint = "write and, or"
	case utf8.RuneError:
		if n == 1 {
			p.fail(p.at, "outside of quotes a text is UTF-8", "byte 0x%02x is no character", p.text[p.at])
		}
	}
	p.fail(p.at, hint, "character %q has no meaning", r)
}

// quoted reads a text in quotes, in which a doubled quote stands for itself.
func (p *parser) quoted(quote byte, what string) string {
	start := p.at
	p.at++
	from, value := p.at, ""
	for {
		i := strings.IndexByte(p.text[p.at:], quote)
		if i < 0 {
			p.fail(start, "a quote inside is written twice", "the %s that begins here is not closed", what)
		}
		p.at += i + 1
		value += p.text[from : p.at-1]
		if p.at == len(p.text) || p.text[p.at] != quote {
			return value
		}
		from = p.at
		p.at++
	}
}

func (p *parser) number() {
	start, s := p.at, p.text
	digits := func() (n int) {
		for p.at < len(s) && s[p.at] >= '0' && s[p.at] <= '9' {
			p.at++
			n++
		}
		return n
	}
	bad := digits() == 0
	if p.at < len(s) && s[p.at] == '.' {
		p.at++
		bad = digits() == 0
	}
	if p.at < len(s) && (s[p.at] == 'e' || s[p.at] == 'E') {
		p.at++
		if p.at < len(s) && (s[p.at] == '+' || s[p.at] == '-') {
			p.at++
		}
		bad = bad || digits() == 0
	}
	if bad || p.at < len(s) && (startsWord(s[p.at:]) || s[p.at] == '.') {
		for p.at < len(s) && (startsWord(s[p.at:]) || s[p.at] == '.' || s[p.at] >= '0' && s[p.at] <= '9') {
			_, n := utf8.DecodeRuneInString(s[p.at:])
			p.at += n
		}
		p.fail(start, "write 12, 1.25 or 1.5e3; a name that begins with a digit stands in double quotes", "%q is no number", s[start:p.at])
	}
}
