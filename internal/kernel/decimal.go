package kernel

import (
	"math/big"
	"math/bits"

	"github.com/arkflow-go/arkflow/column"
)

// decimalSum gives the filler of a sum or mean of decimals. Sums are exact: two words and a count of their wraps, so 192
// bits; a sum of more than 38 digits does not fit, whatever the sums in between were.
func (r *Results) decimalSum(col int, o *output, arg *argument, acc accumulator) filler {
	return func(s *sheet, at int, t *table, refs []uint32) error {
		c := &s.b.Cols[col]
		dst := column.View[[2]uint64](c.Data)[at:]
		for i, ref := range refs {
			w := t.rows[int(ref)+acc.off:]
			wraps := t.sideAt(acc.side, ref)
			fits := false
			if o.fn == Avg {
				dst[i], fits = meanDecimal(w[0], w[1], wraps, t.values(arg, ref), o.tenfold)
			} else {
				dst[i], fits = [2]uint64{w[0], w[1]}, wraps == 0 && fits38(w[0], w[1])
			}
			if fits {
				continue
			}
			v := unscaled(t.bigSum(acc, ref), int32(int8(arg.scale)))
			if err := r.overflow(o.name, v, o.fn.String()+" does not fit "+o.typ.String()); err != nil {
				return err
			}
			dst[i] = [2]uint64{}
			s.null(c, at+i)
		}
		return nil
	}
}

// 10^38, the first number of 39 digits.
const (
	tenTo38Lo = 0x098A224000000000
	tenTo38Hi = 0x4B3B4CA85A86C47A
)

// magnitude gives the magnitude words of a two's complement number of three words, and its sign.
func magnitude(w0, w1, w2 uint64) (_, _, _ uint64, negative bool) {
	if int64(w2) >= 0 {
		return w0, w1, w2, false
	}
	w0, c := bits.Add64(^w0, 1, 0)
	w1, c = bits.Add64(^w1, 0, c)
	w2, _ = bits.Add64(^w2, 0, c)
	return w0, w1, w2, true
}

// fits38 reports whether a 128-bit number has at most 38 digits.
func fits38(lo, hi uint64) bool {
	lo, hi, _, _ = magnitude(lo, hi, uint64(int64(hi)>>63))
	return hi < tenTo38Hi || hi == tenTo38Hi && lo < tenTo38Lo
}

// meanDecimal gives sum·10^tenfold / n, rounded half away from zero. It always fits where n > 0: a mean lies between its values.
func meanDecimal(lo, hi uint64, wraps int64, n uint64, tenfold int) ([2]uint64, bool) {
	if n == 0 {
		return [2]uint64{}, true
	}
	w0, w1, w2, negative := magnitude(lo, hi, uint64(int64(hi)>>63)+uint64(wraps))
	m := [4]uint64{w0, w1, w2, 0}
	for range tenfold {
		c := uint64(0)
		for i := range m {
			h, l := bits.Mul64(m[i], 10)
			var over uint64
			m[i], over = bits.Add64(l, c, 0)
			c = h + over
		}
	}
	rem := uint64(0)
	for i := 3; i >= 0; i-- {
		m[i], rem = bits.Div64(rem, m[i], n)
	}
	if rem >= n-rem {
		c := uint64(0)
		m[0], c = bits.Add64(m[0], 1, 0)
		m[1], _ = bits.Add64(m[1], 0, c)
	}
	q := [2]uint64{m[0], m[1]}
	fits := m[2]|m[3]|q[1]>>63 == 0 && fits38(q[0], q[1])
	if negative {
		var c uint64
		q[0], c = bits.Add64(^q[0], 1, 0)
		q[1], _ = bits.Add64(^q[1], 0, c)
	}
	return q, fits
}

// unscaled writes a decimal as text.
func unscaled(v *big.Int, scale int32) string {
	if scale <= 0 {
		return v.Mul(v, new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(-scale)), nil)).String()
	}
	f := new(big.Rat).SetFrac(v, new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(scale)), nil))
	return f.FloatString(int(scale))
}
