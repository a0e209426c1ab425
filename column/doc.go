// Package column answers: what is a set of rows in memory, and who owns it?
//
// A [Batch] holds rows as columns in the memory layout of Apache Arrow: a validity bitmap, values, and for strings
// 32-bit offsets. [FromRecord] and [Batch.Record] go to and from an arrow.RecordBatch without copying values.
// Beside the columns travel what stream processing needs of each row: its event time, its key's hash, and the
// (row, J) pairs by which a late row is told. A selection vector names the rows that are left after a filter.
//
//	pool := column.NewPool()
//	b := column.NewBuilder(pool, schema)
//	b.Int64(0, 42)
//	b.String(1, "gold")
//	b.EndRow()
//	batch := b.Finish() // owned by the caller: batch.Release() when done
//
// Ownership: a batch that is an argument is borrowed for the call (Retain to keep it), a batch that is returned is
// owned by who gets it. A derived batch shares the columns of its parent and keeps it alive. Once a batch has been
// handed on it is never written again. Memory comes from a [Pool]; in its debug mode every loan is counted by site,
// returned memory is poisoned, and a loan that is left at the end is an error.
//
// The package never touches the meaning of a row: no expression, no key encoding, no time policy.
package column
