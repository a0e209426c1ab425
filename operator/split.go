package operator

import (
	"fmt"
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/expr"
	"github.com/arkflow-go/arkflow/internal/fault"
	"github.com/arkflow-go/arkflow/internal/fields"
)

// SplitCase is one branch of a SplitBy: see When and Otherwise.
type SplitCase struct {
	tag       string
	where     expr.Expr
	otherwise bool
}

// When is the branch of the rows for which a condition is true and those of all branches before it are not.
func When(tag string, where expr.Output) SplitCase {
	c := SplitCase{tag: tag}
	if where != nil {
		c.where = where.Output().Expr
	}
	return c
}

// Otherwise is the branch of the rows that no condition is true for. It stands last.
func Otherwise(tag string) SplitCase { return SplitCase{tag: tag, otherwise: true} }

// split deals rows to streams by conditions.
type split struct{ cases []SplitCase }

// SplitBy deals rows to several streams, one for each case, which are read by their tags. Each row goes to the first case whose
// condition is true for it; where there is none and no Otherwise, it goes no further and is counted under DropFiltered. No value is
// copied, and a condition is computed only for the rows that no case before it has taken. Event times, late pairs and key hashes
// stay with their rows. Rows for which a condition cannot be computed follow the error policy.
func SplitBy(cases ...SplitCase) Operator { return &split{slices.Clone(cases)} }

// SplitFromConfig gives the split of a JobSpec: {when: [{name: tag, where: <condition>}, …], otherwise: tag}.
func SplitFromConfig(config map[string]any) (Operator, error) {
	var faults fault.List
	fields.Known(&faults, config, "config", "when", "otherwise")
	s := &split{}
	list, ok := config["when"].([]any)
	switch {
	case config["when"] == nil:
		faults.Add(&Fault{Path: "config.when", Problem: "is missing"})
	case !ok:
		faults.Add(&Fault{Path: "config.when", Problem: fmt.Sprintf("want a list of {name: tag, where: condition}, not %v", config["when"])})
	}
	for i, e := range list {
		path := fmt.Sprintf("config.when[%d]", i)
		m, ok := e.(map[string]any)
		if !ok {
			faults.Add(&Fault{Path: path, Problem: fmt.Sprintf("want {name: tag, where: condition}, not %v", e)})
			continue
		}
		fields.Exactly(&faults, m, path, "name", "where")
		c := SplitCase{tag: fields.Text(&faults, m["name"], path+".name")}
		if m["where"] != nil {
			var err error
			if c.where, err = expr.FromSpec(m["where"]); err != nil {
				faults.Add(atPath(err, path+".where"))
			}
		}
		s.cases = append(s.cases, c)
	}
	if o := config["otherwise"]; o != nil {
		s.cases = append(s.cases, Otherwise(fields.Text(&faults, o, "config.otherwise")))
	}
	if err := faults.Err(); err != nil {
		return nil, err
	}
	return s, nil
}

// Kind implements Operator.
func (s *split) Kind() string { return "split" }

// Describe implements Described.
func (s *split) Describe() string {
	parts := make([]string, len(s.cases))
	for i, c := range s.cases {
		if parts[i] = fmt.Sprintf("%s where %s", c.tag, c.where); c.otherwise {
			parts[i] = c.tag + " otherwise"
		}
	}
	return strings.Join(parts, ", ")
}

// Config is the inverse of SplitFromConfig.
func (s *split) Config() (map[string]any, error) {
	out := map[string]any{}
	when := []any{}
	for _, c := range s.cases {
		if c.otherwise {
			out["otherwise"] = c.tag
			continue
		}
		spec, err := expr.ToSpec(c.where)
		if err != nil {
			return nil, err
		}
		when = append(when, map[string]any{"name": c.tag, "where": spec})
	}
	out["when"] = when
	return out, nil
}

// Tags implements Tagged.
func (s *split) Tags() []string {
	tags := make([]string, len(s.cases))
	for i, c := range s.cases {
		tags[i] = c.tag
	}
	return tags
}

