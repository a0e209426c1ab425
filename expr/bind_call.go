package expr

import (
	"errors"

	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/internal/fault"
	"github.com/arkflow-go/arkflow/internal/scalar"
	"github.com/arkflow-go/arkflow/internal/tree"
)

// lazyFunctions are those whose operands are evaluated only for the rows that need them.
var lazyFunctions = []string{"coalesce", "nullif"}

// call binds a function.
func (bd *binder) call(n *tree.Node) (bound, bool) {
	switch n.Name {
	case "coalesce":
		return bd.coalesce(n)
	case "nullif":
		return bd.nullIf(n)
	}
	args := make([]bound, len(n.Args))
	ok := true
	for i, a := range n.Args {
		x, bound := bd.bind(a)
		args[i], ok = x, ok && bound
	}
	f, found := scalar.Find(n.Name)
	if !found {
		u := fault.Unknown("function", n.Name, append(scalar.Names(), lazyFunctions...))
		bd.faultf(n, u.Hint, "%s", u.Problem)
		return bound{}, false
	}
	if !ok {
		return bound{}, false
	}
	c := scalar.Call{}
	for _, x := range args {
		a := scalar.Arg{Type: tree.PlainType(x.typ), Const: x.lit != nil}
		if a.Const {
			a.Value = x.lit.Value
		}
		c.Args = append(c.Args, a)
	}
	if err := f.Bind(&c); err != nil {
		bd.argFault(n, f, args, err)
		return bound{}, false
	}
	return bd.finishCall(n, &c, args)
}

// argFault records what a function says of its operands.
func (bd *binder) argFault(n *tree.Node, f *scalar.Function, args []bound, err error) {
	var e *scalar.ArgError
	switch {
	case !errors.As(err, &e):
		bd.faultf(n, "", "%s", err)
	case e.Index < 0:
		bd.faultf(n, e.Hint, "%s has %s", f.Name, e.Problem)
	default:
		bd.faultf(n, e.Hint, "%s %s", args[e.Index].node, e.Problem)
	}
}

// finishCall makes the step of a bound function.
func (bd *binder) finishCall(n *tree.Node, c *scalar.Call, args []bound) (bound, bool) {
	s := &callStep{kernel: c.Kernel, kind: column.KindOf(c.Result), lax: c.Lax, memo: bd.memos, what: &failure{node: n}}
	bd.memos++
	for i := range args {
		if args[i].untyped() {
			args[i] = bd.constant(args[i].node, tree.Literal{Type: c.Want[i]})
		}
		if column.KindOf(c.Want[i]) != column.Bytes {
			args[i] = bd.cast(args[i], c.Want[i])
		}
		s.args = append(s.args, args[i].use())
	}
	x, ok := bd.finish(n, s, c.Result, c.Fails, args...)
	switch {
	case x.lit != nil:
	case c.Lax:
		x.nullable = c.Nullable
	default:
		x.nullable = x.nullable || c.Nullable
	}
	return x, ok
}
