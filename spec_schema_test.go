package arkflow_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/arkflow-go/arkflow"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
)

func TestSpecSchema_isTheGoldenFile(t *testing.T) {
	got, err := arkflow.SpecSchema()
	require.NoError(t, err)
	again, err := arkflow.SpecSchema()
	require.NoError(t, err)
	require.Equal(t, got, again)
	want, err := os.ReadFile(filepath.Join("testdata", "jobspec.schema.json"))
	require.NoError(t, err)
	assert.Equal(t, string(want), string(got), "if the change is meant: go run ./examples/runspec -schema > testdata/jobspec.schema.json")
}

func schema(t *testing.T) map[string]any {
	t.Helper()
	text, err := arkflow.SpecSchema()
	require.NoError(t, err)
	var s map[string]any
	require.NoError(t, json.Unmarshal(text, &s))
	return s
}

func TestSpecSchema_hasEveryFieldAndNoOther(t *testing.T) {
	defs := schema(t)["$defs"].(map[string]any)
	seen := 0
	for name, x := range defs {
		def := x.(map[string]any)
		if def["type"] != "object" {
			continue
		}
		seen++
		assert.Equal(t, false, def["additionalProperties"], name)
		for field, p := range def["properties"].(map[string]any) {
			assert.NotEmpty(t, p.(map[string]any)["description"], "%s.%s", name, field)
		}
	}
	assert.Equal(t, 12, seen)
	for _, typ := range []reflect.Type{reflect.TypeFor[arkflow.JobSpec](), reflect.TypeFor[arkflow.OperatorSpec](), reflect.TypeFor[arkflow.SourceSpec]()} {
		properties := defs[typ.Name()].(map[string]any)["properties"].(map[string]any)
		assert.Len(t, properties, typ.NumField())
		for i := range typ.NumField() {
			name, _, _ := strings.Cut(typ.Field(i).Tag.Get("json"), ",")
			assert.Contains(t, properties, name)
		}
	}
	assert.Equal(t, []any{"id", "version"}, defs["JobSpec"].(map[string]any)["required"])
	assert.Equal(t, []any{"operator_id", "input_type", "time"}, defs["SourceSpec"].(map[string]any)["required"])
}

// The samples, and what FormatSpecs writes, fit the schema; what LoadSpecs or Validate refuses by itself does not.
func TestSpecSchema_agreesWithTheChecks(t *testing.T) {
	s := schema(t)
	fits := func(text string) error {
		var doc any
		require.NoError(t, yaml.Unmarshal([]byte(text), &doc), text)
		return conforms(s, s, doc)
	}
	for _, name := range samples[1:] { // the first has a state backend that does not exist yet
		require.NoError(t, fits(string(sample(t, name))), name)
	}
	require.ErrorContains(t, fits(string(sample(t, samples[0]))), "backend")
	for _, policy := range []string{"skip", "{retry: 2, backoff_ms: 100}", "{retry: 2, backoff_ms: 1.5s, then: dead_letter, dead_letter: {output_type: drop, config: {a: 1}}}"} {
		require.NoError(t, fits(withPolicy(policy)), policy)
	}
	good := withPolicy("skip")
	for from, to := range map[string]string{
		"version: 1":            "version: one",
		"id: job\n":             "id: a b\n",
		"kind: sink":            "kidn: sink",
		"on_error: skip":        "on_error: ignore",
		"mode: processing_time": "mode: proc",
		"from: in":              "from: 5",
		"input_type: generate,": "",
		"operators:":            "nonsense:",
		"jobs:":                 "streams: [{id: a}]\njobs:",
		"{output":               "{",
	} {
		if from == "{output" {
			assert.Error(t, fits(withPolicy("{then: dead_letter, dead_letter: {outputtype: x}}")))
			continue
		}
		require.Contains(t, good, from)
		assert.Error(t, fits(strings.Replace(good, from, to, 1)), to)
	}
}

// conforms is as much of JSON Schema as SpecSchema uses.
func conforms(root, s map[string]any, x any) error {
	if r, ok := s["$ref"].(string); ok {
		if err := conforms(root, root["$defs"].(map[string]any)[strings.TrimPrefix(r, "#/$defs/")].(map[string]any), x); err != nil {
			return err
		}
	}
	if of, ok := s["oneOf"].([]any); ok {
		n := 0
		for _, o := range of {
			if conforms(root, o.(map[string]any), x) == nil {
				n++
			}
		}
		if n != 1 {
			return fmt.Errorf("%v fits %d of %d", x, n, len(of))
		}
	}
	if words, ok := s["enum"].([]any); ok && !slices.Contains(words, x) {
		return fmt.Errorf("%v is none of %v", x, words)
	}
	kind := ""
	switch v := x.(type) {
	case string:
		kind = "string"
		if p, ok := s["pattern"].(string); ok && !regexp.MustCompile(p).MatchString(v) {
			return fmt.Errorf("%q does not match %s", v, p)
		}
	case bool:
		kind = "boolean"
	case int:
		kind = "integer"
		if least, ok := s["minimum"].(float64); ok && float64(v) < least {
			return fmt.Errorf("%d is less than %v", v, least)
		}
	case float64:
		kind = "number"
	case []any:
		kind = "array"
		if most, ok := s["maxItems"].(float64); ok && float64(len(v)) > most {
			return fmt.Errorf("%d items are more than %v", len(v), most)
		}
		for i, e := range v {
			if items, ok := s["items"].(map[string]any); ok {
				if err := conforms(root, items, e); err != nil {
					return fmt.Errorf("[%d]: %w", i, err)
				}
			}
		}
	case map[string]any:
		kind = "object"
		if err := conformsObject(root, s, v); err != nil {
			return err
		}
	}
	switch want := s["type"].(type) {
	case string:
		if kind != want && !(kind == "integer" && want == "number") {
			return fmt.Errorf("%v is no %s", x, want)
		}
	case []any:
		if !slices.Contains(want, any(kind)) {
			return fmt.Errorf("%v is none of %v", x, want)
		}
	}
	return nil
}

func conformsObject(root, s, v map[string]any) error {
	required, _ := s["required"].([]any)
	for _, r := range required {
		if _, ok := v[r.(string)]; !ok {
			return fmt.Errorf("%s is missing", r)
		}
	}
	properties, _ := s["properties"].(map[string]any)
	for k, e := range v {
		p, ok := properties[k].(map[string]any)
		if !ok && s["additionalProperties"] == false {
			return fmt.Errorf("unknown field %s", k)
		}
		if ok {
			if err := conforms(root, p, e); err != nil {
				return fmt.Errorf("%s: %w", k, err)
			}
		}
	}
	return nil
}
