// Package nexmark answers: which events does the Nexmark benchmark read?
//
// An online auction: of 50 events one is a new person, three are new auctions, 46 are bids. A [Generator] writes events into a
// [Batch] as columns; event i is a function of i alone, so that the same events come however they are cut:
//
//	g := nexmark.New(100_000)
//	b := nexmark.NewBatch()
//	g.Fill(b, 0, 8192)
//	b.View(batch) // batch is a column.Batch of nexmark.Schema()
//
// A row is the union of the three: event_type says which it is, its own columns (person_…, auction_…, bid_…) have values and those of the
// others are null. date_time is the event time of all three.
//
// Sequence, ids, skew and texts are those of the generator of nexmark/nexmark in order of time (its out-of-order group is 1), with
// one difference: the id of a bidder is that of a person, while there it is 1,000 too large.
//
// The package never reads a clock and keeps no state from event to event.
package nexmark
