package expr

import (
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/internal/fault"
	"github.com/arkflow-go/arkflow/internal/tree"
)

// Bind checks the expression against a schema: names, types, constants. The error holds every fault found, each a
// *fault.Fault that names the sub-expression.
func (e Expr) Bind(s *arrow.Schema) (*Program, error) {
	bd := &binder{schema: s, unknown: map[string]bool{}}
	for _, f := range s.Fields() {
		bd.names = append(bd.names, f.Name)
	}
	root, ok := bd.bind(e.node())
	if ok && root.untyped() {
		bd.faultf(root.node, "give the null a type with expr.Null", "null has no type here")
	}
	if err := bd.faults.Err(); err != nil {
		if bd.faults.Len() == 1 {
			return nil, bd.first
		}
		return nil, err
	}
	p := &Program{expr: e, schema: s, root: root.use(), typ: root.typ, nullable: root.nullable, column: -1, constant: root.lit, ratios: bd.ratios, memos: bd.memos, slots: bd.slots}
	if c, ok := root.step.(*columnStep); ok {
		p.column = c.index
	}
	for _, f := range s.Fields() {
		p.kinds = append(p.kinds, column.KindOf(f.Type))
	}
	return p, nil
}

// binder turns a tree into typed steps and gathers faults.
type binder struct {
	schema  *arrow.Schema
	names   []string
	unknown map[string]bool // columns that a fault has named already
	faults  fault.List
	first   error
	ratios  int
	memos   int
	slots   int
}

// bound is a sub-expression with its type.
type bound struct {
	node     *tree.Node
	step     step // nil for a constant that nobody has used yet
	typ      arrow.DataType
	kind     column.Kind
	nullable bool
	fails    bool          // rows can be in error
	lit      *tree.Literal // of a constant
}

func (x *bound) class() tree.Class { return tree.ClassOf(x.typ) }
func (x *bound) untyped() bool     { return x.lit != nil && x.lit.Untyped() }

// use gives the step, making that of a constant.
func (x *bound) use() step {
	if x.step == nil {
		x.step = newConst(*x.lit)
	}
	return x.step
}

func (bd *binder) add(f error) {
	if bd.first == nil {
		bd.first = f
	}
	bd.faults.Add(f)
}

// faultf records a fault of a sub-expression.
func (bd *binder) faultf(n *tree.Node, hint, format string, args ...any) {
	bd.add(&fault.Fault{Problem: "expression " + n.String() + ": " + fmt.Sprintf(format, args...), Hint: hint})
}

func (bd *binder) constant(n *tree.Node, l tree.Literal) bound {
	return bound{node: n, typ: l.Type, kind: column.KindOf(l.Type), nullable: l.IsNull(), lit: &l}
}

// bind gives the typed form of a sub-expression; false where a fault was recorded.
func (bd *binder) bind(n *tree.Node) (bound, bool) {
	if n.Fault != nil {
		bd.add(&fault.Fault{Problem: "expression: " + n.Fault.Error()})
		return bound{}, false
	}
	if a := bd.nestedArg(n); a != nil {
		bd.refuseNested(n, a)
		return bound{}, false
	}
	switch n.Op {
	case tree.OpColumn:
		return bd.column(n)
	case tree.OpLiteral:
		if k := column.KindOf(n.Lit.Type); !n.Lit.Untyped() && (k == column.Invalid || k.IsNested()) {
			bd.faultf(n, "", "type %s is not supported", n.Lit.Type)
			return bound{}, false
		}
		l := n.Lit
		l.Type = tree.PlainType(l.Type)
		return bd.constant(n, l), true
	case tree.OpNeg:
		return bd.negate(n)
	case tree.OpNot:
		return bd.not(n)
	case tree.OpIsNull, tree.OpIsNotNull:
		return bd.nullTest(n)
	case tree.OpIn:
		return bd.in(n)
	case tree.OpCall:
		return bd.call(n)
	case tree.OpCast, tree.OpTryCast:
		return bd.explicitCast(n)
	case tree.OpCase, tree.OpSwitch:
		return bd.caseWhen(n)
	}
	l, okL := bd.bind(n.Args[0])
	r, okR := bd.bind(n.Args[1])
	if !okL || !okR {
		return bound{}, false
	}
	switch n.Op {
	case tree.OpAnd, tree.OpOr:
		return bd.logic(n, l, r)
	case tree.OpAdd, tree.OpSub, tree.OpMul, tree.OpDiv, tree.OpMod:
		return bd.arith(n, l, r)
	}
	return bd.compare(n, l, r)
}

