package baseline

import "github.com/arkflow-go/arkflow/bench/events"

// Map keeps the rows whose price is no multiple of four and folds price·908/1000. Rows are kept without a branch: each is
// written, and the place moves on only if it stays.
func Map() Job { return &mapLoop{} }

type mapLoop struct {
	out    [events.Rows]int64
	result Result
}

func (j *mapLoop) Batch(b *events.Batch) {
	out, kept := &j.out, 0
	for _, price := range b.Price {
		out[kept&(events.Rows-1)] = int64(uint64(price) * 908 / 1000)
		kept += int(uint64(price&3+3) >> 2)
	}
	sum := uint64(0)
	for _, v := range out[:kept] {
		sum += uint64(v)
	}
	j.result.Rows += int64(kept)
	j.result.Checksum += sum
}

func (j *mapLoop) Finish() Result { return j.result }

// MapBranch is Map as one writes it first.
func MapBranch() Job { return &mapBranch{} }

type mapBranch struct{ result Result }

func (j *mapBranch) Batch(b *events.Batch) {
	for _, price := range b.Price {
		if price%4 != 0 {
			j.result.Rows++
			j.result.Checksum += uint64(price * 908 / 1000)
		}
	}
}

func (j *mapBranch) Finish() Result { return j.result }
