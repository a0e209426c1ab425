package codec

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func infer(records ...string) (string, error) {
	var all [][]byte
	for _, r := range records {
		all = append(all, []byte(r))
	}
	s, err := InferJSON(all...)
	if err != nil {
		return "", err
	}
	out := ""
	for _, f := range s.Fields() {
		out += fmt.Sprintf("%s:%s:%t ", f.Name, TypeName(f.Type), f.Nullable)
	}
	return out, nil
}

func TestInfer_kinds(t *testing.T) {
	for _, c := range []struct {
		records []string
		want    string
	}{
		{[]string{`{"b":true,"i":1,"f":1.5,"s":"x","n":null}`}, "b:bool:true i:int64:true f:float64:true s:string:true n:string:true "},
		{[]string{`{"z":1}`, `{"a":1,"z":2}`}, "z:int64:true a:int64:true "},
		{[]string{`{"v":1}`, `{"v":2.5}`, `{"v":3}`}, "v:float64:true "},
		{[]string{`{"v":null}`, `{"v":false}`, `{}`}, "v:bool:true "},
		{[]string{`{"v":9223372036854775807}`, `{"v":-9223372036854775808}`}, "v:int64:true "},
		{[]string{`{"v":9223372036854775808}`}, "v:float64:true "},
		{[]string{`{"v":1.0}`}, "v:float64:true "},
		{[]string{`{"v":1e2}`}, "v:float64:true "},
		{[]string{`{"o":{"x":1},"v":1,"l":[1]}`, `{"o":null}`}, "v:int64:true "},
		{[]string{`{"a\u0062":1}`, `{ "ab" : 2 , "c" : "x" }`}, "ab:int64:true c:string:true "},
		{[]string{`{}`}, ""},
		{nil, ""},
	} {
		have, err := infer(c.records...)
		require.NoError(t, err)
		assert.Equal(t, c.want, have, c.records)
	}
}

func TestInfer_contradictionsNameFieldAndBothLines(t *testing.T) {
	_, err := infer(`{"a":1}`, `{"v":"x"}`, `{}`, `{"v":1.5}`)
	assert.EqualError(t, err, `field "v" is a string at line 2 and a number at line 4; give the schema`)
	_, err = infer(`{"v":{}}`, `{"v":true}`)
	assert.EqualError(t, err, `field "v" is an object or array at line 1 and a boolean at line 2; give the schema`)
	_, err = infer(`{"v":1,"v":"x"}`)
	assert.EqualError(t, err, `field "v" is a number at line 1 and a string at line 1; give the schema`)

	in := JSON(nil).NewInference()
	require.NoError(t, in.Add([]byte(`{"v":1}`), Place{"a.jsonl", 7}))
	assert.EqualError(t, in.Add([]byte(`{"v":"x"}`), Place{"b.jsonl", 1}),
		`field "v" is a number at a.jsonl line 7 and a string at b.jsonl line 1; give the schema`)
}

func TestInfer_malformedRecords(t *testing.T) {
	for in, want := range map[string]string{
		`[1]`:       `line 1: not a JSON object: [1]`,
		``:          `line 1: not a JSON object`,
		`{"a":1} x`: `line 1: text behind the record: {"a":1} x`,
		`{"a":01}`:  `line 1: not a number: {"a":01}`,
		`{"a":1`:    `line 1: the record ends within a value: {"a":1`,
	} {
		_, err := infer(in)
		assert.EqualError(t, err, want)
	}
}

func TestInfer_tellsWhatItLeftOut(t *testing.T) {
	in := JSON(nil).NewInference()
	require.NoError(t, in.Add([]byte(`{"o":{},"v":1,"l":[]}`), Place{}))
	assert.Equal(t, []string{"o", "l"}, in.Omitted())
	assert.Equal(t, 1, in.Len())
}

func TestInfer_boundsTheNumberOfFields(t *testing.T) {
	in := JSON(nil).NewInference()
	var err error
	for i := 0; err == nil && i < 10_000; i++ {
		err = in.Add(fmt.Appendf(nil, `{"f%d":1}`, i), Place{Line: int64(i) + 1})
	}
	assert.EqualError(t, err, "line 4097: more than 4096 different fields; give the schema")
}
