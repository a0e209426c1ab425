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

// Mapped is a job over rows whose price was made price·908/1000 first, in columns of its own.
func Mapped(job Job) Job { return &mapped{job: job, batch: events.NewBatch(events.Rows)} }

type mapped struct {
	job   Job
	batch *events.Batch
}

func (j *mapped) Batch(b *events.Batch) {
	to := j.batch
	to.Key, to.Time, to.Price = b.Key, b.Time, to.Price[:len(b.Price)]
	for i, price := range b.Price {
		to.Price[i] = int64(uint64(price) * 908 / 1000)
	}
	j.job.Batch(to)
}

func (j *mapped) Finish() Result { return j.job.Finish() }

// Cheap is a job over the rows whose price is below 32,768, which is half of them, packed into columns of its own.
func Cheap(job Job) Job { return &cheap{job: job, batch: events.NewBatch(events.Rows)} }

type cheap struct {
	job   Job
	batch *events.Batch
}

func (j *cheap) Batch(b *events.Batch) {
	to := j.batch
	key, price, time := to.Key[:len(b.Price)], to.Price[:len(b.Price)], to.Time[:len(b.Price)]
	kept := 0
	for i, p := range b.Price {
		key[kept], price[kept], time[kept] = b.Key[i], p, b.Time[i]
		kept += int(uint64(p-1<<15) >> 63)
	}
	to.Key, to.Price, to.Time = key[:kept], price[:kept], time[:kept]
	j.job.Batch(to)
}

func (j *cheap) Finish() Result { return j.job.Finish() }
