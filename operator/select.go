package operator

import (
	"errors"
	"fmt"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/hashicorp/go-multierror"

	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/expr"
	"github.com/arkflow-go/arkflow/internal/fault"
	"github.com/arkflow-go/arkflow/internal/fields"
)

// project makes columns out of columns.
type project struct {
	columns []expr.Named
	bad     []any // arguments of Select that are no columns
}

// Select makes a stream of the given columns, in that order. Each is the name of a column (a string), an expr.Expr or
// expr.FieldExpr that is a bare column, or an expression with a name:
//
//	operator.Select("customer_id", expr.Col("amount").Mul(2).As("double"))
//
// Event times and late pairs stay with their rows. Bare columns are not copied, and a selection stays, where that is the cheaper
// way: a batch is compacted where much is computed, or less than half of its rows are there. The stream is still keyed if the key
// columns are among the columns, by their names there. Rows for which an expression cannot be computed follow the error policy.
func Select(columns ...any) Operator {
	p := &project{}
	for _, c := range columns {
		switch x := c.(type) {
		case string:
			p.columns = append(p.columns, expr.Col(x).As(x))
		case expr.Output:
			p.columns = append(p.columns, x.Output())
		default:
			p.bad = append(p.bad, c)
		}
	}
	return p
}

// SelectFromConfig gives the projection of a JobSpec: a list of column names and of named expressions.
//
//	columns: [customer_id, {as: double, expr: <expression>}]
func SelectFromConfig(config map[string]any) (Operator, error) {
	var faults fault.List
	fields.Exactly(&faults, config, "config", "columns")
	p := &project{}
	list, ok := config["columns"].([]any)
	if !ok && config["columns"] != nil {
		faults.Add(&Fault{Path: "config.columns", Problem: fmt.Sprintf("want a list, not %v", config["columns"])})
	}
	for i, e := range list {
		path := fmt.Sprintf("config.columns[%d]", i)
		switch x := e.(type) {
		case string:
			p.columns = append(p.columns, expr.Col(x).As(x))
		case map[string]any:
			fields.Exactly(&faults, x, path, "as", "expr")
			name, ok := x["as"].(string)
			if !ok && x["as"] != nil {
				faults.Add(&Fault{Path: path + ".as", Problem: fmt.Sprintf("want a column name, not %v", x["as"])})
			}
			if x["expr"] == nil {
				continue
			}
			ex, err := expr.FromSpec(x["expr"])
			if err != nil {
				faults.Add(atPath(err, path+".expr"))
			}
			p.columns = append(p.columns, ex.As(name))
		default:
			faults.Add(&Fault{Path: path, Problem: fmt.Sprintf("want a column name or {as: name, expr: expression}, not %v", e)})
		}
	}
	if err := faults.Err(); err != nil {
		return nil, err
	}
	return p, nil
}

// Kind implements Operator.
func (p *project) Kind() string { return "select" }

// Describe implements Described.
func (p *project) Describe() string {
	parts := make([]string, len(p.columns))
	for i, c := range p.columns {
		if parts[i] = c.Name; c.Expr.Output().Name != c.Name || c.Name == "" {
			parts[i] = fmt.Sprintf("%s as %s", c.Expr, c.Name)
		}
	}
	return strings.Join(parts, ", ")
}

// Config is the inverse of SelectFromConfig.
func (p *project) Config() (map[string]any, error) {
	if len(p.bad) > 0 {
		return nil, badColumn(p.bad[0])
	}
	list := make([]any, len(p.columns))
	for i, c := range p.columns {
		if bare := c.Expr.Output().Name; bare != "" && bare == c.Name {
			list[i] = c.Name
			continue
		}
		spec, err := expr.ToSpec(c.Expr)
		if err != nil {
			return nil, err
		}
		list[i] = map[string]any{"as": c.Name, "expr": spec}
	}
	return map[string]any{"columns": list}, nil
}

func badColumn(v any) error {
	return &Fault{Path: "columns", Problem: fmt.Sprintf("%v (a %T) is no column", v, v), Hint: "give a column's name, or an expression with As"}
}

