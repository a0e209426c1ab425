package expr

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/internal/scalar"
	"github.com/arkflow-go/arkflow/internal/tree"
)

// caseWhen binds case, with an operand or without.
func (bd *binder) caseWhen(n *tree.Node) (bound, bool) {
	args := n.Args
	var operand bound
	ok := true
	if n.Op == tree.OpSwitch {
		if len(args) > 0 {
			operand, ok = bd.bind(args[0])
			args = args[1:]
		}
	}
	if len(args) < 2 {
		bd.faultf(n, "write case when a > 0 then 'x' else 'y' end", "there is no condition")
		return bound{}, false
	}
	var whens, thens []bound
	for i := 0; i+1 < len(args); i += 2 {
		w, okW := bd.bind(args[i])
		t, okT := bd.bind(args[i+1])
		whens, thens, ok = append(whens, w), append(thens, t), ok && okW && okT
	}
	s := &caseStep{whole: true}
	if len(args)%2 == 1 {
		other, okO := bd.bind(args[len(args)-1])
		thens, ok = append(thens, other), ok && okO
	}
	if !ok {
		return bound{}, false
	}
	if n.Op == tree.OpSwitch {
		whens, ok = bd.switchWhens(n, s, operand, whens)
	}
	for i := range whens {
		w, isCondition := bd.condition(n, whens[i])
		if ok = ok && isCondition; ok {
			whens[i] = w
			s.when, s.whole = append(s.when, w.use()), s.whole && !w.fails
		}
	}
	if !ok || !bd.unify(n, thens) {
		return bound{}, false
	}
	t := thens[0].typ
	s.kind = column.KindOf(t)
	for _, x := range thens {
		s.then = append(s.then, x.use())
	}
	if len(thens) > len(whens) {
		s.then, s.other = s.then[:len(whens)], s.then[len(whens)]
	}
	all := append(append([]bound{}, whens...), thens...)
	if s.operand != nil {
		all = append(all, operand)
	}
	x, ok := bd.finish(n, s, t, false, all...)
	if x.lit == nil {
		x.nullable = s.other == nil
		for _, v := range thens {
			x.nullable = x.nullable || v.nullable
		}
	}
	return x, ok
}

// switchWhens gives the comparisons of a case with an operand, which is computed once for a block; where comparisons can fail,
// for each of them, because they are computed for the rows that get to them.
func (bd *binder) switchWhens(n *tree.Node, s *caseStep, operand bound, values []bound) ([]bound, bool) {
	once := operand.lit == nil
	for _, v := range values {
		once = once && !v.fails
	}
	left := operand
	if once {
		s.operand, s.slot = operand.use(), bd.slots
		bd.slots++
		left.step, left.fails = &slotStep{s.slot}, false
	}
	whens, ok := make([]bound, len(values)), true
	for i, v := range values {
		w, okW := bd.compare(&tree.Node{Op: tree.OpEq, Args: []*tree.Node{operand.node, v.node}}, left, v)
		whens[i], ok = w, ok && okW
	}
	return whens, ok
}

// coalesce binds the first value that is not null.
func (bd *binder) coalesce(n *tree.Node) (bound, bool) {
	if len(n.Args) == 0 {
		bd.faultf(n, "write coalesce(value, …)", "coalesce has 0 operands")
		return bound{}, false
	}
	args, ok := make([]bound, len(n.Args)), true
	for i, a := range n.Args {
		x, bound := bd.bind(a)
		args[i], ok = x, ok && bound
	}
	if !ok || !bd.unify(n, args) {
		return bound{}, false
	}
	s := &coalesceStep{kind: args[0].kind}
	nullable := true
	for _, x := range args {
		s.args = append(s.args, x.use())
		nullable = nullable && x.nullable
	}
	x, ok := bd.finish(n, s, args[0].typ, false, args...)
	if x.lit == nil {
		x.nullable = nullable
	}
	return x, ok
}