func (bd *binder) column(n *tree.Node) (bound, bool) {
	at := bd.schema.FieldIndices(n.Name)
	if len(at) == 0 {
		if !bd.unknown[n.Name] {
			bd.unknown[n.Name] = true
			f := fault.Unknown("column", n.Name, bd.names)
			if n.Quoted {
				f.Hint = "a text stands in single quotes: '" + n.Name + "'"
			}
			bd.add(f)
		}
		return bound{}, false
	}
	f := bd.schema.Field(at[0])
	kind := column.KindOf(f.Type)
	switch {
	case kind == column.Invalid:
		bd.faultf(n, "", "type %s of column %q is not supported", f.Type, n.Name)
		return bound{}, false
	case !n.Class.Holds(f.Type):
		bd.faultf(n, "make the field's type and the column's agree", "column %q is %s, but the field that selects it is a %s", n.Name, f.Type, tree.FieldTypeNames[n.Class])
		return bound{}, false
	}
	return bound{node: n, step: &columnStep{index: at[0], kind: kind}, typ: f.Type, kind: kind, nullable: f.Nullable}, true
}

// finish gives the typed form of an operator over args; over constants alone it is computed at once, unless that fails: then
// each row will.
func (bd *binder) finish(n *tree.Node, s step, t arrow.DataType, fails bool, args ...bound) (bound, bool) {
	x := bound{node: n, step: s, typ: t, kind: column.KindOf(t), fails: fails}
	constant := true
	for _, a := range args {
		x.nullable = x.nullable || a.nullable
		x.fails = x.fails || a.fails
		constant = constant && a.lit != nil
	}
	if constant {
		if l, ok := bd.compute(s, t); ok {
			return bd.constant(n, l), true
		}
	}
	return x, true
}

// truth is finish for a condition that cannot fail itself.
func (bd *binder) truth(n *tree.Node, s step, args ...bound) (bound, bool) {
	return bd.finish(n, s, arrow.FixedWidthTypes.Boolean, false, args...)
}

// compute evaluates a step over constants for one row.
func (bd *binder) compute(s step, t arrow.DataType) (tree.Literal, bool) {
	var errs Errors
	ev := &Evaluator{errs: &errs, avoid: make([]uint8, bd.ratios), memos: make([]any, bd.memos), slots: make([]vec, bd.slots)}
	v := s.eval(ev, block{n: 1}, nil)
	switch {
	case len(errs.list) > 0:
		return tree.Literal{}, false
	case v.idle(0):
		return tree.Literal{Type: t}, true
	case t.ID() == arrow.BOOL:
		return tree.Literal{Type: t, Value: v.data[0] == 1}, true
	case v.text != nil:
		return tree.Literal{Type: t, Value: string(v.text.Bytes(int(v.rows[0])))}, true
	}
	var w int128
	copy(column.BytesOf(w[:]), v.data)
	return tree.LiteralFrom(t, w), true
}

func (bd *binder) not(n *tree.Node) (bound, bool) {
	x, ok := bd.bind(n.Args[0])
	if !ok {
		return bound{}, false
	}
	if x, ok = bd.condition(n, x); !ok {
		return bound{}, false
	}
	return bd.truth(n, &notStep{child: x.use()}, x)
}

// condition checks that an operand of a logical operator is a condition.
func (bd *binder) condition(n *tree.Node, x bound) (bound, bool) {
	if x.untyped() {
		return bd.constant(x.node, tree.Literal{Type: arrow.FixedWidthTypes.Boolean}), true
	}
	if x.kind != column.Bool {
		bd.faultf(n, "compare it with something", "%s needs conditions, and %s has type %s", tree.Symbols[n.Op], x.node, x.typ)
		return bound{}, false
	}
	return x, true
}

func (bd *binder) logic(n *tree.Node, l, r bound) (bound, bool) {
	l, okL := bd.condition(n, l)
	r, okR := bd.condition(n, r)
	if !okL || !okR {
		return bound{}, false
	}
	return bd.truth(n, &logicStep{a: l.use(), b: r.use(), or: n.Op == tree.OpOr, bFails: r.fails}, l, r)
}

func (bd *binder) nullTest(n *tree.Node) (bound, bool) {
	x, ok := bd.bind(n.Args[0])
	if !ok {
		return bound{}, false
	}
	if x.lit != nil {
		return bd.constant(n, tree.Literal{Type: arrow.FixedWidthTypes.Boolean, Value: x.lit.IsNull() == (n.Op == tree.OpIsNull)}), true
	}
	x.nullable = false
	return bd.truth(n, &nullStep{child: x.use(), negate: n.Op == tree.OpIsNotNull}, x)
}
