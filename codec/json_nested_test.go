package codec

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/arkflow-go/arkflow/column"
)

// nestedText is the type of every nested kind, as a spec has it.
const nestedText = `struct[n:int64?,f:float64?,t:string?,b:bool?,l:list[struct[x:int8?]?]?,m:map[string,list[bool?]?]?,i:map[int64,string?]?]`

func nestedSchemaOf(t require.TestingT, columns ...string) *arrow.Schema {
	var fields []arrow.Field
	for _, c := range columns {
		name, text, _ := strings.Cut(c, " ")
		text, nullable := strings.CutSuffix(text, "?")
		typ, err := ParseType(text)
		require.NoError(t, err)
		fields = append(fields, arrow.Field{Name: name, Type: typ, Nullable: nullable})
	}
	return arrow.NewSchema(fields, nil)
}

// drawNested draws a value of nestedText as encoding/json has it.
func drawNested(t *rapid.T) map[string]any {
	out := map[string]any{}
	put := func(name string, draw func() any) {
		if rapid.IntRange(0, 3).Draw(t, name+" null") == 0 {
			out[name] = nil
		} else {
			out[name] = draw()
		}
	}
	text := rapid.StringN(0, 4, 12)
	maybe := func(v any) any {
		if rapid.IntRange(0, 3).Draw(t, "null") == 0 {
			return nil
		}
		return v
	}
	put("n", func() any { return json.Number(fmt.Sprint(rapid.Int64().Draw(t, "n"))) })
	put("f", func() any { return json.Number(fmt.Sprint(rapid.IntRange(-99, 99).Draw(t, "f"))) })
	put("t", func() any { return text.Draw(t, "t") })
	put("b", func() any { return rapid.Bool().Draw(t, "b") })
	put("l", func() any {
		list := []any{}
		for range rapid.IntRange(0, 3).Draw(t, "length") {
			x := maybe(json.Number(fmt.Sprint(rapid.Int8().Draw(t, "x"))))
			list = append(list, maybe(map[string]any{"x": x}))
		}
		return list
	})
	put("m", func() any {
		m := map[string]any{}
		for _, k := range rapid.SliceOfNDistinct(text, 0, 3, rapid.ID[string]).Draw(t, "keys") {
			m[k] = maybe([]any{maybe(rapid.Bool().Draw(t, "flag"))})
		}
		return m
	})
	put("i", func() any {
		m := map[string]any{}
		for _, k := range rapid.SliceOfNDistinct(rapid.Int64(), 0, 3, rapid.ID[int64]).Draw(t, "keys") {
			m[fmt.Sprint(k)] = maybe(text.Draw(t, "value"))
		}
		return m
	})
	return out
}

func TestNestedJSONComesBackAsItWas(t *testing.T) {
	schema := nestedSchemaOf(t, "id int64", "v "+nestedText+"?", "again "+nestedText)
	rapid.Check(t, func(t *rapid.T) {
		pool := column.NewDebugPool()
		d, err := JSON(schema).NewDecoder(pool)
		require.NoError(t, err)
		e, err := JSON(nil).NewEncoder(schema)
		require.NoError(t, err)
		var want []any
		for i := range rapid.IntRange(1, 6).Draw(t, "rows") {
			row := map[string]any{"id": json.Number(fmt.Sprint(i)), "v": drawNested(t), "again": drawNested(t)}
			if rapid.IntRange(0, 4).Draw(t, "null") == 0 {
				row["v"] = nil
			}
			text, err := json.MarshalIndent(row, "", strings.Repeat(" ", rapid.IntRange(0, 2).Draw(t, "indent")))
			require.NoError(t, err)
			if rapid.IntRange(0, 4).Draw(t, "bad") == 0 { // a record that is given up leaves nothing behind
				bad := []byte(strings.Replace(string(text), `"again"`, `"again":{"l":[{"x":1},{"x":"y"}]},"again"`, 1))
				require.Error(t, d.Append(bad))
			}
			if rapid.IntRange(0, 4).Draw(t, "twice") == 0 { // of a field that stands twice the last counts
				text = []byte(strings.Replace(string(text), `"again"`, `"again":{"l":[{"x":1}],"m":{"q":[]}},"again"`, 1))
			}
			require.NoError(t, d.Append(text), "%s", text)
			want = append(want, row)
		}
		b := d.Finish()
		text, err := e.Encode(nil, b)
		require.NoError(t, err)
		lines := strings.Split(strings.TrimSpace(string(text)), "\n")
		require.Len(t, lines, len(want))
		for i, line := range lines {
			var got any
			dec := json.NewDecoder(strings.NewReader(line))
			dec.UseNumber()
			require.NoError(t, dec.Decode(&got), line)
			require.Equal(t, want[i], got)
		}
		b.Release()
		d.Discard()
		require.NoError(t, pool.Check())
	})
}

