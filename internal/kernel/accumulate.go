package kernel

import (
	"math"

	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/internal/keys"
	"github.com/arkflow-go/arkflow/internal/layout"
)

// accumulate feeds the arguments of n rows of a batch into their groups. The rows have been counted by find.
func (t *table) accumulate(s *scratch, b *column.Batch, n int, at rowAt, refs []uint32) {
	for i := range t.l.Args {
		arg := &t.l.Args[i]
		at, refs := at, refs
		var c *column.Column
		if arg.Col >= 0 {
			c = &b.Cols[arg.Col]
		}
		if arg.Where != 0 || c != nil && at.anyNull(c, n) {
			at, refs = t.skip(s, b, c, arg, n, at, refs)
			if len(refs) == 0 {
				continue
			}
		}
		for _, a := range arg.Accs {
			if a.Kind == layout.AccBest {
				t.addBest(s, a, b, at, refs)
			}
		}
		switch {
		case len(arg.Accs) == 0:
		case arg.Kind == column.Decimal:
			t.addDecimals(arg, column.View[[2]uint64](c.Data), at, refs)
		case arg.Kind == column.Bytes:
			for _, a := range arg.Accs {
				if a.Kind == layout.AccMaxBytes {
					t.addTexts(a, c, at, refs)
				}
			}
		default:
			t.addWordArgs(s, arg, words(s.vals[:], c, at.lo, len(refs), at.rows), refs)
		}
	}
}

// skip counts for each group the rows that are null in c or for which the argument's condition is not true, and gives the others.
func (t *table) skip(s *scratch, b *column.Batch, c *column.Column, arg *layout.Argument, n int, at rowAt, refs []uint32) (rowAt, []uint32) {
	nulls := t.side(arg.Nulls)
	stride := uint32(t.l.Stride)
	var where *column.Column
	if arg.Where != 0 {
		where = &b.Cols[arg.Where-1]
	}
	m := 0
	for i := range n {
		r := at.row(i)
		if c != nil && c.IsNull(r) || where != nil && (where.IsNull(r) || !column.Bit(where.Data, r)) {
			nulls[refs[i]/stride]++
			continue
		}
		s.rows[m], s.rowRefs[m] = uint32(r), refs[i]
		m++
	}
	return rowAt{rows: s.rows[:m]}, s.rowRefs[:m]
}

// words gives an argument as words: canonical ones, but floats with their own bits.
func words(scratch []uint64, c *column.Column, lo, n int, rows []uint32) []uint64 {
	switch c.Kind {
	case column.Float64:
		v := column.Values[uint64](c)
		if rows == nil {
			return v[lo : lo+n]
		}
		return keys.Gather(scratch[:n], v, rows)
	case column.Float32:
		v := column.Values[float32](c)
		for i := range n {
			r := lo + i
			if rows != nil {
				r = int(rows[i])
			}
			scratch[i] = math.Float64bits(float64(v[r]))
		}
		return scratch[:n]
	}
	return keys.Words(scratch, c, lo, n, rows)
}

// addWordArgs feeds values that are one word each.
func (t *table) addWordArgs(s *scratch, arg *layout.Argument, vals []uint64, refs []uint32) {
	for _, a := range arg.Accs {
		switch a.Kind {
		case layout.AccSumInt:
			t.sumInts(a, vals, refs)
		case layout.AccSumUint:
			t.sumUints(a, vals, refs)
		case layout.AccSumFloat:
			sumFloats(t.rows[a.Off:], vals, refs)
		case layout.AccMax:
			x := uint64(0)
			if a.Invert {
				x = ^x
			}
			v := vals
			if arg.Tag == keys.TagFloat {
				v = s.vals2[:len(vals)]
				for i, w := range vals {
					v[i] = keys.Ordered(keys.FloatBits(math.Float64frombits(w)))
				}
			} else {
				x ^= arg.Flip()
			}
			greatest(t.rows[a.Off:], v, refs, x)
		}
	}
}

// sumInts adds signed integers; a wrap is counted, so that sum + 2^64 × wraps is exact.
func (t *table) sumInts(a layout.Accumulator, vals []uint64, refs []uint32) {
	rows := t.rows[a.Off:]
	vals = vals[:len(refs)]
	for i, ref := range refs {
		v, s := vals[i], rows[ref]
		n := s + v
		rows[ref] = n
		if int64((s^n)&(v^n)) < 0 {
			t.side(a.Side)[int(ref)/t.l.Stride] += 1 - 2*int64(v>>63)
		}
	}
}

// sumUints adds unsigned integers and counts carries.
func (t *table) sumUints(a layout.Accumulator, vals []uint64, refs []uint32) {
	rows := t.rows[a.Off:]
	vals = vals[:len(refs)]
	for i, ref := range refs {
		n := rows[ref] + vals[i]
		if n < vals[i] {
			t.side(a.Side)[int(ref)/t.l.Stride]++
		}
		rows[ref] = n
	}
}

func sumFloats(rows, vals []uint64, refs []uint32) {
	vals = vals[:len(refs)]
	for i, ref := range refs {
		rows[ref] = math.Float64bits(math.Float64frombits(rows[ref]) + math.Float64frombits(vals[i]))
	}
}

// greatest keeps the greatest of the values, each xored with x first.
func greatest(rows, vals []uint64, refs []uint32, x uint64) {
	vals = vals[:len(refs)]
	for i, ref := range refs {
		rows[ref] = max(rows[ref], vals[i]^x)
	}
}

// addDecimals feeds decimals, two words each.
func (t *table) addDecimals(arg *layout.Argument, vals [][2]uint64, at rowAt, refs []uint32) {
	for _, a := range arg.Accs {
		if a.Kind == layout.AccBest {
			continue
		}
		for i, ref := range refs {
			d := vals[at.row(i)]
			if a.Kind == layout.AccMaxDec {
				r := (*[2]uint64)(t.rows[int(ref)+a.Off:])
				x := uint64(0)
				if a.Invert {
					x = ^x
				}
				hi, lo := d[1]^keys.SignBit^x, d[0]^x
				if hi > r[1] || hi == r[1] && lo > r[0] {
					r[0], r[1] = lo, hi
				}
				continue
			}
			t.addWide(a, ref, d[0], d[1])
		}
	}
}
