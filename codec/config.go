package codec

import (
	"errors"
	"fmt"
	"maps"
	"slices"

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
		c["schema"] = SchemaConfig(f.schema)
	}
	if f.strict {
		c["unknown_fields"] = "fail"
	}
	return c, nil
}

// Config is part of Format.
func (f CSVFormat) Config() (map[string]any, error) {
	if err := f.Check(); err != nil {
		return nil, err
	}
	c := map[string]any{"type": "csv"}
	if f.schema != nil {
		c["schema"] = SchemaConfig(f.schema)
	}
	if f.strict {
		c["unknown_fields"] = "fail"
	}
	if f.noHeader {
		c["header"] = false
	}
	if g := f.grammar(); g.delim != ',' {
		c["delimiter"] = string(rune(g.delim))
	}
	if g := f.grammar(); g.quote != '"' {
		c["quote"] = string(rune(g.quote))
	}
	if f.null != "" {
		c["null"] = f.null
	}
	return c, nil
}

// SchemaConfig gives a schema as a list of {name, type, nullable}, which ReadSchema reads back. nullable is left out where it is true.
func SchemaConfig(s *arrow.Schema) []any {
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

// ReadSchema reads what SchemaConfig gives; path begins the path of each fault.
func ReadSchema(path string, list any) (*arrow.Schema, error) {
	r := configReader{path: path}
	s := r.schema(list)
	return s, r.faults.Err()
}

// Kinds names the formats that FromConfig knows.
func Kinds() []string { return []string{"csv", "json"} }

// FromConfig makes a format of the codec section of a JobSpec; path is where the section stands, and begins the path of each
// fault. A section that is nil is open JSON. Its keys:
//
//	type            json (the default) or csv
//	schema          list of {name, type, nullable}; nullable defaults to true, for type see TypeName. Defaults to being inferred
//	unknown_fields  drop (the default: dropped and counted) or fail
//
// and of csv, for which see CSVFormat:
//
//	header          whether files begin with the names of the columns. Defaults to true
//	delimiter       what stands between fields, one character. Defaults to ","
//	quote           what stands around fields, one character. Defaults to the double quote
//	null            the text that stands for null. Defaults to the empty text
func FromConfig(path string, section map[string]any) (Format, error) {
	r := configReader{path: path, section: section}
	kind, ok := r.text("type", "json")
	var f Format
	switch {
	case kind == "json" || !ok:
		f = r.json()
	case kind == "csv":
		f = r.csv()
	default:
		return nil, NotRegistered(path, kind, Kinds())
	}
	if err := r.faults.Err(); err != nil {
		return nil, err
	}
	return f, fault.Prefix(path+".", f.Check())
}

// NotRegistered is the fault of a kind of format that is not among the known ones.
func NotRegistered(path, kind string, known []string) error {
	u := fault.Unknown("codec", kind, known)
	u.Path = path + ".type"
	u.Problem = fmt.Sprintf("codec %q is not registered", kind)
	if pkg, ours := linkable[kind]; ours {
		u.Hint = fmt.Sprintf("import %q and call its Register with the registry", pkg)
	}
	return u
}

// linkable are the formats of ours that a program has only if it asks for them.
var linkable = map[string]string{"parquet": "github.com/arkflow-go/arkflow/codec/parquet"}

func (r *configReader) json() Format {
	f := JSONFormat{schema: r.openSchema(), strict: r.failUnknown()}
	r.noOther("type", "schema", "unknown_fields")
	return f
}

func (r *configReader) csv() Format {
	f := CSVFormat{schema: r.openSchema(), strict: r.failUnknown(), noHeader: !r.flag("header", true)}
	f.delim, f.quote = r.char("delimiter"), r.char("quote")
	if v, given := r.section["null"]; given && v == nil {
		r.fault("null", "want a text, not null, which is what NULL and ~ are in YAML; write it in quotes: \"NULL\"")
	}
	f.null, _ = r.text("null", "")
	r.noOther("type", "schema", "unknown_fields", "header", "delimiter", "quote", "null")
	return f
}

// openSchema gives the schema of the section, nil where it has none.
func (r *configReader) openSchema() *arrow.Schema {
	if list, given := r.section["schema"]; given && list != nil {
		return r.schema(list)
	}
	return nil
}

func (r *configReader) failUnknown() bool {
	mode, ok := r.text("unknown_fields", "drop")
	if ok && mode != "drop" && mode != "fail" {
		r.fault("unknown_fields", fmt.Sprintf("%q is neither drop nor fail", mode))
	}
	return mode == "fail"
}

// flag gives a boolean, or its default.
func (r *configReader) flag(key string, normal bool) bool {
	v, given := r.section[key]
	if !given || v == nil {
		return normal
	}
	is, ok := v.(bool)
	if !ok {
		r.fault(key, fmt.Sprintf("want true or false, not %v", v))
	}
	return is
}

// char gives a text of one ASCII character, 0 where there is none.
func (r *configReader) char(key string) byte {
	s, ok := r.text(key, "")
	if _, given := r.section[key]; !ok || !given {
		return 0
	}
	if len(s) != 1 {
		r.fault(key, fmt.Sprintf("want one ASCII character, not %q", s))
		return 0
	}
	return s[0]
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
	r.faults.Add(UnknownKeys(r.path, r.section, known...))
}

// UnknownKeys reports the keys of a section that are not among the known ones, each with the nearest; path begins the path of each fault.
func UnknownKeys(path string, section map[string]any, known ...string) error {
	var faults fault.List
	for _, k := range slices.Sorted(maps.Keys(section)) {
		if slices.Contains(known, k) {
			continue
		}
		u := fault.Unknown("field", k, known)
		u.Path = path + "." + k
		u.Problem = fmt.Sprintf("unknown field %q", k)
		faults.Add(u)
	}
	return faults.Err()
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
