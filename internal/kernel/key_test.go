package kernel

import (
	"bytes"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/internal/keys"
	"github.com/arkflow-go/arkflow/internal/layout"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// batchOf makes a batch of rows whose values are nil, bool, int, uint64, float64, string or [2]uint64 (low, high).
func batchOf(s *arrow.Schema, rows ...[]any) *column.Batch {
	b := column.NewBuilder(nil, s)
	for _, r := range rows {
		for i, v := range r {
			switch v := v.(type) {
			case nil:
				b.Null(i)
			case bool:
				b.Bool(i, v)
			case int:
				b.Int64(i, int64(v))
			case uint64:
				b.Col(i).Uint64(v)
			case float64:
				b.Float64(i, v)
			case string:
				b.String(i, v)
			case [2]uint64:
				b.Col(i).Decimal(v[0], int64(v[1]))
			default:
				panic(fmt.Sprintf("%T", v))
			}
		}
		b.EndRow()
	}
	return b.Finish()
}

// groupsOf is the number of groups of the rows, by the first columns as keys.
func groupsOf(t require.TestingT, b *column.Batch, keys int) int {
	p := NewAggregator(layoutOf(t, b.Schema, keys)).Open()
	require.NoError(t, p.AddRange(b, 0, b.Rows))
	return p.Live()
}

// TestK2HashIsStable holds the golden vectors of K2: a change here loses every checkpoint.
func TestK2HashIsStable(t *testing.T) {
	i64, str := arrow.PrimitiveTypes.Int64, arrow.BinaryTypes.String
	dec := &arrow.Decimal128Type{Precision: 20, Scale: 2}
	long := "a string that is far longer than sixteen bytes"
	cases := []struct {
		types []arrow.DataType
		row   []any
		want  uint64
	}{
		{[]arrow.DataType{i64}, []any{0}, 0xe220a8397b1dcdaf},
		{[]arrow.DataType{i64}, []any{1}, 0xe4d971771b652c20},
		{[]arrow.DataType{i64}, []any{-1}, 0xde0a564cbcd060c4},
		{[]arrow.DataType{i64}, []any{math.MaxInt64}, 0x39ca3c835068d818},
		{[]arrow.DataType{i64}, []any{nil}, 0x2095214bec527c99},
		{[]arrow.DataType{arrow.PrimitiveTypes.Int8}, []any{-1}, 0xde0a564cbcd060c4},
		{[]arrow.DataType{arrow.PrimitiveTypes.Uint32}, []any{1}, 0xbeeb8da1658eec67},
		{[]arrow.DataType{arrow.PrimitiveTypes.Float64}, []any{1.5}, 0x93045fd15acca01c},
		{[]arrow.DataType{arrow.PrimitiveTypes.Float32}, []any{math.NaN()}, 0xf13e5b5c795c1e45},
		{[]arrow.DataType{arrow.FixedWidthTypes.Boolean}, []any{true}, 0x71c18690ee42c90b},
		{[]arrow.DataType{str}, []any{""}, 0x57823375a8c2131e},
		{[]arrow.DataType{str}, []any{nil}, 0x310753d8d0379b25},
		{[]arrow.DataType{str}, []any{"abc"}, 0x9583c038c8c52f6a},
		{[]arrow.DataType{arrow.BinaryTypes.Binary}, []any{long}, 0x76d895ad33d7b9a8},
		{[]arrow.DataType{arrow.FixedWidthTypes.Timestamp_us}, []any{1_700_000_000_000_000}, 0x06b352174194a58e},
		{[]arrow.DataType{arrow.FixedWidthTypes.Date32}, []any{19000}, 0xdc3a09bf6041ebbb},
		{[]arrow.DataType{dec}, []any{[2]uint64{12345, 0}}, 0x9528ad96607e8060},
		{[]arrow.DataType{i64, i64}, []any{1, 2}, 0x1fd3c684985d0468},
		{[]arrow.DataType{i64, str}, []any{1, "b"}, 0x6d600439c66626fe},
		{[]arrow.DataType{str, str, i64}, []any{"a", nil, 7}, 0xc2a8951f915737ae},
	}
	for i, c := range cases {
		b := batchOf(fieldsOf(c.types...), c.row)
		cols := make([]int, len(c.types))
		for j := range cols {
			cols[j] = j
		}
		assert.Equal(t, fmt.Sprintf("%#016x", c.want), fmt.Sprintf("%#016x", keys.Hash(nil, b, cols)[0]), "case %d: %v", i, c.row)
	}
	assert.Equal(t, "arkflow-mix64-xxh3-v1", keys.HashID)
	assert.Equal(t, 1, keys.EncodingVersion)
}

func TestK1EqualKeysOfDifferentTypesHashAlike(t *testing.T) {
	hash := func(typ arrow.DataType, v any) uint64 {
		return keys.Hash(nil, batchOf(fieldsOf(typ), []any{v}), []int{0})[0]
	}
	p := arrow.PrimitiveTypes
	assert.Equal(t, hash(p.Int64, -5), hash(p.Int8, -5))
	assert.Equal(t, hash(p.Uint64, uint64(200)), hash(p.Uint8, 200))
	assert.Equal(t, hash(p.Float64, 0.5), hash(p.Float32, 0.5))
	assert.Equal(t, hash(p.Float64, 0.0), hash(p.Float64, math.Copysign(0, -1)))
	assert.Equal(t, hash(p.Float64, math.NaN()), hash(p.Float64, math.Float64frombits(0xFFF8000000000123)))
	assert.Equal(t, hash(arrow.BinaryTypes.String, "x"), hash(arrow.BinaryTypes.LargeBinary, "x"))
	distinct := map[uint64]bool{hash(p.Int64, 0): true, hash(p.Uint64, 0): true, hash(p.Float64, 0.0): true, hash(p.Int64, nil): true,
		hash(arrow.BinaryTypes.String, ""): true, hash(arrow.BinaryTypes.String, nil): true, hash(arrow.FixedWidthTypes.Timestamp_ms, 0): true,
		hash(arrow.FixedWidthTypes.Timestamp_us, 0): true, hash(arrow.FixedWidthTypes.Boolean, false): true}
	assert.Len(t, distinct, 9)
}

func TestHashCoversRowsOutsideTheSelectionAndReusesMemory(t *testing.T) {
	b := batchOf(fieldsOf(arrow.PrimitiveTypes.Int64), []any{1}, []any{2}, []any{3})
	all := keys.Hash(nil, b, []int{0})
	b.Sel = []uint32{1}
	dst := make([]uint64, 1, 8)
	got := keys.Hash(dst, b, []int{0})
	assert.Equal(t, all, got)
	assert.Same(t, &dst[0], &got[0])
}

func TestB47CompositeKeysShareNoBytes(t *testing.T) {
	s := fieldsOf(arrow.BinaryTypes.String, arrow.BinaryTypes.String)
	b := batchOf(s, []any{"a|b", "c"}, []any{"a", "b|c"}, []any{"doc-7", "12"}, []any{"doc-71", "2"}, []any{"", ""},
		[]any{"\x00", ""}, []any{nil, ""}, []any{nil, "null"})
	assert.Equal(t, 8, groupsOf(t, b, 2))
	seen := map[uint64]bool{}
	for _, h := range keys.Hash(nil, b, []int{0, 1}) {
		seen[h] = true
	}
	assert.Len(t, seen, 8)
}

func TestB50NullIsAnOrdinaryKeyAndNotTheEmptyOne(t *testing.T) {
	str, i64 := arrow.BinaryTypes.String, arrow.PrimitiveTypes.Int64
	assert.Equal(t, 2, groupsOf(t, batchOf(fieldsOf(str), []any{nil}, []any{""}, []any{nil}), 1))
	assert.Equal(t, 2, groupsOf(t, batchOf(fieldsOf(i64), []any{nil}, []any{0}, []any{nil}), 1))
	assert.Equal(t, 3, groupsOf(t, batchOf(fieldsOf(i64, i64), []any{nil, 1}, []any{1, nil}, []any{nil, nil}, []any{nil, 1}), 2))
	assert.Equal(t, 3, groupsOf(t, batchOf(fieldsOf(str, i64), []any{nil, 1}, []any{"1", nil}, []any{nil, nil}, []any{nil, 1}), 2))
	assert.Equal(t, 3, groupsOf(t, batchOf(fieldsOf(&arrow.Decimal128Type{Precision: 9, Scale: 1}), []any{nil}, []any{[2]uint64{0, 0}}, []any{[2]uint64{0, 1}}), 1))
	long := string(bytes.Repeat([]byte("x"), 70_000))
	assert.Equal(t, 2, groupsOf(t, batchOf(fieldsOf(arrow.BinaryTypes.Binary), []any{long}, []any{long[1:]}, []any{long}), 1))
}

func TestB51DictionaryValuesAreComparedNotCodes(t *testing.T) {
	dt := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String}
	s := arrow.NewSchema([]arrow.Field{{Name: "c0", Type: dt, Nullable: true}}, nil)
	a := NewAggregator(layoutOf(t, s, 1))
	p := a.Open()
	pool := column.NewDebugPool()
	for _, dict := range []string{`["a","b"]`, `["b","c"]`, `["a","a"]`, `[null,"a"]`} {
		values, _, err := array.FromJSON(memory.DefaultAllocator, arrow.BinaryTypes.String, bytes.NewReader([]byte(dict)))
		require.NoError(t, err)
		codes, _, err := array.FromJSON(memory.DefaultAllocator, arrow.PrimitiveTypes.Int8, bytes.NewReader([]byte(`[0,1]`)))
		require.NoError(t, err)
		rec := array.NewRecordBatch(s, []arrow.Array{array.NewDictionaryArray(dt, codes, values)}, 2)
		b, err := column.FromRecord(pool, rec)
		require.NoError(t, err)
		require.NoError(t, p.AddRange(b, 0, b.Rows))
		b.Release()
	}
	var got []string
	for _, r := range rowsOf(t, p) {
		f := strings.Split(r, "|")
		got = append(got, f[0]+"="+f[3])
	}
	assert.Equal(t, []string{"(null)=1", "a=4", "b=2", "c=1"}, got)
	require.NoError(t, pool.Check())
}

