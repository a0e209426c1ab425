package window

import (
	"math"
	"time"
)

// grid is the edges of tumbling windows: offset + k·size for every whole k, in ms. 0 <= offset < size.
type grid struct {
	size, offset int64
	first, last  int64 // the least and the greatest edge that int64 can hold: times t with first <= t < last have a window
}

func newGrid(size, offset time.Duration) grid {
	g := grid{size: size.Milliseconds()}
	g.offset = floorMod(offset.Milliseconds(), g.size)
	g.last = g.floor(math.MaxInt64)
	if r := g.past(math.MinInt64); r == 0 {
		g.first = math.MinInt64
	} else {
		g.first = math.MinInt64 + (g.size - r)
	}
	return g
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
	m := floorMod(t, g.size) - g.offset
	if m < 0 {
		m += g.size
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

// has reports whether the window of a time has edges that int64 can hold.
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
