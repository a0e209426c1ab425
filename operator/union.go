package operator

import (
	"fmt"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/internal/fault"
	"github.com/arkflow-go/arkflow/internal/fields"
)

// union reads several streams as one.
type union struct{}

// Union reads several streams of the same columns as one: columns are matched by name, and their types must be equal. Their order
// is that of the first input. Event times and late pairs stay with their rows, the watermark is the least of the inputs'; the
// stream is no longer keyed. Rows of one input keep their order, those of different inputs have none.
func Union() Operator { return union{} }

// UnionFromConfig gives the union of a JobSpec, which has no config.
func UnionFromConfig(config map[string]any) (Operator, error) {
	var faults fault.List
	fields.Exactly(&faults, config, "config")
	if err := faults.Err(); err != nil {
		return nil, err
	}
	return union{}, nil
}

// Kind implements Operator.
func (union) Kind() string { return "union" }

// Config is the inverse of UnionFromConfig.
func (union) Config() (map[string]any, error) { return nil, nil }

// Bind implements Operator.
func (union) Bind(in []Stream) (Bound, error) {
	if len(in) < 2 {
		return nil, &Fault{Problem: fmt.Sprintf("a union reads two inputs or more, it has %d", len(in)), Hint: "add another stream"}
	}
	var faults fault.List
	first := in[0]
	fields := first.Schema.Fields()
	orders := make([][]int, len(in)) // of each input: where the columns of the first are; nil: in the same places
	faults.Add(RefuseChanges("a union", first))
	for i, s := range in[1:] {
		faults.Add(RefuseChanges("a union", s))
		if s.Time != first.Time {
			faults.Add(&Fault{Path: fmt.Sprintf("input %d", i+1), Problem: fmt.Sprintf("is a stream of %s, input 0 one of %s", s.Time, first.Time),
				Hint: "give both sources the same time policy, or WithTimestamps to the one without event time"})
		}
		order, err := matchColumns(i+1, fields, s.Schema)
		faults.Add(err)
		orders[i+1] = order
	}
	if err := faults.Err(); err != nil {
		return nil, err
	}
	out := Stream{Schema: withFields(first.Schema, fields), Time: first.Time}
	return &taskMaker{outs: []Stream{out}, make: func(*Context) (Instance, error) { return unionTask{out.Schema, orders}, nil }}, nil
}

// matchColumns finds the columns of the first input in another one. A column that is nullable in one of them is so in the union.
func matchColumns(input int, fields []arrow.Field, s *arrow.Schema) ([]int, error) {
	path := fmt.Sprintf("input %d", input)
	var faults fault.List
	order, same := make([]int, len(fields)), true
	for i := range fields {
		f := &fields[i]
		at, err := columnAt(s, f.Name, path)
		if err != nil {
			faults.Add(err)
			continue
		}
		other := s.Field(at)
		if !arrow.TypeEqual(f.Type, other.Type) {
			faults.Add(&Fault{Path: path, Problem: fmt.Sprintf("column %q is %s, in input 0 it is %s", f.Name, other.Type, f.Type),
				Hint: "make them the same by a Select with a cast"})
		}
		f.Nullable = f.Nullable || other.Nullable
		order[i], same = at, same && at == i
	}
	var more []string
	for _, f := range s.Fields() {
		found := false
		for _, have := range fields {
			found = found || have.Name == f.Name
		}
		if !found {
			more = append(more, fmt.Sprintf("%q", f.Name))
		}
	}
	if len(more) > 0 {
		faults.Add(&Fault{Path: path, Problem: fmt.Sprintf("has columns that input 0 has not: %s", strings.Join(more, ", ")),
			Hint: "leave them out by a Select or Drop before the union"})
	}
	if same {
		order = nil
	}
	return order, faults.Err()
}

type unionTask struct {
	schema *arrow.Schema
	orders [][]int
}

// Process implements Instance.
func (t unionTask) Process(in int, b *column.Batch, out Output) error {
	d := b.Derive()
	defer d.Release()
	d.Schema, d.Hash = t.schema, nil
	if order := t.orders[in]; order != nil {
		for i, from := range order {
			d.Cols[i] = b.Cols[from]
		}
	}
	return out.Emit(Main, d)
}
