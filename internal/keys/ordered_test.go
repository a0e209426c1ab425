package keys

import (
	"bytes"
	"math"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/arkflow-go/arkflow/column"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestOrderedFormsCompareAsTheirValues writes ascending values, null first, two of them one after the other, and reads them back.
func TestOrderedFormsCompareAsTheirValues(t *testing.T) {
	p := arrow.PrimitiveTypes
	for _, c := range []struct {
		typ  arrow.DataType
		fill func(a *column.Appender)
	}{
		{p.Int64, func(a *column.Appender) { ints(a, math.MinInt64, -1, 0, 1, math.MaxInt64) }},
		{p.Int8, func(a *column.Appender) { ints(a, -128, -1, 0, 127) }},
		{p.Uint64, func(a *column.Appender) { a.Uint64(0); a.Uint64(1); a.Uint64(math.MaxUint64) }},
		{p.Float64, func(a *column.Appender) {
			for _, f := range []float64{math.Inf(-1), -1.5, 0, math.SmallestNonzeroFloat64, 7, math.Inf(1), math.NaN()} {
				a.Float64(f)
			}
		}},
		{arrow.FixedWidthTypes.Boolean, func(a *column.Appender) { a.Bool(false); a.Bool(true) }},
		{arrow.FixedWidthTypes.Timestamp_us, func(a *column.Appender) { ints(a, -5, 0, 5) }},
		{&arrow.Decimal128Type{Precision: 38}, func(a *column.Appender) { a.Decimal(0, -1); a.Decimal(5, -1); a.Decimal(1, 0); a.Decimal(0, 1) }},
		{arrow.BinaryTypes.String, func(a *column.Appender) {
			for _, s := range []string{"", "\x00", "\x00\x00", "\x00\x01", "\x00\xff", "\x01", "a", "a\x00", "a\x00b", "aa", "b", "\xff"} {
				a.String(s)
			}
		}},
	} {
		bl := column.NewBuilder(nil, arrow.NewSchema([]arrow.Field{{Name: "v", Type: c.typ, Nullable: true}}, nil))
		bl.Null(0)
		c.fill(bl.Col(0))
		b := bl.Finish()
		typ, col := TypeOf(c.typ), &b.Cols[0]
		var last []byte
		for r := range b.Rows {
			v := AppendOrdered(AppendOrdered(nil, typ, col, r), typ, col, b.Rows-1-r)
			if r > 0 {
				assert.Negative(t, bytes.Compare(last, v), "%s: row %d", c.typ, r)
			}
			last = v
			first, rest, err := DecodeOrdered(bytes.Clone(v), typ)
			require.NoError(t, err)
			second, rest, err := DecodeOrdered(rest, typ)
			require.NoError(t, err)
			assert.Empty(t, rest)
			same(t, col, r, first)
			same(t, col, b.Rows-1-r, second)
			for n := range v {
				if _, rest, err := DecodeOrdered(bytes.Clone(v[:n]), typ); err == nil {
					_, _, err = DecodeOrdered(rest, typ)
					require.ErrorIs(t, err, ErrDamaged, "%s: %d bytes of row %d", c.typ, n, r)
				}
			}
		}
	}
}

func ints(a *column.Appender, v ...int64) {
	for _, x := range v {
		a.Int64(x)
	}
}

func same(t *testing.T, c *column.Column, row int, f Field) {
	t.Helper()
	require.Equal(t, c.IsNull(row), f.Null)
	switch {
	case f.Null:
	case c.Kind == column.Bytes:
		require.Equal(t, c.String(row), string(f.Bytes))
	case c.Kind == column.Decimal:
		require.Equal(t, column.View[[2]uint64](c.Data)[row], [2]uint64{f.Word, f.High})
	default:
		require.Equal(t, WordAt(c, row), f.Word)
	}
}

func FuzzDecodeOrdered(f *testing.F) {
	f.Add([]byte{1, 'a', 0, 255, 0, 1, 0}, byte(TagBytes))
	f.Add([]byte{1, 0, 0, 0, 0, 0, 0, 0, 1}, byte(TagInt))
	f.Fuzz(func(t *testing.T, src []byte, tag byte) {
		for len(src) > 0 {
			_, rest, err := DecodeOrdered(src, Type{Tag: Tag(tag)})
			if err != nil {
				return
			}
			if len(rest) >= len(src) {
				t.Fatalf("read nothing of %x", src)
			}
			src = rest
		}
	})
}
