package calc

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestSetsHoldWhatTheyWereGiven(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.OneOf(rapid.Uint64(), rapid.Uint64Range(0, 20))
		words := rapid.SliceOf(word).Draw(t, "words")
		given := slices.Clone(words)
		set := NewWordSet(words)
		text := rapid.OneOf(rapid.StringOfN(rapid.RuneFrom([]rune("ab")), 0, 4, -1), rapid.StringOfN(rapid.RuneFrom([]rune("ab")), 15, 20, -1), rapid.String())
		texts := rapid.SliceOf(text).Draw(t, "texts")
		textSet := NewTextSet(texts)
		for _, w := range append(rapid.SliceOf(word).Draw(t, "others"), given...) {
			require.Equal(t, slices.Contains(given, w), set.Has(w) == 1, "%d", w)
		}
		for _, s := range append(rapid.SliceOf(text).Draw(t, "other texts"), texts...) {
			require.Equal(t, slices.Contains(texts, s), textSet.Has([]byte(s)) == 1, "%q", s)
		}
	})
}

func TestFloatWordsAreEqualForEqualFloats(t *testing.T) {
	require.Equal(t, FloatWord(0), FloatWord(math.Copysign(0, -1)))
	require.Equal(t, FloatWord(math.NaN()), FloatWord(math.Float64frombits(0xFFF8000000000001)))
	require.NotEqual(t, FloatWord(1), FloatWord(-1))
}

func TestBitmapsAndBytesGoBothWays(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		truth := rapid.SliceOfN(rapid.ByteRange(0, 1), 0, 200).Draw(t, "truth")
		bitmap := make([]byte, (len(truth)+7)/8)
		ones := 0
		for _, b := range truth {
			ones += int(b)
		}
		require.Equal(t, ones, PackBits(bitmap, truth))
		back := make([]byte, len(truth))
		UnpackBits(back, bitmap, 0, len(truth))
		require.Equal(t, truth, back)
		if len(truth) > 16 {
			UnpackBits(back, bitmap, 8, len(truth)-8)
			require.Equal(t, truth[8:], back[:len(truth)-8])
		}
		rows := make([]uint32, 0, len(truth))
		for i := 0; i < len(truth); i += 3 {
			rows = append(rows, uint32(i))
		}
		GatherBits(back, bitmap, rows)
		for i, r := range rows {
			require.Equal(t, truth[r], back[i])
		}
	})
}

func TestDecimalsEqualBigNumbers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		draw := func(name string) Int128 {
			v := Int128{uint64(anyInt().Draw(t, name)), uint64(anyInt().Draw(t, name+" high") >> rapid.IntRange(0, 63).Draw(t, "shift"))}
			if !below(v, MaxDigits) {
				v[1] = uint64(int64(v[1]) >> 3)
			}
			return v
		}
		a, b, up := draw("a"), draw("b"), rapid.Int32Range(0, 38).Draw(t, "up")
		require.Equal(t, a, Int128Of(BigOf(a)))
		scaled := BigOf(a)
		scaled.Mul(scaled, BigOf(Pow10[up]))
		require.Equal(t, scaled.Cmp(BigOf(b)), CmpDecimals(a, b, up, 0))
		require.Equal(t, -scaled.Cmp(BigOf(b)), CmpDecimals(b, a, 0, up))
		limit := BigOf(Pow10[MaxDigits])
		got, ok := DecimalPair(Mul, a, b, 0, 0, MaxDigits)
		want := BigOf(a)
		want.Mul(want, BigOf(b))
		require.Equal(t, want.CmpAbs(limit) < 0, ok)
		if ok {
			require.Equal(t, want, BigOf(got))
		}
		got, ok = DecimalPair(Sub, a, b, 0, 0, MaxDigits)
		want = BigOf(a)
		want.Sub(want, BigOf(b))
		require.Equal(t, want.CmpAbs(limit) < 0, ok)
		if ok {
			require.Equal(t, want.String(), BigOf(got).String())
		}
	})
}
