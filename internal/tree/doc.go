// Package tree answers: what is an expression before it meets a schema?
//
// A [Node] is a column, a constant or an operator over other nodes. The tree is the same whether it was built in Go, read from text
// or from the structured form of a job spec, and it is written back as both:
//
//	n, err := tree.FromSpec(map[string]any{"eq": []any{map[string]any{"col": "status"}, "paid"}})
//	n.String() // status = 'paid'
//
// It also holds what constants are ([Literal]), where they lie among the values of a type ([PlaceOf]), and what types mean to
// operators ([Class]).
//
// The package never sees a row or a schema: package expr binds a tree to one and evaluates it.
package tree
