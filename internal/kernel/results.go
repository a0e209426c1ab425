package kernel

import (
	"fmt"
	"math"
	"math/big"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/internal/aggregate"
	"github.com/arkflow-go/arkflow/internal/keys"
	"github.com/arkflow-go/arkflow/internal/layout"
	"github.com/arkflow-go/arkflow/internal/sheet"
)

// ResultRows is the number of rows of a full result batch.
const ResultRows = 8192

// Results turns panes into batches of key columns, window_start, window_end and the output columns of the layout.
type Results struct {
	page
	// Overflow is told of a result that does not fit its column. Nil means that the result is null, an error ends Write.
	overflow func(column, value, problem string) error
	known    func(t *table, ref uint32) bool // whether a group has been emitted before; nil: none

	tieKeys, tieRefs []uint32 // scratch of spread
	tieWords         []uint64
}

// NewResults gives a writer of result batches in memory of the pool. The schema is that of the columns named above.
func NewResults(l *layout.Layout, schema *arrow.Schema, pool *column.Pool, overflow func(column, value, problem string) error) *Results {
	return newResults(l, l, schema, pool, overflow)
}

// NewCellResults is NewResults for cells.
func NewCellResults(x *Index, schema *arrow.Schema, pool *column.Pool, overflow func(column, value, problem string) error) *Results {
	return newResults(x.t.l, x.l, schema, pool, overflow)
}

func newResults(keys, l *layout.Layout, schema *arrow.Schema, pool *column.Pool, overflow func(column, value, problem string) error) *Results {
	r := &Results{overflow: overflow}
	k := len(l.KeyCols)
	r.page = page{l: l, Sheet: sheet.Sheet{Schema: schema, Pool: pool}, keys: keyFillers(keys, 0), limit: column.MaxBatchBytes}
	for i := range l.Outs {
		r.fill = append(r.fill, r.output(k+2+i, &l.Outs[i]))
	}
	return r
}

// Write emits the groups of a pane that have rows, in batches of at most ResultRows. start and end are the window's; with
// times the batches carry end − 1 as event time. emit borrows the batch.
func (r *Results) Write(p *Pane, start, end int64, times bool, emit func(b *column.Batch) error) error {
	return r.write(p.Live(), start, end, times, emit, func() error {
		return p.each(func(t *table, refs []uint32) error { return r.spread(t, refs, t, refs) })
	})
}

// write emits n groups that add gives to the sheet, or fewer.
func (r *Results) write(n int, start, end int64, times bool, emit func(b *column.Batch) error, add func() error) error {
	if n == 0 {
		return nil
	}
	r.Size, r.emit = min(n, ResultRows), emit
	defer r.close()
	r.Head = column.NewBatch(r.Pool, r.Schema, r.Size)
	fillConst := func(v int64) []int64 {
		s := column.Alloc[int64](r.Head, r.Size)
		for i := range s {
			s[i] = v
		}
		return s
	}
	k := len(r.l.KeyCols)
	r.Head.Cols[k].Data, r.Head.Cols[k+1].Data = column.BytesOf(fillConst(start)), column.BytesOf(fillConst(end))
	if times {
		r.Head.Times = fillConst(end - 1)
	}
	if err := add(); err != nil {
		return err
	}
	return r.flush()
}

// output gives the filler of an output column.
func (r *Results) output(col int, o *layout.Output) filler {
	l := r.l
	if o.Arg < 0 {
		return func(s *page, at int, t *table, refs []uint32) error {
			dst, rows := s.Words(&s.B.Cols[col], at, len(refs)), t.rows[l.Count:]
			for i, ref := range refs {
				dst[i] = rows[ref]
			}
			return nil
		}
	}
	arg := &l.Args[o.Arg]
	if o.Fn == aggregate.CountValues {
		return func(s *page, at int, t *table, refs []uint32) error {
			dst := s.Words(&s.B.Cols[col], at, len(refs))
			for i, ref := range refs {
				dst[i] = t.values(arg, ref)
			}
			return nil
		}
	}
	acc := arg.Accs[o.Acc]
	if acc.Kind == layout.AccBest {
		return bestFiller(col, o.Value, acc)
	}
	write := r.writer(col, o, arg, acc)
	return func(s *page, at int, t *table, refs []uint32) error {
		if err := write(s, at, t, refs); err != nil {
			return err
		}
		if t.sides[arg.Nulls] == nil {
			return nil
		}
		c := &s.B.Cols[col]
		for i, ref := range refs {
			if t.values(arg, ref) == 0 && !c.IsNull(at+i) {
				s.Null(c, at+i)
			}
		}
		return nil
	}
}

// values is the number of an argument's values in a group that are not null.
func (t *table) values(arg *layout.Argument, ref uint32) uint64 {
	return t.refCount(ref) - uint64(t.sideAt(arg.Nulls, ref))
}

