// Package events answers: which rows do the benchmarks read, and by what are their results told apart?
//
// Event i is a function of i alone: a key below K, a price below 65,536 and a time in ms. [Generator.Fill] writes the next ones
// into a [Batch]; a result row adds a term to a checksum that does not depend on the order of rows:
//
//	g := events.NewGenerator(1000)
//	b := events.NewBatch(events.Rows)
//	g.Fill(b, 0, events.Rows)
//	sum += events.WindowTerm(key, end, count, total)
//
// The package never reads a clock and never allocates once a batch is made.
package events
