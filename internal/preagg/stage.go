package preagg

import "github.com/arkflow-go/arkflow/column"

// Maker is a bound operator whose rows may be gathered before an exchange by key.
type Maker interface {
	// PreAggregates reports whether stages may be made.
	PreAggregates() bool
	// PreAggregate gives a stage for one sender; what it emits has memory of the pool. nil where PreAggregates is false.
	PreAggregate(pool *column.Pool) Stage
	// Weigh is the number of rows that a batch stands for: of rows, or of what a stage emitted.
	Weigh(b *column.Batch) int
}

// Stage gathers rows by key in one sender. What it emits is processed as the rows themselves would be: the operator's results are
// the same.
type Stage interface {
	// Add takes rows of a batch, borrowed, and gives the others, which must go as they are: nil where there are none. The
	// caller owns the result.
	Add(b *column.Batch) (rest *column.Batch, err error)
	// Flush emits what must leave before the watermark w, MaxWatermark for everything, and tells how many rows that stands for and
	// how many entries it is. emit borrows the batch. Rows at or before w are not taken any more.
	Flush(w int64, emit func(b *column.Batch) error) (rows, entries int64, err error)
	// Keys are the key columns of what is emitted.
	Keys() []int
	// Size is what is held: entries, their bytes, and the bytes of memory that the stage has for them.
	Size() (entries int, bytes, memory int64)
}
