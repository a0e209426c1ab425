// Package structmap answers: how do Go structs become columns, and columns structs?
//
// [SchemaOf] gives the columns of a struct type: one for each exported field, named by the tag `arkflow:"name"`, else by
// the name in the json tag, else by the field. A [Reader] fills structs from the rows of batches, a [Writer] appends structs
// to a column.Builder; both are compiled once for a type and a schema and then work by field offset, a column at a time:
//
//	r, err := structmap.NewReader[Order](schema) // faults name field, column and both types
//	r.Begin(batch)
//	errs := r.Read(0, rows[:n]) // rows 0..n-1 of the batch
//
// The package never reflects per row, never allocates per row and knows no operator.
package structmap
