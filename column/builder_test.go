package column

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func textSchema() *arrow.Schema {
	return arrow.NewSchema([]arrow.Field{{Name: "n", Type: arrow.PrimitiveTypes.Int64}, {Name: "s", Type: arrow.BinaryTypes.String, Nullable: true}}, nil)
}

func TestB56StringsBeyondTheLimitAreAnErrorAndNeverWrap(t *testing.T) {
	pool := NewDebugPool()
	bld := NewBuilder(pool, textSchema())
	require.Equal(t, math.MaxInt32, bld.Col(1).limit)
	bld.Col(1).limit = 10
	bld.Int64(0, 1)
	bld.String(1, "12345678")
	bld.EndRow()
	require.NoError(t, bld.Err())
	bld.Int64(0, 2)
	bld.String(1, "abc")
	require.ErrorIs(t, bld.Err(), ErrTooLarge)
	require.ErrorContains(t, bld.Err(), `column "s": more than 2 GiB`)
	bld.DropRow()
	require.NoError(t, bld.Err(), "the row that did not fit was given up")
	bld.Int64(0, 2)
	bld.Col(1).Bytes([]byte("ab"))
	bld.EndRow()
	require.NoError(t, bld.Err(), "up to the limit is fine")
	b := bld.Finish()
	require.Equal(t, "12345678", b.Cols[1].String(0))
	require.Equal(t, "ab", b.Cols[1].String(1))

	for _, rows := range [][]uint32{nil, {0, 1}} {
		bld.Col(1).limit = 15
		bld.AppendRows(b, rows)
		require.NoError(t, bld.Err())
		bld.AppendRows(b, rows)
		require.ErrorIs(t, bld.Err(), ErrTooLarge)
		func() {
			defer func() {
				err, _ := recover().(error)
				require.True(t, errors.Is(err, ErrTooLarge), "a batch that is not whole is never given")
			}()
			bld.Finish()
		}()
		require.Zero(t, bld.Len())
	}
	b.Release()
	bld.Discard()
	require.NoError(t, pool.Check())
}

func TestFitsTellsWhenRowsNeedABatchOfTheirOwn(t *testing.T) {
	pool := NewDebugPool()
	bld := NewBuilder(pool, textSchema())
	bld.Int64(0, 1)
	bld.String(1, strings.Repeat("x", 100))
	bld.EndRow()
	b := bld.Finish()
	big := b.Derive()
	big.Cols[1].Offsets = []int32{0, math.MaxInt32} // as long as a value can be
	require.True(t, bld.Fits(big, nil), "an empty builder takes any batch")
	bld.AppendRows(b, nil)
	require.Equal(t, 100, bld.Bytes())
	require.True(t, bld.Fits(b, nil))
	require.False(t, bld.Fits(big, nil))
	require.False(t, bld.Fits(big, []uint32{0}))
	require.True(t, bld.Fits(big, []uint32{}))
	big.Sel = []uint32{}
	require.True(t, bld.Fits(big, nil))
	bld.Discard()
	require.Zero(t, bld.Bytes())
	big.Release()
	b.Release()
	require.NoError(t, pool.Check())
}

// timed makes a batch of n rows with the hidden vectors that are asked for.
func timed(p *Pool, n int, times, hash bool) *Batch {
	bld := NewBuilder(p, textSchema())
	for i := range n {
		bld.Int64(0, int64(i))
		bld.EndRow()
	}
	b := bld.Finish()
	if times {
		b.Times = Alloc[int64](b, n)
		for i := range b.Times {
			b.Times[i] = int64(1000 + i)
		}
	}
	if hash {
		b.Hash = AllocZero[uint64](b, n)
	}
	return b
}

func TestRowsWithoutHiddenVectorsBesideRowsWithThem(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pool := NewDebugPool()
		bld := NewBuilder(pool, textSchema())
		var want []any
		anyTimes, allHashes := false, true
		for range rapid.IntRange(1, 4).Draw(t, "batches") {
			n := rapid.IntRange(1, 3).Draw(t, "n")
			hasTimes, hasHash := rapid.Bool().Draw(t, "times"), rapid.Bool().Draw(t, "hash")
			b := timed(pool, n, hasTimes, hasHash)
			bld.AppendRows(b, nil)
			for i := range n {
				if hasTimes {
					want = append(want, int64(1000+i))
				} else {
					want = append(want, nil)
				}
			}
			anyTimes, allHashes = anyTimes || hasTimes, allHashes && hasHash
			b.Release()
		}
		out := bld.Finish()
		require.Equal(t, anyTimes, out.Times != nil)
		require.Equal(t, allHashes, out.Hash != nil)
		if anyTimes {
			require.Len(t, out.Times, len(want))
			for i, w := range want {
				valid := out.TimeValid == nil || Bit(out.TimeValid, i)
				require.Equal(t, w != nil, valid)
				if valid {
					require.Equal(t, w, out.Times[i])
				}
			}
		}
		out.Release()
		require.NoError(t, pool.Check())
	})
}

