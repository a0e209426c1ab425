package window

import (
	"math"
	"time"
)

// grid is windows [k, k + size) for every edge k = offset + i·step, i whole, in ms. 0 <= offset < step.
type grid struct {
	step, size, offset int64
	first, last        int64 // times t with first <= t < last have only windows whose ends int64 can hold
}

func newGrid(step, size, offset time.Duration) grid {
	return gridOf(step.Milliseconds(), size.Milliseconds(), offset.Milliseconds())
}

func gridOf(step, size, offset int64) grid {
	g := grid{step: step, size: size, offset: floorMod(offset, step)}
	g.first = math.MinInt64
	if size > step {
		g.first += size
	}
	if r := g.past(g.first); r != 0 {
		g.first += step - r
	}
	g.last = addTo(g.floor(math.MaxInt64-size), step)
	return g
}

// addTo is a + b for b >= 0, at most MaxInt64.
func addTo(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

// floorMod is a modulo size, in [0, size).
func floorMod(a, size int64) int64 {
	if a %= size; a < 0 {
		a += size
	}
	return a
}

// past is how far t is past the edge before it.
func (g grid) past(t int64) int64 {
	m := floorMod(t, g.step) - g.offset
	if m < 0 {
		m += g.step
	}
	return m
}

// floor is the greatest edge <= t. Where int64 does not hold it, it is MinInt64.
func (g grid) floor(t int64) int64 {
	m := g.past(t)
	if t < math.MinInt64+m {
		return math.MinInt64
	}
	return t - m
}

// ended is the start of the last window whose end is at or before t, and whether there is one.
func (g grid) ended(t int64) (start int64, ok bool) {
	if t < math.MinInt64+g.size {
		return math.MinInt64, false
	}
	t -= g.size
	m := g.past(t)
	return t - m, t >= math.MinInt64+m
}

// open is the start of the first window that is not closed at a bound: its end + lateness > bound.
func (g grid) open(bound, lateness int64) int64 {
	switch {
	case bound == math.MaxInt64:
		return math.MaxInt64
	case bound < math.MinInt64+lateness:
		return math.MinInt64
	}
	start, ok := g.ended(bound - lateness)
	if !ok {
		return math.MinInt64
	}
	return addTo(start, g.step)
}

// has reports whether the windows of a time have edges that int64 can hold.
func (g grid) has(t int64) bool { return g.first <= t && t < g.last }

// rowSet is some physical rows of a batch: those in rows, or lo <= row < hi where rows is nil. Rows are ascending.
type rowSet struct {
	lo, hi int
	rows   []uint32
}

func (r rowSet) len() int {
	if r.rows != nil {
		return len(r.rows)
	}
	return r.hi - r.lo
}

// at is the i-th of the rows.
func (r rowSet) at(i int) int {
	if r.rows != nil {
		return int(r.rows[i])
	}
	return r.lo + i
}

// cut gives the i-th to the j-th of the rows.
func (r rowSet) cut(i, j int) rowSet {
	if r.rows != nil {
		return rowSet{rows: r.rows[i:j]}
	}
	return rowSet{lo: r.lo + i, hi: r.lo + j}
}

// span is the least and the greatest time of the rows, and whether the rows are in the order of time.
func span(times []int64, r rowSet) (lo, hi int64, ordered bool) {
	if r.rows != nil {
		return spanRows(times, r.rows)
	}
	times = times[r.lo:r.hi]
	last := times[0]
	for i, t := range times {
		if t < last {
			return spanFrom(times, i)
		}
		last = t
	}
	return times[0], last, true
}

// spanFrom is span for times of which the first n are in order and the next is not.
func spanFrom(times []int64, n int) (lo, hi int64, ordered bool) {
	lo, hi = times[0], times[n-1]
	lo2, hi2 := lo, hi
	rest := times[n:]
	for len(rest) >= 2 {
		lo, hi = min(lo, rest[0]), max(hi, rest[0])
		lo2, hi2 = min(lo2, rest[1]), max(hi2, rest[1])
		rest = rest[2:]
	}
	for _, t := range rest {
		lo, hi = min(lo, t), max(hi, t)
	}
	return min(lo, lo2), max(hi, hi2), false
}

func spanRows(times []int64, rows []uint32) (lo, hi int64, ordered bool) {
	lo = times[rows[0]]
	hi, ordered = lo, true
	last := lo
	for _, r := range rows {
		t := times[r]
		ordered = ordered && t >= last
		last = t
		lo, hi = min(lo, t), max(hi, t)
	}
	return lo, hi, ordered
}

// before is the number of leading rows, in the order of time, whose time is below end.
func before(times []int64, r rowSet, end int64) int {
	lo, hi := 0, r.len()
	for lo < hi {
		m := int(uint(lo+hi) / 2)
		if times[r.at(m)] < end {
			lo = m + 1
		} else {
			hi = m
		}
	}
	return lo
}