func TestNestedJSONOfEveryScalar(t *testing.T) {
	schema := nestedSchemaOf(t, "v list[struct[u:uint8,f:float32,d:decimal(10,2),raw:binary,at:timestamp[ms,UTC],day:date32,t:time32[s],w:duration[ms]]]", "k map[bool,int8?]", "u map[uint16,int8]")
	d, err := JSON(schema).NewDecoder(nil)
	require.NoError(t, err)
	text := `{"v":[{"u":255,"f":0.5,"d":12.34,"raw":"AQI=","at":"2024-01-02T03:04:05.678Z","day":"2024-01-02","t":"03:04:05","w":1500}],"k":{"true":null,"false":-1},"u":{"9":8}}`
	require.NoError(t, d.Append([]byte(text)))
	require.NoError(t, d.Append([]byte(`{"v":[{"u":1e0,"f":"NaN","d":"-0.01","raw":"","at":1000,"day":0,"t":1,"w":"2s"}],"k":{},"u":{}}`)))
	b := d.Finish()
	e, err := JSON(nil).NewEncoder(schema)
	require.NoError(t, err)
	out, err := e.Encode(nil, b)
	require.NoError(t, err)
	want := text + "\n" + `{"v":[{"u":1,"f":"NaN","d":-0.01,"raw":"","at":"1970-01-01T00:00:01Z","day":"1970-01-01","t":"00:00:01","w":2000}],"k":{},"u":{}}` + "\n"
	assert.Equal(t, want, string(out))
}