var keyTypes = []arrow.DataType{arrow.FixedWidthTypes.Boolean, arrow.PrimitiveTypes.Int8, arrow.PrimitiveTypes.Int64, arrow.PrimitiveTypes.Uint16,
	arrow.PrimitiveTypes.Uint64, arrow.PrimitiveTypes.Float32, arrow.PrimitiveTypes.Float64, arrow.BinaryTypes.String, arrow.BinaryTypes.Binary,
	arrow.FixedWidthTypes.Timestamp_ns, arrow.FixedWidthTypes.Date32, arrow.FixedWidthTypes.Time32ms, arrow.FixedWidthTypes.Duration_s,
	&arrow.Decimal128Type{Precision: 20, Scale: -2}}

func drawKey(t *rapid.T, a *column.Appender) {
	if rapid.IntRange(0, 3).Draw(t, "null") == 0 {
		a.Null()
		return
	}
	n := rapid.Int64Range(-2, 2).Draw(t, "n")
	switch a.Kind() {
	case column.Bool:
		a.Bool(n > 0)
	case column.Bytes:
		a.String(rapid.StringMatching(`[a\x00|]{0,20}`).Draw(t, "s"))
	case column.Decimal:
		a.Decimal(uint64(n), n>>63)
	case column.Float32, column.Float64:
		a.Float64([]float64{math.Copysign(0, -1), 0, math.NaN(), math.Inf(-1), 2}[n+2])
	default:
		a.Int64(n)
	}
}

