package document

import (
	"encoding/json"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestParse_givesValuesAndLines(t *testing.T) {
	d, err := Parse([]byte(`
a: 1          # comment
b: [x, 2.5, true, null, 2024-01-02]
c:
  d: &n { big: 18446744073709551615, hex: 0x10 }
  e: *n
  s: "1"
`))
	require.NoError(t, err)
	want := map[string]any{
		"a": int64(1),
		"b": []any{"x", 2.5, true, nil, "2024-01-02"},
		"c": map[string]any{
			"d": map[string]any{"big": uint64(math.MaxUint64), "hex": int64(16)},
			"e": map[string]any{"big": uint64(math.MaxUint64), "hex": int64(16)},
			"s": "1",
		},
	}
	assert.Equal(t, want, d.Value)
	assert.Equal(t, 2, d.Lines["a"])
	assert.Equal(t, 3, d.Lines["b[1]"])
	assert.Equal(t, 5, d.Lines["c.d.big"])
	assert.Equal(t, 6, d.Lines["c.e"])
}

func TestParse_readsJSONLikeYAML(t *testing.T) {
	d, err := Parse([]byte("{\n\t\"a\": [1, 1.0, \"\\ud83d\\ude00\", null],\n\t\"b\": {\"c\": false}\n}\n"))
	require.NoError(t, err)
	assert.Equal(t, map[string]any{"a": []any{int64(1), 1.0, "\U0001F600", nil}, "b": map[string]any{"c": false}}, d.Value)
	assert.Equal(t, 2, d.Lines["a[2]"])
	assert.Equal(t, 3, d.Lines["b.c"])
}

func TestParse_readsAFlowMappingThatIsNotJSON(t *testing.T) {
	d, err := Parse([]byte("{a: 1}"))
	require.NoError(t, err)
	assert.Equal(t, map[string]any{"a": int64(1)}, d.Value)
}

func TestParse_refusesWithThePlace(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"not YAML":         {"a: [1\nb: 2\n", "not YAML"},
		"not JSON":         {"{\"a\": 1,\n\"b\" 2}", "line 2"},
		"more JSON":        {"{} {}", "not JSON"},
		"second document":  {"a: 1\n---\nb: 2\n", "there is a second document"},
		"field twice":      {"a: 1\na: 2\n", `a: the field stands twice (line 2)`},
		"field twice JSON": {"{\"a\": 1,\n \"a\": 2}", `a: the field stands twice (line 2)`},
		"merge":            {"x: &x {a: 1}\ny:\n  <<: *x\n", "merge keys"},
		"tag":              {"a: !foo 1\n", `a: the tag "!foo" is not supported (line 1)`},
		"binary":           {"a: !!binary aGk=\n", "!!binary"},
		"NaN":              {"a: .nan\n", `a: ".nan" is no finite number (line 1)`},
		"large float":      {`{"a": 1e999}`, "no finite number"},
		"number key":       {"1: a\n", "not a string"},
		"large integer":    {`{"a": 99999999999999999999}`, "does not fit"},
		"alias bomb":       {"a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c]\ne: &e [*d,*d,*d,*d,*d,*d,*d,*d,*d]\nf: [*e,*e,*e,*e,*e,*e,*e,*e,*e]\n", "too large"},
		"alias of itself":  {"a: &a [*a]\n", "too large or too deep"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Parse([]byte(c.text))
			require.Error(t, err)
			assert.Contains(t, err.Error(), c.want)
		})
	}
}

func TestParse_ofNothingIsNil(t *testing.T) {
	for _, text := range []string{"", "  \n", "# only a comment\n", "---\n"} {
		d, err := Parse([]byte(text))
		require.NoError(t, err, "%q", text)
		assert.Nil(t, d.Value)
	}
}

type written struct {
	Name   string         `json:"name"`
	Gap    time.Duration  `json:"gap_ms,omitempty"`
	Config map[string]any `json:"config,omitempty"`
	List   []string       `json:"list,omitempty"`
}

