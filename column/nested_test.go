package column

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

var (
	deep = arrow.StructOf(arrow.Field{Name: "x", Type: arrow.PrimitiveTypes.Int64, Nullable: true},
		arrow.Field{Name: "in", Type: arrow.StructOf(arrow.Field{Name: "b", Type: arrow.FixedWidthTypes.Boolean, Nullable: true}, arrow.Field{Name: "t", Type: arrow.BinaryTypes.String, Nullable: true}), Nullable: true})
	nestedSchema = arrow.NewSchema([]arrow.Field{
		{Name: "id", Type: arrow.PrimitiveTypes.Int64},
		{Name: "list", Type: arrow.ListOf(deep), Nullable: true},
		{Name: "large", Type: arrow.LargeListOf(arrow.ListOf(arrow.PrimitiveTypes.Float64)), Nullable: true},
		{Name: "map", Type: arrow.MapOf(arrow.BinaryTypes.String, arrow.ListOf(arrow.FixedWidthTypes.Boolean)), Nullable: true},
		{Name: "struct", Type: deep, Nullable: true},
	}, nil)
)

// nestedRows draws rows as JSON objects.
func nestedRows(t *rapid.T, n int) []string {
	maybe := func(g *rapid.Generator[string]) *rapid.Generator[string] {
		return rapid.Custom(func(t *rapid.T) string {
			if rapid.IntRange(0, 4).Draw(t, "null") == 0 {
				return "null"
			}
			return g.Draw(t, "value")
		})
	}
	list := func(g *rapid.Generator[string]) *rapid.Generator[string] {
		return rapid.Custom(func(t *rapid.T) string {
			return "[" + strings.Join(rapid.SliceOfN(maybe(g), 0, 4).Draw(t, "list"), ",") + "]"
		})
	}
	text := rapid.Custom(func(t *rapid.T) string { return fmt.Sprintf("%q", rapid.StringMatching("[a-z]{0,5}").Draw(t, "text")) })
	truth := rapid.SampledFrom([]string{"true", "false"})
	number := rapid.Custom(func(t *rapid.T) string { return fmt.Sprint(rapid.Int64Range(-9, 9).Draw(t, "number")) })
	object := rapid.Custom(func(t *rapid.T) string {
		in := maybe(rapid.Custom(func(t *rapid.T) string {
			return fmt.Sprintf(`{"b":%s,"t":%s}`, maybe(truth).Draw(t, "b"), maybe(text).Draw(t, "t"))
		}))
		return fmt.Sprintf(`{"x":%s,"in":%s}`, maybe(number).Draw(t, "x"), in.Draw(t, "in"))
	})
	entries := rapid.Custom(func(t *rapid.T) string {
		var out []string
		for _, k := range rapid.SliceOfNDistinct(rapid.StringMatching("[a-c]{1,2}"), 0, 3, rapid.ID[string]).Draw(t, "keys") {
			out = append(out, fmt.Sprintf(`{"key":%q,"value":%s}`, k, maybe(list(truth)).Draw(t, "item")))
		}
		return "[" + strings.Join(out, ",") + "]"
	})
	rows := make([]string, n)
	for i := range rows {
		rows[i] = fmt.Sprintf(`{"id":%d,"list":%s,"large":%s,"map":%s,"struct":%s}`, i, maybe(list(object)).Draw(t, "list"), maybe(list(list(number))).Draw(t, "large"),
			maybe(entries).Draw(t, "map"), maybe(object).Draw(t, "struct"))
	}
	return rows
}

func nestedRecord(t require.TestingT, rows []string) arrow.RecordBatch {
	rec, _, err := array.RecordFromJSON(memory.DefaultAllocator, nestedSchema, strings.NewReader("["+strings.Join(rows, ",")+"]"))
	require.NoError(t, err)
	return rec
}

// requireRows requires that a batch has these rows of `rows`.
func requireRows(t require.TestingT, b *Batch, rows []string, want []uint32) {
	rec := b.Record()
	defer rec.Release()
	var picked []string
	for _, r := range want {
		picked = append(picked, rows[r])
	}
	expected := nestedRecord(t, picked)
	defer expected.Release()
	wantText, err := expected.MarshalJSON()
	require.NoError(t, err)
	gotText, err := rec.MarshalJSON()
	require.NoError(t, err)
	require.Equal(t, string(wantText), string(gotText))
	require.True(t, rec.Schema().Equal(nestedSchema))
}

