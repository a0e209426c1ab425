package expr

import (
	"math"
	"math/big"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/internal/calc"
	"github.com/stretchr/testify/require"
)

// A whole number times a decimal constant has a way of its own: it must give the type and the value of the general one.
func TestWholeNumbersTimesDecimalConstants(t *testing.T) {
	pool := column.NewDebugPool()
	s := arrow.NewSchema([]arrow.Field{{Name: "a", Type: arrow.PrimitiveTypes.Int64, Nullable: true}, {Name: "b", Type: arrow.PrimitiveTypes.Int8},
		{Name: "d", Type: &arrow.Decimal128Type{Precision: 19}, Nullable: true}}, nil)
	bld := column.NewBuilder(pool, s)
	values := []int64{0, 1, -1, 908, -908, math.MaxInt64, math.MinInt64}
	for i := range 700 {
		v := values[i%len(values)]
		if i%9 == 0 {
			bld.Null(0)
			bld.Null(2)
		} else {
			d := calc.Int128Of(big.NewInt(v))
			bld.Int64(0, v)
			bld.Col(2).Decimal(d[0], int64(d[1]))
		}
		bld.Int64(1, int64(int8(v)))
		bld.EndRow()
	}
	b := bld.Finish()
	filtered := b.Derive()
	filtered.Sel = []uint32{1, 5, 6, 9, 15, 300, 699}
	for text, general := range map[string]string{
		"0.908 * a":                 "0.908 * d",
		"a * -0.908":                "d * -0.908",
		"9223372036854775.807 * a":  "9223372036854775.807 * d",
		"a * -9223372036854775.808": "d * -9223372036854775.808",
		"1000000000000000000.0 * a": "1000000000000000000.0 * d",
		"b * 1.5":                   "cast(b as decimal(3, 0)) * 1.5",
	} {
		want, err := T(general).Bind(s)
		require.NoError(t, err)
		got, err := T(text).Bind(s)
		require.NoError(t, err)
		require.Equal(t, want.Type(), got.Type(), text)
		for _, rows := range []*column.Batch{b, filtered} {
			out := rows.Derive()
			var x, y column.Column
			var errs Errors
			require.NoError(t, want.New().Eval(out, &x, rows, &errs))
			require.NoError(t, got.New().Eval(out, &y, rows, &errs))
			require.Zero(t, errs.Len())
			for i := range rows.Len() {
				require.Equal(t, modelValue(&x, i), modelValue(&y, i), "%s, row %d", text, i)
			}
			out.Release()
		}
	}
	filtered.Release()
	b.Release()
	require.NoError(t, pool.Check())
}
