package window

import (
	"slices"

	"cmp"
)

// buckets sorts the rows of a batch that is not in the order of time by window.
type buckets struct {
	index []uint32 // of the window of each row
	count []uint32 // rows of each window, then where its next row goes
	rows  []uint32
	far   []farRow
}

// farRow is a row of a batch that spans more windows than it has rows.
type farRow struct {
	start int64
	row   uint32
}

// split calls add for each window that has rows, in the order of time, each with its rows in the order in which they came. All times
// are in [first, hi], and first is an edge.
func (k *buckets) split(g grid, times []int64, rows rowSet, first, hi int64, add func(start int64, rows rowSet) error) error {
	windows := (uint64(hi)-uint64(first))/uint64(g.step) + 1
	switch {
	case windows == 2:
		return k.splitTwo(g, times, rows, first, add)
	case windows > uint64(rows.len()):
		return k.splitFar(g, times, rows, add)
	}
	k.count = slices.Grow(k.count[:0], int(windows)+1)[:windows+1]
	clear(k.count)
	k.index = slices.Grow(k.index[:0], rows.len())[:rows.len()]
	for i := range k.index {
		w := (uint64(times[rows.at(i)]) - uint64(first)) / uint64(g.step)
		k.index[i] = uint32(w)
		k.count[w+1]++
	}
	for w := 1; w < len(k.count); w++ {
		k.count[w] += k.count[w-1]
	}
	k.rows = slices.Grow(k.rows[:0], rows.len())[:rows.len()]
	for i, w := range k.index {
		k.rows[k.count[w]] = uint32(rows.at(i))
		k.count[w]++
	}
	lo := uint32(0)
	for w := range int(windows) {
		end := k.count[w]
		if end > lo {
			if err := add(first+int64(w)*g.step, rowSet{rows: k.rows[lo:end]}); err != nil {
				return err
			}
		}
		lo = end
	}
	return nil
}

// splitTwo is split for the edge between two windows, without a branch a row.
func (k *buckets) splitTwo(g grid, times []int64, rows rowSet, first int64, add func(start int64, rows rowSet) error) error {
	n := rows.len()
	k.rows = slices.Grow(k.rows[:0], n)[:n]
	k.index = slices.Grow(k.index[:0], n)[:n]
	edge := first + g.step
	a, b := 0, 0
	for i := range n {
		r := rows.at(i)
		k.rows[a], k.index[b] = uint32(r), uint32(r)
		second := 0
		if times[r] >= edge {
			second = 1
		}
		a += 1 - second
		b += second
	}
	if err := add(first, rowSet{rows: k.rows[:a]}); err != nil {
		return err
	}
	return add(edge, rowSet{rows: k.index[:b]})
}

// splitFar is split for times that are far apart.
func (k *buckets) splitFar(g grid, times []int64, rows rowSet, add func(start int64, rows rowSet) error) error {
	k.far = k.far[:0]
	for i := range rows.len() {
		r := rows.at(i)
		k.far = append(k.far, farRow{g.floor(times[r]), uint32(r)})
	}
	slices.SortFunc(k.far, func(a, b farRow) int {
		return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(a.row, b.row))
	})
	for lo := 0; lo < len(k.far); {
		start := k.far[lo].start
		k.rows = k.rows[:0]
		for ; lo < len(k.far) && k.far[lo].start == start; lo++ {
			k.rows = append(k.rows, k.far[lo].row)
		}
		if err := add(start, rowSet{rows: k.rows}); err != nil {
			return err
		}
	}
	return nil
}
