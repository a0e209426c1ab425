package blocks

import (
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/arkflow-go/arkflow/codec"
	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/internal/fault"
)

// Config reads the codec section of a JobSpec and gathers its faults.
type Config struct {
	path    string
	section map[string]any
	faults  fault.List
}

// NewConfig begins to read a section.
func NewConfig(path string, section map[string]any) *Config {
	return &Config{path: path, section: section}
}

// Schema gives the key schema, nil where there is none.
func (c *Config) Schema() *arrow.Schema {
	list := c.section["schema"]
	if list == nil {
		return nil
	}
	s, err := codec.ReadSchema(c.path, list)
	c.faults.Add(err)
	return s
}

// Flag gives a boolean, false where there is none.
func (c *Config) Flag(key string) bool {
	v, given := c.section[key]
	is, ok := v.(bool)
	if given && v != nil && !ok {
		c.wrong(key, "true or false", v)
	}
	return is
}

// Word gives a string, "" where there is none and for "none".
func (c *Config) Word(key string) string {
	v, given := c.section[key]
	s, ok := v.(string)
	if given && v != nil && !ok {
		c.wrong(key, "a string", v)
	}
	if s == "none" {
		return ""
	}
	return s
}

// Count gives a positive integer, 0 where there is none.
func (c *Config) Count(key string) int {
	v, given := c.section[key]
	if !given || v == nil {
		return 0
	}
	n, ok := v.(int)
	switch x := v.(type) {
	case int64:
		n, ok = int(x), true
	case uint64:
		n, ok = int(x), x < 1<<62
	case float64:
		n, ok = int(x), x == float64(int(x))
	}
	if !ok || n < 1 {
		c.wrong(key, "an integer above 0", v)
	}
	return n
}

func (c *Config) wrong(key, want string, v any) {
	c.faults.Add(&fault.Fault{Path: c.path + "." + key, Problem: fmt.Sprintf("want %s, not %v", want, v)})
}

// Err gives the faults, among them keys that are not known.
func (c *Config) Err(known ...string) error {
	c.faults.Add(codec.UnknownKeys(c.path, c.section, known...))
	return c.faults.Err()
}

// CheckSchema reports what no file can hold: no column at all, types that are not supported, doubled names.
func CheckSchema(s *arrow.Schema) error {
	var faults fault.List
	if s.NumFields() == 0 {
		faults.Add(&fault.Fault{Path: "schema", Problem: "no column", Hint: "give at least one"})
	}
	seen := map[string]bool{}
	for _, f := range s.Fields() {
		if err := column.CheckType(f.Type); err != nil {
			faults.Add(&fault.Fault{Path: "schema." + f.Name, Problem: err.Error()})
		}
		if seen[f.Name] {
			faults.Add(&fault.Fault{Path: "schema." + f.Name, Problem: "two columns have this name"})
		}
		seen[f.Name] = true
	}
	return faults.Err()
}
