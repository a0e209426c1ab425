package typetext

import (
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// types draws a type of some depth.
func types(depth int) *rapid.Generator[arrow.DataType] {
	simple := rapid.SampledFrom([]arrow.DataType{arrow.PrimitiveTypes.Int64, arrow.BinaryTypes.String, arrow.FixedWidthTypes.Boolean, arrow.BinaryTypes.LargeBinary,
		&arrow.TimestampType{Unit: arrow.Microsecond, TimeZone: "Europe/Berlin"}, &arrow.Decimal128Type{Precision: 10, Scale: 2}, arrow.FixedWidthTypes.Time32s, arrow.FixedWidthTypes.Duration_ns})
	if depth == 0 {
		return simple
	}
	inner := types(depth - 1)
	field := func(t *rapid.T, name string) arrow.Field {
		return arrow.Field{Name: name, Type: inner.Draw(t, "type"), Nullable: rapid.Bool().Draw(t, "nullable")}
	}
	return rapid.Custom(func(t *rapid.T) arrow.DataType {
		switch rapid.IntRange(0, 4).Draw(t, "kind") {
		case 0:
			return arrow.ListOfField(field(t, "item"))
		case 1:
			return arrow.LargeListOfField(field(t, "item"))
		case 2:
			f := field(t, "value")
			m := arrow.MapOf(simple.Draw(t, "key"), f.Type)
			m.SetItemNullable(f.Nullable)
			return m
		case 3:
			var fields []arrow.Field
			for _, name := range rapid.SliceOfNDistinct(rapid.StringN(0, 6, 12), 1, 3, rapid.ID[string]).Draw(t, "names") {
				fields = append(fields, field(t, name))
			}
			return arrow.StructOf(fields...)
		}
		return simple.Draw(t, "simple")
	})
}

func TestTypesAreReadBackAsTheyAreWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		typ := types(3).Draw(t, "type")
		back, err := Parse(Name(typ))
		require.NoError(t, err, Name(typ))
		require.True(t, arrow.TypeEqual(typ, back), "%s\n%s\n%s", Name(typ), typ, back)
	})
}

func TestNestedTypesAsText(t *testing.T) {
	for text, want := range map[string]string{
		"list[int64?]":                              "list<item: int64, nullable>",
		"struct[a:int64, \"b c\":string?]":          "struct<a: int64, b c: utf8 nullable>",
		"struct[a:list[struct[x:float64]],b:bool?]": "struct<a: list<item: struct<x: float64>>, b: bool nullable>",
		"map[string,list[int8]?]":                   "map<utf8, list<item: int8>, items_nullable>",
	} {
		typ, err := Parse(text)
		require.NoError(t, err, text)
		require.Equal(t, want, typ.String())
	}
	for text, want := range map[string]string{
		"list[]":                        `no type ""`,
		"list[int64,int64]":             "want list[element]",
		"list[in64]":                    `no type "in64"; did you mean "int64"`,
		"map[string]":                   "want map[key,value]",
		"map[string?,int64]":            "the key of a map is never null",
		"struct[a]":                     `want name:type, not "a"`,
		"struct[a:int64,a:int64]":       `two fields are named "a"`,
		`struct["a:int64]`:              "want name:type",
		"list[dictionary[int8,string]]": "a nested column holds no dictionary",
		"struct[]":                      "want name:type",
		"lits[int64]":                   `did you mean "list[int64]"?`,
	} {
		_, err := Parse(text)
		require.ErrorContains(t, err, want, text)
	}
}

func TestTypesAreNestedOnlySoDeep(t *testing.T) {
	text := strings.Repeat("list[", 64) + "int8" + strings.Repeat("]", 64)
	_, err := Parse(text)
	require.NoError(t, err)
	for _, deep := range []string{"list[" + text + "]", strings.Repeat("list[", 1<<20)} {
		_, err = Parse(deep)
		require.EqualError(t, err, "a type is nested more than 64 deep")
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"list[int64?]", `struct["a b":map[string,list[float64?]],c:decimal(3,1)?]`, "timestamp[ms,UTC]", "struct[", `struct["a`, "dictionary[int8,string]"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		typ, err := Parse(s)
		if err != nil {
			return
		}
		back, err := Parse(Name(typ))
		require.NoError(t, err, Name(typ))
		require.True(t, arrow.TypeEqual(typ, back), "%s: %s", s, Name(typ))
	})
}
