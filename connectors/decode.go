package connectors

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"sort"
	"strings"
	"time"

	"github.com/arkflow-go/arkflow/internal/fault"
	"github.com/hashicorp/go-multierror"
)

// Decoder is a type that takes its value from a spec by itself. DecodeSpec is called with a value as in Params.Config; its
// error is told with the value's path, before the path of each fault where it holds faults.
type Decoder interface{ DecodeSpec(x any) error }

// DecodeMap fills the struct that into points to from a map, strictly. Every key must be the `json` tag of a field (an
// unknown one is a fault that names the nearest), and every value must fit its field's type:
//
//   - bool, string, all integers (in range) and floats (an integer fits a float) by value;
//   - time.Duration: a Go duration such as "500ms"; in a field whose name ends in "_ms" also an integer of milliseconds;
//   - slices, maps with string keys, structs and pointers of these; any takes whatever stands there.
//
// A type may be a Decoder instead. An embedded struct's fields count as the outer one's. A key that is absent or null leaves its field as it is, so defaults
// may be set before the call. All faults come back together, each with path + "." + key.
func DecodeMap(path string, m map[string]any, into any) error {
	v := reflect.ValueOf(into)
	if v.Kind() != reflect.Pointer || v.IsNil() || v.Elem().Kind() != reflect.Struct {
		return &fault.Fault{Path: path, Problem: fmt.Sprintf("decode into %T: need a pointer to a struct", into)}
	}
	d := decoder{}
	d.structure(path, m, v.Elem())
	return d.faults.Err()
}

type decoder struct{ faults fault.List }

func (d *decoder) fault(path, format string, args ...any) {
	d.faults.Add(&fault.Fault{Path: path, Problem: fmt.Sprintf(format, args...)})
}

// below adds what is wrong within the value at path.
func (d *decoder) below(path string, err error) {
	var many *multierror.Error
	var f *fault.Fault
	switch {
	case err == nil:
	case errors.As(err, &many):
		for _, e := range many.Errors {
			d.below(path, e)
		}
	case errors.As(err, &f):
		c := *f
		c.Path = join(path, f.Path)
		if f.Path == "" {
			c.Path = path
		}
		d.faults.Add(&c)
	default:
		d.fault(path, "%v", err)
	}
}

func (d *decoder) structure(path string, m map[string]any, v reflect.Value) {
	fields := map[string]reflect.Value{}
	collectFields(v, fields)
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	for _, k := range keys {
		f, ok := fields[k]
		if !ok {
			names := make([]string, 0, len(fields))
			for n := range fields {
				names = append(names, n)
			}
			u := fault.Unknown("field", k, names)
			u.Path = join(path, k)
			u.Problem = fmt.Sprintf("unknown field %q", k)
			d.faults.Add(u)
			continue
		}
		d.value(join(path, k), k, m[k], f)
	}
}

// collectFields gathers the settable fields of a struct by their json name.
func collectFields(v reflect.Value, into map[string]reflect.Value) {
	t := v.Type()
	for i := 0; i < t.NumField(); i++ {
		f := t.Field(i)
		if f.Anonymous && f.Type.Kind() == reflect.Struct {
			collectFields(v.Field(i), into)
			continue
		}
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if !f.IsExported() || name == "" || name == "-" {
			continue
		}
		into[name] = v.Field(i)
	}
}

var durationType = reflect.TypeFor[time.Duration]()

func (d *decoder) value(path, name string, x any, v reflect.Value) {
	if x == nil {
		return
	}
	if v.CanAddr() {
		if own, ok := v.Addr().Interface().(Decoder); ok {
			d.below(path, own.DecodeSpec(x))
			return
		}
	}
	if v.Type() == durationType {
		d.duration(path, name, x, v)
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		p := reflect.New(v.Type().Elem())
		d.value(path, name, x, p.Elem())
		v.Set(p)
	case reflect.Interface:
		if v.NumMethod() != 0 {
			d.fault(path, "cannot be given in a spec")
			return
		}
		v.Set(reflect.ValueOf(x))
	case reflect.Struct:
		if m, ok := x.(map[string]any); ok {
			d.structure(path, m, v)
			return
		}
		d.wrong(path, "a mapping", x)
	case reflect.Slice:
		d.slice(path, name, x, v)
	case reflect.Map:
		d.mapping(path, name, x, v)
	default:
		d.scalar(path, x, v)
	}
}

