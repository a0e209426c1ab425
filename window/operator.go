package window

import (
	"fmt"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/arkflow-go/arkflow/expr"
	"github.com/arkflow-go/arkflow/internal/aggregate"
	"github.com/arkflow-go/arkflow/internal/fault"
	"github.com/arkflow-go/arkflow/internal/keys"
	"github.com/arkflow-go/arkflow/internal/layout"
	"github.com/arkflow-go/arkflow/operator"
)

// Output columns that every window writes (W5): Timestamps in ms, UTC.
const (
	StartColumn = "window_start" // inclusive
	EndColumn   = "window_end"   // exclusive
)

// UpdateColumn is a bool column, the last one, of windows with Lateness: true in a row that replaces an earlier one of its key and
// window.
const UpdateColumn = "__arkflow_window_update"

// description is a window operator before it is bound.
type description struct {
	assigner   Assigner
	aggregates []Aggregate
}

// New gives the operator that gathers the rows of a keyed stream by key and window. Port operator.Main writes the key
// columns, window_start, window_end and the aggregates, in the order of window ends; port operator.Late the late rows
// under Route, in the schema of the input. It needs a key and at least one aggregate.
func New(a Assigner, aggs ...Aggregate) operator.Operator {
	return &description{a, append([]Aggregate(nil), aggs...)}
}

// Kind implements operator.Operator.
func (d *description) Kind() string { return "window" }

// Describe implements operator.Described.
func (d *description) Describe() string {
	var aggs []string
	for _, a := range d.aggregates {
		aggs = append(aggs, a.String())
	}
	return d.assigner.String() + ": " + strings.Join(aggs, ", ")
}

// RouteLate gives the same operator with late policy Route: whoever reads the late port asks for it.
func (d *description) RouteLate() operator.Operator {
	c := *d
	c.assigner.late = Route
	return &c
}

// bound is a window operator over a known stream.
type bound struct {
	assigner Assigner
	in       operator.Stream
	out      operator.Stream
	layout   *layout.Layout
	keys     []int // key columns of the input
	// schema is that of the input and of the columns that programs compute behind it; used are the columns of the input that are read.
	schema   *arrow.Schema
	programs []*expr.Program
	used     []int

	aggregates []Aggregate
	widths     []int // result columns of each
}

// Bind implements operator.Operator.
func (d *description) Bind(in []operator.Stream) (operator.Bound, error) {
	var faults fault.List
	d.assigner.check(&faults)
	if len(d.aggregates) == 0 {
		faults.Add(&fault.Fault{Path: "window.aggregates", Problem: "no aggregate", Hint: "give at least one, such as window.Count()"})
	}
	if len(in) != 1 {
		faults.Add(&fault.Fault{Problem: fmt.Sprintf("a window reads one stream, not %d", len(in))})
		return nil, faults.Err()
	}
	keyCols := d.bindKeys(in[0], &faults)
	cols := newColumns(in[0].Schema)
	aggs := d.bindAggregates(cols, &faults)
	checkNames(in[0].Key, aggs, d.assigner.lateness > 0, &faults)
	faults.Add(operator.RefuseChanges("a window", in[0]))
	if d.assigner.lateness > 0 && in[0].Time == operator.ProcessingTime {
		faults.Add(&fault.Fault{Path: "window.lateness", Problem: "nothing is late on a processing-time stream", Hint: "leave the lateness out, or use event time"})
	}
	if faults.Len() > 0 {
		return nil, faults.Err()
	}
	schema := cols.schema()
	l, err := layout.New(schema, keyCols, aggs)
	if err != nil {
		return nil, &fault.Fault{Path: "window", Problem: err.Error()}
	}
	b := &bound{assigner: d.assigner, in: in[0], layout: l, keys: keyCols, schema: schema, programs: cols.programs, aggregates: d.aggregates}
	for _, a := range aggs {
		b.widths = append(b.widths, len(a.Names))
	}
	b.used = append(append(b.used, keyCols...), cols.used...)
	b.out = operator.Stream{Schema: resultSchema(schema, keyCols, aggs, d.assigner.lateness > 0), Time: in[0].Time}
	if d.assigner.lateness > 0 {
		b.out.Changes, b.out.ChangeKey = operator.Upsert, append(append([]string(nil), in[0].Key...), StartColumn)
	}
	return b, nil
}

