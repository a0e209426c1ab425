package calc

import (
	"math"
	"math/big"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestWideProductsAreExact(t *testing.T) {
	edge := rapid.OneOf(rapid.Int64(), rapid.SampledFrom([]int64{0, 1, -1, math.MaxInt64, math.MinInt64, math.MinInt64 + 1}))
	rapid.Check(t, func(t *rapid.T) {
		x, c := rapid.SliceOfN(edge, 1, 9).Draw(t, "x"), edge.Draw(t, "c")
		got := make([]Int128, len(x))
		MulWide(got, x, c)
		for i, a := range x {
			want := new(big.Int).Mul(big.NewInt(a), big.NewInt(c))
			require.Equal(t, want.String(), BigOf(got[i]).String(), "%d * %d", a, c)
			require.Equal(t, want.IsInt64(), Narrow(got[i]))
		}
	})
}
