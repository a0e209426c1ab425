package exprtext

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// dump writes a syntax tree with all brackets.
func dump(n *Node) string {
	var args []string
	for _, a := range n.Args {
		args = append(args, dump(a))
	}
	word := map[Kind]string{Negate: "neg", Not: "not", Infix: n.Word, IsNull: "null?", In: "in", Between: "between", Like: "like", Call: n.Word, Cast: n.Word + ":" + n.Text, Case: "case"}[n.Kind]
	if word == "" {
		return map[Kind]string{Null: "null", True: "true", False: "false", String: "'" + n.Text + "'", Bytes: "x'" + n.Text + "'", Typed: n.Word + "'" + n.Text + "'"}[n.Kind] + map[bool]string{true: n.Text}[n.Kind <= Number]
	}
	if n.Negated {
		word = "not-" + word
	}
	return "(" + strings.Join(append([]string{word}, args...), " ") + ")"
}

func TestOperatorsBindAsInSQL(t *testing.T) {
	for text, want := range map[string]string{
		"a or b and not c = d + e * -f":              "(or a (and b (not (= c (+ d (* e (neg f)))))))",
		"a || b && c":                                "(or a (and b c))",
		"a - b - c / d / e":                          "(- (- a b) (/ (/ c d) e))",
		"not not a and b":                            "(and (not (not a)) b)",
		"a = not b":                                  "(= a (not b))",
		"-a::int8 + -5":                              "(+ (neg (cast:int8 a)) -5)",
		"a between b and c and d":                    "(and (between a b c) d)",
		"a not between b + 1 and c or d":             "(or (not-between a (+ b 1) c) d)",
		"a not in (1, b) and c not like 'x%'":        "(and (not-in a 1 b) (not-like c 'x%'))",
		"a + 1 is not null or b is null":             "(or (not-null? (+ a 1)) (null? b))",
		"a -> 'b' ->> 0 = 'c'":                       "(= (->> (-> a 'b') 0) 'c')",
		"case when a then b end":                     "(case a b)",
		"case a + 1 when 2 then 3 else 4 end":        "(case (+ a 1) 2 3 4)",
		"LOWER(Name) = f()":                          "(= (lower Name) (f))",
		"extract(Hour from ts, 'UTC')":               "(extract 'hour' ts 'UTC')",
		"extract('hour', ts)":                        "(extract 'hour' ts)",
		"cast(a as Decimal(10, 2))":                  "(cast:decimal(10, 2) a)",
		"try_cast(a as timestamp[ms, tz=UTC])::text": "(cast:text (try_cast:timestamp[ms, tz=UTC] a))",
		"timestamp '2026' < date and time = '1'":     "(and (< timestamp'2026' date) (= time '1'))",
		"interval '5' minutes":                       "interval'5 minutes'",
		`"a ""b""" <> 'it''s'`:                       `(<> a "b" 'it's')`,
		"X'00' = .5 + 1.5e-3":                        "(= x'\x00' (+ .5 1.5e-3))",
		"null = TRUE":                                "(= null true)",
	} {
		n, err := Parse(text)
		require.NoError(t, err, text)
		require.Equal(t, want, dump(n), text)
	}
}

func TestPositionsOfNodes(t *testing.T) {
	n, err := Parse("ab + cast(c as int8)")
	require.NoError(t, err)
	require.Equal(t, []int{3, 0, 5, 10}, []int{n.Pos, n.Args[0].Pos, n.Args[1].Pos, n.Args[1].Args[0].Pos})
}

func TestErrorsShowLineAndCaret(t *testing.T) {
	_, err := Parse("a = 1 and\n\t(é > )")
	require.EqualError(t, err, "at 2:7: \")\" stands where an operand should\n\t (é > )\n\t      ^")
	long := strings.Repeat("aaaa + ", 20) + "* " + strings.Repeat("b ", 60)
	_, err = Parse(long)
	lines := strings.Split(err.Error(), "\n")
	require.Len(t, lines, 3)
	require.Equal(t, "*", string([]rune(lines[1])[len([]rune(lines[2]))-1]), "the caret is under what is wrong")
	for _, text := range []string{"a b", "1.2.3", "1e", "'a", `"a`, "x'0'", "x'0", "a in (1", "a in (1 2)", "f(a", "f(,)", "cast(a)", "cast(a as 5)", "cast(a as t(1)", "a::", "case", "case when a", "case when a then b", "case a end",
		"a not b", "a is", "a between b", "a ! b", "a # b", "and", "a.b", "()", "[a]", "a,b", "extract(hour from)"} {
		_, err := Parse(text)
		var e *Error
		require.ErrorAs(t, err, &e, text)
		require.LessOrEqual(t, e.Pos, len(text))
	}
}

func FuzzParse(f *testing.F) {
	f.Add("case a when 1 then 'x' else \"b c\" end = cast(a as t[1]) and not b not in (1, -2e3) or x'00' is null")
	f.Fuzz(func(t *testing.T, text string) {
		n, err := Parse(text)
		if err != nil {
			require.NotEmpty(t, err.Error())
			return
		}
		var check func(n *Node)
		check = func(n *Node) {
			require.True(t, n.Pos >= 0 && n.Pos < len(text))
			for _, a := range n.Args {
				check(a)
			}
		}
		check(n)
	})
}
