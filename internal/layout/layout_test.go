package layout

import (
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/arkflow-go/arkflow/internal/aggregate"
	"github.com/stretchr/testify/require"
)

var (
	word    = arrow.PrimitiveTypes.Int64
	text    = arrow.BinaryTypes.String
	decimal = &arrow.Decimal128Type{Precision: 20, Scale: 2}
)

func schemaOf(types ...arrow.DataType) *arrow.Schema {
	var fields []arrow.Field
	for i, t := range types {
		fields = append(fields, arrow.Field{Name: string(rune('a' + i)), Type: t, Nullable: true})
	}
	return arrow.NewSchema(fields, nil)
}

func TestTheWordsOfAKeyDependOnItsColumns(t *testing.T) {
	for _, c := range []struct {
		types []arrow.DataType
		mode  KeyMode
		count int // the word after the key
	}{
		{[]arrow.DataType{word}, KeyWord, 1},
		{[]arrow.DataType{decimal}, KeyPair, 2},
		{[]arrow.DataType{word, word}, KeyPair, 2},
		{[]arrow.DataType{text}, KeyBytes, 2},
		{[]arrow.DataType{word, text}, KeyEncoded, 2},
		{[]arrow.DataType{decimal, word}, KeyEncoded, 2},
		{[]arrow.DataType{word, word, word}, KeyEncoded, 2},
	} {
		var cols []int
		for i := range c.types {
			cols = append(cols, i)
		}
		l, err := New(schemaOf(c.types...), cols, []aggregate.Agg{{Func: aggregate.CountRows, Names: []string{"n"}}})
		require.NoError(t, err)
		require.Equal(t, c.mode, l.Mode, "%v", c.types)
		require.Equal(t, c.count, l.Count, "%v", c.types)
		require.Equal(t, c.count+1, l.Stride, "%v", c.types)
		require.Equal(t, c.mode == KeyWord, l.Buffer, "%v", c.types)
	}
	_, err := New(schemaOf(word), nil, nil)
	require.ErrorContains(t, err, "no key column")
	_, err = New(schemaOf(arrow.ListOf(word)), []int{0}, nil)
	require.ErrorContains(t, err, `key column "a"`)
}

func TestEqualAccumulatorsAreKeptOnce(t *testing.T) {
	s := schemaOf(word, word, arrow.PrimitiveTypes.Float64)
	agg := func(fn aggregate.Func, col int) aggregate.Agg {
		return aggregate.Agg{Func: fn, Col: col, Names: []string{fn.String()}}
	}
	l, err := New(s, []int{0}, []aggregate.Agg{agg(aggregate.Sum, 1), agg(aggregate.Avg, 1), agg(aggregate.CountValues, 1)})
	require.NoError(t, err)
	require.Equal(t, 3, l.Stride, "key, rows, sum")
	require.True(t, l.Subtractable())
	require.True(t, l.Exact())
	require.True(t, l.Buffer)
	require.Equal(t, []string{"window_start", "a", "#rows", "b#nulls", "sum(b)", "sum(b)#wraps"}, names(l.SnapshotSchema(false)))
	require.Equal(t, "#from", l.SnapshotSchema(true).Field(6).Name)
	cells := l.Cells()
	require.Equal(t, 3, cells.Stride, "number, rows, sum")
	require.Equal(t, 2, l.Index().Stride, "key, rows")
	l, err = New(s, []int{0}, []aggregate.Agg{agg(aggregate.Sum, 2), agg(aggregate.Min, 1)})
	require.NoError(t, err)
	require.False(t, l.Subtractable(), "a least value")
	require.False(t, l.Exact(), "a sum of floats")
}

func names(s *arrow.Schema) (out []string) {
	for _, f := range s.Fields() {
		out = append(out, f.Name)
	}
	return out
}
