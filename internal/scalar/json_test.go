package scalar

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPaths(t *testing.T) {
	for text, want := range map[string][]pathStep{
		"$": nil, "$.a.b[0]": {{"a", -1}, {"b", -1}, {"", 0}}, "$['a b'][\"c\"]": {{"a b", -1}, {"c", -1}}, "plain.name": {{"plain.name", -1}}, "": {{"", -1}}, "$.é": {{"é", -1}},
	} {
		c := Call{Args: []Arg{{}, {Value: text}}}
		path, err := c.path(1)
		require.NoError(t, err, text)
		require.Equal(t, want, path, text)
	}
	for _, text := range []string{"$a", "$.", "$..a", "$[", "$[x]", "$[-1]", "$['a]", "$.a[99999999999]"} {
		c := Call{Args: []Arg{{}, {Value: text}}}
		_, err := c.path(1)
		require.Error(t, err, text)
	}
}

func TestDocumentsThatAreNoJSON(t *testing.T) {
	for _, doc := range []string{"", "{", `{"a"`, `{"a":`, `{"a":1`, `{"a":tru}`, `{a:1}`, `{"a":01}`, `{"b":"x`, `{"b":[1,"}`, `{"a":1.}`, `{"b":1;"a":2}`, `x`, `{"b":1 "a":2}`, `{"b":1,}`, "{\"a\":\"\x01\"}", `{"a":"\x"}`, `{"a":"\u12"}`} {
		out := Out{N: 1, Spans: make([]int32, 2), Mask: make([]byte, 1)}
		v, ok := follow([]byte(doc), []pathStep{{"a", -1}})
		if ok && v != nil {
			ok = out.appendJSON(0, v, true)
		}
		require.False(t, ok, doc)
	}
}

// FuzzJSON compares paths into whole documents with package json.
func FuzzJSON(f *testing.F) {
	for _, doc := range []string{`{"a":{"b":[1,"x\u00e9\ud83d\ude00",null]}}`, ` [ {"a" : -1.5e3 } , true ] `, `{"\u0061":"é"}`, `{"a":{"a":"\/"}}`, `"\ud800"`} {
		f.Add([]byte(doc))
	}
	f.Fuzz(func(t *testing.T, doc []byte) {
		for _, path := range [][]pathStep{nil, {{"a", -1}}, {{"a", -1}, {"b", -1}, {"", 1}}, {{"", 0}, {"a", -1}}} {
			v, ok := follow(doc, path)
			out := Out{N: 1, Spans: make([]int32, 2), Mask: make([]byte, 1)}
			if ok && v != nil {
				ok = out.appendJSON(0, v, true)
			}
			if !json.Valid(doc) {
				continue // it need not have been read to its end
			}
			require.True(t, ok, "%s", doc)
			if len(path) == 0 && v[0] == '"' {
				var s string
				require.NoError(t, json.Unmarshal(doc, &s))
				require.Equal(t, []rune(s), []rune(string(out.Chars)), "%s", doc)
			}
		}
	})
}
