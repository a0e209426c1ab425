package expr

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/arkflow-go/arkflow/internal/tree"
)

// docs/expressions.md describes each function with examples. Every one is null where an operand is null, unless it says otherwise.

// call makes a function of operands: what is always there, and then what may be left out.
func call(name string, args []any, more ...any) Expr {
	n := &tree.Node{Op: tree.OpCall, Name: name}
	for _, list := range [][]any{args, more} {
		for _, a := range list {
			n.Args = append(n.Args, nodeOf(a))
		}
	}
	return Expr{n}
}

// anyOf gives the operands that may be left out.
func anyOf[T any](list []T) (out []any) {
	for _, x := range list {
		out = append(out, x)
	}
	return out
}

// Between is low <= e and e <= high.
func (e Expr) Between(low, high any) Expr {
	return Expr{tree.Between(e.node(), nodeOf(low), nodeOf(high))}
}

// Like matches a text with a pattern, in which % stands for any text, _ for one character, and \ takes the meaning from the next.
func (e Expr) Like(pattern any) Expr { return call("like", []any{e, pattern}) }

// Cast is e as a value of another type. A value that does not fit, and a text that is none of the type, is an error of the row.
// Fractions are cut off for integers and rounded, halves away from zero, for decimals.
func (e Expr) Cast(t arrow.DataType) Expr { return cast(e, t, false) }

// TryCast is Cast with null instead of an error of the row.
func (e Expr) TryCast(t arrow.DataType) Expr { return cast(e, t, true) }

func cast(e Expr, t arrow.DataType, try bool) Expr {
	if t == nil {
		return Expr{tree.NoType()}
	}
	return Expr{tree.Cast(e.node(), t, try)}
}

// Coalesce is the first of e and others that is not null. Each is computed for the rows that have no value yet.
func (e Expr) Coalesce(others ...any) Expr { return call("coalesce", []any{e}, others...) }

// NullIf is null where e = x, else e.
func (e Expr) NullIf(x any) Expr { return call("nullif", []any{e, x}) }

// CaseExpr is a case that may get further conditions. Without Else it is null where none is true.
type CaseExpr struct{ Expr }

// When is value where condition is true. Conditions are looked at in order; each, and each value, is computed only for the rows that
// come to it, so that it guards against errors.
func When(condition, value any) CaseExpr {
	return CaseExpr{Expr{&tree.Node{Op: tree.OpCase, Args: []*tree.Node{nodeOf(condition), nodeOf(value)}}}}
}

// Switch compares x with the first operand of each When that follows: Switch(x).When("a", 1).When("b", 2).Else(3).
func Switch(x any) CaseExpr {
	return CaseExpr{Expr{&tree.Node{Op: tree.OpSwitch, Args: []*tree.Node{nodeOf(x)}}}}
}

// When adds a condition, or after Switch a value to compare with, and the value that it gives.
func (c CaseExpr) When(condition, value any) CaseExpr {
	return CaseExpr{c.add(nodeOf(condition), nodeOf(value))}
}

// Else is what a row has for which no condition is true.
func (c CaseExpr) Else(value any) Expr { return c.add(nodeOf(value)) }

func (c CaseExpr) add(more ...*tree.Node) Expr {
	n := *c.node()
	n.Args = append(append([]*tree.Node{}, n.Args...), more...)
	return Expr{&n}
}

// Lower is a text in small letters, without regard to a language.
func Lower(text any) Expr { return call("lower", []any{text}) }

// Upper is a text in capital letters, without regard to a language.
func Upper(text any) Expr { return call("upper", []any{text}) }

// Trim is a text without white space, or without the characters given, at both ends.
func Trim(text any, characters ...string) Expr {
	return call("trim", []any{text}, anyOf(characters)...)
}

// TrimLeft is Trim at the beginning only.
func TrimLeft(text any, characters ...string) Expr {
	return call("ltrim", []any{text}, anyOf(characters)...)
}

// TrimRight is Trim at the end only.
func TrimRight(text any, characters ...string) Expr {
	return call("rtrim", []any{text}, anyOf(characters)...)
}

