package column

import (
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// Rows come in runs, one by one, in any order and more than once.
func TestGatherGivesTheRowsThatAreNamed(t *testing.T) {
	pool := NewDebugPool()
	s := arrow.NewSchema([]arrow.Field{{Name: "flag", Type: arrow.FixedWidthTypes.Boolean, Nullable: true}, {Name: "text", Type: arrow.BinaryTypes.String, Nullable: true}}, nil)
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 100).Draw(t, "n")
		b := NewBuilder(pool, s)
		for i := range n {
			if v := rapid.IntRange(0, 5).Draw(t, "value"); v > 0 {
				b.Bool(0, v%2 == 0)
				b.String(1, string([]byte{'a' + byte(i%26), 'b', 'c', 'd', 'e'}[:v]))
			}
			b.EndRow()
		}
		in := b.Finish()
		var rows []uint32
		for range rapid.IntRange(0, 6).Draw(t, "runs") {
			from := rapid.IntRange(0, n-1).Draw(t, "from")
			for r := from; r < min(n, from+rapid.IntRange(1, 40).Draw(t, "length")); r++ {
				rows = append(rows, uint32(r))
			}
		}
		out := NewBatch(pool, s, len(rows))
		for i := range out.Cols {
			Gather(out, &out.Cols[i], &in.Cols[i], rows)
		}
		nulls := 0
		for i, r := range rows {
			require.Equal(t, in.Cols[0].IsNull(int(r)), out.Cols[0].IsNull(i))
			require.Equal(t, in.Cols[1].IsNull(int(r)), out.Cols[1].IsNull(i))
			if in.Cols[0].IsNull(int(r)) {
				nulls++
				continue
			}
			require.Equal(t, in.Cols[0].Bool(int(r)), out.Cols[0].Bool(i))
			require.Equal(t, in.Cols[1].String(int(r)), out.Cols[1].String(i))
		}
		require.Equal(t, nulls, out.Cols[0].Nulls)
		require.Equal(t, nulls, out.Cols[1].Nulls)
		out.Release()
		in.Release()
	})
	require.NoError(t, pool.Check())
}
