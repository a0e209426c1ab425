// Package exprtext answers: what does the text of an expression say?
//
// [Parse] reads SQL's scalar expressions into a syntax tree with positions:
//
//	n, err := exprtext.Parse("status = 'paid' and amount > 0")
//	n.Kind // exprtext.Infix, n.Word "and"
//
// Operators, from the weakest: or (||) · and (&&) · not · = == <> != < <= > >= is in between like · + - · * / % · unary - ·
// -> ->> ::. Comparisons do not chain. Keywords and functions are written in any case; names of columns are not changed. An
// error is an [*Error]: the position, an excerpt with a caret, and what to write instead.
//
// The package never knows what a function or a type means: package tree makes an expression of the syntax.
package exprtext