func TestNestedColumnsPassThroughEveryWayOfMovingRows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 12).Draw(t, "rows")
		rows := nestedRows(t, n)
		rec := nestedRecord(t, rows)
		from := rapid.IntRange(0, n-1).Draw(t, "from")
		part := rec.NewSlice(int64(from), int64(n))
		pool := NewDebugPool()
		b, err := FromRecord(pool, part)
		require.NoError(t, err)
		all := make([]uint32, n-from)
		for i := range all {
			all[i] = uint32(i)
		}
		at := func(physical []uint32) (out []uint32) {
			for _, r := range physical {
				out = append(out, r+uint32(from))
			}
			return out
		}
		requireRows(t, b, rows, at(all))

		sel := []uint32{}
		for _, r := range all {
			if rapid.Bool().Draw(t, "keep") {
				sel = append(sel, r)
			}
		}
		taken := b.Take(sel)
		requireRows(t, taken, rows, at(sel))

		lo := rapid.IntRange(0, b.Rows).Draw(t, "lo")
		hi := rapid.IntRange(lo, b.Rows).Draw(t, "hi")
		slice := b.Slice(lo, hi)
		requireRows(t, slice, rows, at(all[lo:hi]))

		bld := NewBuilder(pool, nestedSchema)
		bld.AppendRows(slice, nil)
		bld.AppendRows(taken, nil)
		bld.AppendRows(b, sel)
		require.True(t, bld.Fits(b, nil))
		require.NoError(t, bld.Err())
		joined := bld.Finish()
		requireRows(t, joined, rows, append(append(at(all[lo:hi]), at(sel)...), at(sel)...))
		require.Positive(t, joined.SizeBytes()+1)

		bld.AppendRows(joined, nil) // the builder is whole again, and gives everything back
		bld.Discard()
		for _, x := range []*Batch{joined, slice, taken, b} {
			x.Release()
		}
		require.NoError(t, pool.Check())
		part.Release()
		rec.Release()
	})
}

func TestNestedValuesAreAppendedAndTakenBack(t *testing.T) {
	pool := NewDebugPool()
	bld := NewBuilder(pool, nestedSchema)
	row := func(id int64, done bool) {
		bld.Int64(0, id)
		list := bld.Col(1)
		for i := range id {
			list.Child(0).Child(0).Int64(i)
			list.Child(0).EndStruct() // its other field is null
		}
		if done {
			list.EndList()
		}
		entries := bld.Col(3).Child(0)
		entries.Child(0).String("k")
		entries.Child(1).Child(0).Bool(true)
		if done {
			entries.Child(1).EndList()
			entries.EndStruct()
			bld.Col(3).EndList()
		}
	}
	row(2, true)
	bld.EndRow()
	row(3, false)
	bld.DropRow()
	row(3, true)
	bld.DropRow()
	row(0, true)
	bld.EndRow()
	b := bld.Finish()
	rec := b.Record()
	text, err := rec.MarshalJSON()
	require.NoError(t, err)
	want := `[{"id":2,"large":null,"list":[{"in":null,"x":0},{"in":null,"x":1}],"map":[{"key":"k","value":[true]}],"struct":null},` +
		`{"id":0,"large":null,"list":[],"map":[{"key":"k","value":[true]}],"struct":null}]`
	require.JSONEq(t, want, string(text))
	cell := func(i int) any {
		out := map[string]any{}
		for k := range b.Cols {
			out[nestedSchema.Field(k).Name] = b.Cols[k].Cell(i, func(c *Column, i int) any {
				switch c.Kind {
				case Bytes:
					return strings.Clone(c.String(i))
				case Bool:
					return c.Bool(i)
				}
				return Values[int64](c)[i]
			})
		}
		return out
	}
	got, err := json.Marshal([]any{cell(0), cell(1)})
	require.NoError(t, err)
	require.JSONEq(t, `[{"id":2,"large":null,"list":[{"in":null,"x":0},{"in":null,"x":1}],"map":{"k":[true]},"struct":null},`+
		`{"id":0,"large":null,"list":[],"map":{"k":[true]},"struct":null}]`, string(got))
	rec.Release()
	b.Release()
	require.NoError(t, pool.Check())
}

func TestNestedTypesThatNoColumnHolds(t *testing.T) {
	for typ, want := range map[arrow.DataType]string{
		arrow.ListOf(arrow.FixedSizeListOf(2, arrow.PrimitiveTypes.Int8)):                                               `column "v": type fixed_size_list<item: int8, nullable>[2] is not supported`,
		arrow.StructOf(arrow.Field{Name: "d", Type: small}):                                                             "a nested column holds no dictionary",
		&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.ListOf(arrow.PrimitiveTypes.Int8)}: "is not supported",
	} {
		require.ErrorContains(t, CheckSchema(schemaFor(typ)), want)
	}
	require.NoError(t, CheckSchema(nestedSchema))
}