// keyText writes a key so that equal keys have equal texts.
func keyText(b *column.Batch, row int) (s string) {
	for i := range b.Cols {
		c := &b.Cols[i]
		switch {
		case c.IsNull(row):
			s += "null;"
		case c.Kind == column.Bytes:
			s += fmt.Sprintf("%q;", c.Bytes(row))
		case c.Kind == column.Decimal:
			s += fmt.Sprint(column.View[[2]uint64](c.Data)[row], ";")
		case c.Kind == column.Float64:
			s += fmt.Sprint(column.Values[float64](c)[row]+0, ";")
		case c.Kind == column.Float32:
			s += fmt.Sprint(column.Values[float32](c)[row]+0, ";")
		default:
			s += fmt.Sprint(keys.WordAt(c, row), ";")
		}
	}
	return s
}

// TestK3EveryFormOfKeyGivesTheSameGroups: the fast form of a tuple, its written form and its hash agree with plain equality.
func TestK3EveryFormOfKeyGivesTheSameGroups(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var types []arrow.DataType
		for range rapid.IntRange(1, 3).Draw(t, "columns") {
			types = append(types, rapid.SampledFrom(keyTypes).Draw(t, "type"))
		}
		s := fieldsOf(types...)
		bl := column.NewBuilder(nil, s)
		for range rapid.IntRange(1, 60).Draw(t, "rows") {
			for i := range types {
				drawKey(t, bl.Col(i))
			}
			bl.EndRow()
		}
		b := bl.Finish()
		l := layoutOf(t, s, len(types))
		byText, byHash, byBytes := map[string]int{}, map[uint64]string{}, map[string]string{}
		hash := keys.Hash(nil, b, l.KeyCols)
		for r := range b.Rows {
			text := keyText(b, r)
			byText[text]++
			if was, ok := byHash[hash[r]]; ok {
				require.Equal(t, was, text, "two keys, one hash")
			}
			byHash[hash[r]] = text
			var enc []byte
			for i := range types {
				enc = keys.Append(enc, l.KeyTypes[i], &b.Cols[i], r)
			}
			if was, ok := byBytes[string(enc)]; ok {
				require.Equal(t, was, text, "two keys, one encoding")
			}
			byBytes[string(enc)] = text
			require.Equal(t, enc, decodeAll(t, enc, b, l, r))
		}
		require.Len(t, byHash, len(byText))
		require.Len(t, byBytes, len(byText))
		for enc := range byBytes {
			for other := range byBytes {
				require.False(t, enc != other && bytes.HasPrefix([]byte(other), []byte(enc)), "%x begins %x", enc, other)
			}
		}
		require.Equal(t, len(byText), groupsOf(t, b, len(types)))
		written := *l
		written.Mode, written.Count = layout.KeyEncoded, 2
		written.Stride = 3
		p := NewAggregator(&written).Open()
		require.NoError(t, p.AddRange(b, 0, b.Rows))
		require.Equal(t, len(byText), p.Live())
	})
}

