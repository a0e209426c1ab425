package golden

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"math/big"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/arkflow-go/arkflow/arkflowtest"
)

// input is the rows of a source, split by split, as values in the order of the columns.
type input struct {
	schema *arrow.Schema
	splits [][][]any
}

func (in input) from(source string) arkflowtest.Option {
	var splits []arkflowtest.Split
	for _, rows := range in.splits {
		splits = append(splits, arkflowtest.Table(in.schema, rows...))
	}
	return arkflowtest.From(source, splits...)
}

// row is one row of the model: values by column, event time (nil: none) and J, what the earlier rows of its split have established.
type row struct {
	v  map[string]any
	ts *int64
	j  int64
}

// timed judges the rows of each split one by one: W of a split is its greatest time so far less d, and J of a row that of the rows before it.
func (in input) timed(column string, d int64) (out []row) {
	for _, rows := range in.splits {
		w := int64(math.MinInt64)
		for _, values := range rows {
			r := row{v: map[string]any{}, j: w}
			for k, f := range in.schema.Fields() {
				r.v[f.Name] = values[k]
			}
			if column != "" {
				r.ts = millis(in.schema, column, r.v[column])
			}
			if r.ts != nil {
				w = max(w, *r.ts-d)
			}
			out = append(out, r)
		}
	}
	return out
}

// millis is a value of the time column in ms, rounded towards minus infinity.
func millis(s *arrow.Schema, column string, v any) *int64 {
	if v == nil {
		return nil
	}
	var ms int64
	switch x := v.(type) {
	case int64:
		ms = x
	case time.Time:
		ms = x.UnixMilli() // floors
		if t := s.Field(s.FieldIndices(column)[0]).Type.(*arrow.TimestampType); t.Unit == arrow.Second {
			ms = x.Unix() * 1000
		}
	}
	return &ms
}

func keep(rows []row, f func(v map[string]any) bool) (out []row) {
	for _, r := range rows {
		if f(r.v) {
			out = append(out, r)
		}
	}
	return out
}

func change(rows []row, f func(v map[string]any) map[string]any) (out []row) {
	for _, r := range rows {
		r.v = f(r.v)
		out = append(out, r)
	}
	return out
}

func values(rows []row) (out []map[string]any) {
	for _, r := range rows {
		out = append(out, r.v)
	}
	return out
}

// agg is an aggregate of the model.
type agg struct{ as, fn, column string }

// tumbling is the window of the model.
type tumbling struct {
	size, offset int64 // ms
	keys         []string
	aggs         []agg
}

// run gives the results and the late rows (those without a time among them).
func (m tumbling) run(t testing.TB, rows []row) (out, late []map[string]any) {
	t.Helper()
	groups := map[string][]row{}
	starts := map[string]int64{}
	for _, r := range rows {
		if r.ts == nil {
			late = append(late, r.v)
			continue
		}
		start := m.start(*r.ts)
		if start+m.size <= r.j {
			late = append(late, r.v)
			continue
		}
		key := fmt.Sprint(start)
		for _, k := range m.keys {
			key += "|" + keyText(r.v[k])
		}
		groups[key] = append(groups[key], r)
		starts[key] = start
	}
	for _, key := range slices.Sorted(maps.Keys(groups)) {
		g := groups[key]
		v := map[string]any{"window_start": time.UnixMilli(starts[key]), "window_end": time.UnixMilli(starts[key] + m.size)}
		for _, k := range m.keys {
			v[k] = g[0].v[k]
		}
		for _, a := range m.aggs {
			v[a.as] = a.of(t, g)
		}
		out = append(out, v)
	}
	return out, late
}

// start is the greatest edge at or before ts, found by stepping down: no remainder, so that it is right by looking at it.
func (m tumbling) start(ts int64) int64 {
	edge := m.offset + (ts-m.offset)/m.size*m.size + 2*m.size
	for edge > ts {
		edge -= m.size
	}
	return edge
}

// keyText is a key as text: its type's family and its value. −0.0 is 0.0, all NaNs are one.
func keyText(v any) string {
	switch x := v.(type) {
	case nil:
		return "null"
	case float64:
		if x == 0 {
			x = 0
		}
		if math.IsNaN(x) {
			return "NaN"
		}
		return fmt.Sprintf("float %v", x+0)
	case time.Time:
		return fmt.Sprintf("time %d", x.UnixNano())
	case []byte:
		return fmt.Sprintf("bytes %x", x)
	}
	return fmt.Sprintf("%T %q", v, fmt.Sprint(v))
}

