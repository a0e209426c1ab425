package column

import (
	"fmt"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"
)

// sample is a type with values as Arrow's builders parse them; "" stands for null.
type sample struct {
	typ    arrow.DataType
	values []string
}

func samples() []sample {
	var out []sample
	ints := []string{"1", "", "-3", "4", "", "", "7", "100", "0", "-128", "127"}
	nats := []string{"1", "", "3", "4", "", "", "7", "100", "0", "255", "127"}
	for _, t := range []arrow.DataType{arrow.PrimitiveTypes.Int8, arrow.PrimitiveTypes.Int16, arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Int64} {
		out = append(out, sample{t, ints})
	}
	for _, t := range []arrow.DataType{arrow.PrimitiveTypes.Uint8, arrow.PrimitiveTypes.Uint16, arrow.PrimitiveTypes.Uint32, arrow.PrimitiveTypes.Uint64} {
		out = append(out, sample{t, nats})
	}
	floats := []string{"1.5", "", "-3.25", "NaN", "", "", "7", "+Inf", "-0", "0", "127"}
	out = append(out, sample{arrow.PrimitiveTypes.Float32, floats}, sample{arrow.PrimitiveTypes.Float64, floats})
	bools := []string{"true", "", "false", "true", "", "", "true", "true", "false", "false", "true"}
	out = append(out, sample{arrow.FixedWidthTypes.Boolean, bools})
	texts := []string{"a", "", "größer als zwölf Zeichen", "b", "", "", "x y", "exactly12byt", "thirteen byte", "-", "z"}
	for _, t := range []arrow.DataType{arrow.BinaryTypes.String, arrow.BinaryTypes.LargeString, arrow.BinaryTypes.StringView} {
		out = append(out, sample{t, texts})
	}
	raw := []string{"YQ==", "", "AAECAwQFBgcICQoLDA0ODw==", "Yg==", "", "", "eA==", "AP8=", "AA==", "/w==", "eg=="}
	for _, t := range []arrow.DataType{arrow.BinaryTypes.Binary, arrow.BinaryTypes.LargeBinary, arrow.BinaryTypes.BinaryView} {
		out = append(out, sample{t, raw})
	}
	days := []string{"1970-01-01", "", "1969-12-31", "2024-02-29", "", "", "1900-01-01", "2100-12-31", "0001-01-01", "1999-12-31", "2000-01-01"}
	out = append(out, sample{arrow.FixedWidthTypes.Date32, days}, sample{arrow.FixedWidthTypes.Date64, days})
	times := []string{"00:00:00", "", "23:59:59", "12:00:00", "", "", "01:02:03", "04:05:06", "07:08:09", "10:11:12", "13:14:15"}
	for _, u := range []arrow.TimeUnit{arrow.Second, arrow.Millisecond, arrow.Microsecond, arrow.Nanosecond} {
		if u <= arrow.Millisecond {
			out = append(out, sample{&arrow.Time32Type{Unit: u}, times})
		} else {
			out = append(out, sample{&arrow.Time64Type{Unit: u}, times})
		}
		stamps := []string{"1970-01-01 00:00:00", "", "1969-12-31 23:59:59", "2024-02-29 12:00:00", "", "", "1900-01-01 00:00:00", "2100-12-31 00:00:00",
			"1700-01-01 00:00:00", "1999-12-31 23:59:59", "2000-01-01 00:00:00"}
		zoned := make([]string, len(stamps))
		for i, s := range stamps {
			if s != "" {
				zoned[i] = s + "Z"
			}
		}
		out = append(out, sample{&arrow.TimestampType{Unit: u}, stamps}, sample{&arrow.TimestampType{Unit: u, TimeZone: "UTC"}, zoned})
		spans := []string{"1", "", "-3", "4", "", "", "7", "100", "0", "-128", "127"}
		out = append(out, sample{&arrow.DurationType{Unit: u}, spans})
	}
	out = append(out, sample{&arrow.Decimal128Type{Precision: 20, Scale: 2}, []string{"1.25", "", "-3.50", "99999999999999.99", "", "", "7.00", "0.01", "0.00", "-0.01", "12.34"}})
	for _, index := range []arrow.DataType{arrow.PrimitiveTypes.Int8, arrow.PrimitiveTypes.Uint16, arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Uint64} {
		out = append(out, sample{&arrow.DictionaryType{IndexType: index, ValueType: arrow.BinaryTypes.String}, []string{"a", "", "b", "a", "", "", "b", "c", "a", "-", "c"}})
		out = append(out, sample{&arrow.DictionaryType{IndexType: index, ValueType: arrow.PrimitiveTypes.Int64}, []string{"1", "", "2", "1", "", "", "2", "3", "1", "-9", "3"}})
	}
	return out
}