// Bind implements Operator.
func (s *split) Bind(in []Stream) (Bound, error) {
	src, err := oneInput("split", in)
	if err != nil {
		return nil, err
	}
	var faults fault.List
	if !slices.ContainsFunc(s.cases, func(c SplitCase) bool { return !c.otherwise }) {
		faults.Add(&Fault{Path: "when", Problem: "there is no condition", Hint: "give one case by When at least"})
	}
	b := &taskMaker{}
	var programs []*expr.Program // nil: otherwise
	var tags []string
	for i, c := range s.cases {
		path := fmt.Sprintf("when[%d]", i)
		if f := checkTag(c.tag, tags); f != nil {
			f.Path = path + ".name"
			faults.Add(f)
		}
		tags = append(tags, c.tag)
		b.outs = append(b.outs, src)
		if c.otherwise {
			if i < len(s.cases)-1 {
				faults.Add(&Fault{Path: path, Problem: "Otherwise stands before another case, which would get no row", Hint: "put it last, once"})
			}
			programs = append(programs, nil)
			continue
		}
		prog, err := bindCondition(c.where, src.Schema, path+".where")
		faults.Add(err)
		programs = append(programs, prog)
	}
	if err := faults.Err(); err != nil {
		return nil, err
	}
	b.make = func(ctx *Context) (Instance, error) {
		t := &splitTask{ctx: ctx}
		for _, p := range programs {
			var ev *expr.Evaluator
			if p != nil {
				ev = p.New()
			}
			t.cases = append(t.cases, ev)
		}
		return t, nil
	}
	return b, nil
}

// bindCondition binds an expression that must be a condition.
func bindCondition(where expr.Expr, s *arrow.Schema, path string) (*expr.Program, error) {
	prog, err := where.Bind(s)
	if err != nil {
		return nil, atPath(err, path)
	}
	if prog.Type().ID() != arrow.BOOL {
		return nil, &Fault{Path: path, Problem: fmt.Sprintf("expression %s is no condition: its type is %s", where, prog.Type()),
			Hint: "compare it with something"}
	}
	return prog, nil
}

type splitTask struct {
	ctx   *Context
	cases []*expr.Evaluator // nil: otherwise
	errs  expr.Errors
}

// Process implements Instance.
func (t *splitTask) Process(_ int, b *column.Batch, out Output) error {
	t.errs.Reset()
	rest := b // what no case has taken; owned, unless it is b
	defer func() {
		if rest != nil && rest != b {
			rest.Release()
		}
	}()
	for port, where := range t.cases {
		if where == nil {
			return t.done(b, out.Emit(port, rest), 0)
		}
		kept, err := where.Filter(rest, &t.errs)
		if err != nil {
			return err
		}
		next := t.without(rest, kept)
		if rest != b {
			rest.Release()
		}
		rest = next
		if kept != nil {
			err = emitOwned(out, port, kept)
		}
		if err != nil || rest == nil {
			return t.done(b, err, 0)
		}
	}
	return t.done(b, nil, rest.Len())
}

// emitOwned hands a batch on and gives it back.
func emitOwned(out Output, port int, b *column.Batch) error {
	defer b.Release()
	return out.Emit(port, b)
}

// done counts the rows in error and those that no case has taken.
func (t *splitTask) done(b *column.Batch, err error, rest int) error {
	if err != nil {
		return err
	}
	t.ctx.Counters.Drop(DropFiltered, rest)
	return rejectErrors(t.ctx, b, &t.errs)
}

// without gives the rows of b that are neither kept nor in error, as a batch that the caller owns; nil where there is none.
func (t *splitTask) without(b, kept *column.Batch) *column.Batch {
	bad := t.errs.Rows()
	if kept == nil && len(bad) == 0 {
		return b.Derive()
	}
	d := b.Derive()
	all := b.Sel
	if all == nil {
		all = column.Alloc[uint32](d, b.Rows)
		for i := range all {
			all[i] = uint32(i)
		}
	}
	switch {
	case kept == nil:
	case kept.Len() == b.Len():
		all = nil
	default:
		all = minus(column.Alloc[uint32](d, len(all)+1), all, kept.Sel)
	}
	if len(bad) > 0 {
		all = minus(column.Alloc[uint32](d, len(all)+1), all, bad)
	}
	if d.Sel = all; len(all) == 0 {
		d.Release()
		return nil
	}
	return d
}

// minus stores in dst, which has room for one more than rows, the rows that are not among gone; both ascend. It has no branch that
// data could mislead.
func minus(dst, rows, gone []uint32) []uint32 {
	n := 0
	for i := 0; i < len(rows); i++ {
		for len(gone) > 0 && gone[0] < rows[i] {
			gone = gone[1:]
		}
		if len(gone) == 0 {
			return dst[:n+copy(dst[n:], rows[i:])]
		}
		x := gone[0] ^ rows[i]
		same := int(((x | -x) >> 31) ^ 1)
		dst[n] = rows[i]
		n += 1 - same
		gone = gone[same:]
	}
	return dst[:n]
}
