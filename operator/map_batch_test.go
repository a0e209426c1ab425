package operator_test

import (
	"errors"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/operator"
)

var single = arrow.NewSchema([]arrow.Field{{Name: "N", Type: arrow.PrimitiveTypes.Int64}}, nil)

// numbers makes a record of one column.
func numbers(s *arrow.Schema, nulls bool, values ...int64) arrow.RecordBatch {
	b := array.NewRecordBuilder(memory.DefaultAllocator, s)
	defer b.Release()
	for _, v := range values {
		if nulls {
			b.Field(0).AppendNull()
		} else {
			b.Field(0).(*array.Int64Builder).Append(v)
		}
	}
	return b.NewRecordBatch()
}

func TestT12MapBatchKeepsTheLengthAndTheTimes(t *testing.T) {
	pool := column.NewDebugPool()
	addTier := func(in arrow.RecordBatch) (arrow.RecordBatch, error) {
		ids := in.Column(0).(*array.Int64)
		sums := make([]int64, ids.Len())
		for i := range sums {
			sums[i] = ids.Value(i) + 100
		}
		made := numbers(single, false, sums...)
		defer made.Release()
		return array.NewRecordBatch(arrow.NewSchema([]arrow.Field{single.Field(0), orders.Field(1)}, nil), []arrow.Array{made.Column(0), in.Column(1)}, in.NumRows()), nil
	}
	schema := func(in *arrow.Schema) (*arrow.Schema, error) {
		return arrow.NewSchema([]arrow.Field{single.Field(0), in.Field(1)}, nil), nil
	}
	inst, out := start(t, operator.MapBatch(schema, addTier), newContext(pool, operator.Fail()), keyed)
	require.Equal(t, "N int64, Tier? utf8", describe(out.Schema))
	require.Nil(t, out.Key)
	b := batch(pool, someOrders...)
	b.Sel = []uint32{1, 3, 4}
	var g gather
	require.NoError(t, inst.Process(0, b, &g))
	require.Equal(t, wantHidden(false, 1, 3, 4), hiddenOf(g.batches[0]))
	require.Equal(t, []int64{102, 104, 105}, column.Values[int64](&g.batches[0].Cols[0]))
	require.Equal(t, "gold", g.batches[0].Cols[1].String(2))
	b.Release()
	g.release()
	noLeak(t, pool)
}

func TestMapBatchRowsMayNameRowsInAnyOrder(t *testing.T) {
	pool := column.NewDebugPool()
	turn := func(arrow.RecordBatch) (arrow.RecordBatch, []int32, error) {
		return numbers(single, false, 7, 8, 9, 10), []int32{2, 0, 2, 1}, nil
	}
	inst, _ := start(t, operator.MapBatchRows(operator.Columns(single), turn), newContext(pool, operator.Fail()), keyed)
	b := batch(pool, someOrders...)
	b.Sel = []uint32{1, 3, 4}
	var g gather
	require.NoError(t, inst.Process(0, b, &g))
	require.Equal(t, wantHidden(false, 4, 1, 4, 3), hiddenOf(g.batches[0]))
	for i := 1; i < len(g.batches[0].Late); i++ {
		require.Less(t, g.batches[0].Late[i-1].Row, g.batches[0].Late[i].Row)
	}
	b.Release()
	g.release()
	none := operator.MapBatchRows(nil, func(in arrow.RecordBatch) (arrow.RecordBatch, []int32, error) { return in.NewSlice(0, 0), nil, nil })
	inst, _ = start(t, none, newContext(pool, operator.Fail()), keyed)
	b = batch(pool, someOrders...)
	require.NoError(t, inst.Process(0, b, &g))
	require.Empty(t, g.batches)
	b.Release()
	noLeak(t, pool)
}

func TestMapBatchGivesItsArgumentBackWhereItIsRetained(t *testing.T) {
	pool := column.NewDebugPool()
	inst, _ := start(t, operator.MapBatch(nil, func(in arrow.RecordBatch) (arrow.RecordBatch, error) { in.Retain(); return in, nil }),
		newContext(pool, operator.Fail()), keyed)
	b := batch(pool, someOrders...)
	var g gather
	require.NoError(t, inst.Process(0, b, &g))
	b.Release()
	require.Equal(t, "silver", g.batches[0].Cols[1].String(3))
	g.release()
	noLeak(t, pool)
}