// build makes an array of values; "" is null.
func build(t testing.TB, mem memory.Allocator, typ arrow.DataType, values []string) arrow.Array {
	b := array.NewBuilder(mem, typ)
	defer b.Release()
	for _, v := range values {
		switch d := b.(type) {
		case *array.DurationBuilder:
			if v == "" {
				b.AppendNull()
				continue
			}
			var n int64
			_, err := fmt.Sscan(v, &n)
			require.NoError(t, err)
			d.Append(arrow.Duration(n))
			continue
		}
		if v == "" {
			b.AppendNull()
			continue
		}
		require.NoError(t, b.AppendValueFromString(v), "%s", typ)
	}
	return b.NewArray()
}

func schemaFor(typ arrow.DataType) *arrow.Schema {
	return arrow.NewSchema([]arrow.Field{{Name: "v", Type: typ, Nullable: true}}, nil)
}

func recordOf(a arrow.Array) arrow.RecordBatch {
	return array.NewRecordBatch(schemaFor(a.DataType()), []arrow.Array{a}, int64(a.Len()))
}

// texts gives the values of an array as texts, nulls as "null". A null in a dictionary is one.
func texts(a arrow.Array) []string {
	out := make([]string, a.Len())
	for i := range out {
		out[i] = a.ValueStr(i)
		if d, ok := a.(*array.Dictionary); ok && a.IsValid(i) {
			out[i] = d.Dictionary().ValueStr(d.GetValueIndex(i))
		}
		if a.IsNull(i) || out[i] == array.NullValueStr {
			out[i] = "null"
		}
	}
	return out
}

// batchTexts gives the values of the only column of a batch, by way of a record.
func batchTexts(b *Batch) []string {
	r := b.Record()
	defer r.Release()
	return texts(r.Column(0))
}

// checkNulls requires that the column's number of nulls is exact and that a bitmap is there only with nulls.
func checkNulls(t require.TestingT, b *Batch) {
	for k := range b.Cols {
		c := &b.Cols[k]
		n := 0
		for i := range b.Rows {
			if c.IsNull(i) {
				n++
			}
		}
		require.Equal(t, n, c.Nulls, "nulls of column %d", k)
		if n == 0 {
			require.Nil(t, c.Valid)
		}
	}
}

func TestB54B55EveryTypeSurvivesEverySliceOfASlice(t *testing.T) {
	for _, s := range samples() {
		t.Run(s.typ.String(), func(t *testing.T) {
			mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
			defer mem.AssertSize(t, 0)
			pool := NewDebugPool()
			whole := build(t, mem, s.typ, s.values)
			defer whole.Release()
			n := whole.Len()
			for i := 0; i <= n; i++ {
				for j := i; j <= n; j++ {
					outer := array.NewSlice(whole, int64(i), int64(j))
					checkRoundTrip(t, pool, outer)
					for k := 0; k <= j-i; k += 2 {
						inner := array.NewSlice(outer, int64(k), int64(j-i))
						checkRoundTrip(t, pool, inner)
						inner.Release()
					}
					outer.Release()
				}
			}
			require.NoError(t, pool.Check())
		})
	}
}

