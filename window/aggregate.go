package window

import (
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/arkflow-go/arkflow/internal/fault"
	"github.com/arkflow-go/arkflow/internal/kernel"
)

// Aggregate is what is kept of the rows of a window and key. As names its column.
type Aggregate struct {
	fn     string
	column string // "" for the count of rows
	as     string
	extra  int // columns given too many
}

// Count counts rows, or with the name of a column its values that are not null. Its column is an Int64 named "count"
// or "count_<column>".
func Count(column ...string) Aggregate {
	a := Aggregate{fn: "count"}
	if len(column) > 0 {
		a.column, a.extra = column[0], len(column)-1
	}
	return a
}

// Sum adds up the values of a numeric column: signed integers to Int64, unsigned ones to Uint64, floats and decimals to
// their own type (decimals at 38 digits). It is null where there were only nulls; NaN is contagious. Integers and decimals
// are added exactly: only a result that does not fit its type is an error of the row (under Skip it is null, and counted).
// Its column is named "sum_<column>".
func Sum(column string) Aggregate { return Aggregate{fn: "sum", column: column} }

// Min gives the least value of a column of any ordered type, in that type. Nulls are skipped; it is null where there were
// only nulls. NaN is greater than every number. Its column is named "min_<column>".
func Min(column string) Aggregate { return Aggregate{fn: "min", column: column} }

// Max gives the greatest value of a column; see Min. Its column is named "max_<column>".
func Max(column string) Aggregate { return Aggregate{fn: "max", column: column} }

// Avg gives the arithmetic mean of the values of a numeric column as a Float64. For decimals of precision p and scale s it is a decimal with up
// to four more digits after the point (precision min(38, p+4), scale s + that − p), rounded half away from zero. Nulls are
// skipped; it is null where there were only nulls; NaN is contagious. Its column is named "avg_<column>".
func Avg(column string) Aggregate { return Aggregate{fn: "avg", column: column} }

// As names the output column.
func (a Aggregate) As(name string) Aggregate {
	a.as = name
	return a
}

// name is the name of the output column.
func (a Aggregate) name() string {
	switch {
	case a.as != "":
		return a.as
	case a.column == "":
		return a.fn
	}
	return a.fn + "_" + a.column
}

func (a Aggregate) String() string {
	s := fmt.Sprintf("%s(%s)", a.fn, a.column)
	if a.as != "" {
		s += " as " + a.as
	}
	return s
}

var functions = map[string]kernel.Func{"count": kernel.CountRows, "sum": kernel.Sum, "min": kernel.Min, "max": kernel.Max, "avg": kernel.Avg}

// bind finds the aggregate's column and type in the schema.
func (a Aggregate) bind(s *arrow.Schema, path string) (kernel.Agg, error) {
	k := kernel.Agg{Func: functions[a.fn], Name: a.name()}
	if a.extra > 0 {
		return k, &fault.Fault{Path: path, Problem: fmt.Sprintf("%s of %d columns", a.fn, a.extra+1), Hint: "give one column"}
	}
	if a.column == "" {
		if a.fn != "count" {
			return k, &fault.Fault{Path: path, Problem: fmt.Sprintf("%s of no column", a.fn), Hint: "name the column"}
		}
		return k, nil
	}
	at := s.FieldIndices(a.column)
	if len(at) == 0 {
		f := fault.Unknown("column", a.column, fieldNames(s))
		f.Path = path
		return k, f
	}
	k.Col = at[0]
	if a.fn == "count" {
		k.Func = kernel.CountValues
	}
	if _, err := k.ResultType(s); err != nil {
		return k, &fault.Fault{Path: path, Problem: err.Error(), Hint: "cast the column first, or use another aggregate"}
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
