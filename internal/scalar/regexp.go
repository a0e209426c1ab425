package scalar

import (
	"errors"
	"regexp/syntax"

	"github.com/apache/arrow-go/v18/arrow"
)

// patternMemo is what an evaluator keeps of regular expressions.
type patternMemo struct {
	machine machine
	known   map[string]*pattern // of patterns that come with the rows; nil: no pattern
}

// maxPatterns bounds how many patterns that come with the rows are kept.
const maxPatterns = 64

// memoOf gives the memo of a step.
func memoOf(out *Out) *patternMemo {
	m, _ := (*out.Memo).(*patternMemo)
	if m == nil {
		m = &patternMemo{known: map[string]*pattern{}}
		*out.Memo = m
	}
	return m
}

// of gives the pattern of a row; nil where it is none.
func (m *patternMemo) of(text []byte) *pattern {
	p, ok := m.known[string(text)]
	if !ok {
		if len(m.known) >= maxPatterns {
			clear(m.known)
		}
		p, _ = compilePattern(string(text))
		m.known[string(text)] = p
	}
	return p
}

// constPattern gives the pattern that is a constant; nil where it comes with the rows or is null.
func (c *Call) constPattern(i int) (*pattern, error) {
	if c.Fails = !c.Args[i].Const; c.Fails || c.Args[i].Value == nil {
		return nil, nil
	}
	p, err := compilePattern(c.text(i))
	if err != nil {
		return nil, argError(i, "", "is no regular expression of RE2: %s", reason(err))
	}
	return p, nil
}

func reason(err error) string {
	var e *syntax.Error
	if errors.As(err, &e) {
		return string(e.Code) + " in " + quoted([]byte(e.Expr))
	}
	return err.Error()
}

// each calls f for the rows that have a text and a pattern.
func (c *Call) each(fixed *pattern, out *Out, args []Vec, f func(m *machine, p *pattern, i int, s []byte)) {
	memo := memoOf(out)
	for i := range out.N {
		if out.Skip(i) {
			continue
		}
		p := fixed
		if p == nil {
			text := args[1].Bytes(i)
			if p = memo.of(text); p == nil {
				out.Fail(i, quoted(text)+" is no regular expression")
				continue
			}
		}
		f(&memo.machine, p, i, args[0].Bytes(i))
	}
}

// bindRegexpMatch tells whether a pattern is found anywhere in a text.
func bindRegexpMatch(c *Call) error {
	fixed, err := c.constPattern(1)
	if err != nil {
		return err
	}
	return c.gives(arrow.FixedWidthTypes.Boolean, func(out *Out, args []Vec) {
		clear(out.Data)
		c.each(fixed, out, args, func(m *machine, p *pattern, i int, s []byte) {
			out.Data[i] = truth(m.find(p, s, 0))
		})
	})
}

// bindRegexpExtract gives the first match of a pattern, or what one of its groups matched in it; null where there is none.
func bindRegexpExtract(c *Call) error {
	fixed, err := c.constPattern(1)
	if err != nil {
		return err
	}
	group := int64(0)
	if len(c.Args) > 2 {
		group, _ = c.whole(2)
	}
	if group < 0 || fixed != nil && group > int64(fixed.groups) {
		groups := 0
		if fixed != nil {
			groups = fixed.groups
		}
		return argError(2, "group 0 is the whole match", "is no group: the pattern has %d", groups)
	}
	c.Nullable = true
	return c.gives(arrow.BinaryTypes.String, func(out *Out, args []Vec) {
		clear(out.Spans)
		off, _ := out.Of(0, &args[0])
		c.each(fixed, out, args, func(m *machine, p *pattern, i int, s []byte) {
			g := int(group)
			switch {
			case g > p.groups:
				out.Fail(i, "the pattern "+quoted(args[1].Bytes(i))+" has no group "+intText(group))
			case !m.find(p, s, g+1) || m.caps[2*g] < 0:
				out.Null(i)
			default:
				at := off[args[0].Rows[i]]
				out.Part(i, at+int32(m.caps[2*g]), at+int32(m.caps[2*g+1]))
			}
		})
	})
}
