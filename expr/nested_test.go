package expr_test

import (
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/expr"
	"github.com/stretchr/testify/require"
)

var nestedSchema = arrow.NewSchema([]arrow.Field{{Name: "l", Type: arrow.ListOf(arrow.PrimitiveTypes.Int64), Nullable: true},
	{Name: "s", Type: arrow.StructOf(arrow.Field{Name: "x", Type: arrow.PrimitiveTypes.Int64})}, {Name: "i", Type: arrow.PrimitiveTypes.Int64}}, nil)

func TestNoExpressionLooksIntoNestedColumns(t *testing.T) {
	for _, text := range []string{"l = l", "l < l", "s in (1, 2)", "coalesce(l, l)", "case when i > 1 then l end", "l + 1", "cast(l as string)", "hash(l)", "not l", "i > 1 and l",
		"case l when l then 1 end", "length(s)", "-l", "i in (l)"} {
		_, err := expr.T(text).Bind(nestedSchema)
		require.ErrorContains(t, err, "an expression does not look into column", text)
	}
}

func TestNestedColumnsStandAloneOrAreNull(t *testing.T) {
	pool := column.NewDebugPool()
	bld := column.NewBuilder(pool, nestedSchema)
	for i := range int64(5) {
		if i%2 == 0 {
			bld.Col(0).Child(0).Int64(i)
			bld.Col(0).EndList()
		}
		bld.Col(1).Child(0).Int64(i)
		bld.Col(1).EndStruct()
		bld.Int64(2, i)
		bld.EndRow()
	}
	b := bld.Finish()
	defer func() {
		b.Release()
		require.NoError(t, pool.Check())
	}()
	for _, sel := range [][]uint32{nil, {1, 2, 4}} {
		b.Sel = sel
		for text, want := range map[string]func(i uint32) bool{"l is null": func(i uint32) bool { return i%2 == 1 }, "l is not null and i > 1": func(i uint32) bool { return i%2 == 0 && i > 1 }} {
			p, err := expr.T(text).Bind(nestedSchema)
			require.NoError(t, err)
			rows, err := p.New().Rows(nil, b, &expr.Errors{})
			require.NoError(t, err)
			var expected []uint32
			for i := range b.Len() {
				if r := uint32(b.Row(i)); want(r) {
					expected = append(expected, r)
				}
			}
			require.Equal(t, expected, rows, text)
		}
		p, err := expr.Col("s").Bind(nestedSchema)
		require.NoError(t, err)
		d := b.Derive()
		var c column.Column
		require.NoError(t, p.New().Eval(d, &c, b, &expr.Errors{}))
		require.Equal(t, int64(b.Row(b.Len()-1)), column.Values[int64](&c.Children[0])[b.Len()-1])
		d.Release()
	}
	b.Sel = nil
}