func TestNestedJSONThatDoesNotSuit(t *testing.T) {
	schema := nestedSchemaOf(t, "s struct[a:int8,l:list[struct[x:float64]]?]?", "m map[int64,int64]?", "d list[decimal(4,1)?]?", "t list[timestamp[s]]?", "b list[binary]?")
	for text, want := range map[string]string{
		`{"s":5}`:                      `s: want an object, not a number: 5`,
		`{"s":{"a":"x"}}`:              `s.a: want int8, not a string: "x"`,
		`{"s":{"a":300}}`:              `s.a: out of the range of int8: 300`,
		`{"s":{}}`:                     `s.a: missing, and is not nullable: {}`,
		`{"s":{"a":null}}`:             `s.a: null, and is not nullable: null`,
		`{"s":{"a":1,"l":{}}}`:         `s.l: want an array, not an object: {}`,
		`{"s":{"a":1,"l":[{"x":[]}]}}`: `s.l[].x: want float64, not an array: []`,
		`{"s":{"a":1,"l":[null]}}`:     `s.l[]: null, and is not nullable: null`,
		`{"m":{"x":1}}`:                `m[key]: want int64`,
		`{"m":{"1":"y"}}`:              `m[]: want int64, not a string: "y"`,
		`{"m":[]}`:                     `m: want an object, not an array: []`,
		`{"d":["x"]}`:                  `d[]: want decimal(4,1), not a string that is no number: "x"`,
		`{"d":[1.25]}`:                 `d[]: more decimal places than decimal(4,1) has: 1.25`,
		`{"d":[{}]}`:                   `d[]: want decimal(4,1), not an object`,
		`{"t":["soon"]}`:               `t[]: want timestamp[s]: not an instant such as 2006-01-02T15:04:05Z`,
		`{"b":["?"]}`:                  `b[]: not base64`,
		`{"s":{"a":1}`:                 "the record ends",
		`{"s":{"a":1 "l":[]}}`:         "want , or } behind a value",
		`{"s":{a:1}}`:                  "want a quoted field name",
		`{"s":{"a" 1}}`:                "want : behind a field name",
		`{"d":[1`:                      "the record ends",
		`{"d":[1 2]}`:                  "want , or ] behind a value",
		`{"d":[nul]}`:                  "not a value",
		`{"m":{"1":}}`:                 "",
		`{"d":[,1]}`:                   "",
		`{"s":{"a":1,}}`:               "want a quoted field name",
	} {
		d, err := JSON(schema).NewDecoder(column.NewDebugPool())
		require.NoError(t, err)
		err = d.Append([]byte(text))
		require.Error(t, err, text)
		assert.Contains(t, err.Error(), want, text)
		require.NoError(t, d.Append([]byte(`{"s":{"a":1,"other":[{"q":1}]},"d":[1]}`)), "the decoder goes on")
		require.Equal(t, 1, d.Len())
		d.Discard()
	}
	d, err := JSON(schema).NewDecoder(nil)
	require.NoError(t, err)
	require.NoError(t, d.Append([]byte(`{"s":{"a":1,"other":[{"q":1}],"more":2}}`)))
	assert.Equal(t, int64(2), d.Unknown(), "fields within are counted like others")
	d, err = JSON(schema).FailUnknown().NewDecoder(nil)
	require.NoError(t, err)
	require.ErrorContains(t, d.Append([]byte(`{"s":{"a":1,"other":1}}`)), "no column for this field")
}

func TestCSVHasNoNestedColumns(t *testing.T) {
	_, err := CSV(nestedSchemaOf(t, "l list[int64]")).NewDecoder(nil)
	require.ErrorContains(t, err, "schema.l: CSV has no list[int64]; take the column apart, or use JSON")
}

// What is decoded is encoded as a text that decodes to the same again, and what is refused leaves nothing behind.
func FuzzNestedJSON(f *testing.F) {
	schema := nestedSchemaOf(f, "v "+nestedText+"?", "s struct[d:decimal(5,2)?,raw:binary?,at:timestamp[ms,UTC]?,u:uint8?,w:duration[ms]?]?")
	for _, seed := range []string{`{"v":{"n":1,"f":-0.5e3,"t":"\u00e9\n","b":true,"l":[{"x":1},null,{}],"m":{"a":[true,null]},"i":{"-5":"x"}}}`, `{"v":null}`, `{"v":{"l":[{"x":1}`, `{"v":{"m":{"a":[],"a":[false]}}}`,
		`{"s":{"d":"1.25","raw":"AQI=","at":"2024-01-02T03:04:05Z","u":255,"w":"2s"}}`, `{"s":{"d":1e2,"at":5,"u":256}}`, `{"v":{"other":[[[{}]]],"n":1}}`} {
		f.Add([]byte(seed))
	}
	e, err := JSON(nil).NewEncoder(schema)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		pool := column.NewDebugPool()
		d, err := JSON(schema).NewDecoder(pool)
		require.NoError(t, err)
		if err := d.Append(text); err != nil {
			require.Zero(t, d.Len())
			require.NoError(t, d.Append([]byte(`{"v":{"l":[{"x":7}]}}`)))
			text = []byte(`{"v":{"l":[{"x":7}]}}`)
		}
		b := d.Finish()
		once, err := e.Encode(nil, b)
		require.NoError(t, err)
		b.Release()
		require.True(t, json.Valid(once), "%s", once)
		require.NoError(t, d.Append(once), "%s from %s", once, text)
		b = d.Finish()
		twice, err := e.Encode(nil, b)
		require.NoError(t, err)
		require.Equal(t, string(once), string(twice))
		b.Release()
		d.Discard()
		require.NoError(t, pool.Check())
	})
}
