package kernel

import (
	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/internal/aggregate"
	"github.com/arkflow-go/arkflow/internal/layout"
)

// decimalSum gives the filler of a sum or mean of decimals. Sums are exact: two words and a count of their wraps, so 192
// bits; a sum of more than 38 digits does not fit, whatever the sums in between were.
func (r *Results) decimalSum(col int, o *layout.Output, arg *layout.Argument, acc layout.Accumulator) filler {
	return func(s *page, at int, t *table, refs []uint32) error {
		c := &s.B.Cols[col]
		dst := column.View[[2]uint64](c.Data)[at:]
		for i, ref := range refs {
			w := t.rows[int(ref)+acc.Off:]
			wraps := t.sideAt(acc.Side, ref)
			fits := false
			if o.Fn == aggregate.Avg {
				dst[i], fits = aggregate.MeanDecimal(w[0], w[1], wraps, t.values(arg, ref), o.Tenfold)
			} else {
				dst[i], fits = [2]uint64{w[0], w[1]}, wraps == 0 && aggregate.Fits38(w[0], w[1])
			}
			if fits {
				continue
			}
			v := aggregate.Unscaled(t.bigSum(acc, ref), int32(int8(arg.Scale)))
			if err := r.overflow(o.Name, v, o.Fn.String()+" does not fit "+o.Typ.String()); err != nil {
				return err
			}
			dst[i] = [2]uint64{}
			s.Null(c, at+i)
		}
		return nil
	}
}