func (a agg) of(t testing.TB, rows []row) any {
	t.Helper()
	var vs []any
	for _, r := range rows {
		if a.column == "" || r.v[a.column] != nil {
			vs = append(vs, r.v[a.column])
		}
	}
	if a.fn == "count" {
		return int64(len(vs))
	}
	if len(vs) == 0 {
		return nil
	}
	switch a.fn {
	case "min":
		return slices.MinFunc(vs, order)
	case "max":
		return slices.MaxFunc(vs, order)
	case "sum":
		return add(t, vs)
	case "avg":
		return average(t, vs)
	}
	t.Fatalf("no aggregate %q", a.fn)
	return nil
}

// order is the order of values of one type: NaN is greatest.
func order(a, b any) int {
	switch x := a.(type) {
	case int64:
		return cmp.Compare(x, b.(int64))
	case uint64:
		return cmp.Compare(x, b.(uint64))
	case float64:
		y := b.(float64)
		if math.IsNaN(x) != math.IsNaN(y) {
			return -cmp.Compare(x, y)
		}
		return cmp.Compare(x, y)
	case string:
		return strings.Compare(x, b.(string))
	case []byte:
		return slices.Compare(x, b.([]byte))
	case bool:
		if x == b.(bool) {
			return 0
		} else if x {
			return 1
		}
		return -1
	case time.Time:
		return x.Compare(b.(time.Time))
	case time.Duration:
		return cmp.Compare(x, b.(time.Duration))
	case arkflowtest.Decimal:
		return rat(x).Cmp(rat(b.(arkflowtest.Decimal)))
	}
	panic(fmt.Sprintf("no order of %T", a))
}

func rat(d arkflowtest.Decimal) *big.Rat {
	r, ok := new(big.Rat).SetString(string(d))
	if !ok {
		panic("not a decimal: " + string(d))
	}
	return r
}

// scale is the number of digits after the point.
func scale(d arkflowtest.Decimal) int {
	_, after, _ := strings.Cut(string(d), ".")
	return len(after)
}

// add adds exactly.
func add(t testing.TB, vs []any) any {
	t.Helper()
	total := new(big.Rat)
	switch vs[0].(type) {
	case float64:
		var f float64
		for _, v := range vs {
			f += v.(float64)
		}
		return f
	case arkflowtest.Decimal:
		for _, v := range vs {
			total.Add(total, rat(v.(arkflowtest.Decimal)))
		}
		return arkflowtest.Decimal(total.FloatString(scale(vs[0].(arkflowtest.Decimal))))
	case uint64:
		n := new(big.Int)
		for _, v := range vs {
			n.Add(n, new(big.Int).SetUint64(v.(uint64)))
		}
		if !n.IsUint64() {
			t.Fatalf("the golden data overflows: %s", n)
		}
		return n.Uint64()
	}
	n := new(big.Int)
	for _, v := range vs {
		n.Add(n, big.NewInt(v.(int64)))
	}
	if !n.IsInt64() {
		t.Fatalf("the golden data overflows: %s", n)
	}
	return n.Int64()
}

// average is the exact mean, rounded once; that of decimals has four more digits and is rounded half away from zero.
func average(t testing.TB, vs []any) any {
	t.Helper()
	total, n := new(big.Rat), new(big.Rat).SetInt64(int64(len(vs)))
	for _, v := range vs {
		switch x := v.(type) {
		case float64:
			if math.IsNaN(x) || math.IsInf(x, 0) {
				return add(t, vs).(float64) / float64(len(vs))
			}
			total.Add(total, new(big.Rat).SetFloat64(x))
		case int64:
			total.Add(total, new(big.Rat).SetInt64(x))
		case uint64:
			total.Add(total, new(big.Rat).SetInt(new(big.Int).SetUint64(x)))
		case arkflowtest.Decimal:
			total.Add(total, rat(x))
		}
	}
	total.Quo(total, n)
	if d, ok := vs[0].(arkflowtest.Decimal); ok {
		return arkflowtest.Decimal(total.FloatString(scale(d) + 4)) // FloatString rounds half away from zero
	}
	f, _ := total.Float64()
	return f
}