func (d *decoder) slice(path, name string, x any, v reflect.Value) {
	list, ok := x.([]any)
	if !ok {
		d.wrong(path, "a list", x)
		return
	}
	s := reflect.MakeSlice(v.Type(), len(list), len(list))
	for i, e := range list {
		d.value(fmt.Sprintf("%s[%d]", path, i), name, e, s.Index(i))
	}
	v.Set(s)
}

func (d *decoder) mapping(path, name string, x any, v reflect.Value) {
	m, ok := x.(map[string]any)
	if !ok || v.Type().Key().Kind() != reflect.String {
		d.wrong(path, "a mapping", x)
		return
	}
	out := reflect.MakeMapWithSize(v.Type(), len(m))
	for k, e := range m {
		ev := reflect.New(v.Type().Elem()).Elem()
		d.value(join(path, k), name, e, ev)
		out.SetMapIndex(reflect.ValueOf(k).Convert(v.Type().Key()), ev)
	}
	v.Set(out)
}

func (d *decoder) scalar(path string, x any, v reflect.Value) {
	switch v.Kind() {
	case reflect.Bool:
		if b, ok := x.(bool); ok {
			v.SetBool(b)
			return
		}
		d.wrong(path, "true or false", x)
	case reflect.String:
		if s, ok := x.(string); ok {
			v.SetString(s)
			return
		}
		d.wrong(path, "a string", x)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		n, ok := integer(x)
		if !ok {
			d.wrong(path, "an integer", x)
		} else if v.OverflowInt(n) {
			d.fault(path, "%d does not fit in %s", n, v.Kind())
		} else {
			v.SetInt(n)
		}
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		d.unsigned(path, x, v)
	case reflect.Float32, reflect.Float64:
		f, ok := float(x)
		if !ok {
			d.wrong(path, "a number", x)
		} else {
			v.SetFloat(f)
		}
	default:
		d.fault(path, "cannot be given in a spec (its Go type is %s)", v.Type())
	}
}

func (d *decoder) unsigned(path string, x any, v reflect.Value) {
	u, ok := x.(uint64)
	if !ok {
		n, isInt := integer(x)
		if !isInt || n < 0 {
			d.wrong(path, "an integer >= 0", x)
			return
		}
		u = uint64(n)
	}
	if v.OverflowUint(u) {
		d.fault(path, "%d does not fit in %s", u, v.Kind())
		return
	}
	v.SetUint(u)
}

func (d *decoder) duration(path, name string, x any, v reflect.Value) {
	if s, ok := x.(string); ok {
		t, err := time.ParseDuration(s)
		if err != nil {
			d.wrong(path, "a duration such as 500ms or 2m", x)
			return
		}
		v.SetInt(int64(t))
		return
	}
	n, ok := integer(x)
	switch {
	case !ok:
		d.wrong(path, "a duration such as 500ms or 2m", x)
	case !strings.HasSuffix(name, "_ms"):
		d.fault(path, "%d has no unit; write a duration such as %dms", n, n)
	case n > math.MaxInt64/int64(time.Millisecond) || n < math.MinInt64/int64(time.Millisecond):
		d.fault(path, "%d ms is out of range", n)
	default:
		v.SetInt(n * int64(time.Millisecond))
	}
}

func (d *decoder) wrong(path, want string, x any) {
	d.fault(path, "want %s, not %s", want, describe(x))
}

func describe(x any) string {
	switch t := x.(type) {
	case string:
		if len(t) > 40 {
			t = t[:40] + "…"
		}
		return fmt.Sprintf("%q", t)
	case []any:
		return "a list"
	case map[string]any:
		return "a mapping"
	}
	return fmt.Sprint(x)
}

func integer(x any) (int64, bool) {
	switch n := x.(type) {
	case int:
		return int64(n), true
	case int64:
		return n, true
	case uint64:
		return int64(n), n <= math.MaxInt64
	case float64:
		return int64(n), n == math.Trunc(n) && math.Abs(n) < 1<<53
	}
	return 0, false
}

func float(x any) (float64, bool) {
	switch n := x.(type) {
	case float64:
		return n, true
	case int:
		return float64(n), true
	case int64:
		return float64(n), true
	case uint64:
		return float64(n), true
	}
	return 0, false
}
