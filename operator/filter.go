package operator

import (
	"fmt"

	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/expr"
	"github.com/arkflow-go/arkflow/internal/fault"
	"github.com/arkflow-go/arkflow/internal/fields"
)

// filter keeps rows by a condition.
type filter struct{ where expr.Expr }

// Filter keeps the rows for which a condition is true; rows for which it is false or null go no further and are counted
// under DropFiltered. No value is copied: what is kept is named by a selection. Event times, late pairs and key hashes stay
// with their rows. Rows for which the condition cannot be computed follow the error policy.
func Filter(where expr.Output) Operator {
	if where == nil {
		return &filter{}
	}
	return &filter{where.Output().Expr}
}

// FilterFromConfig gives the filter of a JobSpec: {where: <condition>}.
func FilterFromConfig(config map[string]any) (Operator, error) {
	var faults fault.List
	fields.Exactly(&faults, config, "config", "where")
	var where expr.Expr
	if spec := config["where"]; spec != nil {
		var err error
		if where, err = expr.FromSpec(spec); err != nil {
			faults.Add(atPath(err, "config.where"))
		}
	}
	if err := faults.Err(); err != nil {
		return nil, err
	}
	return &filter{where}, nil
}

// Kind implements Operator.
func (f *filter) Kind() string { return "filter" }

// Describe implements Described.
func (f *filter) Describe() string { return fmt.Sprintf("where %s", f.where) }

// Config is the inverse of FilterFromConfig.
func (f *filter) Config() (map[string]any, error) {
	spec, err := expr.ToSpec(f.where)
	if err != nil {
		return nil, err
	}
	return map[string]any{"where": spec}, nil
}

// Bind implements Operator.
func (f *filter) Bind(in []Stream) (Bound, error) {
	s, err := anyInput("filter", in)
	if err != nil {
		return nil, err
	}
	prog, err := bindCondition(f.where, s.Schema, "where")
	if err != nil {
		return nil, err
	}
	if err := filtersChanges(s, f.where.Columns()); err != nil {
		return nil, err
	}
	return &taskMaker{outs: []Stream{s}, make: func(ctx *Context) (Instance, error) {
		return &filterTask{ctx: ctx, where: prog.New()}, nil
	}}, nil
}

type filterTask struct {
	ctx   *Context
	where *expr.Evaluator
	errs  expr.Errors
}

// Process implements Instance.
func (t *filterTask) Process(_ int, b *column.Batch, out Output) error {
	t.errs.Reset()
	kept, err := t.where.Filter(b, &t.errs)
	if err != nil {
		return err
	}
	n := 0
	if kept != nil {
		defer kept.Release()
		n = kept.Len()
	}
	bad := t.errs.Len()
	if err := rejectErrors(t.ctx, b, &t.errs); err != nil {
		return err
	}
	t.ctx.Counters.Drop(DropFiltered, b.Len()-bad-n)
	if n == 0 {
		return nil
	}
	return out.Emit(Main, kept)
}
