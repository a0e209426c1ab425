package calc

import "math/bits"

// Divisor divides int64 by a constant D with |D| >= 2 without a division: by a shift where |d| is a power of two, else by a
// multiplication with m = ceil(2^(63+l) / |d|), l = ceil(log2 |d|). For 0 <= u <= 2^63 the Product u·m / 2^(63+l) exceeds
// u/|d| by less than 1/|d|, so its floor is the quotient, for every int64.
type Divisor struct {
	D     int64
	Abs   uint64 // |D|
	Power bool   // |d| is a power of two
	shift uint   // log2 |d|, or l-1: how far the high word of the Product goes down
	m     uint64
}

// NewDivisor prepares the division by d, |d| >= 2.
func NewDivisor(d int64) Divisor {
	v := Divisor{D: d, Abs: AbsOf(d)}
	l := uint(bits.Len64(v.Abs - 1))
	if v.Abs&(v.Abs-1) == 0 {
		v.Power, v.shift = true, l
		return v
	}
	v.shift = l - 1
	// 2^(63+l) / |d| = (2^(l-1)·2^64) / |d|, and 2^(l-1) < |d|.
	q, _ := bits.Div64(1<<(l-1), 0, v.Abs)
	v.m = q + 1
	return v
}

// AbsOf is |x|, also of the least int64.
func AbsOf(x int64) uint64 {
	s := uint64(x >> 63)
	return (uint64(x) ^ s) - s
}

// Div is dst[i] = x[i] / d.
func (v *Divisor) Div(dst, x []int64) {
	dst = dst[:len(x)]
	if v.Power {
		low, sh := int64(v.Abs-1), v.shift&63
		for i, a := range x {
			dst[i] = (a + (a>>63)&low) >> sh
		}
	} else {
		m, sh := v.m, v.shift&63
		for i, a := range x {
			s := a >> 63
			hi, _ := bits.Mul64(uint64(a), m)
			dst[i] = int64(hi-m&uint64(s))>>sh - s
		}
	}
	if v.D < 0 {
		for i, q := range dst {
			dst[i] = -q
		}
	}
}

// Mod is dst[i] = x[i] % d.
func (v *Divisor) Mod(dst, x []int64) {
	dst = dst[:len(x)]
	if v.Power {
		low := int64(v.Abs - 1)
		for i, a := range x {
			bias := (a >> 63) & low
			dst[i] = (a+bias)&low - bias
		}
		return
	}
	m, sh, d := v.m, v.shift&63, int64(v.Abs)
	for i, a := range x {
		s := a >> 63
		hi, _ := bits.Mul64(uint64(a), m)
		dst[i] = a - (int64(hi-m&uint64(s))>>sh-s)*d
	}
}

// Ratio computes x·c/d, 1 <= c and 2 <= d, in one multiplication for 0 <= x < 2^bits, where neither x·c Overflows nor the
// rounding of the factor matters: with c = whole·d + rest it is x·whole + floor(x·m / 2^64), m = ceil(2^64·rest / d), and
// the sum's fraction exceeds that of x·c/d by x·e/(d·2^64) < 1/d, e = m·d - 2^64·rest.
type Ratio struct {
	whole int64
	m     uint64
	bits  uint // how many bits x may have
}

// NewRatio prepares x·c/d, c >= 1 and d >= 2.
func NewRatio(c, d int64) Ratio {
	rest := uint64(c) % uint64(d)
	q, r := bits.Div64(rest, 0, uint64(d))
	e := uint64(0)
	if r > 0 {
		q, e = q+1, uint64(d)-r
	}
	limit := uint64(1<<63-1) / uint64(c)
	if e > 0 {
		limit = min(limit, ^uint64(0)/e)
	}
	return Ratio{whole: c / d, m: q, bits: uint(bits.Len64(limit+1) - 1)}
}

// Apply is dst[i] = x[i]·c/d. It reports whether all of x were in range; if not, dst holds nonsense.
func (r *Ratio) Apply(dst, x []int64) bool {
	dst = dst[:len(x)]
	m, all := r.m, uint64(0)
	if w := r.whole; w != 0 {
		for i, a := range x {
			all |= uint64(a)
			hi, _ := bits.Mul64(uint64(a), m)
			dst[i] = int64(hi) + a*w
		}
		return all>>r.bits == 0
	}
	for i, a := range x {
		all |= uint64(a)
		hi, _ := bits.Mul64(uint64(a), m)
		dst[i] = int64(hi)
	}
	return all>>r.bits == 0
}

// ApplyRows is Apply over the rows of x.
func (r *Ratio) ApplyRows(dst, x []int64, rows []uint32) bool {
	dst = dst[:len(rows)]
	m, all := r.m, uint64(0)
	if w := r.whole; w != 0 {
		for i, row := range rows {
			a := x[row]
			all |= uint64(a)
			hi, _ := bits.Mul64(uint64(a), m)
			dst[i] = int64(hi) + a*w
		}
		return all>>r.bits == 0
	}
	for i, row := range rows {
		a := x[row]
		all |= uint64(a)
		hi, _ := bits.Mul64(uint64(a), m)
		dst[i] = int64(hi)
	}
	return all>>r.bits == 0
}