// Bind implements Operator.
func (p *project) Bind(in []Stream) (Bound, error) {
	s, err := anyInput("select", in)
	if err != nil {
		return nil, err
	}
	var faults fault.List
	for _, b := range p.bad {
		faults.Add(badColumn(b))
	}
	if len(p.columns) == 0 && len(p.bad) == 0 {
		faults.Add(&Fault{Path: "columns", Problem: "no column is selected", Hint: "name one at least"})
	}
	var (
		programs []*expr.Program
		fields   []arrow.Field
		seen     = map[string]bool{}
		renamed  = map[string]string{}
	)
	for i, c := range p.columns {
		path := fmt.Sprintf("columns[%d]", i)
		switch {
		case c.Name == "":
			faults.Add(&Fault{Path: path, Problem: fmt.Sprintf("expression %s has no name", c.Expr), Hint: "add .As(\"name\")"})
		case seen[c.Name]:
			faults.Add(&Fault{Path: path, Problem: fmt.Sprintf("two columns are named %q", c.Name), Hint: "give one of them another name by As"})
		}
		seen[c.Name] = true
		prog, err := c.Expr.Bind(s.Schema)
		if err != nil {
			faults.Add(atPath(err, path))
			continue
		}
		f := arrow.Field{Name: c.Name, Type: prog.Type(), Nullable: prog.Nullable()}
		if at := prog.Column(); at >= 0 {
			from := s.Schema.Field(at)
			f.Metadata = from.Metadata
			if _, has := renamed[from.Name]; !has {
				renamed[from.Name] = c.Name
			}
		}
		fields, programs = append(fields, f), append(programs, prog)
	}
	if err := faults.Err(); err != nil {
		return nil, err
	}
	out := Stream{Schema: withFields(s.Schema, fields), Time: s.Time, Key: carryKey(s.Key, renamed)}
	if out.Changes, out.ChangeKey, err = keepChanges("the select", s, renamed); err != nil {
		return nil, err
	}
	return &taskMaker{outs: []Stream{out}, make: func(ctx *Context) (Instance, error) {
		t := &projectTask{ctx: ctx, schema: out.Schema}
		for _, prog := range programs {
			t.columns = append(t.columns, prog.New())
			switch at := prog.Column(); {
			case at < 0:
				t.spread++
			case column.KindOf(prog.Type()).Width() == 0:
				t.copied += 4
			default:
				t.copied++
			}
		}
		return t, nil
	}}, nil
}

type projectTask struct {
	ctx     *Context
	schema  *arrow.Schema
	columns []*expr.Evaluator
	errs    expr.Errors

	// What a row costs, in words: to copy the bare columns of a batch that is compacted, and to bring those that are computed to the
	// places of their rows in one that is not. A text counts as four.
	copied, spread int
}

// Process implements Instance.
func (t *projectTask) Process(_ int, b *column.Batch, out Output) error {
	t.errs.Reset()
	made, err := t.eval(b)
	if err != nil {
		return err
	}
	bad := t.errs.Len()
	if bad == 0 {
		defer made.Release()
		return out.Emit(Main, made)
	}
	made.Release()
	if err := rejectErrors(t.ctx, b, &t.errs); err != nil {
		return err
	}
	rest := t.errs.Without(b)
	if rest == nil {
		return nil
	}
	defer rest.Release()
	t.errs.Reset()
	if made, err = t.eval(rest); err != nil {
		return err
	}
	defer made.Release()
	if err := t.errs.First(); err != nil {
		return fmt.Errorf("the expression gave an error for a row that had none before: %w", err)
	}
	return out.Emit(Main, made)
}

// eval gives the columns of the rows that are there. The caller owns the result.
func (t *projectTask) eval(b *column.Batch) (*column.Batch, error) {
	var made *column.Batch
	compact := b.Sel != nil && t.spread > 0 && (t.copied <= t.spread || 2*len(b.Sel) < b.Rows)
	if compact {
		made = column.NewBatch(b.Pool(), t.schema, len(b.Sel))
		made.TakeTimes(b, b.Sel)
	} else {
		made = b.Derive()
		made.Schema, made.Hash = t.schema, nil
		made.Cols = made.Cols[:0]
		for range t.columns {
			made.Cols = append(made.Cols, column.Column{})
		}
	}
	for i, ev := range t.columns {
		to, at := &made.Cols[i], ev.Program().Column()
		if at >= 0 && !compact {
			*to = b.Cols[at]
			continue
		}
		if err := ev.Eval(made, to, b, &t.errs); err != nil {
			made.Release()
			return nil, err
		}
		if b.Sel != nil && !compact {
			to.Spread(made, b.Sel, b.Rows)
		}
	}
	return made, nil
}

// atPath puts a path before those of the faults in err.
func atPath(err error, path string) error {
	var many *multierror.Error
	if errors.As(err, &many) {
		var l fault.List
		for _, e := range many.Errors {
			l.Add(atPath(e, path))
		}
		return l.Err()
	}
	var f *Fault
	if !errors.As(err, &f) {
		return &Fault{Path: path, Problem: err.Error()}
	}
	c := *f
	if c.Path == "" {
		c.Path = path
	} else {
		c.Path = path + "." + c.Path
	}
	return &c
}
