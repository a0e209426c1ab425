// Package aggregate answers: which aggregate functions are there, of what types, and what numbers do they give?
//
// An [Agg] is a function of columns. It says which columns it writes:
//
//	fields, err := aggregate.Agg{Func: aggregate.Sum, Col: 1, Names: []string{"total"}}.Fields(schema)
//
// The package never sees a row.
package aggregate
