// Package layout answers: what is kept of a group, and which words of its row hold it?
//
// A [Layout] is made of the key columns and the aggregates of a window. It says how the row of a group is laid out, what its
// saved form is, and what a batch of partial results looks like:
//
//	l, err := layout.New(schema, []int{0}, []aggregate.Agg{{Func: aggregate.CountRows, Names: []string{"n"}}})
//
// The package never holds a group: the loops over them are in package kernel.
package layout