func TestTheFirstTimeMayComeAfterRowsWithoutOne(t *testing.T) {
	bld := NewBuilder(NewPool(), textSchema())
	bld.Int64(0, 1)
	bld.EndRow()
	bld.Int64(0, 2)
	bld.Time(5, true)
	bld.EndRow()
	bld.Int64(0, 3)
	bld.EndRow()
	b := bld.Finish()
	defer b.Release()
	require.Len(t, b.Times, 3)
	require.Equal(t, int64(5), b.Times[1])
	require.Equal(t, []bool{false, true, false}, []bool{Bit(b.TimeValid, 0), Bit(b.TimeValid, 1), Bit(b.TimeValid, 2)})
}

func TestAppenderConvertsToNarrowerKinds(t *testing.T) {
	var fields []arrow.Field
	for _, typ := range []arrow.DataType{arrow.PrimitiveTypes.Int8, arrow.PrimitiveTypes.Int16, arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Int64,
		arrow.PrimitiveTypes.Uint8, arrow.PrimitiveTypes.Uint16, arrow.PrimitiveTypes.Uint32, arrow.PrimitiveTypes.Uint64,
		arrow.PrimitiveTypes.Float32, arrow.PrimitiveTypes.Float64} {
		fields = append(fields, arrow.Field{Name: typ.Name(), Type: typ})
	}
	bld := NewBuilder(NewPool(), arrow.NewSchema(fields, nil))
	for i := range fields {
		bld.Int64(i, 7)
		require.Equal(t, fields[i].Type, bld.Col(i).Type())
		require.Equal(t, 1, bld.Col(i).Len())
	}
	bld.EndRow()
	b := bld.Finish()
	defer b.Release()
	for _, v := range batchTexts7(b) {
		require.Equal(t, "7", v)
	}
	require.PanicsWithValue(t, "column: Int64 on a column of kind bytes", func() { NewBuilder(nil, textSchema()).Int64(1, 7) })
}

func batchTexts7(b *Batch) []string {
	r := b.Record()
	defer r.Release()
	var out []string
	for _, c := range r.Columns() {
		out = append(out, texts(c)...)
	}
	return out
}

func TestExtendFillsColumnsAtATime(t *testing.T) {
	pool := NewDebugPool()
	bld := NewBuilder(pool, textSchema())
	Extend[int64](bld.Col(0), 2000)
	Extend[int64](bld.Col(0), 1)[0] = 42
	bld.Col(1).Nulls(1999)
	bld.Col(1).Nulls(0)
	bld.Col(1).String("x")
	bld.Col(1).Null()
	bld.SetRows(2001)
	b := bld.Finish()
	require.Equal(t, int64(42), Values[int64](&b.Cols[0])[2000])
	require.Equal(t, 2000, b.Cols[1].Nulls)
	require.Equal(t, "x", b.Cols[1].String(1999))
	checkNulls(t, b)
	require.Positive(t, b.SizeBytes())
	require.Same(t, &b.Cols[1], b.Column("s"))
	require.Nil(t, b.Column("none"))
	b.Release()
	require.NoError(t, pool.Check())
}

func TestExtendBytesFillsTextAtATime(t *testing.T) {
	pool := NewDebugPool()
	bld := NewBuilder(pool, textSchema())
	bld.Col(1).Null()
	bld.Col(1).String("ab")
	for _, words := range [][]string{{}, {"c", "", "def"}, {"", ""}} {
		total := 0
		for _, w := range words {
			total += len(w)
		}
		dst, at, ends := ExtendBytes(bld.Col(1), len(words), total)
		require.NotNil(t, dst)
		k := 0
		for i, w := range words {
			k += copy(dst[k:], w)
			ends[i] = at + int32(k)
		}
	}
	bld.Col(1).limit = 7
	dst, _, ends := ExtendBytes(bld.Col(1), 2, 2)
	require.Nil(t, dst)
	require.Len(t, ends, 2)
	require.ErrorIs(t, bld.Err(), ErrTooLarge)
	bld.Col(1).truncate(7)
	require.NoError(t, bld.Err())
	Extend[int64](bld.Col(0), 7)
	bld.SetRows(7)
	b := bld.Finish()
	var got []string
	for i := range b.Rows {
		got = append(got, strings.Clone(b.Cols[1].String(i)))
	}
	require.Equal(t, []string{"", "ab", "c", "", "def", "", ""}, got)
	checkNulls(t, b)
	b.Release()
	require.NoError(t, pool.Check())
}

func TestB92AppendingAnotherKindIsRefused(t *testing.T) {
	b := timed(NewPool(), 1, false, false)
	defer b.Release()
	other := NewBuilder(nil, schemaFor(arrow.PrimitiveTypes.Int8))
	require.PanicsWithValue(t, "column: append of kind int64 to a column of kind int8", func() { other.AppendRows(b, nil) })
}

func TestBuildersAllocateNothingOnceWarm(t *testing.T) {
	pool := NewPool()
	bld := NewBuilder(pool, textSchema())
	src := timed(pool, 1000, true, true)
	defer src.Release()
	n := testing.AllocsPerRun(20, func() {
		bld.AppendRows(src, nil)
		bld.AppendRows(src, nil)
		for range 100 {
			bld.Int64(0, 1)
			bld.String(1, "some text")
			bld.Time(1, true)
			bld.EndRow()
		}
		bld.Finish().Release()
	})
	require.LessOrEqual(t, n, 1.0)
}