// nullIf binds null where two values are equal, else the first.
func (bd *binder) nullIf(n *tree.Node) (bound, bool) {
	if len(n.Args) != 2 {
		bd.faultf(n, "write nullif(value, other)", "nullif has %d operands", len(n.Args))
		return bound{}, false
	}
	equal := &tree.Node{Op: tree.OpEq, Args: n.Args}
	x, ok := bd.bind(&tree.Node{Op: tree.OpCase, Args: []*tree.Node{equal, tree.ConstantOf(nil), n.Args[0]}})
	x.node = n
	return x, ok
}

// unify brings the values of which a row takes one to one type.
func (bd *binder) unify(n *tree.Node, values []bound) bool {
	var t arrow.DataType
	for _, constants := range []bool{false, true} {
		for _, x := range values {
			if x.untyped() || (x.lit != nil) != constants || t != nil && constants && adapts(x, t) {
				continue
			}
			own := tree.PlainType(x.typ)
			if t == nil {
				t = own
				continue
			}
			if both := tree.CommonType(own, t); both != nil {
				t = both
				continue
			}
			bd.faultf(n, "bring them to one type by casts", "one value has type %s, and %s has type %s", t, x.node, x.typ)
			return false
		}
	}
	if t == nil {
		bd.faultf(n, "give a null a type: cast(null as int64)", "no value has a type")
		return false
	}
	for i := range values {
		values[i] = bd.coerce(values[i], t)
	}
	return true
}

// adapts tells whether a constant takes a type without a loss.
func adapts(x bound, t arrow.DataType) bool {
	a, b := x.class(), tree.ClassOf(t)
	if a == tree.ClassDecimal && b == tree.ClassFloat {
		return true
	}
	_, ok := x.lit.As(t)
	return ok && (a.Numeric() && b.Numeric() || a == b && (a != tree.ClassText || x.typ.ID() == t.ID()))
}

// coerce brings a value to a type that unify found.
func (bd *binder) coerce(x bound, t arrow.DataType) bound {
	if x.untyped() {
		return bd.constant(x.node, tree.Literal{Type: t})
	}
	if x.lit != nil {
		if x.kind == column.Decimal && tree.ClassOf(t) == tree.ClassFloat {
			return bd.constant(x.node, x.lit.NearestTo(t))
		}
		if l, ok := x.lit.As(t); ok {
			return bd.constant(x.node, l)
		}
	}
	return bd.convert(x.node, x, t, false)
}

// explicitCast binds cast and try_cast.
func (bd *binder) explicitCast(n *tree.Node) (bound, bool) {
	x, ok := bd.bind(n.Args[0])
	if !ok {
		return bound{}, false
	}
	if x.untyped() {
		return bd.constant(n, tree.Literal{Type: n.Type}), true
	}
	if n.Type.ID() == arrow.DICTIONARY || !isScalar(n.Type) || !scalar.Castable(tree.PlainType(x.typ), n.Type) {
		bd.faultf(n, "", "%s of type %s cannot become %s", x.node, x.typ, n.Type)
		return bound{}, false
	}
	return bd.convert(n, x, n.Type, n.Op == tree.OpTryCast), true
}

// convert gives the values of x as those of a type; what does not fit is an error of the row, or null with try.
func (bd *binder) convert(n *tree.Node, x bound, t arrow.DataType, try bool) bound {
	from := tree.PlainType(x.typ)
	s := step(&passStep{x.use()})
	c := scalar.Cast(from, t, try)
	if c.Kernel != nil {
		s = &callStep{args: []step{x.use()}, kernel: c.Kernel, kind: column.KindOf(t), memo: bd.memos, what: &failure{node: n}}
		bd.memos++
	}
	y, _ := bd.finish(n, s, t, c.Fails, x)
	y.nullable = y.nullable || y.lit == nil && c.Nullable
	return y
}
