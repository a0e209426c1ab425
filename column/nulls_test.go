package column

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestAnyNullLooksAtTheRowsNamedAndNoOthers(t *testing.T) {
	require.False(t, (&Column{Kind: Int64}).AnyNull(0, 9, nil), "no bitmap")
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 70).Draw(t, "rows")
		c := Column{Kind: Int64, Valid: make([]byte, BitmapLen(n))}
		null := map[int]bool{}
		for i := range n {
			if null[i] = rapid.IntRange(0, 20).Draw(t, "null") == 0; null[i] {
				c.Nulls++
			} else {
				SetBit(c.Valid, i)
			}
		}
		lo := rapid.IntRange(0, n).Draw(t, "lo")
		hi := rapid.IntRange(lo, n).Draw(t, "hi")
		want, rows := false, []uint32{}
		for i := lo; i < hi; i++ {
			if rapid.Bool().Draw(t, "named") {
				rows = append(rows, uint32(i))
			}
			want = want || null[i]
		}
		require.Equal(t, want, c.AnyNull(lo, hi-lo, nil))
		want = false
		for _, r := range rows {
			want = want || null[int(r)]
		}
		require.Equal(t, want, c.AnyNull(lo, len(rows), rows))
	})
}
