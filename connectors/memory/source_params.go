package memory

import (
	"fmt"
	"sort"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/connectors"
	"github.com/arkflow-go/arkflow/internal/fault"
	"github.com/arkflow-go/arkflow/operator"
)

// SourceFromParams gives the source of a JobSpec. Without rows it has no schema and ends at once.
//
//	rows:                    # default none
//	  - { id: 1, name: a }   # columns are in the order of their names
//	  - { id: 2 }            # a value that is absent or null is null
//
// Integers become int64, numbers of which one has a fraction float64, texts utf8 and booleans bool columns.
func SourceFromParams(p connectors.Params) (operator.Source, error) {
	var cfg struct {
		Rows []map[string]any `json:"rows"`
	}
	var faults fault.List
	faults.Add(connectors.Decode(p, &cfg))
	if p.Codec != nil {
		faults.Add(p.Fault("codec", "a memory source has no codec", "leave it out"))
	}
	var s Source
	if len(cfg.Rows) > 0 {
		var err error
		s, err = inlineRows(cfg.Rows, p)
		faults.Add(err)
	}
	if err := faults.Err(); err != nil {
		return nil, err
	}
	return s, nil
}

// Config implements connectors.Configured. Rows that were given in Go cannot be written down.
func (s Source) Config() (config, codec map[string]any, err error) {
	if s.err != nil {
		return nil, nil, s.err
	}
	if len(s.splits) > 0 && s.inline == nil || s.batchRows != 0 {
		return nil, nil, &fault.Fault{Problem: "rows that are given in Go cannot be written in a spec"}
	}
	if s.inline == nil {
		return map[string]any{}, nil, nil
	}
	return map[string]any{"rows": s.inline}, nil, nil
}

// inlineRows makes a source of rows in a spec.
func inlineRows(rows []map[string]any, p connectors.Params) (Source, error) {
	kinds := map[string]*inlineColumn{}
	var faults fault.List
	for i, row := range rows {
		for name, v := range row {
			c := kinds[name]
			if c == nil {
				c = &inlineColumn{}
				kinds[name] = c
			}
			if !c.add(v) {
				faults.Add(p.Fault(fmt.Sprintf("config.rows[%d].%s", i, name), fmt.Sprintf("%v (a %T) does not go with %s", v, v, c.word()),
					"give booleans, numbers or texts, one kind a column"))
			}
		}
	}
	names := make([]string, 0, len(kinds))
	for name := range kinds {
		names = append(names, name)
	}
	sort.Strings(names)
	fields := make([]arrow.Field, len(names))
	for i, name := range names {
		c := kinds[name]
		fields[i] = arrow.Field{Name: name, Type: c.typ(), Nullable: c.values < len(rows)}
		if fields[i].Type == nil {
			faults.Add(p.Fault("config.rows", fmt.Sprintf("column %q has no value, so no type", name), "give it a value, or leave it out"))
		}
	}
	if len(fields) == 0 {
		faults.Add(p.Fault("config.rows", "the rows have no column", "give them one"))
	}
	if err := faults.Err(); err != nil {
		return Source{}, err
	}
	s := Source{schema: arrow.NewSchema(fields, nil), splits: [][]span{nil}}
	bld := column.NewBuilder(nil, s.schema)
	for _, row := range rows {
		for i, name := range names {
			appendInline(bld.Col(i), row[name])
		}
		bld.EndRow()
		s.inline = append(s.inline, row)
	}
	s.splits[0] = []span{recordOf(bld)}
	return s, nil
}

// inlineColumn is what the values of a column in a spec are.
type inlineColumn struct {
	values                       int
	ints, floats, texts, boolean bool
}

// add looks at a value; false where it does not go with those before it.
func (c *inlineColumn) add(v any) bool {
	var ok bool
	switch x := v.(type) {
	case nil:
		return true
	case bool:
		ok = !c.ints && !c.floats && !c.texts
		c.boolean = c.boolean || ok
	case string:
		ok = !c.ints && !c.floats && !c.boolean
		c.texts = c.texts || ok
	case int, int64:
		ok = !c.texts && !c.boolean
		c.ints = c.ints || ok
	case uint64:
		ok = !c.texts && !c.boolean && int64(x) >= 0
		c.ints = c.ints || ok
	case float64:
		ok = !c.texts && !c.boolean
		c.floats = c.floats || ok
	}
	if ok {
		c.values++
	}
	return ok
}

func (c *inlineColumn) typ() arrow.DataType {
	switch {
	case c.boolean:
		return arrow.FixedWidthTypes.Boolean
	case c.texts:
		return arrow.BinaryTypes.String
	case c.floats:
		return arrow.PrimitiveTypes.Float64
	case c.ints:
		return arrow.PrimitiveTypes.Int64
	}
	return nil
}

func (c *inlineColumn) word() string {
	if t := c.typ(); t != nil {
		return "a column of " + t.String()
	}
	return "any column"
}

func appendInline(a *column.Appender, v any) {
	float := a.Kind() == column.Float64
	switch x := v.(type) {
	case bool:
		a.Bool(x)
	case string:
		a.String(x)
	case float64:
		a.Float64(x)
	case int:
		appendInt(a, int64(x), float)
	case int64:
		appendInt(a, x, float)
	case uint64:
		appendInt(a, int64(x), float)
	default:
		a.Null()
	}
}

func appendInt(a *column.Appender, v int64, float bool) {
	if float {
		a.Float64(float64(v))
	} else {
		a.Int64(v)
	}
}
