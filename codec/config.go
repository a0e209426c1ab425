package codec

import (
	"errors"
	"fmt"
	"sort"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/arkflow-go/arkflow/internal/fault"
)

// Config is part of Format.
func (f JSONFormat) Config() (map[string]any, error) {
	if err := f.Check(); err != nil {
		return nil, err
	}
	c := map[string]any{"type": "json"}
	if f.schema != nil {
		c["schema"] = schemaConfig(f.schema)
	}
	if f.strict {
		c["unknown_fields"] = "fail"
	}
	return c, nil
}

func schemaConfig(s *arrow.Schema) []any {
	cols := make([]any, s.NumFields())
	for i, f := range s.Fields() {
		c := map[string]any{"name": f.Name, "type": TypeName(f.Type)}
		if !f.Nullable {
			c["nullable"] = false
		}
		cols[i] = c
	}
	return cols
}

// FromConfig makes a format of the codec section of a JobSpec; path is where the section stands, and begins the path of each
// fault. A section that is nil is open JSON. Its keys:
//
//	type            "json"; defaults to it
//	schema          list of {name, type, nullable}; nullable defaults to true, for type see TypeName. Defaults to being inferred
//	unknown_fields  drop (the default: dropped and counted) or fail
func FromConfig(path string, section map[string]any) (Format, error) {
	var f JSONFormat
	r := configReader{path: path, section: section}
	if kind, ok := r.text("type", "json"); ok && kind != "json" {
		u := fault.Unknown("codec", kind, []string{"json"})
		u.Path = path + ".type"
		u.Problem = fmt.Sprintf("codec %q is not registered", kind)
		return nil, u
	}
	switch mode, ok := r.text("unknown_fields", "drop"); {
	case !ok:
	case mode == "fail":
		f.strict = true
	case mode != "drop":
		r.fault("unknown_fields", fmt.Sprintf("%q is neither drop nor fail", mode))
	}
	if list, given := section["schema"]; given && list != nil {
		f.schema = r.schema(list)
	}
	r.noOther("type", "schema", "unknown_fields")
	if err := r.faults.Err(); err != nil {
		return nil, err
	}
	return f, f.Check()
}

// configReader gathers the faults of a section.
type configReader struct {
	path    string
	section map[string]any
	faults  fault.List
}

func (r *configReader) fault(key, problem string) {
	r.faults.Add(&fault.Fault{Path: r.path + "." + key, Problem: problem})
}

// text gives a string, or its default; ok is false after a fault.
func (r *configReader) text(key, normal string) (s string, ok bool) {
	v, given := r.section[key]
	if !given || v == nil {
		return normal, true
	}
	if s, ok = v.(string); !ok {
		r.fault(key, fmt.Sprintf("want a string, not %v", v))
	}
	return s, ok
}

func (r *configReader) noOther(known ...string) {
	var other []string
	for k := range r.section {
		found := false
		for _, n := range known {
			found = found || n == k
		}
		if !found {
			other = append(other, k)
		}
	}
	sort.Strings(other)
	for _, k := range other {
		u := fault.Unknown("field", k, known)
		u.Path = r.path + "." + k
		u.Problem = fmt.Sprintf("unknown field %q", k)
		r.faults.Add(u)
	}
}

// schema reads a list of columns; nil after a fault.
func (r *configReader) schema(v any) *arrow.Schema {
	list, ok := v.([]any)
	if !ok {
		r.fault("schema", fmt.Sprintf("want a list of {name, type}, not %v", v))
		return nil
	}
	before := r.faults.Len()
	cols := make([]arrow.Field, len(list))
	for i, e := range list {
		key := fmt.Sprintf("schema[%d]", i)
		m, ok := e.(map[string]any)
		if !ok {
			r.fault(key, fmt.Sprintf("want {name, type}, not %v", e))
			continue
		}
		c := configReader{path: r.path + "." + key, section: m}
		cols[i] = c.column()
		r.faults.Add(c.faults.Err())
	}
	if r.faults.Len() > before {
		return nil
	}
	return arrow.NewSchema(cols, nil)
}

func (r *configReader) column() (f arrow.Field) {
	f.Nullable = true
	name, named := r.text("name", "")
	if _, given := r.section["name"]; named && !given {
		r.fault("name", "is missing")
	}
	f.Name = name
	word, ok := r.text("type", "")
	switch {
	case !ok:
	case word == "":
		r.fault("type", "is missing")
	default:
		t, err := ParseType(word)
		var flt *fault.Fault
		if errors.As(err, &flt) {
			flt.Path = r.path + ".type"
		}
		r.faults.Add(err)
		f.Type = t
	}
	if v, given := r.section["nullable"]; given {
		if f.Nullable, ok = v.(bool); !ok {
			r.fault("nullable", fmt.Sprintf("want true or false, not %v", v))
		}
	}
	r.noOther("name", "type", "nullable")
	return f
}
