// Package window answers: how are the rows of a key gathered over stretches of time?
//
// An [Assigner] says which window a row belongs to, aggregates say what is kept of its rows, and [New] makes an operator of both:
//
//	window.New(window.Tumbling(time.Minute), window.Count().As("orders"), window.Sum("amount").As("total"))
//
// reads a keyed stream and writes, for each window and key that had rows, the key columns, window_start, window_end and
// the aggregates. A window [s, e) fires when the watermark reaches e, and is kept for corrections until it reaches e + L, where L is
// [Assigner.Lateness]. A row is late for a window iff e + L <= max(J, W): the watermark W of the operator, and J, what the
// earlier rows of the row's own split had established. Where windows overlap ([Sliding]) a row counts in those that it is not late for.
// Rows that are late for all are counted and dropped, or leave on a port of their own. On a processing-time stream the clock at
// arrival assigns and fires, and nothing is late.
//
// Windows with lateness write a stream in change mode operator.Upsert, by key and window_start, with the column [UpdateColumn].
//
// Every row is counted once: rows in = rows in fired and open windows + late + dropped by reason (null_timestamp, gap, evicted, error).
// Rows without event time are dropped as null_timestamp, or under [Route] sent out with the late rows and counted with them.
//
// Results do not depend on where batches are cut, nor on how splits interleave. The exceptions: sources that fall idle,
// splits that appear while the job runs, windows evicted at MaxBufferedKeys, and processing time. Sums of floats may differ
// in rounding with the order of rows.
//
// The package never starts a goroutine, never asks the machine for the time and never touches storage.
package window
