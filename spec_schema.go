package arkflow

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"time"
)

// SpecSchema gives the JSON Schema (draft 2020-12) of the documents that LoadSpecs reads, the same bytes at each call. It knows fields,
// types, words and ranges; what components say of their config, and the shape of the graph, are a matter of FromSpec. A field that is null
// counts as absent to LoadSpecs and is refused by the schema.
func SpecSchema() ([]byte, error) {
	g := schemaWriter{notes: specNotes(), defs: map[string]any{}}
	job := g.value("", reflect.TypeFor[JobSpec]())
	doc := map[string]any{
		"$schema":              "https://json-schema.org/draft/2020-12/schema",
		"title":                "ArkFlow jobs, " + SpecAPI,
		"type":                 "object",
		"additionalProperties": false,
		"required":             []string{"jobs"},
		"properties": map[string]any{
			"jobs":    map[string]any{"type": "array", "minItems": 1, "items": job, "description": "the jobs of the document"},
			"streams": map[string]any{"type": "array", "maxItems": 0, "description": "must be empty: the Stream API is not built"},
		},
		"$defs": g.defs,
	}
	if g.err != nil {
		return nil, g.err
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(doc); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// schemaWriter makes the schema of the types of a spec.
type schemaWriter struct {
	notes map[string]specNote
	defs  map[string]any
	err   error
}

// value gives the schema of a type; name is that of the field.
func (g *schemaWriter) value(name string, t reflect.Type) map[string]any {
	switch t {
	case reflect.TypeFor[time.Duration]():
		g.defs["Duration"] = map[string]any{"type": []string{"integer", "string"}, "pattern": `^[+-]?([0-9.]+(ns|us|µs|μs|ms|s|m|h))+$|^[+-]?0$`,
			"description": "whole milliseconds, or a Go duration such as 500ms or 2m"}
		return ref("Duration")
	case reflect.TypeFor[SpecKey]():
		return map[string]any{"type": []string{"string", "array"}, "items": map[string]any{"type": "string"}}
	case reflect.TypeFor[ErrorSpec]():
		words := map[string]any{"enum": specWords("ErrorSpec.then")}
		return map[string]any{"oneOf": []any{words, g.structure(t)}}
	}
	switch t.Kind() {
	case reflect.Pointer:
		return g.value(name, t.Elem())
	case reflect.Struct:
		return g.structure(t)
	case reflect.Slice:
		return map[string]any{"type": "array", "items": g.value(name, t.Elem())}
	case reflect.Map:
		return map[string]any{"type": "object"}
	case reflect.String:
		return map[string]any{"type": "string"}
	case reflect.Bool:
		return map[string]any{"type": "boolean"}
	case reflect.Int, reflect.Int64:
		return map[string]any{"type": "integer"}
	case reflect.Float64:
		return map[string]any{"type": "number"}
	}
	g.err = fmt.Errorf("schema of the spec: field %q: a %s has no schema", name, t)
	return nil
}

// structure defines the schema of a struct once and refers to it.
func (g *schemaWriter) structure(t reflect.Type) map[string]any {
	if _, known := g.defs[t.Name()]; known {
		return ref(t.Name())
	}
	g.defs[t.Name()] = nil // it may contain itself
	properties, required := map[string]any{}, []string{}
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		key := t.Name() + "." + name
		note, known := g.notes[key]
		if !known {
			g.err = fmt.Errorf("schema of the spec: the field %s has no description", key)
		}
		p := g.value(name, f.Type)
		p["description"] = note.text
		if note.least != nil {
			p["minimum"] = *note.least
		}
		if note.id {
			p["pattern"] = "^[A-Za-z0-9_-]{1,128}$"
		}
		if words := specWords(key); words != nil {
			p["enum"] = words
		}
		properties[name] = p
		if !strings.Contains(options, "omitempty") || note.required {
			required = append(required, name)
		}
	}
	def := map[string]any{"type": "object", "additionalProperties": false, "properties": properties}
	if len(required) > 0 {
		def["required"] = required
	}
	g.defs[t.Name()] = def
	return ref(t.Name())
}

func ref(def string) map[string]any { return map[string]any{"$ref": "#/$defs/" + def} }

// specWords gives the words that a field takes, named by struct and field; nil where it takes any.
func specWords(field string) []string {
	return map[string][]string{
		"JobSpec.api":            {SpecAPI},
		"JobSpec.placement":      {"colocated", "split"},
		"JobSpec.recovery":       {"latest_checkpoint", "none"},
		"RebalanceSpec.mode":     {"off", "auto"},
		"ErrorSpec.then":         {"fail", "skip", "dead_letter"},
		"TimeSpec.mode":          {"event_time", "ingestion_time", "processing_time"},
		"WatermarkSpec.strategy": {"bounded_out_of_orderness"},
		"StateSpec.backend":      {"memory"},
	}[field]
}