func (d *description) bindKeys(in operator.Stream, faults *fault.List) (cols []int) {
	if len(in.Key) == 0 {
		faults.Add(&fault.Fault{Path: "window", Problem: "the stream has no key", Hint: "put KeyBy before the window"})
	}
	for _, name := range in.Key {
		at := in.Schema.FieldIndices(name)
		if len(at) == 0 {
			f := fault.Unknown("column", name, fieldNames(in.Schema))
			f.Path = "key"
			faults.Add(f)
			continue
		}
		if t := in.Schema.Field(at[0]).Type; keys.TypeOf(t).Tag == keys.TagInvalid {
			faults.Add(&fault.Fault{Path: "key", Problem: fmt.Sprintf("column %q of type %s cannot be a key", name, t)})
		}
		cols = append(cols, at[0])
	}
	return cols
}

func (d *description) bindAggregates(c *columns, faults *fault.List) (aggs []aggregate.Agg) {
	ties := 0
	for i, a := range d.aggregates {
		path := fmt.Sprintf("window.aggregates[%d]", i)
		k, err := a.bind(c, path)
		faults.Add(err)
		aggs = append(aggs, k)
		if k.Ties {
			ties++
		}
		switch {
		case k.Ties && ties == 2:
			faults.Add(&fault.Fault{Path: path, Problem: "two aggregates of a window have ties", Hint: "use two windows"})
		case k.Ties && d.assigner.lateness > 0:
			faults.Add(&fault.Fault{Path: path, Problem: "ties cannot be corrected: a row that is no longer among them would stay", Hint: "leave out Ties, or the lateness"})
		}
	}
	return aggs
}

// checkNames finds output columns of one name.
func checkNames(keys []string, aggs []aggregate.Agg, updates bool, faults *fault.List) {
	seen := map[string]string{StartColumn: "the window's start", EndColumn: "the window's end"}
	if updates {
		seen[UpdateColumn] = "the mark of corrections"
	}
	for _, k := range keys {
		if what, twice := seen[k]; twice {
			faults.Add(&fault.Fault{Path: "key", Problem: fmt.Sprintf("key column %q has the name of %s", k, what), Hint: "rename it before the window"})
		}
		seen[k] = "a key column"
	}
	for i, a := range aggs {
		for _, name := range a.Names {
			if what, twice := seen[name]; twice {
				faults.Add(&fault.Fault{Path: fmt.Sprintf("window.aggregates[%d]", i), Problem: fmt.Sprintf("output column %q has the name of %s", name, what),
					Hint: "name it with As"})
				continue
			}
			seen[name] = "another aggregate"
		}
	}
}

// resultSchema is W5; the names have been checked by checkNames.
func resultSchema(s *arrow.Schema, keys []int, aggs []aggregate.Agg, updates bool) *arrow.Schema {
	var fields []arrow.Field
	for _, k := range keys {
		f := s.Field(k)
		fields = append(fields, arrow.Field{Name: f.Name, Type: f.Type, Nullable: f.Nullable})
	}
	ts := &arrow.TimestampType{Unit: arrow.Millisecond, TimeZone: "UTC"}
	fields = append(fields, arrow.Field{Name: StartColumn, Type: ts}, arrow.Field{Name: EndColumn, Type: ts})
	for _, a := range aggs {
		f, err := a.Fields(s)
		if err == nil { // it was checked when the aggregate was bound
			fields = append(fields, f...)
		}
	}
	if updates {
		fields = append(fields, arrow.Field{Name: UpdateColumn, Type: arrow.FixedWidthTypes.Boolean})
	}
	return arrow.NewSchema(fields, nil)
}

// Outputs implements operator.Bound.
func (b *bound) Outputs() []operator.Stream {
	late := b.in
	late.Key = nil
	return []operator.Stream{b.out, late}
}
