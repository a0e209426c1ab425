package exprtext

import (
	"fmt"
	"strings"
)

// Parse reads one expression. An error is an *Error.
func Parse(text string) (n *Node, err error) {
	p := &parser{text: text}
	defer func() {
		if r := recover(); r != nil {
			e, ok := r.(*Error)
			if !ok {
				panic(r)
			}
			n, err = nil, e
		}
	}()
	p.advance()
	if p.tok.kind == tokEnd {
		p.fail(p.tok.pos, "write a condition or a value, such as amount > 0", "the expression is empty")
	}
	n = p.expression(0)
	if p.tok.kind != tokEnd {
		p.unexpected("an operator or the end", "")
	}
	return n, nil
}

// parser holds the text and the token that is looked at. It leaves by a panic with an *Error, which Parse catches.
type parser struct {
	text    string
	at      int // where the token after tok begins
	tok     token
	nesting int
}

func (p *parser) fail(pos int, hint, format string, args ...any) {
	panic(&Error{Text: p.text, Pos: pos, Problem: fmt.Sprintf(format, args...), Hint: hint})
}

func (p *parser) unexpected(want, hint string) {
	p.fail(p.tok.pos, hint, "%s stands where %s should", p.tok.describe(p.text), want)
}

func (p *parser) advance() { p.tok = p.next() }

// is reports whether the token is a keyword or a symbol.
func (p *parser) is(word string) bool {
	return (p.tok.kind == tokWord || p.tok.kind == tokSymbol) && p.tok.word == word
}

func (p *parser) take(word string) bool {
	if p.is(word) {
		p.advance()
		return true
	}
	return false
}

func (p *parser) expect(word, hint string) {
	if !p.take(word) {
		p.unexpected(fmt.Sprintf("%q", word), hint)
	}
}

// make completes a node: its depth is bounded, so that those who walk the tree need no bound of their own.
func (p *parser) make(n *Node) *Node {
	for _, a := range n.Args {
		n.depth = max(n.depth, a.depth+1)
	}
	if n.depth > maxDepth {
		p.fail(n.Pos, "use in (…) instead of many or", "more than %d operators hang on each other", maxDepth)
	}
	return n
}

func (p *parser) deeper() {
	if p.nesting++; p.nesting > maxNesting {
		p.fail(p.tok.pos, "", "the expression is nested more than %d deep", maxNesting)
	}
}

// Binding strengths.
const (
	bindOr = iota + 1
	bindAnd
	bindNot
	bindCompare
	bindAdd
	bindMul
	bindNegate
	bindPostfix
)

// binding gives the strength of an infix or postfix operator; 0 for anything else.
func (p *parser) binding() int {
	if p.tok.kind != tokWord && p.tok.kind != tokSymbol {
		return 0
	}
	switch p.tok.word {
	case "or":
		return bindOr
	case "and":
		return bindAnd
	case "=", "<>", "<", "<=", ">", ">=", "is", "in", "between", "like", "not":
		return bindCompare
	case "+", "-":
		return bindAdd
	case "*", "/", "%":
		return bindMul
	case "::", "->", "->>":
		return bindPostfix
	}
	return 0
}

// expression reads an operand and all operators after it that bind more strongly than least.
func (p *parser) expression(least int) *Node {
	p.deeper()
	left := p.prefix()
	for {
		strength := p.binding()
		if strength <= least {
			break
		}
		left = p.infix(left, strength)
		if strength == bindCompare && p.binding() == bindCompare && least < bindCompare {
			p.fail(p.tok.pos, "join two comparisons with and, or put one in parentheses", "comparisons do not chain")
		}
	}
	p.nesting--
	return left
}

func (p *parser) infix(left *Node, strength int) *Node {
	op := p.tok
	p.advance()
	n := &Node{Kind: Infix, Word: op.word, Pos: op.pos, Args: []*Node{left}}
	switch op.word {
	case "::":
		n.Kind, n.Word = Cast, "cast"
		n.Text = p.typeName()
	case "is":
		n.Kind, n.Negated = IsNull, p.take("not")
		if !p.take("null") {
			p.unexpected(`"null"`, "is tells null from values; compare with =")
		}
	case "not":
		switch {
		case p.is("in"), p.is("like"), p.is("between"):
			n = p.infix(left, bindCompare)
			n.Negated, n.Pos = true, op.pos
			return n
		}
		p.unexpected(`"in", "like" or "between"`, "not stands before a condition")
	case "in":
		n.Kind = In
		p.expect("(", "in takes a list: x in (1, 2)")
		n.Args = append(n.Args, p.list()...)
	case "between":
		n.Kind = Between
		low := p.expression(bindCompare)
		p.expect("and", "write x between 1 and 9")
		n.Args = append(n.Args, low, p.expression(bindCompare))
	case "like":
		n.Kind = Like
		n.Args = append(n.Args, p.expression(bindCompare))
	case "->", "->>":
		n.Args = append(n.Args, p.prefix())
	default:
		n.Args = append(n.Args, p.expression(strength))
	}
	return p.make(n)
}

// list reads expressions up to the closing bracket; the opening one has been read.
func (p *parser) list() (args []*Node) {
	if p.take(")") {
		return nil
	}
	for {
		args = append(args, p.expression(0))
		if p.take(")") {
			return args
		}
		if !p.take(",") {
			p.unexpected(`"," or ")"`, "")
		}
	}
}

// reserved are the words that name no column unless they stand in double quotes.
var reserved = map[string]bool{"and": true, "or": true, "not": true, "is": true, "in": true, "between": true, "like": true, "null": true, "true": true,
	"false": true, "case": true, "when": true, "then": true, "else": true, "end": true, "as": true, "from": true}

