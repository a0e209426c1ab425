package arkflowtest

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/arkflow-go/arkflow/column"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestValuesOfEveryTypeComeBackAsTheyWere(t *testing.T) {
	day := time.Date(1969, 12, 30, 0, 0, 0, 0, time.UTC)
	at := time.Date(2024, 5, 6, 7, 8, 9, 123456789, time.UTC)
	type name string
	for _, c := range []struct {
		typ       arrow.DataType
		give, get any
	}{
		{arrow.FixedWidthTypes.Boolean, true, true},
		{arrow.PrimitiveTypes.Int8, -128, int64(-128)},
		{arrow.PrimitiveTypes.Int16, int16(7), int64(7)},
		{arrow.PrimitiveTypes.Int32, 2.0, int64(2)},
		{arrow.PrimitiveTypes.Int64, uint8(9), int64(9)},
		{arrow.PrimitiveTypes.Uint8, 255, uint64(255)},
		{arrow.PrimitiveTypes.Uint16, 1, uint64(1)},
		{arrow.PrimitiveTypes.Uint32, 1, uint64(1)},
		{arrow.PrimitiveTypes.Uint64, uint64(math.MaxUint64), uint64(math.MaxUint64)},
		{arrow.PrimitiveTypes.Float32, 1.5, 1.5},
		{arrow.PrimitiveTypes.Float64, 3, 3.0},
		{arrow.BinaryTypes.String, name("x"), "x"},
		{arrow.BinaryTypes.LargeString, "x", "x"},
		{arrow.BinaryTypes.Binary, []byte{1, 2}, []byte{1, 2}},
		{&arrow.TimestampType{Unit: arrow.Second}, at, at.Truncate(time.Second)},
		{&arrow.TimestampType{Unit: arrow.Millisecond, TimeZone: "UTC"}, at, at.Truncate(time.Millisecond)},
		{&arrow.TimestampType{Unit: arrow.Microsecond}, at, at.Truncate(time.Microsecond)},
		{&arrow.TimestampType{Unit: arrow.Nanosecond}, at, at},
		{&arrow.TimestampType{Unit: arrow.Nanosecond}, time.Unix(0, -1), time.Unix(0, -1).UTC()},
		{arrow.FixedWidthTypes.Date32, day.Add(time.Hour), day},
		{arrow.FixedWidthTypes.Date64, day.Add(time.Hour), day},
		{arrow.FixedWidthTypes.Duration_ms, 1500 * time.Millisecond, 1500 * time.Millisecond},
		{arrow.FixedWidthTypes.Time32s, time.Hour, time.Hour},
		{arrow.FixedWidthTypes.Time64us, time.Hour, time.Hour},
		{&arrow.Decimal128Type{Precision: 10, Scale: 2}, Decimal("-12.5"), "-12.50"},
		{&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String}, "d", "d"},
		{arrow.PrimitiveTypes.Int64, (*int64)(nil), nil},
		{arrow.PrimitiveTypes.Int64, at, at.UnixMilli()},
	} {
		s := arrow.NewSchema([]arrow.Field{{Name: "v", Type: c.typ, Nullable: true}}, nil)
		b, err := (&tableRows{s, [][]any{{c.give}}}).batch(column.NewPool(), s, 0, 1)
		require.NoError(t, err, "%s", c.typ)
		require.Equal(t, c.get, cell(&b.Cols[0], 0), "%s", c.typ)
	}
}

func TestValuesThatDoNotFitAreErrors(t *testing.T) {
	for _, c := range []struct {
		typ  arrow.DataType
		give any
	}{
		{arrow.PrimitiveTypes.Int8, 128}, {arrow.PrimitiveTypes.Uint8, -1}, {arrow.PrimitiveTypes.Uint32, int64(1) << 32}, {arrow.PrimitiveTypes.Int64, 1.5},
		{arrow.PrimitiveTypes.Int64, uint64(math.MaxUint64)}, {arrow.PrimitiveTypes.Int64, "1"}, {arrow.BinaryTypes.String, 1}, {arrow.FixedWidthTypes.Boolean, 1},
		{arrow.PrimitiveTypes.Int8, true}, {arrow.PrimitiveTypes.Float64, time.Now()}, {arrow.PrimitiveTypes.Int64, time.Second}, {arrow.PrimitiveTypes.Int64, []byte{1}},
		{&arrow.Decimal128Type{Precision: 3, Scale: 1}, Decimal("x")}, {arrow.PrimitiveTypes.Int64, struct{}{}},
	} {
		s := arrow.NewSchema([]arrow.Field{{Name: "v", Type: c.typ}}, nil)
		p := column.NewDebugPool()
		_, err := (&tableRows{s, [][]any{{c.give}}}).batch(p, s, 0, 1)
		require.ErrorContains(t, err, `row 0, column "v"`, "%v into %s", c.give, c.typ)
		require.NoError(t, p.Check())
	}
	s := arrow.NewSchema([]arrow.Field{{Name: "v", Type: arrow.PrimitiveTypes.Int64}}, nil)
	_, err := (&tableRows{s, [][]any{{1, 2}}}).batch(column.NewPool(), s, 0, 1)
	require.ErrorContains(t, err, "2 values for 1 columns")
}

