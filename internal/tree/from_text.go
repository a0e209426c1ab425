package tree

import (
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/arkflow-go/arkflow/internal/exprtext"
)

// FromText reads an expression of SQL. What is wrong with the text is a fault of the tree, an *exprtext.Error.
func FromText(text string) *Node {
	s, err := exprtext.Parse(text)
	if err != nil {
		return faulty(err)
	}
	r := &textReader{text: text}
	return r.node(s)
}

// faulty is a node that stands for what could not be read.
func faulty(err error) *Node {
	return &Node{Op: OpLiteral, Lit: Literal{Type: arrow.Null}, Fault: err}
}

// textReader makes a tree of syntax.
type textReader struct{ text string }

func (r *textReader) fail(at *exprtext.Node, err error) *Node {
	return faulty(&exprtext.Error{Text: r.text, Pos: at.Pos, Problem: err.Error()})
}

// infix are the operators that stand between their operands.
var infix = map[string]Operator{"or": OpOr, "and": OpAnd, "=": OpEq, "<>": OpNe, "<": OpLt, "<=": OpLe, ">": OpGt, ">=": OpGe,
	"+": OpAdd, "-": OpSub, "*": OpMul, "/": OpDiv, "%": OpMod}

// arrows are the functions that SQL writes as ->.
var arrows = map[string]string{"->": "json_query", "->>": "json_get"}

// synonyms are further names of functions.
var synonyms = map[string]string{"substring": "substr", "ceiling": "ceil", "char_length": "length", "character_length": "length", "split_index": "split_part",
	"to_timestamp": "from_epoch", "regexp_like": "regexp_match", "regexp_substr": "regexp_extract", "lcase": "lower", "ucase": "upper"}

func (r *textReader) node(s *exprtext.Node) *Node {
	args := make([]*Node, len(s.Args))
	for i, a := range s.Args {
		args[i] = r.node(a)
	}
	n := &Node{Args: args}
	switch s.Kind {
	case exprtext.Column:
		return &Node{Op: OpColumn, Name: s.Text, Quoted: s.Quoted && plainName(s.Text)}
	case exprtext.Negate:
		n.Op = OpNeg
	case exprtext.Not:
		n.Op = OpNot
	case exprtext.Infix:
		if name, ok := arrows[s.Word]; ok {
			return Call(name, args...)
		}
		n.Op = infix[s.Word]
	case exprtext.IsNull:
		if n.Op = OpIsNull; s.Negated {
			n.Op = OpIsNotNull
		}
	case exprtext.In:
		n.Op = OpIn
		return r.negated(s, n)
	case exprtext.Between:
		return r.negated(s, Between(args[0], args[1], args[2]))
	case exprtext.Like:
		return r.negated(s, Call("like", args...))
	case exprtext.Call:
		return r.call(s, args)
	case exprtext.Cast:
		t, err := ParseType(s.Text)
		if err != nil {
			return r.fail(s, err)
		}
		return Cast(args[0], t, s.Word == "try_cast")
	case exprtext.Case:
		if n.Op = OpCase; s.Operand {
			n.Op = OpSwitch
		}
	default:
		return r.constant(s)
	}
	return n
}

func (r *textReader) negated(s *exprtext.Node, n *Node) *Node {
	if s.Negated {
		return &Node{Op: OpNot, Args: []*Node{n}}
	}
	return n
}

func (r *textReader) call(s *exprtext.Node, args []*Node) *Node {
	name := s.Word
	if other, ok := synonyms[name]; ok {
		name = other
	}
	switch {
	case name == "mod" && len(args) == 2:
		return &Node{Op: OpMod, Args: args}
	case name == "if" && len(args) == 3:
		return &Node{Op: OpCase, Args: args}
	}
	return Call(name, args...)
}

func (r *textReader) constant(s *exprtext.Node) *Node {
	var l Literal
	var err error
	switch s.Kind {
	case exprtext.Number:
		l, err = numberLiteral(s.Text)
	case exprtext.String:
		l = Literal{arrow.BinaryTypes.String, s.Text}
	case exprtext.Bytes:
		l = Literal{arrow.BinaryTypes.Binary, s.Text}
	case exprtext.Null:
		l = Literal{Type: arrow.Null}
	case exprtext.True, exprtext.False:
		l = Literal{arrow.FixedWidthTypes.Boolean, s.Kind == exprtext.True}
	case exprtext.Typed:
		switch s.Word {
		case "timestamp":
			l, err = timestampFromText(s.Text)
		case "date":
			l, err = dateFromText(s.Text)
		case "time":
			l, err = timeOfDayFromText(s.Text)
		default:
			l, err = durationFromText(s.Text)
		}
	default:
		err = fmt.Errorf("syntax of kind %d has no meaning", s.Kind)
	}
	if err != nil {
		return r.fail(s, err)
	}
	return &Node{Op: OpLiteral, Lit: l}
}
