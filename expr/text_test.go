package expr

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/arkflow-go/arkflow/internal/fault"
	"github.com/arkflow-go/arkflow/internal/tree"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// checkText compares a tree with what its text is read as.
func checkText(t require.TestingT, e Expr) {
	back := T(e.String())
	require.Empty(t, back.n.Faults(), e.String())
	if !sameTree(e.n, back.n) {
		require.Equal(t, e.n, back.n, e.String())
	}
	require.Equal(t, e.String(), back.String())
}

// sameTree compares trees; all NaN are one constant.
// Whether a name was quoted without need is a note about a text, for hints: it is not in the text that a tree gives.
func sameTree(a, b *tree.Node) bool {
	if a.Op != b.Op || a.Name != b.Name || len(a.Args) != len(b.Args) {
		return false
	}
	for _, types := range [][2]arrow.DataType{{a.Type, b.Type}, {a.Lit.Type, b.Lit.Type}} {
		if (types[0] == nil) != (types[1] == nil) || types[0] != nil && !arrow.TypeEqual(types[0], types[1]) {
			return false
		}
	}
	if !assert.ObjectsAreEqual(a.Lit.Value, b.Lit.Value) && !sameValue(a.Lit.Value, b.Lit.Value) {
		return false
	}
	for i := range a.Args {
		if !sameTree(a.Args[i], b.Args[i]) {
			return false
		}
	}
	return true
}

func TestTextGivesTheTreeOfTheBuilder(t *testing.T) {
	a, b, c := Col("a"), Col("b"), Col("c")
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for text, want := range map[string]Expr{
		"status = 'paid' and amount > 0":       Col("status").Eq("paid").And(Col("amount").Gt(0)),
		"a == 1 && b != 2 || c <> 3":           a.Eq(1).And(b.Ne(2)).Or(c.Ne(3)),
		"a OR b AND NOT c":                     a.Or(b.And(c.Not())),
		"not a = 1":                            a.Eq(1).Not(),
		"a + b * c - a / b % c":                a.Add(b.Mul(c)).Sub(a.Div(b).Mod(c)),
		"a - b - c":                            a.Sub(b).Sub(c),
		"-a + -5 - -(5)":                       a.Neg().Add(-5).Sub(Lit(5).Neg()),
		"+a":                                   a,
		"a between 1 and 9 and b":              a.Ge(1).And(a.Le(9)).And(b),
		"a not between 1 and 9":                a.Ge(1).And(a.Le(9)).Not(),
		"a in (1, 2) or a not in ('x')":        a.In(1, 2).Or(a.In("x").Not()),
		"a in ()":                              a.In(),
		"a is null and b is not null":          a.IsNull().And(b.IsNotNull()),
		`"odd name" = 'it''s' and "a""b" < b`:  Col("odd name").Eq("it's").And(Col(`a"b`).Lt(b)),
		"a = x'00FF' and b = X''":              a.Eq([]byte{0, 255}).And(b.Eq([]byte{})),
		"a = 1e3 or a = 1.5E-1":                a.Eq(1000.0).Or(a.Eq(0.15)),
		"a < timestamp '2026-01-01T00:00:00Z'": a.Lt(at),
		"a < timestamp '2026-01-01 01:00:00+01:00' and b > TIMESTAMP '2026-01-01'": a.Lt(at).And(b.Gt(at)),
		"timestamp + interval '1m30s'":                                             Col("timestamp").Add(90 * time.Second),
		"a + interval '2' hours - interval '3 minutes'":                            a.Add(2 * time.Hour).Sub(3 * time.Minute),
		"true and FALSE or null":                                                   Lit(true).And(false).Or(nil),
		"date = time":                                                              Col("date").Eq(Col("time")),
		"cast(null as decimal(10, 2))":                                             Null(&arrow.Decimal128Type{Precision: 10, Scale: 2}),
		"a = cast(7 as smallint)":                                                  a.Eq(int16(7)),
		"a = 7::smallint":                                                          a.Eq(int16(7)),
		"Größe > 1":                                                                Col("Größe").Gt(1),
		"\n\ta\r\n = 1 ":                                                           a.Eq(1),
		"((a)) = ((1))":                                                            a.Eq(1),
		"mod(a, 2) = 0":                                                            a.Mod(2).Eq(0),
		"18446744073709551615 > a":                                                 Lit(uint64(1<<64 - 1)).Gt(a),
		"-9223372036854775808 < a":                                                 Lit(int64(-1 << 63)).Lt(a),
	} {
		e := T(text)
		require.Empty(t, e.n.Faults(), text)
		require.True(t, sameTree(want.n, e.n), "%s: %s instead of %s", text, e, want)
		checkText(t, e)
	}
}

