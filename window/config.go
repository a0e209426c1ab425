package window

import (
	"encoding/json"
	"fmt"
	"math"
	"sort"
	"time"

	"github.com/arkflow-go/arkflow/internal/fault"
	"github.com/arkflow-go/arkflow/operator"
)

// Config gives the operator as the config of a JobSpec, which FromConfig reads. Defaults are left out.
func (d *description) Config() (map[string]any, error) {
	a := d.assigner
	for _, v := range []time.Duration{a.size, a.slide, a.lateness, a.offset} {
		if v%time.Millisecond != 0 {
			return nil, &fault.Fault{Path: "window", Problem: fmt.Sprintf("duration %q is not a whole number of milliseconds", v)}
		}
	}
	c := map[string]any{"type": "tumbling", "size_ms": a.size.Milliseconds()}
	if a.sliding {
		c["type"], c["slide_ms"] = "sliding", a.slide.Milliseconds()
	}
	if a.lateness != 0 {
		c["lateness_ms"] = a.lateness.Milliseconds()
	}
	if a.offset != 0 {
		c["offset_ms"] = a.offset.Milliseconds()
	}
	if a.maxSet {
		c["max_buffered_keys"] = int64(a.maxKeys)
	}
	switch {
	case a.unbounded:
		c["on_full"] = "unbounded"
	case a.full == Fail:
		c["on_full"] = "fail"
	}
	if a.late == Route {
		c["late_policy"] = "route"
	}
	aggs := make([]any, 0, len(d.aggregates))
	for _, g := range d.aggregates {
		m, err := g.config()
		if err != nil {
			return nil, err
		}
		aggs = append(aggs, m)
	}
	c["aggregates"] = aggs
	return c, nil
}

// FromConfig gives the window operator of a JobSpec's config:
//
//	type: tumbling            # tumbling (default) or sliding
//	size_ms: 60000            # or a duration: 1m; so all fields in _ms
//	slide_ms: 1000            # sliding only
//	offset_ms: 0              # default 0
//	lateness_ms: 0            # default 0: no corrections
//	max_buffered_keys: 65536  # default 65536
//	on_full: evict            # evict (default), fail or unbounded
//	late_policy: drop         # drop (default), route, or update: as drop, but lateness_ms must be given
//	aggregates:
//	  - { function: count, as: orders }            # function: count, sum, min, max, avg, first, last, argmin or argmax
//	  - { function: sum, column: amount, as: total }
//	  - { function: sum, expr: <expression>, where: <condition>, as: large }     # see package expr for their form
//	  - { function: argmax, column: price, values: [auction, bidder], ties: true } # values: names, or {as: name, expr: <expression>}
//
// A field that is unknown or of another type is a fault that names it; all faults come back together.
func FromConfig(config map[string]any) (operator.Operator, error) {
	r := &configReader{left: config}
	d := &description{}
	switch t := r.text("type", "tumbling"); t {
	case "tumbling":
		d.assigner = Tumbling(r.millis("size_ms", true))
		if _, given := r.left["slide_ms"]; given {
			r.fail("slide_ms", "tumbling windows have no slide", "say type: sliding, or leave it out")
		}
	case "sliding":
		d.assigner = Sliding(r.millis("size_ms", true), r.millis("slide_ms", true))
	default:
		r.unknown("type", "window type", t, "tumbling", "sliding")
		d.assigner = Tumbling(r.millis("size_ms", true))
	}
	d.assigner = d.assigner.Offset(r.millis("offset_ms", false)).Lateness(r.millis("lateness_ms", false))
	if n, ok := r.integer("max_buffered_keys"); ok {
		d.assigner = d.assigner.MaxBufferedKeys(int(n))
	}
	switch p := r.text("on_full", "evict"); p {
	case "evict":
	case "fail":
		d.assigner.full = Fail
	case "unbounded":
		if d.assigner.maxSet {
			r.fail("on_full", `"unbounded" contradicts max_buffered_keys`, "give one of the two")
		}
		d.assigner = d.assigner.Unbounded()
	default:
		r.unknown("on_full", "policy", p, "evict", "fail", "unbounded")
	}
	switch p := r.text("late_policy", "drop"); p {
	case "drop":
	case "route":
		d.assigner.late = Route
	case "update":
		if d.assigner.lateness == 0 {
			r.fail("late_policy", `"update" needs allowed lateness`, `give lateness_ms, or use "drop" or "route"`)
		}
	default:
		r.unknown("late_policy", "late policy", p, "drop", "route", "update")
	}
	d.aggregates = r.aggregates()
	r.rest("config", "type", "size_ms", "slide_ms", "offset_ms", "lateness_ms", "max_buffered_keys", "on_full", "late_policy", "aggregates")
	if err := r.faults.Err(); err != nil {
		return nil, err
	}
	return d, nil
}

