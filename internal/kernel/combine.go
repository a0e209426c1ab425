package kernel

import (
	"math"
	"math/bits"

	"github.com/arkflow-go/arkflow/column"
)

// combine adds groups of another table of the same accumulators to groups of t, the i-th of from to the i-th of refs.
func (t *table) combine(src *table, refs, from []uint32) {
	from = from[:len(refs)]
	rows, n, live := t.rows[t.l.count:], src.rows[src.l.count:], uint64(0)
	for i, ref := range refs {
		live += (rows[ref] - 1) >> 63
		rows[ref] += n[from[i]]
	}
	t.live += int(live)
	for a := range t.l.args {
		arg, their := &t.l.args[a], &src.l.args[a]
		t.addSide(arg.nulls, src, their.nulls, refs, from, 1)
		for j, acc := range arg.accs {
			t.combineAcc(acc, src, their.accs[j], refs, from)
		}
	}
}

func (t *table) combineAcc(a accumulator, src *table, their accumulator, refs, from []uint32) {
	rows, vals := t.rows[a.off:], src.rows[their.off:]
	switch a.kind {
	case accSumInt:
		for i, ref := range refs {
			v, s := vals[from[i]], rows[ref]
			n := s + v
			rows[ref] = n
			if int64((s^n)&(v^n)) < 0 {
				t.side(a.side)[int(ref)/t.l.stride] += 1 - 2*int64(v>>63)
			}
		}
	case accSumUint:
		for i, ref := range refs {
			v := vals[from[i]]
			n := rows[ref] + v
			if n < v {
				t.side(a.side)[int(ref)/t.l.stride]++
			}
			rows[ref] = n
		}
	case accSumFloat:
		for i, ref := range refs {
			rows[ref] = math.Float64bits(math.Float64frombits(rows[ref]) + math.Float64frombits(vals[from[i]]))
		}
	case accSumDec:
		for i, ref := range refs {
			t.addWide(a, ref, vals[from[i]], vals[from[i]+1])
		}
	case accMax:
		for i, ref := range refs {
			rows[ref] = max(rows[ref], vals[from[i]])
		}
	case accMaxDec:
		for i, ref := range refs {
			if f := from[i]; vals[f+1] > rows[ref+1] || vals[f+1] == rows[ref+1] && vals[f] > rows[ref] {
				rows[ref], rows[ref+1] = vals[f], vals[f+1]
			}
		}
	case accBest:
		t.combineBest(a, &src.heaps[their.side], vals, refs, from)
	case accMaxBytes:
		t.combineTexts(a, &src.heaps[their.side], vals, refs, from)
	}
	if a.wraps() {
		t.addSide(a.side, src, their.side, refs, from, 1)
	}
}

// subtract takes groups of another table away again. All accumulators must be subtractable (see Layout.Subtractable).
func (t *table) subtract(src *table, refs, from []uint32) {
	from = from[:len(refs)]
	rows, n, gone := t.rows[t.l.count:], src.rows[src.l.count:], uint64(0)
	for i, ref := range refs {
		rows[ref] -= n[from[i]]
		gone += (rows[ref] - 1) >> 63
	}
	t.live -= int(gone)
	for a := range t.l.args {
		arg, their := &t.l.args[a], &src.l.args[a]
		t.addSide(arg.nulls, src, their.nulls, refs, from, -1)
		for j, acc := range arg.accs {
			t.subtractAcc(acc, src, their.accs[j], refs, from)
		}
	}
}

func (t *table) subtractAcc(a accumulator, src *table, their accumulator, refs, from []uint32) {
	rows, vals := t.rows[a.off:], src.rows[their.off:]
	switch a.kind {
	case accSumInt:
		for i, ref := range refs {
			v, s := vals[from[i]], rows[ref]
			n := s - v
			rows[ref] = n
			if int64((s^v)&(s^n)) < 0 {
				t.side(a.side)[int(ref)/t.l.stride] += 1 - 2*int64(^v>>63)
			}
		}
	case accSumUint:
		for i, ref := range refs {
			v, s := vals[from[i]], rows[ref]
			if s < v {
				t.side(a.side)[int(ref)/t.l.stride]--
			}
			rows[ref] = s - v
		}
	case accSumDec:
		for i, ref := range refs {
			lo, c := bits.Sub64(rows[ref], vals[from[i]], 0)
			s, v := rows[ref+1], vals[from[i]+1]
			hi, _ := bits.Sub64(s, v, c)
			if int64((s^v)&(s^hi)) < 0 {
				t.side(a.side)[int(ref)/t.l.stride] += 1 - 2*int64(^v>>63)
			}
			rows[ref], rows[ref+1] = lo, hi
		}
	}
	t.addSide(a.side, src, their.side, refs, from, -1)
}

// addSide adds what a side column of another table has, sign times.
func (t *table) addSide(side int, src *table, theirs int, refs, from []uint32, sign int64) {
	if src.sides[theirs] == nil {
		return
	}
	for i, ref := range refs {
		if v := src.sideAt(theirs, from[i]); v != 0 {
			t.side(side)[int(ref)/t.l.stride] += sign * v
		}
	}
}

// addWide adds a decimal, two words, and counts the wrap of 128 bits.
func (t *table) addWide(a accumulator, ref uint32, lo, hi uint64) {
	r := (*[2]uint64)(t.rows[int(ref)+a.off:])
	l, c := bits.Add64(r[0], lo, 0)
	h, _ := bits.Add64(r[1], hi, c)
	if int64((r[1]^h)&(hi^h)) < 0 {
		t.side(a.side)[int(ref)/t.l.stride] += 1 - 2*int64(hi>>63)
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
			t.side(t.l.args[0].accs[0].side)[i] += 1 - 2*int64(v>>63)
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
			t.side(t.l.args[0].accs[0].side)[i] += 1 - 2*int64(^v>>63)
		}
	}
	t.live -= int(gone)
}
