package window

import (
	"fmt"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/arkflow-go/arkflow/expr"
	"github.com/arkflow-go/arkflow/internal/aggregate"
	"github.com/arkflow-go/arkflow/internal/fault"
)

// Aggregate is what is kept of the rows of a window and key. As names its column, Filter chooses its rows.
//
// An argument is the name of a column (a string) or an expression (an expr.Output): window.Sum("amount"),
// window.Sum(expr.Col("price").Mul(expr.Col("quantity"))).As("amount"). Expressions are evaluated for rows that are not late; a row
// for which one cannot be computed follows the error policy as a whole.
type Aggregate struct {
	fn     string
	args   []any // string or expr.Output: the argument; of argmin and argmax what is compared and then the values
	as     string
	where  []expr.Expr // conditions of Filter: all must be true
	ties   bool
	faulty string // what is wrong whatever the stream
}

// Count counts rows, or with an argument its values that are not null. Its column is an Int64 named "count"
// or "count_<column>".
func Count(arg ...any) Aggregate {
	a := Aggregate{fn: "count", args: arg}
	if len(arg) > 1 {
		a.args, a.faulty = arg[:1], fmt.Sprintf("count of %d columns; give one column", len(arg))
	}
	return a
}

// CountIf counts the rows for which a condition is true: Count().Filter(condition).
func CountIf(condition expr.Output) Aggregate { return Count().Filter(condition) }

// Sum adds up the values of a numeric argument: signed integers to Int64, unsigned ones to Uint64, floats and decimals to
// their own type (decimals at 38 digits). It is null where there were only nulls; NaN is contagious. Integers and decimals
// are added exactly: only a result that does not fit its type is an error of the row (under Skip it is null, and counted).
// Its column is named "sum_<column>".
func Sum(arg any) Aggregate { return Aggregate{fn: "sum", args: []any{arg}} }

// Min gives the least value of an argument of any ordered type, in that type. Nulls are skipped; it is null where there were
// only nulls. NaN is greater than every number. Its column is named "min_<column>".
func Min(arg any) Aggregate { return Aggregate{fn: "min", args: []any{arg}} }

// Max gives the greatest value of an argument; see Min. Its column is named "max_<column>".
func Max(arg any) Aggregate { return Aggregate{fn: "max", args: []any{arg}} }

// Avg gives the arithmetic mean of the values of a numeric argument as a Float64. For decimals of precision p and scale s it is a
// decimal with up to four more digits after the point (precision min(38, p+4), scale s + that − p), rounded half away from
// zero. Nulls are skipped; it is null where there were only nulls; NaN is contagious. Its column is named "avg_<column>".
func Avg(arg any) Aggregate { return Aggregate{fn: "avg", args: []any{arg}} }

// First gives the value of the row with the earliest event time (on a processing-time stream, time of arrival), of several such rows
// the least value in the order of Min. Nulls are skipped; it is null where there were only nulls. It does not depend on how
// splits interleave. Its column is named "first_<column>".
func First(arg any) Aggregate { return Aggregate{fn: "first", args: []any{arg}} }

// Last gives the value of the row with the latest event time, of several such rows the greatest value; see First. Its column
// is named "last_<column>".
func Last(arg any) Aggregate { return Aggregate{fn: "last", args: []any{arg}} }

// ArgMax gives values of the row for which `by` is greatest, in the order of Max. Of several such rows it is the one with the earliest
// event time, and of those the one whose values are least, the first value first; with Ties it is all of them. Rows whose
// `by` is null are skipped, values may be null; all are null where `by` was null only. A value gives a column named
// "argmax_<column>"; As gives a single value its name, and several ones the names "<name>_<column>".
func ArgMax(by any, values ...any) Aggregate {
	return Aggregate{fn: "argmax", args: append([]any{by}, values...)}
}

// ArgMin is ArgMax for the least `by`. Columns are named "argmin_<column>".
func ArgMin(by any, values ...any) Aggregate {
	return Aggregate{fn: "argmin", args: append([]any{by}, values...)}
}

// Ties makes ArgMax and ArgMin give all rows that share the extreme: the window then has a result row for each of them, in no promised
// order, on which the other aggregates are repeated. One aggregate of a window may have it.
func (a Aggregate) Ties() Aggregate {
	if a.ties = true; a.fn != "argmax" && a.fn != "argmin" {
		a.faulty = fmt.Sprintf("%s has no ties", a.fn)
	}
	return a
}

// Filter restricts the aggregate to the rows for which a condition is true. Further conditions must be true as well. The others of the
// window are not touched: a key all of whose rows are filtered away has a result, in which this one counts 0 or is null.
func (a Aggregate) Filter(condition expr.Output) Aggregate {
	if condition == nil {
		a.faulty = "the condition of Filter is nil"
		return a
	}
	a.where = append(a.where[:len(a.where):len(a.where)], condition.Output().Expr)
	return a
}

// As names the output column.
func (a Aggregate) As(name string) Aggregate {
	a.as = name
	return a
}

// argName is the name of an argument: a column's, or that of a named expression, else "".
func argName(arg any) string {
	switch x := arg.(type) {
	case string:
		return x
	case expr.Output:
		return x.Output().Name
	}
	return ""
}

func argText(arg any) string {
	if x, ok := arg.(expr.Output); ok && argName(arg) == "" {
		return x.Output().Expr.String()
	}
	return argName(arg)
}