// Length is the number of characters of a string, or of bytes of a binary.
func Length(text any) Expr { return call("length", []any{text}) }

// Concat joins texts.
func Concat(texts ...any) Expr { return call("concat", texts) }

// Substr is the part of a text from a character on, counted from 1, of so many characters, or up to the end where no length is given.
func Substr(text, from any, length ...any) Expr { return call("substr", []any{text, from}, length...) }

// Contains tells whether part stands anywhere in text.
func Contains(text, part any) Expr { return call("contains", []any{text, part}) }

// StartsWith tells whether a text begins with part.
func StartsWith(text, part any) Expr { return call("starts_with", []any{text, part}) }

// EndsWith tells whether a text ends with part.
func EndsWith(text, part any) Expr { return call("ends_with", []any{text, part}) }

// Replace is a text with each part, from the left, replaced.
func Replace(text, part, by any) Expr { return call("replace", []any{text, part, by}) }

// SplitPart is the n-th part of a text between separators, counted from 1, or from the end by negative n. Null where there is none.
func SplitPart(text, separator, n any) Expr { return call("split_part", []any{text, separator, n}) }

// RegexpMatch tells whether a regular expression (RE2) matches anywhere in a text. A constant one is prepared once; one that is wrong
// is a fault.
func RegexpMatch(text, pattern any) Expr { return call("regexp_match", []any{text, pattern}) }

// RegexpExtract is the first match of a regular expression (RE2) in a text, or what a group, counted from 1, matched in it.
// Null where there is none.
func RegexpExtract(text, pattern any, group ...int) Expr {
	return call("regexp_extract", []any{text, pattern}, anyOf(group)...)
}

// JSONGet is the value at a path of a JSON document as text, strings without quotes. The path is a constant: "$.a.b[0]", the
// name of a member, or the number of an element. Null where nothing is there, or JSON's null.
func JSONGet(document, path any) Expr { return call("json_get", []any{document, path}) }

// JSONQuery is the value at a path of a JSON document as JSON.
func JSONQuery(document, path any) Expr { return call("json_query", []any{document, path}) }

// DateTrunc is the beginning of the unit ("second" to "year", weeks from Monday on) in which an instant lies, by a clock in the zone
// given ("Europe/Berlin", "+02:00"), else in that of the column, else UTC.
func DateTrunc(unit string, instant any, zone ...string) Expr {
	return call("date_trunc", []any{unit, instant}, anyOf(zone)...)
}

// Extract is a part of an instant by a clock in the zone given, else in that of the column, else UTC: "year", "month", "day", "hour",
// "minute", "second", "millisecond", "dow", "doy", "week", "quarter", "epoch".
func Extract(unit string, instant any, zone ...string) Expr {
	return call("extract", []any{unit, instant}, anyOf(zone)...)
}

// FromEpoch is the instant so many units ("s", "ms", "us", "ns") after 1970.
func FromEpoch(count any, unit string) Expr { return call("from_epoch", []any{count, unit}) }

// ToEpoch is the number of units ("s", "ms", "us", "ns") from 1970 to an instant, rounded down.
func ToEpoch(instant any, unit string) Expr { return call("to_epoch", []any{instant, unit}) }

// Abs is a number or a duration without its sign.
func Abs(number any) Expr { return call("abs", []any{number}) }

// Floor is the greatest whole number that is not above a number, in its type; a decimal loses its scale.
func Floor(number any) Expr { return call("floor", []any{number}) }

// Ceil is the least whole number that is not below a number, in its type; a decimal loses its scale.
func Ceil(number any) Expr { return call("ceil", []any{number}) }

// Round is a number rounded to digits after the point, 0 where none is given, halves away from zero.
func Round(number any, digits ...int) Expr { return call("round", []any{number}, anyOf(digits)...) }

// Hash is a stable 64-bit hash of values: the one by which rows with that key are distributed. Never null.
func Hash(values ...any) Expr { return call("hash", values) }
