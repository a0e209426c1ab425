package kernel

import (
	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/internal/aggregate"
	"github.com/arkflow-go/arkflow/internal/extreme"
	"github.com/arkflow-go/arkflow/internal/keys"
)

// addBest adds the accumulator of such a function.
func (l *Layout) addBest(arg *argument, a aggregate.Agg) int {
	b := &extreme.Rule{By: -1, Values: a.Values, Ties: a.Ties, Least: a.Func == aggregate.First || a.Func == aggregate.ArgMin}
	acc := accumulator{kind: accBest, words: 2, side: l.heaps, best: b, invert: b.Least}
	if a.Func.Arg() {
		b.By, b.ByType, b.ByKind = a.Col, keys.TypeOf(l.schema.Field(a.Col).Type), arg.kind
		b.Timed, b.Inverse = !a.Ties, !a.Ties && !b.Least
	} else {
		b.Values = []int{a.Col}
	}
	for _, v := range b.Values {
		b.Types = append(b.Types, keys.TypeOf(l.schema.Field(v).Type))
	}
	l.heaps++
	l.buffer = false
	l.timed = l.timed || b.By < 0 || b.Timed
	l.ties = l.ties || b.Ties
	return l.push(arg, acc)
}

// Timed reports whether batches need times even where windows do not.
func (l *Layout) Timed() bool { return l.timed }

// addBest feeds the rows of a block.
func (t *table) addBest(s *scratch, a accumulator, b *column.Batch, at rowAt, refs []uint32) {
	h, p := &t.heaps[a.side], s.vals2[:len(refs)]
	a.best.Prefixes(p, s.vals[:], b, at.lo, at.rows)
	for i, ref := range refs {
		r := (*[2]uint64)(t.rows[int(ref)+a.off:])
		if r[1] != 0 && p[i] != r[0] && (p[i] < r[0]) != a.invert {
			continue
		}
		s.tuple = a.best.Encode(s.tuple[:0], b, at.row(i))
		if a.best.Ties {
			h.Tie(r, p[i], s.tuple, a.best)
		} else if h.Better(r, p[i], s.tuple, a.invert) {
			h.Replace(r, p[i], s.tuple)
		}
	}
	t.tidy(h, a)
}

// combineBest takes over the tuples of another table that are better or as good.
func (t *table) combineBest(a accumulator, src *extreme.Heap, vals []uint64, refs, from []uint32) {
	h := &t.heaps[a.side]
	if !a.best.Ties {
		t.combineTexts(a, src, vals, refs, from)
		return
	}
	for i, ref := range refs {
		p, w := vals[from[i]], vals[from[i]+1]
		r := (*[2]uint64)(t.rows[int(ref)+a.off:])
		if w == 0 || r[1] != 0 && p != r[0] && (p < r[0]) != a.invert {
			continue
		}
		for ; w != 0; w = src.Next(w) {
			h.Tie(r, p, src.Tuple(a.best, w), a.best)
		}
	}
	t.tidy(h, a)
}

// bestFiller writes a value of the tuples.
func bestFiller(col, which int, a accumulator) filler {
	return func(s *page, at int, t *table, refs []uint32) error {
		for i, ref := range refs {
			w := t.rows[int(ref)+a.off+1]
			if a.best.Ties {
				w = s.ties[i]
			}
			f := keys.Field{Null: true}
			if w != 0 {
				s.tuple = append(s.tuple[:0], t.heaps[a.side].Tuple(a.best, w)...)
				var err error
				if f, err = a.best.Value(s.tuple, which); err != nil {
					return err
				}
			}
			s.PutField(col, at+i, f)
		}
		return nil
	}
}

// spread adds groups; where ties are kept, each as often as it has tuples.
func (r *Results) spread(keyTable *table, keyRefs []uint32, t *table, refs []uint32) error {
	if !r.l.ties {
		return r.addCells(keyTable, keyRefs, t, refs)
	}
	var a accumulator
	for _, arg := range t.l.args {
		for _, acc := range arg.accs {
			if acc.best != nil && acc.best.Ties {
				a = acc
			}
		}
	}
	h := &t.heaps[a.side]
	for i, ref := range refs {
		r.tieKeys, r.tieRefs, r.tieWords = r.tieKeys[:0], r.tieRefs[:0], r.tieWords[:0]
		for w := t.rows[int(ref)+a.off+1]; ; w = h.Next(w) {
			if w == 0 && len(r.tieRefs) > 0 {
				break
			}
			r.tieKeys, r.tieRefs, r.tieWords = append(r.tieKeys, keyRefs[i]), append(r.tieRefs, ref), append(r.tieWords, w)
			if w == 0 {
				break
			}
		}
		r.ties = r.tieWords
		if err := r.addCells(keyTable, r.tieKeys, t, r.tieRefs); err != nil {
			return err
		}
	}
	return nil
}
