package column

import (
	"fmt"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"
)

var small = &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String}

// encoded makes a dictionary array with exactly that dictionary; "" is a null within it.
func encoded(t testing.TB, typ *arrow.DictionaryType, values []string, codes ...int8) arrow.Array {
	dict := build(t, memory.DefaultAllocator, typ.ValueType, values)
	b := array.NewInt8Builder(memory.DefaultAllocator)
	for _, c := range codes {
		if c < 0 {
			b.AppendNull()
		} else {
			b.Append(c)
		}
	}
	return array.NewDictionaryArray(typ, b.NewArray(), dict)
}

func TestB51CodesOfDifferentDictionariesAreReplacedByValues(t *testing.T) {
	pool := NewDebugPool()
	bld := NewBuilder(pool, schemaFor(small))
	count := map[string]int{}
	for _, dict := range [][]string{{"a", "b"}, {"b", "c"}, {"a", "a"}} {
		b, err := FromRecord(pool, recordOf(encoded(t, small, dict, 0, 1)))
		require.NoError(t, err)
		for i := range b.Rows {
			count[strings.Clone(b.Cols[0].String(i))]++
		}
		bld.AppendRows(b, nil)
		b.Release()
	}
	require.Equal(t, map[string]int{"a": 3, "b": 2, "c": 1}, count)
	b := bld.Finish()
	require.Equal(t, []string{"a", "b", "b", "c", "a", "a"}, batchTexts(b))
	rec := b.Record()
	require.Equal(t, 3, rec.Column(0).(*array.Dictionary).Dictionary().Len(), "each value stands once in the dictionary")
	rec.Release()
	b.Release()
	require.NoError(t, pool.Check())
}

func TestB51ANullInTheDictionaryIsANullOfTheColumn(t *testing.T) {
	a := encoded(t, small, []string{"a", "", "c"}, 0, 1, 2, -1, 1)
	require.Zero(t, boolToInt(a.IsNull(1)), "arrow-go does not see it")
	for _, slice := range [][2]int64{{0, 5}, {1, 5}, {1, 2}, {3, 5}} {
		b, err := FromRecord(NewDebugPool(), recordOf(array.NewSlice(a, slice[0], slice[1])))
		require.NoError(t, err)
		checkNulls(t, b)
		require.Equal(t, []string{"a", "null", "c", "null", "null"}[slice[0]:slice[1]], batchTexts(b))
		b.Release()
		require.NoError(t, b.Pool().Check())
	}
}

func boolToInt(v bool) int {
	if v {
		return 1
	}
	return 0
}

func TestDictionariesOfAllKindsAndNulls(t *testing.T) {
	for _, typ := range []arrow.DataType{arrow.FixedWidthTypes.Boolean, arrow.PrimitiveTypes.Int16, arrow.PrimitiveTypes.Float64, arrow.BinaryTypes.LargeString,
		arrow.FixedWidthTypes.Date32, &arrow.Decimal128Type{Precision: 5, Scale: 1}} {
		values := []string{"1", "2"}
		switch typ.ID() {
		case arrow.BOOL:
			values = []string{"true", "false"}
		case arrow.DATE32:
			values = []string{"1970-01-02", "1969-12-31"}
		}
		dt := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: typ}
		a := encoded(t, dt, values, 1, -1, 0, 1)
		pool := NewDebugPool()
		b, err := FromRecord(pool, recordOf(a))
		require.NoError(t, err)
		checkNulls(t, b)
		require.Equal(t, texts(a), batchTexts(b), "%s", typ)
		b.Release()
		none := encoded(t, dt, nil, -1, -1)
		b, err = FromRecord(pool, recordOf(none))
		require.NoError(t, err)
		require.Equal(t, []string{"null", "null"}, batchTexts(b), "%s", typ)
		b.Release()
		require.NoError(t, pool.Check())
	}
}

func TestADictionaryThatOutgrowsItsCodesGetsWiderOnes(t *testing.T) {
	pool := NewDebugPool()
	bld := NewBuilder(pool, schemaFor(small))
	for i := range 200 {
		bld.String(0, fmt.Sprintf("value %d", i))
		bld.EndRow()
	}
	b := bld.Finish()
	rec := b.Record()
	b.Release()
	require.Equal(t, "dictionary<values=utf8, indices=int32, ordered=false>", rec.Schema().Field(0).Type.String())
	require.Equal(t, "value 199", texts(rec.Column(0))[199])
	rec.Release()
	require.NoError(t, pool.Check())
}

func TestB92ABadDictionaryCodeIsAnErrorThatLosesNothing(t *testing.T) {
	for _, code := range []int8{2, 127} {
		good := encoded(t, small, []string{"a", "b"}, 0, 1)
		idx := array.NewInt8Builder(memory.DefaultAllocator)
		idx.AppendValues([]int8{0, code}, nil)
		bad := array.NewData(small, 2, idx.NewArray().Data().Buffers(), nil, 0, 0)
		data := array.NewDataWithDictionary(small, 2, bad.Buffers(), 0, 0, good.(*array.Dictionary).Dictionary().Data().(*array.Data))
		pool := NewDebugPool()
		_, err := FromRecord(pool, recordOf(array.NewDictionaryData(data)))
		require.EqualError(t, err, fmt.Sprintf(`column "v": row 1: dictionary code %d of 2 values`, code))
		require.NoError(t, pool.Check())
	}
}
