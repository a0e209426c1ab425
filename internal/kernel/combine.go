package kernel

import (
	"math"
	"math/bits"

	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/internal/layout"
)

// combine adds groups of another table of the same accumulators to groups of t, the i-th of from to the i-th of refs.
func (t *table) combine(src *table, refs, from []uint32) {
	from = from[:len(refs)]
	rows, n, live := t.rows[t.l.Count:], src.rows[src.l.Count:], uint64(0)
	for i, ref := range refs {
		live += (rows[ref] - 1) >> 63
		rows[ref] += n[from[i]]
	}
	t.live += int(live)
	for a := range t.l.Args {
		arg, their := &t.l.Args[a], &src.l.Args[a]
		t.addSide(arg.Nulls, src, their.Nulls, refs, from, 1)
		for j, acc := range arg.Accs {
			t.combineAcc(acc, src, their.Accs[j], refs, from)
		}
	}
}

func (t *table) combineAcc(a layout.Accumulator, src *table, their layout.Accumulator, refs, from []uint32) {
	rows, vals := t.rows[a.Off:], src.rows[their.Off:]
	switch a.Kind {
	case layout.AccSumInt:
		for i, ref := range refs {
			v, s := vals[from[i]], rows[ref]
			n := s + v
			rows[ref] = n
			if int64((s^n)&(v^n)) < 0 {
				t.side(a.Side)[int(ref)/t.l.Stride] += 1 - 2*int64(v>>63)
			}
		}
	case layout.AccSumUint:
		for i, ref := range refs {
			v := vals[from[i]]
			n := rows[ref] + v
			if n < v {
				t.side(a.Side)[int(ref)/t.l.Stride]++
			}
			rows[ref] = n
		}
	case layout.AccSumFloat:
		for i, ref := range refs {
			rows[ref] = math.Float64bits(math.Float64frombits(rows[ref]) + math.Float64frombits(vals[from[i]]))
		}
	case layout.AccSumDec:
		for i, ref := range refs {
			t.addWide(a, ref, vals[from[i]], vals[from[i]+1])
		}
	case layout.AccMax:
		for i, ref := range refs {
			rows[ref] = max(rows[ref], vals[from[i]])
		}
	case layout.AccMaxDec:
		for i, ref := range refs {
			if f := from[i]; vals[f+1] > rows[ref+1] || vals[f+1] == rows[ref+1] && vals[f] > rows[ref] {
				rows[ref], rows[ref+1] = vals[f], vals[f+1]
			}
		}
	case layout.AccBest:
		t.combineBest(a, &src.heaps[their.Side], vals, refs, from)
	case layout.AccMaxBytes:
		t.combineTexts(a, &src.heaps[their.Side], vals, refs, from)
	}
	if a.Wraps() {
		t.addSide(a.Side, src, their.Side, refs, from, 1)
	}
}

// subtract takes groups of another table away again. All accumulators must be subtractable (see Layout.Subtractable).
func (t *table) subtract(src *table, refs, from []uint32) {
	from = from[:len(refs)]
	rows, n, gone := t.rows[t.l.Count:], src.rows[src.l.Count:], uint64(0)
	for i, ref := range refs {
		rows[ref] -= n[from[i]]
		gone += (rows[ref] - 1) >> 63
	}
	t.live -= int(gone)
	for a := range t.l.Args {
		arg, their := &t.l.Args[a], &src.l.Args[a]
		t.addSide(arg.Nulls, src, their.Nulls, refs, from, -1)
		for j, acc := range arg.Accs {
			t.subtractAcc(acc, src, their.Accs[j], refs, from)
		}
	}
}

func (t *table) subtractAcc(a layout.Accumulator, src *table, their layout.Accumulator, refs, from []uint32) {
	rows, vals := t.rows[a.Off:], src.rows[their.Off:]
	switch a.Kind {
	case layout.AccSumInt:
		for i, ref := range refs {
			v, s := vals[from[i]], rows[ref]
			n := s - v
			rows[ref] = n
			if int64((s^v)&(s^n)) < 0 {
				t.side(a.Side)[int(ref)/t.l.Stride] += 1 - 2*int64(^v>>63)
			}
		}
	case layout.AccSumUint:
		for i, ref := range refs {
			v, s := vals[from[i]], rows[ref]
			if s < v {
				t.side(a.Side)[int(ref)/t.l.Stride]--
			}
			rows[ref] = s - v
		}
	case layout.AccSumDec:
		for i, ref := range refs {
			lo, c := bits.Sub64(rows[ref], vals[from[i]], 0)
			s, v := rows[ref+1], vals[from[i]+1]
			hi, _ := bits.Sub64(s, v, c)
			if int64((s^v)&(s^hi)) < 0 {
				t.side(a.Side)[int(ref)/t.l.Stride] += 1 - 2*int64(^v>>63)
			}
			rows[ref], rows[ref+1] = lo, hi
		}
	}
	t.addSide(a.Side, src, their.Side, refs, from, -1)
}

// addSide adds what a side column of another table has, sign times.
func (t *table) addSide(side int, src *table, theirs int, refs, from []uint32, sign int64) {
	if src.sides[theirs] == nil {
		return
	}
	for i, ref := range refs {
		if v := src.sideAt(theirs, from[i]); v != 0 {
			t.side(side)[int(ref)/t.l.Stride] += sign * v
		}
	}
}

// addWide adds a decimal, two words, and counts the wrap of 128 bits.
func (t *table) addWide(a layout.Accumulator, ref uint32, lo, hi uint64) {
	r := (*[2]uint64)(t.rows[int(ref)+a.Off:])
	l, c := bits.Add64(r[0], lo, 0)
	h, _ := bits.Add64(r[1], hi, c)
	if int64((r[1]^h)&(hi^h)) < 0 {
		t.side(a.Side)[int(ref)/t.l.Stride] += 1 - 2*int64(hi>>63)
	}
	r[0], r[1] = l, h
}

// triples views the rows of cells that are a number, a count and one sum.
func triples(rows []uint64) [][3]uint64 { return column.View[[3]uint64](column.BytesOf(rows)) }

// addDense is combine for dense cells of which all that is kept beside the count is one sum of integers; src has no wraps and no nulls.
func (t *table) addDense(src *table) {
	n := min(t.end, src.end)
	to, from, live := triples(t.rows[:n]), triples(src.rows[:n]), uint64(0)
	to = to[:len(from)]
	for i := range from {
		r, c, v := &to[i], from[i][1], from[i][2]
		was, s := r[1], r[2]
		sum := s + v
		live += (was - 1) >> 63 &^ ((c - 1) >> 63)
		r[1], r[2] = was+c, sum
		if int64((s^sum)&(v^sum)) < 0 {
			t.side(t.l.Args[0].Accs[0].Side)[i] += 1 - 2*int64(v>>63)
		}
	}
	t.live += int(live)
}

// subtractDense is subtract in the case of addDense.
func (t *table) subtractDense(src *table) {
	n := min(t.end, src.end)
	to, from, gone := triples(t.rows[:n]), triples(src.rows[:n]), uint64(0)
	to = to[:len(from)]
	for i := range from {
		r, c, v := &to[i], from[i][1], from[i][2]
		left, s := r[1]-c, r[2]
		sum := s - v
		gone += (left - 1) >> 63 &^ ((c - 1) >> 63)
		r[1], r[2] = left, sum
		if int64((s^v)&(s^sum)) < 0 {
			t.side(t.l.Args[0].Accs[0].Side)[i] += 1 - 2*int64(^v>>63)
		}
	}
	t.live -= int(gone)
}
