package baseline

import (
	"sort"

	"github.com/arkflow-go/arkflow/bench/events"
)

// WindowMilli is the length of the tumbling windows of the benchmarks.
const WindowMilli = 10_000

// Tumbling counts and sums by key over windows of 10 s. The rows are in order; checked asks for the order of each
// batch, as an engine must that does not trust its input.
func Tumbling(g grouper, checked bool) Job {
	return &tumbling{groups: g, end: WindowMilli, checked: checked}
}

type tumbling struct {
	groups  grouper
	end     int64
	filled  bool
	checked bool
	result  Result
}

func (j *tumbling) Batch(b *events.Batch) {
	if j.checked && !ascending(b.Time) {
		panic("baseline: rows out of order: use Disordered")
	}
	for from, n := 0, len(b.Time); from < n; {
		to := n
		if b.Time[n-1] >= j.end {
			to = from + sort.Search(n-from, func(i int) bool { return b.Time[from+i] >= j.end })
		}
		if to > from {
			j.groups.add(b, from, to)
			j.filled = true
		}
		if to < n {
			j.fire()
			j.end += WindowMilli
		}
		from = to
	}
}

func (j *tumbling) fire() {
	if j.filled {
		j.groups.fire(j.end, &j.result)
		j.filled = false
	}
}

func (j *tumbling) Finish() Result {
	j.fire()
	return j.result
}

// ascending looks for a step back without a branch a row.
func ascending(t []int64) bool {
	steps := int64(0)
	for i := 1; i < len(t); i++ {
		steps |= t[i] - t[i-1]
	}
	return steps >= 0
}

// Disordered is Tumbling over rows in any order, with a watermark that follows the greatest time without delay: a row
// whose window has ended by the rows before it is dropped.
func Disordered(g grouper) Job { return &disordered{groups: g, end: WindowMilli} }

type disordered struct {
	groups grouper
	end    int64
	filled bool
	result Result
}

func (j *disordered) Batch(b *events.Batch) {
	if len(b.Time) == 0 {
		return
	}
	least, greatest := extent(b.Time)
	if least >= j.end-WindowMilli && greatest < j.end {
		j.groups.add(b, 0, len(b.Time))
		j.filled = true
		return
	}
	from := 0
	for i, t := range b.Time {
		if j.end-WindowMilli <= t && t < j.end {
			continue
		}
		j.take(b, from, i)
		from = i
		if t < j.end-WindowMilli {
			j.result.Late++
			from = i + 1
			continue
		}
		j.fire()
		j.end = t - t%WindowMilli + WindowMilli
	}
	j.take(b, from, len(b.Time))
}

func (j *disordered) take(b *events.Batch, from, to int) {
	if from < to {
		j.groups.add(b, from, to)
		j.filled = true
	}
}

func (j *disordered) fire() {
	if j.filled {
		j.groups.fire(j.end, &j.result)
		j.filled = false
	}
}

func (j *disordered) Finish() Result {
	j.fire()
	return j.result
}

func extent(t []int64) (least, greatest int64) {
	least, greatest = t[0], t[0]
	for _, v := range t[1:] {
		least, greatest = min(least, v), max(greatest, v)
	}
	return least, greatest
}