func checkRoundTrip(t *testing.T, pool *Pool, a arrow.Array) {
	rec := recordOf(a)
	defer rec.Release()
	b, err := FromRecord(pool, rec)
	require.NoError(t, err)
	checkNulls(t, b)
	back := b.Record()
	b.Release()
	want, got := texts(a), texts(back.Column(0))
	if len(want) > 0 {
		require.Equal(t, want, got)
	} else {
		require.Empty(t, got)
	}
	require.True(t, arrow.TypeEqual(a.DataType(), back.Column(0).DataType()))
	if a.DataType().ID() != arrow.DICTIONARY {
		require.True(t, array.ApproxEqual(a, back.Column(0), array.WithNaNsEqual(true)))
		require.Equal(t, a.NullN(), back.Column(0).NullN())
	}
	back.Release()
}

func TestB55NullsOutsideASliceDoNotCount(t *testing.T) {
	a := build(t, memory.DefaultAllocator, arrow.PrimitiveTypes.Int64, []string{"", "1", "2", ""})
	rec := recordOf(array.NewSlice(a, 1, 4))
	b, err := FromRecord(NewPool(), rec)
	require.NoError(t, err)
	defer b.Release()
	require.Equal(t, 1, b.Cols[0].Nulls)
	sum := int64(0)
	for i, v := range Values[int64](&b.Cols[0]) {
		if !b.Cols[0].IsNull(i) {
			sum += v
		}
	}
	require.Equal(t, int64(3), sum)
}

func TestB56SlicesPutTogetherKeepTheirOwnValues(t *testing.T) {
	for _, s := range samples() {
		t.Run(s.typ.String(), func(t *testing.T) {
			pool := NewDebugPool()
			whole := build(t, memory.DefaultAllocator, s.typ, s.values)
			bld := NewBuilder(pool, schemaFor(s.typ))
			var want []string
			add := func(from, to int, sel []uint32) {
				slice := array.NewSlice(whole, int64(from), int64(to))
				b, err := FromRecord(pool, recordOf(slice))
				require.NoError(t, err)
				b.Sel = sel
				bld.AppendRows(b, nil)
				b.Release()
				all := texts(slice)
				if sel == nil {
					want = append(want, all...)
				}
				for _, r := range sel {
					want = append(want, all[r])
				}
			}
			add(1, 3, nil)
			add(8, 11, []uint32{0, 2})
			add(4, 4, nil)
			add(0, 11, []uint32{1, 3, 5, 7, 9})
			add(3, 11, []uint32{2, 3, 4})
			require.NoError(t, bld.Err())
			b := bld.Finish()
			checkNulls(t, b)
			require.Equal(t, want, batchTexts(b))
			taken := b.Take([]uint32{0, 2, 3, uint32(b.Rows - 1)})
			require.Equal(t, []string{want[0], want[2], want[3], want[len(want)-1]}, batchTexts(taken))
			part := b.Slice(1, b.Rows-1)
			checkNulls(t, part)
			require.Equal(t, want[1:len(want)-1], batchTexts(part))
			part.Release()
			taken.Release()
			b.Release()
			require.NoError(t, pool.Check())
		})
	}
}

func TestKindOfRefusesWhatNoOperatorHolds(t *testing.T) {
	for _, typ := range []arrow.DataType{arrow.Null, arrow.FixedSizeListOf(2, arrow.PrimitiveTypes.Int8), &arrow.Decimal256Type{Precision: 40}, arrow.FixedWidthTypes.Float16,
		arrow.StructOf(), &arrow.FixedSizeBinaryType{ByteWidth: 4}, arrow.FixedWidthTypes.MonthInterval,
		&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.ListOf(arrow.PrimitiveTypes.Int8)}} {
		require.Equal(t, Invalid, KindOf(typ), "%s", typ)
		require.ErrorContains(t, CheckSchema(schemaFor(typ)), `column "v": type`)
	}
	for k := Bool; k <= Struct; k++ {
		require.NotEmpty(t, k.String())
	}
}
