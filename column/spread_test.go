package column

import (
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// Gather takes out again what Spread puts at its place.
func TestSpreadPutsValuesAtTheirRows(t *testing.T) {
	pool := NewDebugPool()
	s := arrow.NewSchema([]arrow.Field{{Name: "b", Type: arrow.FixedWidthTypes.Boolean, Nullable: true}, {Name: "t", Type: arrow.BinaryTypes.String, Nullable: true},
		{Name: "d", Type: &arrow.Decimal128Type{Precision: 38}, Nullable: true}, {Name: "i8", Type: arrow.PrimitiveTypes.Int8}, {Name: "i16", Type: arrow.PrimitiveTypes.Int16},
		{Name: "f32", Type: arrow.PrimitiveTypes.Float32, Nullable: true}, {Name: "i64", Type: arrow.PrimitiveTypes.Int64}}, nil)
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 70).Draw(t, "n")
		var rows []uint32
		bld := NewBuilder(pool, s)
		for r := range n {
			if rapid.IntRange(0, 2).Draw(t, "there") == 0 {
				continue
			}
			rows = append(rows, uint32(r))
			v := rapid.IntRange(0, 9).Draw(t, "value")
			if v > 2 {
				bld.Bool(0, v%2 == 0)
				bld.String(1, "abcdefghij"[:v])
				bld.Col(2).Decimal(uint64(v), uint64ToHigh(v))
				bld.Float64(5, float64(v)/2)
			}
			for _, c := range []int{3, 4, 6} {
				bld.Int64(c, int64(v-5))
			}
			bld.EndRow()
		}
		b := bld.Finish()
		out, back := NewBatch(pool, s, n), NewBatch(pool, s, len(rows))
		for k := range b.Cols {
			out.Cols[k] = b.Cols[k]
			out.Cols[k].Spread(out, rows, n)
			c := &out.Cols[k]
			if c.Valid == nil {
				require.Zero(t, c.Nulls)
			} else {
				require.Equal(t, CountZeros(c.Valid, n), c.Nulls)
			}
			if c.Kind == Bytes {
				require.Len(t, c.Offsets, n+1)
				for i := range n {
					require.LessOrEqual(t, c.Offsets[i], c.Offsets[i+1])
				}
			}
			Gather(back, &back.Cols[k], c, rows)
			for i := range rows {
				plain := func(c *Column, i int) any {
					switch c.Kind {
					case Bool:
						return c.Bool(i)
					case Bytes:
						return c.String(i)
					}
					w := c.Kind.Width()
					return string(c.Data[i*w : (i+1)*w])
				}
				require.Equal(t, b.Cols[k].Cell(i, plain), back.Cols[k].Cell(i, plain), s.Field(k).Name)
			}
		}
		back.Release()
		out.Release()
		b.Release()
	})
	require.NoError(t, pool.Check())
}

func uint64ToHigh(v int) int64 { return int64(v) - 5 }
