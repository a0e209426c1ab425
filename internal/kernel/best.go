package kernel

import (
	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/internal/extreme"
	"github.com/arkflow-go/arkflow/internal/keys"
	"github.com/arkflow-go/arkflow/internal/layout"
)

// addBest feeds the rows of a block.
func (t *table) addBest(s *scratch, a layout.Accumulator, b *column.Batch, at rowAt, refs []uint32) {
	h, p := &t.heaps[a.Side], s.vals2[:len(refs)]
	a.Best.Prefixes(p, s.vals[:], b, at.lo, at.rows)
	for i, ref := range refs {
		r := (*[2]uint64)(t.rows[int(ref)+a.Off:])
		if r[1] != 0 && p[i] != r[0] && (p[i] < r[0]) != a.Invert {
			continue
		}
		s.tuple = a.Best.Encode(s.tuple[:0], b, at.row(i))
		if a.Best.Ties {
			h.Tie(r, p[i], s.tuple, a.Best)
		} else if h.Better(r, p[i], s.tuple, a.Invert) {
			h.Replace(r, p[i], s.tuple)
		}
	}
	t.tidy(h, a)
}

// combineBest takes over the tuples of another table that are better or as good.
func (t *table) combineBest(a layout.Accumulator, src *extreme.Heap, vals []uint64, refs, from []uint32) {
	h := &t.heaps[a.Side]
	if !a.Best.Ties {
		t.combineTexts(a, src, vals, refs, from)
		return
	}
	for i, ref := range refs {
		p, w := vals[from[i]], vals[from[i]+1]
		r := (*[2]uint64)(t.rows[int(ref)+a.Off:])
		if w == 0 || r[1] != 0 && p != r[0] && (p < r[0]) != a.Invert {
			continue
		}
		for ; w != 0; w = src.Next(w) {
			h.Tie(r, p, src.Tuple(a.Best, w), a.Best)
		}
	}
	t.tidy(h, a)
}

// bestFiller writes a value of the tuples.
func bestFiller(col, which int, a layout.Accumulator) filler {
	return func(s *page, at int, t *table, refs []uint32) error {
		for i, ref := range refs {
			w := t.rows[int(ref)+a.Off+1]
			if a.Best.Ties {
				w = s.ties[i]
			}
			f := keys.Field{Null: true}
			if w != 0 {
				s.tuple = append(s.tuple[:0], t.heaps[a.Side].Tuple(a.Best, w)...)
				var err error
				if f, err = a.Best.Value(s.tuple, which); err != nil {
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
	if !r.l.Ties {
		return r.addCells(keyTable, keyRefs, t, refs)
	}
	var a layout.Accumulator
	for _, arg := range t.l.Args {
		for _, acc := range arg.Accs {
			if acc.Best != nil && acc.Best.Ties {
				a = acc
			}
		}
	}
	h := &t.heaps[a.Side]
	for i, ref := range refs {
		r.tieKeys, r.tieRefs, r.tieWords = r.tieKeys[:0], r.tieRefs[:0], r.tieWords[:0]
		for w := t.rows[int(ref)+a.Off+1]; ; w = h.Next(w) {
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
