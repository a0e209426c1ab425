package baseline

import "github.com/arkflow-go/arkflow/bench/events"

// Result is what came out of a job: the number of rows and the sum of their terms.
type Result struct {
	Rows     int64
	Checksum uint64
	Late     int64 // rows that were dropped because their window had ended
}

// Job takes batches in turn. Finish ends what is open and gives the result so far.
type Job interface {
	Batch(b *events.Batch)
	Finish() Result
}

// grouper counts and sums by key for one window at a time.
type grouper interface {
	add(b *events.Batch, from, to int)
	// fire folds every group into the result and forgets counts and sums.
	fire(end int64, into *Result)
}

const (
	fibonacci = 0x9E3779B97F4A7C15 // 2^64 / golden ratio: spreads neighbouring keys
	noKey     = -1 << 63           // marks a free slot; the benchmarks have no negative key
)

// tableBits is the logarithm of a table size at which n entries fill at most that share of the slots.
func tableBits(n int64, load float64) uint {
	bits := uint(4)
	for float64(n) > load*float64(int64(1)<<bits) {
		bits++
	}
	return bits
}
