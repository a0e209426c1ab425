package blocks

import (
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/arkflow-go/arkflow/codec"
	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/internal/fault"
)

// Projection says which columns of a file are read, and how they become those of a schema.
type Projection struct {
	// Columns are the columns of the file that are needed, ascending.
	Columns []int
	schema  *arrow.Schema
	from    []int // for each column of schema its place in Columns; -1: the file has none, it is null
	convert []conversion
}

// Supported gives the columns of a file that a batch can hold, as a schema; omitted names the others.
func Supported(have *arrow.Schema) (s *arrow.Schema, omitted []string) {
	var fields []arrow.Field
	for _, f := range have.Fields() {
		if column.CheckType(f.Type) != nil {
			omitted = append(omitted, f.Name)
			continue
		}
		fields = append(fields, arrow.Field{Name: f.Name, Type: f.Type, Nullable: f.Nullable})
	}
	return arrow.NewSchema(fields, nil), omitted
}

// Project plans to read the columns of schema want out of files with schema have; want is nil for all that are supported.
func Project(have, want *arrow.Schema) (*Projection, error) {
	if want == nil {
		want, _ = Supported(have)
		if want.NumFields() == 0 {
			return nil, fmt.Errorf("no column of the file has a type that is supported: %s", have)
		}
	}
	p := &Projection{schema: want, from: make([]int, want.NumFields()), convert: make([]conversion, want.NumFields())}
	needed := make([]bool, have.NumFields())
	found := make([]int, want.NumFields())
	var faults fault.List
	for i, f := range want.Fields() {
		at := have.FieldIndices(f.Name)
		found[i] = -1
		switch {
		case len(at) > 1:
			faults.Add(fmt.Errorf("the file has %d columns called %q", len(at), f.Name))
		case len(at) == 0 && !f.Nullable:
			faults.Add(missing(have, f.Name))
		case len(at) == 1:
			from := have.Field(at[0]).Type
			c, ok := conversionOf(from, f.Type)
			if !ok {
				faults.Add(fmt.Errorf("column %q is %s in the file, the schema has %s", f.Name, codec.TypeName(from), codec.TypeName(f.Type)))
			}
			found[i], needed[at[0]], p.convert[i] = at[0], true, c
		}
	}
	if err := faults.Err(); err != nil {
		return nil, err
	}
	place := make([]int, have.NumFields())
	for i, is := range needed {
		if is {
			place[i] = len(p.Columns)
			p.Columns = append(p.Columns, i)
		}
	}
	if len(p.Columns) == 0 {
		return nil, fmt.Errorf("the file has none of the columns of the schema: %s", have)
	}
	for i, at := range found {
		if p.from[i] = -1; at >= 0 {
			p.from[i] = place[at]
		}
	}
	return p, nil
}

func missing(have *arrow.Schema, name string) error {
	names := make([]string, have.NumFields())
	for i, f := range have.Fields() {
		names[i] = f.Name
	}
	u := fault.Unknown("column", name, names)
	u.Problem = fmt.Sprintf("the file has no column %q, and it is not nullable", name)
	return u
}

// Schema is that of the batches that Apply gives.
func (p *Projection) Schema() *arrow.Schema { return p.schema }

// Apply turns a batch of the columns Columns into one of the schema, which the caller owns; b is released.
func (p *Projection) Apply(b *column.Batch) (*column.Batch, error) {
	defer b.Release()
	if len(b.Cols) != len(p.Columns) {
		return nil, fmt.Errorf("damaged: %d columns, %d were expected", len(b.Cols), len(p.Columns))
	}
	if err := Check(b); err != nil {
		return nil, err
	}
	d := b.Derive()
	d.Schema = p.schema
	d.Cols = make([]column.Column, p.schema.NumFields())
	for i, f := range p.schema.Fields() {
		if p.from[i] < 0 {
			d.Cols[i] = d.NullColumn(f.Type, d.Rows)
			continue
		}
		src := b.Cols[p.from[i]]
		if src.Nulls > 0 && !f.Nullable {
			d.Release()
			return nil, fmt.Errorf("column %q: %d nulls, and the column is not nullable", f.Name, src.Nulls)
		}
		c, err := p.convert[i].apply(d, &src)
		if err != nil {
			d.Release()
			return nil, fmt.Errorf("column %q: %w", f.Name, err)
		}
		c.Type = f.Type
		d.Cols[i] = c
	}
	return d, nil
}