func TestConstantsOfText(t *testing.T) {
	for text, want := range map[string]string{
		"1.25": "decimal(3, 2)", "-1.25": "decimal(3, 2)", "0.001": "decimal(3, 3)", ".5": "decimal(1, 1)", "1": "int64", "1e0": "float64",
		"18446744073709551616": "decimal(20, 0)", "date '2026-02-28'": "date32", "time '12:30'": "time64[ns]", "interval '1d'": "fault", "timestamp 'x'": "fault",
		"timestamp '1600-01-01'": "timestamp[us, tz=UTC]", "cast(1.5 as decimal(10, 4))": "decimal(10, 4)", "cast('NaN' as float32)": "float32",
		"cast(5 as timestamp[ms])": "timestamp[ms]", "cast(timestamp '2026-01-01' as timestamp[s, tz=Europe/Berlin])": "timestamp[s, tz=Europe/Berlin]",
		"1.00000000000000000000000000000000000001": "fault", "1e999": "fault", "cast(1 as timestamp[ms, tz=Nowhere])": "fault", "cast('x' as large_utf8)": "large_utf8",
	} {
		e := T(text)
		if want == "fault" {
			require.NotEmpty(t, e.n.Faults(), text)
			continue
		}
		require.Empty(t, e.n.Faults(), text)
		require.Equal(t, tree.OpLiteral, e.n.Op, text)
		require.Equal(t, want, e.n.Lit.Type.String(), text)
		checkText(t, e)
	}
}

func TestTextOfEveryExpressionIsReadAsThatExpression(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		checkText(t, generator{t}.any(rapid.IntRange(0, 4).Draw(t, "depth")))
	})
}

func TestTextFaultsShowTheirPlace(t *testing.T) {
	s := orderSchema()
	for _, c := range []struct{ text, want string }{
		{"status = and Amount > 0", "expression: at 1:10: \"and\" stands where an operand should; a column of that name stands in double quotes: \"and\"\n\tstatus = and Amount > 0\n\t         ^"},
		{"status = 'paid", "at 1:10: the text that begins here is not closed; a quote inside is written twice\n\tstatus = 'paid\n\t         ^"},
		{"", "at 1:1: the expression is empty; write a condition or a value"},
		{"Amount > 1 > 2", "at 1:12: comparisons do not chain; join two comparisons with and"},
		{"Amount >\n  (1 + ", "at 2:8: the end stands where an operand should\n\t  (1 + \n\t       ^"},
		{"Amount ! 3", "at 1:8: character '!' has no meaning; write not"},
		{"12abc > 1", "at 1:1: \"12abc\" is no number"},
		{"cast(Amount as strnig)", "at 1:1: \"strnig\" is no type"},
		{"Amount is 5", "at 1:11: \"5\" stands where \"null\" should; is tells null from values; compare with ="},
		{"status in 'paid'", "at 1:11: \"'paid'\" stands where \"(\" should; in takes a list"},
		{"Amount between 1 or 2", "stands where \"and\" should; write x between 1 and 9"},
		{"case Amount > 1 then 2 end", "at 1:17: \"then\" stands where \"when\" should"},
		{"count(*)", "at 1:7: \"*\" stands where an operand should; an expression computes one value of a row"},
		{"status = 'a' ; drop", "an expression has no end mark"},
		{"status = \x80", "byte 0x80 is no character"},
		{`status = "paid"`, `no column "paid"; a text stands in single quotes: 'paid'`},
		{"Amuont > 1", `no column "Amuont"; did you mean "Amount"?`},
	} {
		_, err := T(c.text).Bind(s)
		require.ErrorContains(t, err, c.want, c.text)
		var f *fault.Fault
		require.ErrorAs(t, err, &f, c.text)
		_, err = FromSpec(c.text)
		if len(T(c.text).n.Faults()) > 0 {
			require.ErrorContains(t, err, c.want, c.text)
			_, err = ToSpec(T(c.text))
			require.Error(t, err)
		}
	}
	deep, wide := "", "a"
	for range 1000 {
		deep += "("
	}
	for range 6000 {
		wide += " or a"
	}
	_, err := T(deep).Bind(s)
	require.ErrorContains(t, err, "nested more than 400 deep")
	_, err = T(wide).Bind(s)
	require.ErrorContains(t, err, "more than 5000 operators hang on each other")
}

func TestSpecTakesText(t *testing.T) {
	e, err := FromSpec("status = 'paid'")
	require.NoError(t, err)
	require.True(t, sameTree(Col("status").Eq("paid").n, e.n))
	for _, e := range []Expr{Lit("a = b"), T("a > 1.25"), T("cast(a as int8)"), T("case when a then b end")} {
		checkSpec(t, e)
	}
	spec, err := ToSpec(T("a > 1.25 and b = 'x'"))
	require.NoError(t, err)
	require.Equal(t, "a > 1.25 and b = 'x'", spec)
}

func FuzzT(f *testing.F) {
	for _, text := range []string{"status = 'paid' and amount > 0", "case a when 1 then 'x' else \"b c\" end", "cast(a as decimal(10, 2)) between -1.5 and 1e3",
		"extract(year from ts) in (1, 2)", "a -> 'b' ->> '$.c[0]' like '%x' or not b::int is null", "interval '5' minute + timestamp '2026-01-01' < x'00'",
		"date '2026-01-01' = cast(-1 as timestamp[ms, tz=+01:00])", "a.b", "((((", "\x00'\xff'"} {
		f.Add(text)
	}
	s := wideSchema()
	f.Fuzz(func(t *testing.T, text string) {
		e := T(text)
		_, _ = e.Bind(s) // must not panic
		if len(e.n.Faults()) > 0 {
			require.NotEmpty(t, e.n.Faults()[0].Error())
			return
		}
		checkText(t, e)
		spec, err := ToSpec(e)
		require.NoError(t, err)
		_, err = json.Marshal(spec)
		require.NoError(t, err)
		back, err := FromSpec(spec)
		require.NoError(t, err)
		require.True(t, sameTree(e.n, back.n), e.String())
	})
}
