package window

import (
	"fmt"
	"maps"
	"slices"

	"github.com/arkflow-go/arkflow/expr"
	"github.com/arkflow-go/arkflow/internal/fault"
)

// config is the inverse of configReader.aggregate.
func (a Aggregate) config() (map[string]any, error) {
	m := map[string]any{"function": a.fn}
	if len(a.args) > 0 {
		switch x := a.args[0].(type) {
		case string:
			m["column"] = x
		case expr.Output:
			spec, err := expr.ToSpec(x.Output().Expr)
			if err != nil {
				return nil, err
			}
			m["expr"] = spec
		}
	}
	if a.arg() {
		values := make([]any, 0, len(a.args))
		for _, v := range a.args[min(1, len(a.args)):] {
			switch x := v.(type) {
			case string:
				values = append(values, x)
			case expr.Output:
				spec, err := expr.ToSpec(x.Output().Expr)
				if err != nil {
					return nil, err
				}
				values = append(values, map[string]any{"as": x.Output().Name, "expr": spec})
			}
		}
		m["values"] = values
	}
	if len(a.where) > 0 {
		where := a.where[0]
		for _, w := range a.where[1:] {
			where = where.And(w)
		}
		spec, err := expr.ToSpec(where)
		if err != nil {
			return nil, err
		}
		m["where"] = spec
	}
	if a.as != "" {
		m["as"] = a.as
	}
	if a.ties {
		m["ties"] = true
	}
	return m, nil
}

// aggregate reads one aggregate.
func (r *configReader) aggregate() Aggregate {
	a := Aggregate{fn: r.text("function", ""), as: r.text("as", "")}
	if _, known := functions[a.fn]; !known {
		r.unknown("function", "aggregate function", a.fn, slices.Sorted(maps.Keys(functions))...)
	}
	if c := r.text("column", ""); c != "" {
		a.args = append(a.args, c)
	}
	if e, ok := r.expression("expr"); ok {
		if len(a.args) > 0 {
			r.fail("expr", "column and expr contradict each other", "give one of the two")
		}
		a.args = append(a.args, e)
	}
	if e, ok := r.expression("where"); ok {
		a = a.Filter(e)
	}
	known := []string{"function", "column", "expr", "where", "as"}
	if a.arg() {
		known = append(known, "values", "ties")
		a.args = append(a.args, r.values()...)
		if v, ok := r.left["ties"]; ok {
			if a.ties, ok = v.(bool); !ok {
				r.fail("ties", fmt.Sprintf("%v is not true or false", v), "")
			}
		}
	}
	r.rest(r.path, known...)
	return a
}

func (r *configReader) expression(field string) (expr.Expr, bool) {
	v, ok := r.left[field]
	if !ok {
		return expr.Expr{}, false
	}
	e, err := expr.FromSpec(v)
	if err != nil {
		r.faults.Add(fault.Prefix(r.at(field), err))
		return expr.Expr{}, false
	}
	return e, true
}

// values reads the values of argmin and argmax.
func (r *configReader) values() (out []any) {
	list, ok := r.left["values"].([]any)
	if !ok {
		r.fail("values", fmt.Sprintf("%v is not a list", r.left["values"]), "list the columns whose values are wanted")
		return nil
	}
	for i, v := range list {
		switch x := v.(type) {
		case string:
			out = append(out, x)
		case map[string]any:
			s := &configReader{left: x, path: fmt.Sprintf("%s.values[%d]", r.path, i)}
			name := s.text("as", "")
			if e, ok := s.expression("expr"); ok {
				out = append(out, e.As(name))
			}
			s.rest(s.path, "as", "expr")
			r.faults.Add(s.faults.Err())
		default:
			r.fail(fmt.Sprintf("values[%d]", i), fmt.Sprintf("%v is neither a column nor {as, expr}", v), "")
		}
	}
	return out
}