// names are those of the output columns; "" where one has none.
func (a Aggregate) names() []string {
	prefix := a.fn
	if a.as != "" {
		prefix = a.as
	}
	join := func(arg any) string {
		name := argName(arg)
		if name == "" {
			return ""
		}
		return prefix + "_" + name
	}
	switch {
	case a.arg() && (a.as == "" || len(a.args) != 2):
		var names []string
		for _, v := range a.args[1:] {
			names = append(names, join(v))
		}
		return names
	case a.as != "" || len(a.args) == 0:
		return []string{prefix}
	}
	return []string{join(a.args[0])}
}

func (a Aggregate) arg() bool { return a.fn == "argmax" || a.fn == "argmin" }

func (a Aggregate) String() string {
	var args []string
	for _, v := range a.args {
		args = append(args, argText(v))
	}
	s := fmt.Sprintf("%s(%s)", a.fn, strings.Join(args, ", "))
	if a.ties {
		s += " with ties"
	}
	for i, w := range a.where {
		s += [2]string{" where ", " and "}[min(i, 1)] + w.String()
	}
	if a.as != "" {
		s += " as " + a.as
	}
	return s
}

var functions = map[string]aggregate.Func{"count": aggregate.CountRows, "sum": aggregate.Sum, "min": aggregate.Min, "max": aggregate.Max,
	"avg": aggregate.Avg, "first": aggregate.First, "last": aggregate.Last, "argmin": aggregate.ArgMin, "argmax": aggregate.ArgMax}

// columns finds the columns of arguments, and makes those that are computed: they stand behind the columns of the stream.
type columns struct {
	in       *arrow.Schema
	fields   []arrow.Field
	programs []*expr.Program
	at       map[string]int // computed columns, by text
	used     []int          // columns of the stream that are read
}

func newColumns(in *arrow.Schema) *columns {
	return &columns{in: in, fields: in.Fields(), at: map[string]int{}}
}

func (c *columns) schema() *arrow.Schema { return arrow.NewSchema(c.fields, nil) }

// find gives the column of an argument.
func (c *columns) find(arg any) (int, error) {
	name, ok := arg.(string)
	if !ok {
		x, is := arg.(expr.Output)
		if !is {
			return 0, &fault.Fault{Problem: fmt.Sprintf("%v (a %T) is no argument", arg, arg), Hint: "give the name of a column, or an expression"}
		}
		return c.compute(x.Output().Expr)
	}
	at := c.in.FieldIndices(name)
	if len(at) == 0 {
		return 0, fault.Unknown("column", name, fieldNames(c.in))
	}
	c.used = append(c.used, at[0])
	return at[0], nil
}

// compute gives the column of an expression.
func (c *columns) compute(e expr.Expr) (int, error) {
	prog, err := e.Bind(c.in)
	if err != nil {
		return 0, err
	}
	if at := prog.Column(); at >= 0 {
		c.used = append(c.used, at)
		return at, nil
	}
	text := e.String()
	if at, ok := c.at[text]; ok {
		return at, nil
	}
	c.at[text] = len(c.fields)
	c.fields = append(c.fields, arrow.Field{Name: text, Type: prog.Type(), Nullable: true})
	c.programs = append(c.programs, prog)
	return c.at[text], nil
}

// bind finds the aggregate's columns.
func (a Aggregate) bind(c *columns, path string) (k aggregate.Agg, err error) {
	k = aggregate.Agg{Func: functions[a.fn], Names: a.names(), Ties: a.ties}
	add := func(problem, hint string) (aggregate.Agg, error) {
		return k, &fault.Fault{Path: path, Problem: problem, Hint: hint}
	}
	switch {
	case a.faulty != "":
		return add(a.faulty, "")
	case a.arg() && len(a.args) < 2:
		return add(a.fn+" of no value", "name the columns whose values are wanted")
	case len(a.args) == 0 && a.fn != "count", len(a.args) > 0 && a.args[0] == "":
		return add(a.fn+" of no column", "name the column")
	}
	for i, n := range k.Names {
		if n == "" {
			return add(fmt.Sprintf("%s of the expression %s has no name", a.fn, argText(a.args[min(i+1, len(a.args)-1)])), "name it with As")
		}
	}
	for i, arg := range a.args {
		at, err := c.find(arg)
		if err != nil {
			return k, fault.Prefix(path, err)
		}
		if i == 0 {
			k.Col = at
		} else {
			k.Values = append(k.Values, at)
		}
	}
	if len(a.where) > 0 {
		where := a.where[0]
		for _, w := range a.where[1:] {
			where = where.And(w)
		}
		at, err := c.compute(where)
		if err != nil {
			return k, fault.Prefix(path+".where", err)
		}
		if t := c.fields[at].Type; t.ID() != arrow.BOOL {
			k.Where = 0
			return k, &fault.Fault{Path: path + ".where", Problem: fmt.Sprintf("expression %s is no condition: its type is %s", where, t), Hint: "compare it with something"}
		}
		k.Where = at + 1
	}
	if a.fn == "count" && len(a.args) > 0 {
		k.Func = aggregate.CountValues
	}
	if _, err := k.Fields(c.schema()); err != nil {
		return add(err.Error(), "cast the column first, or use another aggregate")
	}
	return k, nil
}

func fieldNames(s *arrow.Schema) []string {
	var out []string
	for _, f := range s.Fields() {
		out = append(out, f.Name)
	}
	return out
}