// writer gives the filler of an accumulator's result, groups without values not regarded.
func (r *Results) writer(col int, o *layout.Output, arg *layout.Argument, acc layout.Accumulator) filler {
	switch acc.Kind {
	case layout.AccSumDec:
		return r.decimalSum(col, o, arg, acc)
	case layout.AccMaxDec:
		return func(s *page, at int, t *table, refs []uint32) error {
			dst := column.View[[2]uint64](s.B.Cols[col].Data)[at:]
			x := acc.Inversion()
			for i, ref := range refs {
				w := t.rows[int(ref)+acc.Off:]
				dst[i] = [2]uint64{w[0] ^ x, w[1] ^ x ^ keys.SignBit}
			}
			return nil
		}
	case layout.AccMaxBytes:
		return func(s *page, at int, t *table, refs []uint32) error {
			for i, ref := range refs {
				var v []byte
				if w := t.rows[int(ref)+acc.Off+1]; w != 0 {
					v = t.heaps[acc.Side].At(w)
				}
				s.PutBytes(col, at+i, v)
			}
			return nil
		}
	case layout.AccMax:
		return func(s *page, at int, t *table, refs []uint32) error {
			s.greatest(col, at, t, refs, arg, acc)
			return nil
		}
	case layout.AccSumFloat:
		if o.Fn == aggregate.Avg {
			return meanFiller(col, arg, func(t *table, ref uint32) float64 {
				return math.Float64frombits(t.rows[int(ref)+acc.Off])
			})
		}
		return func(s *page, at int, t *table, refs []uint32) error {
			s.copyWords(col, at, t, refs, acc.Off)
			return nil
		}
	}
	if o.Fn == aggregate.Avg {
		return meanFiller(col, arg, func(t *table, ref uint32) float64 { return t.intSum(acc, ref) })
	}
	return func(s *page, at int, t *table, refs []uint32) error {
		s.copyWords(col, at, t, refs, acc.Off)
		if t.sides[acc.Side] == nil {
			return nil
		}
		for i, ref := range refs {
			if t.sideAt(acc.Side, ref) != 0 {
				problem := fmt.Sprintf("sum does not fit %s", o.Typ)
				if err := r.overflow(o.Name, t.bigSum(acc, ref).String(), problem); err != nil {
					return err
				}
				s.Null(&s.B.Cols[col], at+i)
			}
		}
		return nil
	}
}

// copyWords writes a word of each group.
func (s *page) copyWords(col, at int, t *table, refs []uint32, off int) {
	c := &s.B.Cols[col]
	w, rows := s.Words(c, at, len(refs)), t.rows[off:]
	for i, ref := range refs {
		w[i] = rows[ref]
	}
	s.Put(c, at, w)
}

// greatest writes the values that the words of a Min or Max stand for.
func (s *page) greatest(col, at int, t *table, refs []uint32, arg *layout.Argument, acc layout.Accumulator) {
	c := &s.B.Cols[col]
	w, rows, x := s.Words(c, at, len(refs)), t.rows[acc.Off:], acc.Inversion()
	if arg.Tag == keys.TagFloat {
		for i, ref := range refs {
			w[i] = keys.Unordered(rows[ref] ^ x)
		}
	} else {
		x ^= arg.Flip()
		for i, ref := range refs {
			w[i] = rows[ref] ^ x
		}
	}
	s.Put(c, at, w)
}

func meanFiller(col int, arg *layout.Argument, sum func(t *table, ref uint32) float64) filler {
	return func(s *page, at int, t *table, refs []uint32) error {
		dst := column.View[float64](s.B.Cols[col].Data)[at:]
		for i, ref := range refs {
			dst[i] = 0
			if n := t.values(arg, ref); n > 0 {
				dst[i] = sum(t, ref) / float64(n)
			}
		}
		return nil
	}
}

// intSum is the sum of a group as the nearest float, two roundings at most.
func (t *table) intSum(acc layout.Accumulator, ref uint32) float64 {
	w := t.rows[int(ref)+acc.Off]
	f := float64(int64(w))
	if acc.Kind == layout.AccSumUint {
		f = float64(w)
	}
	if k := t.sideAt(acc.Side, ref); k != 0 {
		f += float64(k) * (1 << 64)
	}
	return f
}

// bigSum is the exact sum of a group.
func (t *table) bigSum(acc layout.Accumulator, ref uint32) *big.Int {
	w := t.rows[int(ref)+acc.Off:]
	sum := big.NewInt(t.sideAt(acc.Side, ref))
	switch acc.Kind {
	case layout.AccSumDec:
		sum.Lsh(sum, 128)
		hi := big.NewInt(int64(w[1]))
		sum.Add(sum, hi.Lsh(hi, 64))
		return sum.Add(sum, new(big.Int).SetUint64(w[0]))
	case layout.AccSumUint:
		return sum.Add(sum.Lsh(sum, 64), new(big.Int).SetUint64(w[0]))
	}
	return sum.Add(sum.Lsh(sum, 64), big.NewInt(int64(w[0])))
}
