package codec

import (
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestTypeName_readsBack(t *testing.T) {
	for _, name := range allTypes {
		typ, err := ParseType(name)
		require.NoError(t, err, name)
		assert.Equal(t, name, TypeName(typ))
	}
	spaced, err := ParseType("timestamp[ms, UTC]")
	require.NoError(t, err)
	assert.Equal(t, "timestamp[ms,UTC]", TypeName(spaced))
}

func TestParseType_faults(t *testing.T) {
	for name, want := range map[string]string{
		"int46":                       `no type "int46"; did you mean "int16", "int64"?`,
		"timestamp[m]":                `type "timestamp[m]": unit "m" is none of s, ms, us, ns`,
		"time32[us]":                  `type "time32[us]": time32 is in s or ms, time64 in us or ns`,
		"time64[s]":                   `type "time64[s]": time32 is in s or ms, time64 in us or ns`,
		"duration[s,UTC]":             `type "duration[s,UTC]": only a timestamp has a zone`,
		"decimal(39,0)":               `type "decimal(39,0)": want 1 <= precision <= 38 and -38 <= scale <= precision`,
		"decimal(5)":                  `type "decimal(5)": want decimal(precision,scale)`,
		"dictionary[string,string]":   `type "dictionary[string,string]": index "string" is no integer type`,
		"dictionary[int8]":            `type "dictionary[int8]": want dictionary[index,values]`,
		"dictionary[int8,dictionary]": `type "dictionary[int8,dictionary]": no type "dictionary"; did you mean "dictionary[int32,string]"?`,
	} {
		_, err := ParseType(name)
		assert.EqualError(t, err, want)
	}
	for _, name := range []string{"", "(", "[]", "decimal(", "timestamp]", "timestamp[ms)"} {
		_, err := ParseType(name)
		assert.ErrorContains(t, err, "no type", name)
	}
}

func TestConfig_readsBack(t *testing.T) {
	schema := allTypesSchema(t)
	first := schema.Field(0)
	first.Nullable = false
	schema = arrow.NewSchema(append([]arrow.Field{first}, schema.Fields()[1:]...), nil)
	for _, f := range []JSONFormat{JSON(nil), JSON(schema), JSON(schema).FailUnknown()} {
		section, err := f.Config()
		require.NoError(t, err)
		back, err := FromConfig("codec", section)
		require.NoError(t, err)
		assert.Equal(t, f.strict, back.(JSONFormat).strict)
		assert.True(t, f.schema == nil && back.Schema() == nil || f.schema.Equal(back.Schema()))
	}
	f, err := FromConfig("codec", nil)
	require.NoError(t, err)
	assert.Equal(t, JSON(nil), f)
	_, err = JSONOf[int]().Config()
	assert.ErrorContains(t, err, "is not a struct")
}

func TestFromConfig_faultsComeTogetherWithTheirPath(t *testing.T) {
	_, err := FromConfig("jobs[0].sources[1].codec", map[string]any{
		"unknown_fields": "ignore", "schemas": 1,
		"schema": []any{
			map[string]any{"name": "a", "type": "int46"},
			map[string]any{"type": "int64", "nullable": "yes"},
			map[string]any{"name": 7, "typ": "x"},
			"b",
		},
	})
	for _, want := range []string{
		`jobs[0].sources[1].codec.unknown_fields: "ignore" is neither drop nor fail`,
		`jobs[0].sources[1].codec.schemas: unknown field "schemas"; did you mean "schema"?`,
		`jobs[0].sources[1].codec.schema[0].type: no type "int46"`,
		`jobs[0].sources[1].codec.schema[1].name: is missing`,
		`jobs[0].sources[1].codec.schema[1].nullable: want true or false, not yes`,
		`jobs[0].sources[1].codec.schema[2].name: want a string, not 7`,
		`jobs[0].sources[1].codec.schema[2].type: is missing`,
		`jobs[0].sources[1].codec.schema[2].typ: unknown field "typ"; did you mean "type"?`,
		`jobs[0].sources[1].codec.schema[3]: want {name, type}, not b`,
	} {
		assert.ErrorContains(t, err, want)
	}
	_, err = FromConfig("codec", map[string]any{"type": "avro"})
	assert.ErrorContains(t, err, `codec.type: codec "avro" is not registered; there are "csv", "json"`)
	_, err = FromConfig("codec", map[string]any{"type": 1, "schema": 5})
	assert.ErrorContains(t, err, "codec.type: want a string, not 1")
	assert.ErrorContains(t, err, "codec.schema: want a list of {name, type}, not 5")
	_, err = FromConfig("codec", map[string]any{"schema": []any{map[string]any{"name": "a", "type": "int8"}, map[string]any{"name": "a", "type": "int8"}}})
	assert.ErrorContains(t, err, "two columns have this name")
}
