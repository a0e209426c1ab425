package expr

import "github.com/arkflow-go/arkflow/internal/tree"

// T is an expression written as SQL: T("status = 'paid' and amount > 0"). It gives the same tree as the methods of Expr, and is
// what String of such a tree is read as. docs/expressions.md has the grammar and all functions.
//
//	expr.T("lower(channel) in ('apple', 'google')")
//	expr.T("case when amount > 100 then 'big' else 'small' end")
//	expr.T("extract(hour from ts)")
//
// A text that cannot be read is a fault that Bind reports, with the position and an excerpt; T never panics.
func T(text string) Expr { return Expr{tree.FromText(text)} }
