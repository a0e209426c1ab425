package layout

import (
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/state"
)

// SnapshotSchema is the schema of saved panes, or of saved cells.
func (l *Layout) SnapshotSchema(cells bool) *arrow.Schema {
	fields := []arrow.Field{{Name: "window_start", Type: SnapInt}}
	for _, k := range l.KeyCols {
		f := l.Schema.Field(k)
		fields = append(fields, arrow.Field{Name: f.Name, Type: f.Type, Nullable: true})
	}
	add := func(name string, t arrow.DataType) {
		fields = append(fields, arrow.Field{Name: name, Type: t, Nullable: t.ID() == arrow.BINARY})
	}
	add("#rows", SnapInt)
	for _, arg := range l.Args {
		name := l.argName(&arg)
		add(name+"#nulls", SnapInt)
		for _, a := range arg.Accs {
			n := fmt.Sprintf("%s(%s)", a, name)
			switch a.Kind {
			case AccSumInt:
				add(n, SnapInt)
				add(n+"#wraps", SnapInt)
			case AccSumUint:
				add(n, SnapWord)
				add(n+"#wraps", SnapInt)
			case AccSumFloat:
				add(n, SnapFloat)
			case AccSumDec:
				add(n+"#low", SnapWord)
				add(n+"#high", SnapWord)
				add(n+"#wraps", SnapInt)
			case AccMaxDec:
				add(n+"#low", SnapWord)
				add(n+"#high", SnapWord)
			case AccMax:
				add(n, SnapWord)
			case AccMaxBytes:
				add(n, arrow.BinaryTypes.Binary)
			case AccBest:
				add(fmt.Sprintf("%s#%d", n, a.Side), arrow.BinaryTypes.Binary)
			}
		}
	}
	if cells {
		add("#from", SnapInt)
	}
	return arrow.NewSchema(fields, nil)
}

// argName names an argument in saved panes.
func (l *Layout) argName(arg *Argument) string {
	name := "*"
	if arg.Col >= 0 {
		name = l.Schema.Field(arg.Col).Name
	}
	if arg.Where != 0 {
		name += " where " + l.Schema.Field(arg.Where-1).Name
	}
	return name
}

// Check compares the columns of a table with those that this layout saves.
func (l *Layout) Check(t state.Table, cells bool) error {
	want := l.SnapshotSchema(cells)
	same := want.NumFields() == t.Schema.NumFields() && len(t.Cols) == want.NumFields() && len(t.Groups) == t.Rows
	for i := 0; same && i < want.NumFields(); i++ {
		same = want.Field(i).Name == t.Schema.Field(i).Name && arrow.TypeEqual(want.Field(i).Type, t.Schema.Field(i).Type)
	}
	if !same {
		return fmt.Errorf("saved windows have the columns %v, this job's have %v: keys, aggregates or their types have changed",
			fieldList(t.Schema), fieldList(want))
	}
	for i := range t.Cols {
		if !holds(&t.Cols[i], t.Rows) {
			return fmt.Errorf("saved windows are damaged: column %q has fewer than %d values", want.Field(i).Name, t.Rows)
		}
	}
	return nil
}

// holds reports whether the column's memory has that many values.
func holds(c *column.Column, rows int) bool {
	if c.Valid != nil && len(c.Valid) < column.BitmapLen(rows) {
		return false
	}
	switch c.Kind {
	case column.Bytes:
		if len(c.Offsets) <= rows {
			return false
		}
		last := int32(0)
		for _, o := range c.Offsets[:rows+1] {
			if o < last {
				return false
			}
			last = o
		}
		return int(last) <= len(c.Data)
	case column.Bool:
		return len(c.Data) >= column.BitmapLen(rows)
	}
	return len(c.Data) >= rows*c.Kind.Width()
}

func fieldList(s *arrow.Schema) (out []string) {
	for _, f := range s.Fields() {
		out = append(out, f.Name+" "+f.Type.String())
	}
	return out
}