func TestYAML_writesDurationsFloatsAndEmptyLists(t *testing.T) {
	b, err := YAML(written{Name: "x: y", Gap: 1500 * time.Millisecond, Config: map[string]any{"f": 1.0, "big": 1e21, "n": int64(3)}, List: []string{}})
	require.NoError(t, err)
	assert.Equal(t, "name: 'x: y'\ngap_ms: 1500\nconfig:\n  big: 1.0e+21\n  f: 1.0\n  n: 3\nlist: []\n", string(b))
	b, err = YAML(written{Gap: 1500 * time.Microsecond})
	require.NoError(t, err)
	assert.Equal(t, "name: \"\"\ngap_ms: 1.5ms\n", string(b))
}

func TestYAML_refusesWhatADocumentCannotHold(t *testing.T) {
	_, err := YAML(written{Config: map[string]any{"f": func() {}}})
	require.ErrorContains(t, err, "config: f: a func() cannot be written")
	_, err = JSON(written{Config: map[string]any{"f": math.NaN()}})
	require.ErrorContains(t, err, "NaN cannot be written")
}

// Values that were written, in either form, are read back equal, to the type.
func TestWriteAndParse_roundTrip(t *testing.T) {
	leaf := rapid.OneOf(
		rapid.String().AsAny(), rapid.Bool().AsAny(), rapid.Int64().AsAny(),
		rapid.Float64Range(-1e300, 1e300).AsAny(), rapid.Float64Range(-1e3, 1e3).AsAny(),
		rapid.Map(rapid.Int64Range(-1000, 1000), func(i int64) float64 { return float64(i) }).AsAny(),
		rapid.Uint64Range(math.MaxInt64+1, math.MaxUint64).AsAny(),
		rapid.SampledFrom([]any{nil, "", "null", "~", "true", "yes", "1", "1.0", "1e3", "0x1", "2024-01-01", ".nan", "<<", "- a", "a: b", "\t", "\u2028", "\u0085x"}))
	value := rapid.Custom(func(rt *rapid.T) any { return drawValue(rt, leaf, 3) })
	rapid.Check(t, func(rt *rapid.T) {
		v := map[string]any{"v": value.Draw(rt, "value")}
		y, err := YAML(v)
		require.NoError(rt, err)
		d, err := Parse(y)
		require.NoError(rt, err, "%s", y)
		require.Equal(rt, v, d.Value, "%s", y)
		j, err := JSON(v)
		require.NoError(rt, err)
		require.True(rt, json.Valid(j), "%s", j)
		d, err = Parse(j)
		require.NoError(rt, err, "%s", j)
		require.Equal(rt, v, d.Value, "%s", j)
	})
}

func drawValue(rt *rapid.T, leaf *rapid.Generator[any], depth int) any {
	kind := 0
	if depth > 0 {
		kind = rapid.IntRange(0, 2).Draw(rt, "kind")
	}
	switch kind {
	case 1:
		list := []any{}
		for range rapid.IntRange(0, 3).Draw(rt, "n") {
			list = append(list, drawValue(rt, leaf, depth-1))
		}
		return list
	case 2:
		m := map[string]any{}
		for range rapid.IntRange(0, 3).Draw(rt, "n") {
			m[rapid.String().Draw(rt, "key")] = drawValue(rt, leaf, depth-1)
		}
		return m
	}
	return leaf.Draw(rt, "leaf")
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"a: 1", "{\"a\":[1,{}]}", "a: &x [*x]", "? [a]\n: b", "a: !!int 'x'"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		d, err := Parse(data)
		if err != nil || d.Value == nil {
			return
		}
		y, err := YAML(d.Value)
		if err != nil {
			t.Fatal(err)
		}
		again, err := Parse(y)
		if err != nil {
			t.Fatalf("%v\n%s", err, y)
		}
		assert.Equal(t, d.Value, again.Value)
	})
}
