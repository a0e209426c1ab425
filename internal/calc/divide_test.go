package calc

import (
	"math"
	"math/big"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

var edgeInts = []int64{0, 1, -1, 2, 3, 5, 7, 10, 100, 127, -128, 255, 1000, 32767, -32768, 65535, math.MaxInt32, math.MinInt32, math.MaxUint32, 1 << 53, 1<<53 + 1,
	math.MaxInt64, math.MinInt64, math.MaxInt64 - 1, math.MinInt64 + 1, 1 << 62, -1 << 62, 86400, 9223372036, 9223372037}

// anyInt draws int64 over all magnitudes, with edges.
func anyInt() *rapid.Generator[int64] {
	return rapid.Custom(func(t *rapid.T) int64 {
		if rapid.IntRange(0, 3).Draw(t, "edge") == 0 {
			return rapid.SampledFrom(edgeInts).Draw(t, "value")
		}
		return int64(rapid.Uint64().Draw(t, "bits")) >> rapid.IntRange(0, 63).Draw(t, "shift")
	})
}

// around gives multiples of d and their neighbours, where a quotient that is one off shows.
func around(d int64, xs []int64) []int64 {
	all := append([]int64(nil), edgeInts...)
	for _, x := range xs {
		q := x / d * d
		all = append(all, x, q, q-1, q+1, -q, q+d, q+d-1)
	}
	return all
}

func checkDivisor(t require.TestingT, d int64, xs []int64) {
	v := NewDivisor(d)
	q, r := make([]int64, len(xs)), make([]int64, len(xs))
	v.Div(q, xs)
	v.Mod(r, xs)
	for i, x := range xs {
		if x/d != q[i] || x%d != r[i] { // a call of require for each would take minutes
			require.Equal(t, []int64{x / d, x % d}, []int64{q[i], r[i]}, "%d and %d", x, d)
		}
	}
}

func TestDivisionByAConstantEqualsDivision(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := anyInt().Filter(func(d int64) bool { return AbsOf(d) >= 2 }).Draw(t, "d")
		checkDivisor(t, d, around(d, rapid.SliceOfN(anyInt(), 1, 20).Draw(t, "x")))
	})
}

func TestDivisionBySmallAndPowerConstants(t *testing.T) {
	xs := around(1, nil)
	for i := int64(-2000); i <= 2000; i++ {
		xs = append(xs, i, i*1_000_003, math.MaxInt64-2000-i, math.MinInt64+2000+i)
	}
	for d := int64(2); d <= 300; d++ {
		checkDivisor(t, d, xs)
		checkDivisor(t, -d, xs)
	}
	for k := 1; k < 63; k++ {
		for _, d := range []int64{1 << k, 1<<k + 1, 1<<k - 1} {
			if d >= 2 {
				checkDivisor(t, d, xs)
				checkDivisor(t, -d, xs)
			}
		}
	}
	checkDivisor(t, math.MinInt64, xs)
}

func FuzzDivisor(f *testing.F) {
	f.Add(int64(1000), int64(math.MinInt64))
	f.Add(int64(-7), int64(48))
	f.Fuzz(func(t *testing.T, d, x int64) {
		if AbsOf(d) >= 2 {
			checkDivisor(t, d, around(d, []int64{x}))
		}
	})
}

func TestRatioIsExactOrRefused(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := anyInt().Filter(func(c int64) bool { return c >= 1 }).Draw(t, "c")
		d := anyInt().Filter(func(d int64) bool { return d >= 2 }).Draw(t, "d")
		r := NewRatio(c, d)
		limit := int64(1)<<r.bits - 1
		xs := []int64{0, limit, limit - limit%d, limit / 2}
		for _, x := range rapid.SliceOfN(anyInt(), 1, 20).Draw(t, "x") {
			xs = append(xs, x&limit, x&limit-x&limit%d)
		}
		rows := make([]uint32, len(xs))
		for i := range rows {
			rows[i] = uint32(i)
		}
		dst, gathered := make([]int64, len(xs)), make([]int64, len(xs))
		require.True(t, r.Apply(dst, xs))
		require.True(t, r.ApplyRows(gathered, xs, rows))
		require.Equal(t, dst, gathered)
		for i, x := range xs {
			want := new(big.Int).Mul(big.NewInt(x), big.NewInt(c))
			require.True(t, want.IsInt64(), "%d * %d must fit", x, c)
			want.Quo(want, big.NewInt(d))
			require.Equal(t, want.Int64(), dst[i], "%d * %d / %d", x, c, d)
		}
		require.False(t, r.Apply(dst[:1], []int64{-1}))
		require.False(t, r.Apply(dst[:1], []int64{limit + 1}))
	})
}

func TestOverflowOfIntegersIsSeenExactly(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := anyInt().Draw(t, "a"), anyInt().Draw(t, "b")
		x, y := big.NewInt(a), big.NewInt(b)
		require.Equal(t, !new(big.Int).Add(x, y).IsInt64(), Overflows(Add, a, b))
		require.Equal(t, !new(big.Int).Sub(x, y).IsInt64(), Overflows(Sub, a, b))
		require.Equal(t, !new(big.Int).Mul(x, y).IsInt64(), Overflows(Mul, a, b))
		require.Equal(t, b == 0 || !new(big.Int).Quo(x, y).IsInt64(), Overflows(Div, a, b))
		one := make([]int64, 1)
		for op, f := range map[Op]func(dst, x, y []int64) bool{Add: AddPairs, Sub: SubPairs, Mul: MulPairs, Div: DivPairs, Mod: ModPairs} {
			if Overflows(op, a, b) {
				require.True(t, f(one, []int64{a}, []int64{b}), "%d op %d %d", a, op, b)
			}
		}
	})
}

func TestDecimalAsFloatIsTheNearest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := new(big.Int).SetBytes(rapid.SliceOfN(rapid.Byte(), 0, 15).Draw(t, "digits"))
		if rapid.Bool().Draw(t, "negative") {
			v.Neg(v)
		}
		scale := rapid.Int32Range(-5, 38).Draw(t, "scale")
		want, _ := new(big.Rat).Mul(new(big.Rat).SetInt(v), new(big.Rat).SetFrac(new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(max(-scale, 0))), nil), new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(max(scale, 0))), nil))).Float64()
		require.Equal(t, want, DecimalFloat(Int128Of(v), scale))
	})
}