// configReader takes typed fields out of a decoded JSON or YAML object and gathers what is wrong.
type configReader struct {
	left   map[string]any
	path   string // of the object, "" for config itself
	faults fault.List
}

func (r *configReader) at(field string) string {
	if r.path == "" {
		return "config." + field
	}
	return r.path + "." + field
}

func (r *configReader) fail(field, problem, hint string) {
	r.faults.Add(&fault.Fault{Path: r.at(field), Problem: problem, Hint: hint})
}

func (r *configReader) unknown(field, what, got string, known ...string) {
	f := fault.Unknown(what, got, known)
	f.Path = r.at(field)
	r.faults.Add(f)
}

func (r *configReader) text(field, def string) string {
	v, ok := r.left[field]
	if !ok {
		return def
	}
	s, ok := v.(string)
	if !ok {
		r.fail(field, fmt.Sprintf("%v is not a text", v), "")
		return def
	}
	return s
}

// integer takes a whole number in any form that JSON and YAML decoders give.
func (r *configReader) integer(field string) (int64, bool) {
	v, ok := r.left[field]
	if !ok {
		return 0, false
	}
	switch x := v.(type) {
	case int:
		return int64(x), true
	case int64:
		return x, true
	case uint64:
		if x <= math.MaxInt64 {
			return int64(x), true
		}
	case float64:
		if x == math.Trunc(x) && math.Abs(x) < 1<<53 {
			return int64(x), true
		}
	case json.Number:
		if n, err := x.Int64(); err == nil {
			return n, true
		}
	}
	r.fail(field, fmt.Sprintf("%v is not a whole number", v), "")
	return 0, false
}

// millis takes a number of milliseconds, or a duration such as "1m".
func (r *configReader) millis(field string, required bool) time.Duration {
	if text, ok := r.left[field].(string); ok {
		d, err := time.ParseDuration(text)
		if err != nil {
			r.fail(field, fmt.Sprintf("%v is not a whole number", text), `write milliseconds, or a duration such as "1m"`)
		}
		return d
	}
	n, ok := r.integer(field)
	if !ok {
		if _, given := r.left[field]; required && !given {
			r.fail(field, "missing", "give a number of milliseconds")
		}
		return 0
	}
	if n > math.MaxInt64/int64(time.Millisecond) || n < math.MinInt64/int64(time.Millisecond) {
		r.fail(field, fmt.Sprintf("%d ms is more than 292 years", n), "")
		return 0
	}
	return time.Duration(n) * time.Millisecond
}

func (r *configReader) aggregates() (out []Aggregate) {
	v, ok := r.left["aggregates"]
	if !ok {
		return nil
	}
	list, ok := v.([]any)
	if !ok {
		r.fail("aggregates", fmt.Sprintf("%v is not a list", v), "")
		return nil
	}
	for i, e := range list {
		path := fmt.Sprintf("config.aggregates[%d]", i)
		m, ok := e.(map[string]any)
		if !ok {
			r.faults.Add(&fault.Fault{Path: path, Problem: fmt.Sprintf("%v is not an object", e)})
			continue
		}
		s := &configReader{left: m, path: path}
		a := s.aggregate()
		r.faults.Add(s.faults.Err())
		out = append(out, a)
	}
	return out
}

// rest reports fields that nobody reads.
func (r *configReader) rest(path string, known ...string) {
	var extra []string
	for k := range r.left {
		found := false
		for _, n := range known {
			found = found || n == k
		}
		if !found {
			extra = append(extra, k)
		}
	}
	sort.Strings(extra)
	for _, k := range extra {
		f := fault.Unknown("field", k, known)
		f.Path = path
		r.faults.Add(f)
	}
}
