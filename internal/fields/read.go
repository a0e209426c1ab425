package fields

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/arkflow-go/arkflow/internal/fault"
)

// Known reports the fields of a config that are not among those that an operator has.
func Known(faults *fault.List, config map[string]any, path string, known ...string) {
	for _, k := range slices.Sorted(maps.Keys(config)) {
		if !slices.Contains(known, k) {
			f := fault.Unknown("field", k, known)
			f.Path, f.Problem = path+"."+k, fmt.Sprintf("unknown field %q", k)
			faults.Add(f)
		}
	}
}

// Exactly is Known, and reports the fields that are missing.
func Exactly(faults *fault.List, config map[string]any, path string, needed ...string) {
	Known(faults, config, path, needed...)
	for _, k := range needed {
		if config[k] == nil {
			faults.Add(&fault.Fault{Path: path + "." + k, Problem: "is missing"})
		}
	}
}

// Text gives a string; nil gives "".
func Text(faults *fault.List, v any, path string) string {
	s, ok := v.(string)
	if !ok && v != nil {
		faults.Add(&fault.Fault{Path: path, Problem: fmt.Sprintf("want a name, not %v", v)})
	}
	return s
}

// Columns gives a list of column names; nil gives none.
func Columns(faults *fault.List, v any, path string) []string {
	list, ok := v.([]any)
	if !ok {
		if v != nil {
			faults.Add(&fault.Fault{Path: path, Problem: fmt.Sprintf("want a list of column names, not %v", v)})
		}
		return nil
	}
	out := make([]string, 0, len(list))
	for i, e := range list {
		s, ok := e.(string)
		if !ok {
			faults.Add(&fault.Fault{Path: fmt.Sprintf("%s[%d]", path, i), Problem: fmt.Sprintf("want a column name, not %v", e)})
			continue
		}
		out = append(out, s)
	}
	return out
}

// List is the inverse of Columns.
func List(names []string) []any {
	out := make([]any, len(names))
	for i, n := range names {
		out[i] = n
	}
	return out
}

// Millis gives a duration: whole milliseconds, or a Go duration as text; nil gives 0.
func Millis(faults *fault.List, v any, path string) time.Duration {
	switch x := v.(type) {
	case nil:
		return 0
	case string:
		if d, err := time.ParseDuration(x); err == nil {
			return d
		}
	default:
		if n, ok := whole(v); ok && n >= math.MinInt64/1_000_000 && n <= math.MaxInt64/1_000_000 {
			return time.Duration(n) * time.Millisecond
		}
	}
	faults.Add(&fault.Fault{Path: path, Problem: fmt.Sprintf("want milliseconds, not %v", v), Hint: `write a whole number, or a duration such as "500ms"`})
	return 0
}

// OfMillis is the inverse of Millis.
func OfMillis(d time.Duration) any {
	if d%time.Millisecond == 0 {
		return d.Milliseconds()
	}
	return d.String()
}

// Whole gives an integer; nil gives 0.
func Whole(faults *fault.List, v any, path string) int {
	n, ok := whole(v)
	if v != nil && (!ok || n != int64(int(n))) {
		faults.Add(&fault.Fault{Path: path, Problem: fmt.Sprintf("want a whole number, not %v", v)})
		return 0
	}
	return int(n)
}

// whole gives an integer of a document.
func whole(v any) (int64, bool) {
	switch x := v.(type) {
	case int:
		return int64(x), true
	case int64:
		return x, true
	case uint64:
		return int64(x), x <= math.MaxInt64
	case float64:
		return int64(x), x == math.Trunc(x) && math.Abs(x) < 1<<63
	}
	return 0, false
}

// Bool gives a truth value; nil gives false.
func Bool(faults *fault.List, v any, path string) bool {
	b, ok := v.(bool)
	if !ok && v != nil {
		faults.Add(&fault.Fault{Path: path, Problem: fmt.Sprintf("want true or false, not %v", v)})
	}
	return b
}