func TestMapBatchTellsMisuse(t *testing.T) {
	type result struct {
		rec  arrow.RecordBatch
		rows []int32
	}
	nullable := arrow.NewSchema([]arrow.Field{{Name: "N", Type: arrow.PrimitiveTypes.Int64, Nullable: true}}, nil)
	other := arrow.NewSchema([]arrow.Field{{Name: "M", Type: arrow.PrimitiveTypes.Int64}}, nil)
	for want, f := range map[string]func(in arrow.RecordBatch) result{
		"the function gave back its argument, which it had only borrowed: it must retain it first": func(in arrow.RecordBatch) result { return result{rec: in} },
		"the function released its argument, which it had only borrowed": func(in arrow.RecordBatch) result {
			in.Release()
			return result{rec: numbers(single, false, 1, 2, 3, 4, 5)}
		},
		"the function gave no record and no error":               func(arrow.RecordBatch) result { return result{} },
		"the function made 2 rows and named the input rows of 1": func(arrow.RecordBatch) result { return result{numbers(single, false, 1, 2), []int32{0}} },
		"the function names row 5 as that of its result 1: its argument has the rows 0 to 4": func(arrow.RecordBatch) result {
			return result{numbers(single, false, 1, 2), []int32{0, 5}}
		},
		"the function names row -1 as that of its result 0":                      func(arrow.RecordBatch) result { return result{numbers(single, false, 1), []int32{-1}} },
		"of other columns than it had said: column 0 is M int64 and not N int64": func(arrow.RecordBatch) result { return result{numbers(other, false, 1), []int32{0}} },
		`the function gave 1 nulls in column "N", which is not nullable in the schema that it had said`: func(arrow.RecordBatch) result {
			return result{numbers(nullable, true, 1), []int32{0}}
		},
	} {
		pool := column.NewDebugPool()
		inst, _ := start(t, operator.MapBatchRows(operator.Columns(single), func(in arrow.RecordBatch) (arrow.RecordBatch, []int32, error) {
			r := f(in)
			return r.rec, r.rows, nil
		}), newContext(pool, operator.Skip()), keyed)
		b := batch(pool, someOrders...)
		require.ErrorContains(t, inst.Process(0, b, &gather{}), want)
		b.Release()
		noLeak(t, pool)
	}
	inst, _ := start(t, operator.MapBatch(operator.Columns(single), func(arrow.RecordBatch) (arrow.RecordBatch, error) { return numbers(single, false, 1, 2), nil }),
		newContext(column.NewDebugPool(), operator.Skip()), keyed)
	b := batch(column.NewDebugPool(), someOrders...)
	require.ErrorContains(t, inst.Process(0, b, &gather{}), "the function made 2 rows of 5: a MapBatch gives as many rows as it is given; use MapBatchRows to name the row of each")
	b.Release()
	noLeak(t, b.Pool())
}

func TestE6MapBatchRefusesWholeBatchesAndTriesAgain(t *testing.T) {
	tries, broken := 0, errors.New("not now")
	op := operator.MapBatch(nil, func(in arrow.RecordBatch) (arrow.RecordBatch, error) {
		if tries++; tries < 3 {
			return nil, broken
		}
		in.Retain()
		return in, nil
	})
	pool := column.NewDebugPool()
	b := batch(pool, someOrders...)
	inst, _ := start(t, op, newContext(pool, operator.Fail()), keyed)
	require.ErrorIs(t, inst.Process(0, b, &gather{}), broken)
	ctx := newContext(pool, operator.Skip())
	inst, _ = start(t, op, ctx, keyed)
	tries = 0
	require.NoError(t, inst.Process(0, b, &gather{}))
	requireDropped(t, ctx, map[string]int64{"error": 5})
	inst, _ = start(t, op, newContext(pool, operator.Retry(2, 1)), keyed)
	tries = 0
	var g gather
	require.NoError(t, inst.Process(0, b, &g))
	require.Equal(t, 5, g.rows())
	g.release()
	b.Release()
	noLeak(t, pool)
}

func TestMapBatchBindTellsFaults(t *testing.T) {
	_, err := operator.MapBatch(operator.Columns(nil), nil).Bind([]operator.Stream{keyed})
	require.ErrorContains(t, err, "function: the function is nil")
	require.ErrorContains(t, err, "schema: is nil; give the columns of the result")
	_, err = operator.MapBatchRows(func(*arrow.Schema) (*arrow.Schema, error) { return nil, errors.New("no such columns") }, nil).Bind([]operator.Stream{keyed})
	require.ErrorContains(t, err, "schema: no such columns")
	m := operator.MapBatch(nil, func(in arrow.RecordBatch) (arrow.RecordBatch, error) { return in, nil })
	op, err := operator.MapBatchFromConfig(map[string]any{"function": "f"}, func(string) (operator.Operator, error) { return m, nil })
	require.NoError(t, err)
	require.Equal(t, "f: record batches", op.(operator.Described).Describe())
}