// decodeAll reads a written key back, compares it with the row and writes it again.
func decodeAll(t *rapid.T, enc []byte, b *column.Batch, l *layout.Layout, row int) (again []byte) {
	rest := enc
	for i := range b.Cols {
		c := &b.Cols[i]
		f, next, err := keys.Decode(rest)
		require.NoError(t, err)
		require.Equal(t, l.KeyTypes[i], f.Type)
		require.Equal(t, c.IsNull(row), f.Null)
		if !f.Null && c.Kind == column.Bytes {
			require.Equal(t, c.String(row), string(f.Bytes))
		}
		if !f.Null && keys.OneWord(c.Kind) {
			require.Equal(t, keys.WordAt(c, row), f.Word)
		}
		again = append(again, rest[:len(rest)-len(next)]...)
		rest = next
	}
	require.Empty(t, rest)
	return again
}

func FuzzDecodeKey(f *testing.F) {
	f.Add([]byte{1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1})
	f.Add([]byte{5, 0, 1, 3, 'a', 'b', 'c', 5, 0, 0})
	f.Add([]byte{11, 2, 1})
	f.Fuzz(func(t *testing.T, src []byte) {
		for len(src) > 0 {
			field, rest, err := keys.Decode(src)
			if err != nil {
				assert.ErrorIs(t, err, keys.ErrDamaged)
				return
			}
			if len(rest) >= len(src) || len(field.Bytes) > len(src) {
				t.Fatalf("read nothing of %x", src)
			}
			src = rest
		}
	})
}

func TestDecodeKeyRefusesDamage(t *testing.T) {
	for _, bad := range []string{"", "\x01", "\x01\x00", "\x00\x00\x01", "\x0c\x00\x01", "\x01\x00\x02", "\x01\x00\x01\x00", "\x05\x00\x01", "\x05\x00\x01\x05ab", "\x0b\x00\x01\x00"} {
		_, _, err := keys.Decode([]byte(bad))
		assert.ErrorIs(t, err, keys.ErrDamaged, "%x", bad)
	}
}

func TestKeyTypesAreNamed(t *testing.T) {
	assert.Equal(t, "timestamp[us]", keys.TypeOf(arrow.FixedWidthTypes.Timestamp_us).String())
	assert.Equal(t, "decimal(scale -2)", keys.TypeOf(&arrow.Decimal128Type{Precision: 9, Scale: -2}).String())
	assert.Equal(t, "integer", keys.TypeOf(arrow.PrimitiveTypes.Int8).String())
	assert.Equal(t, keys.TagInvalid, keys.TypeOf(arrow.Null).Tag)
	assert.Equal(t, "KeyTag(99)", keys.Type{Tag: 99}.String())
}