func TestSchemasOfMapsAreInferred(t *testing.T) {
	s, err := infer([]*mapRows{{[]map[string]any{{"a": 1, "b": nil}, {"c": "x", "b": 2.5, "n": nil}}}})
	require.NoError(t, err)
	require.Equal(t, "schema:\n  fields: 4\n    - a: type=int64, nullable\n    - b: type=float64, nullable\n    - c: type=utf8, nullable\n    - n: type=utf8, nullable", s.String())
	_, err = infer([]*mapRows{{[]map[string]any{{"a": 1}, {"a": "x"}}}})
	require.ErrorContains(t, err, `row 1, column "a": utf8 after int64`)
	_, err = infer([]*mapRows{{[]map[string]any{{"a": struct{}{}}}}})
	require.ErrorContains(t, err, "is not a value of a column")
}

func TestNumbersAreComparedByValue(t *testing.T) {
	require.Equal(t, text(3), text(3.0))
	require.Equal(t, text(uint8(3)), text(float32(3)))
	require.Equal(t, text(0.0), text(math.Copysign(0, -1)))
	require.NotEqual(t, text(3), text("3"))
	require.Equal(t, "null", text((*int)(nil)))
	require.Equal(t, text(time.Unix(1, 0)), text(time.Unix(1, 0).In(time.FixedZone("x", 3600))))
}

func TestOrderPutsNullFirstAndNaNLast(t *testing.T) {
	values := []any{nil, math.Inf(-1), -1.0, 2.0, math.Inf(1), math.NaN()}
	for i, a := range values {
		for k, b := range values {
			require.Equal(t, cmpInt(i, k), compare(a, b), "%v and %v", a, b)
		}
	}
}

func cmpInt(a, b int) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

func TestDiffOfMultisets(t *testing.T) {
	require.Empty(t, diff([]string{"a=1", "a=1", "b=2"}, []string{"b=2", "a=1", "a=1"}))
	require.Equal(t, "2 rows wanted, 1 there: 1 missing (-), 0 unexpected (+)\n- a=1\n", diff([]string{"a=1", "a=1"}, []string{"a=1"}))
	require.Equal(t, "1 rows wanted, 1 there: 1 missing (-), 1 unexpected (+)\n- k=\"a b\"   n=1\n+ k=\"a bcd\" n=1\n", diff([]string{`k="a b" n=1`}, []string{`k="a bcd" n=1`}))
	var many []string
	for i := range 50 {
		many = append(many, fmt.Sprintf("a=%d", i))
	}
	d := diff(many, nil)
	require.Equal(t, maxDiff+2, strings.Count(d, "\n"))
	require.Contains(t, d, "and 30 more missing")
	require.Contains(t, diff(nil, many), "more unexpected")
	rapid.Check(t, func(t *rapid.T) {
		lines := rapid.SliceOf(rapid.SampledFrom([]string{"a=1", "a=2", `a="x y"`}))
		a, b := lines.Draw(t, "a"), lines.Draw(t, "b")
		counts := map[string]int{}
		for _, l := range a {
			counts[l]++
		}
		for _, l := range b {
			counts[l]--
		}
		same := true
		for _, n := range counts {
			same = same && n == 0
		}
		if (diff(a, b) == "") != same {
			t.Fatalf("diff of %v and %v", a, b)
		}
	})
}

// fakeTB records what a test would say.
type fakeTB struct {
	testing.TB
	said []string
}

type gaveUp struct{}

func (f *fakeTB) Helper()                  {}
func (f *fakeTB) Context() context.Context { return f.TB.Context() }
func (f *fakeTB) Fatalf(format string, args ...any) {
	f.said = append(f.said, fmt.Sprintf(format, args...))
	panic(gaveUp{})
}

// failing runs f and gives what it failed with.
func failing(t *testing.T, f func(TB)) (said string) {
	t.Helper()
	tb := &fakeTB{TB: t}
	defer func() {
		if v := recover(); v != nil && v != (any)(gaveUp{}) {
			panic(v)
		}
		said = strings.Join(tb.said, "\n")
	}()
	f(tb)
	return ""
}