// Reserved tells whether a word names a column only in double quotes.
func Reserved(word string) bool { return reserved[strings.ToLower(word)] }

// prefix reads an operand with what stands before it.
func (p *parser) prefix() *Node {
	t := p.tok
	n := &Node{Pos: t.pos, Text: t.text}
	switch t.kind {
	case tokNumber:
		n.Kind = Number
	case tokString:
		n.Kind = String
	case tokBytes:
		n.Kind = Bytes
	case tokName:
		n.Kind, n.Quoted = Column, true
	case tokWord:
		return p.word(n)
	case tokSymbol:
		return p.prefixSymbol(n)
	default:
		p.unexpected("an operand", "")
	}
	p.advance()
	return n
}

func (p *parser) prefixSymbol(n *Node) *Node {
	switch p.tok.word {
	case "(":
		p.advance()
		n = p.expression(0)
		p.expect(")", "a bracket that was opened is not closed")
		return n
	case "-":
		p.advance()
		if p.tok.kind == tokNumber { // a negative constant
			n.Kind, n.Text = Number, "-"+p.tok.text
			p.advance()
			return n
		}
		n.Kind = Negate
		n.Args = []*Node{p.expression(bindNegate)}
		return p.make(n)
	case "+":
		p.advance()
		return p.expression(bindNegate)
	case "*":
		p.unexpected("an operand", "an expression computes one value of a row; windows have aggregates")
	}
	p.unexpected("an operand", "")
	return nil
}

// word reads what begins with a name or a keyword.
func (p *parser) word(n *Node) *Node {
	word := p.tok.word
	p.advance()
	switch word {
	case "null":
		n.Kind = Null
		return n
	case "true":
		n.Kind = True
		return n
	case "false":
		n.Kind = False
		return n
	case "not":
		n.Kind = Not
		n.Args = []*Node{p.expression(bindNot)}
		return p.make(n)
	case "case":
		return p.caseWhen(n)
	case "timestamp", "date", "time", "interval":
		if p.tok.kind == tokString {
			n.Kind, n.Word, n.Text = Typed, word, p.tok.text
			p.advance()
			if word == "interval" && p.tok.kind == tokWord && intervalUnits[p.tok.word] {
				n.Text += " " + p.tok.word
				p.advance()
			}
			return n
		}
	}
	if reserved[word] {
		p.fail(n.Pos, fmt.Sprintf("a column of that name stands in double quotes: %q", n.Text), "%q stands where an operand should", n.Text)
	}
	if p.is("(") {
		return p.call(n, word)
	}
	n.Kind = Column
	return n
}

// intervalUnits are the words that may follow interval '5'.
var intervalUnits = map[string]bool{"second": true, "seconds": true, "minute": true, "minutes": true, "hour": true, "hours": true, "day": true, "days": true,
	"week": true, "weeks": true, "millisecond": true, "milliseconds": true, "microsecond": true, "microseconds": true, "nanosecond": true, "nanoseconds": true}

// call reads a function and its operands, from the opening bracket.
func (p *parser) call(n *Node, word string) *Node {
	p.advance()
	n.Kind, n.Word, n.Text = Call, word, ""
	switch word {
	case "cast", "try_cast":
		n.Kind = Cast
		n.Args = []*Node{p.expression(0)}
		p.expect("as", "write cast(x as int64)")
		n.Text = p.typeName()
		p.expect(")", "")
		return p.make(n)
	case "extract":
		if p.tok.kind == tokWord { // extract(year from x): the unit becomes a text
			before := *p
			unit := &Node{Kind: String, Text: p.tok.word, Pos: p.tok.pos}
			p.advance()
			if p.take("from") {
				if p.is(")") {
					p.unexpected("an operand", "write extract(year from x)")
				}
				n.Args = append([]*Node{unit}, p.list()...)
				return p.make(n)
			}
			*p = before
		}
	}
	n.Args = p.list()
	return p.make(n)
}

// typeName reads the name of a type with its parameters, such as decimal(10, 2) or timestamp[ms, tz=UTC], as written.
func (p *parser) typeName() string {
	if p.tok.kind != tokWord {
		p.unexpected("a type", "such as int64, float64, utf8, timestamp[ms], decimal(10, 2)")
	}
	name := p.tok.word
	end := p.tok.end
	if end < len(p.text) && (p.text[end] == '(' || p.text[end] == '[') {
		closing := map[byte]byte{'(': ')', '[': ']'}[p.text[end]]
		i := strings.IndexByte(p.text[end:], closing)
		if i < 0 {
			p.fail(end, "", "the bracket that begins here is not closed")
		}
		name += p.text[end : end+i+1]
		p.at = end + i + 1
	}
	p.advance()
	return name
}

// caseWhen reads case from after its first word.
func (p *parser) caseWhen(n *Node) *Node {
	n.Kind, n.Text = Case, ""
	const hint = "write case when a > 0 then 'x' else 'y' end"
	if !p.is("when") {
		n.Operand = true
		n.Args = append(n.Args, p.expression(0))
	}
	for whens := 0; ; whens++ {
		if !p.take("when") {
			if whens == 0 {
				p.unexpected(`"when"`, hint)
			}
			break
		}
		n.Args = append(n.Args, p.expression(0))
		p.expect("then", hint)
		n.Args = append(n.Args, p.expression(0))
	}
	if n.Else = p.take("else"); n.Else {
		n.Args = append(n.Args, p.expression(0))
	}
	if !p.take("end") {
		p.unexpected(`"when", "else" or "end"`, hint)
	}
	return p.make(n)
}
