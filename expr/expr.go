package expr

import (
	"fmt"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/arkflow-go/arkflow/internal/calc"
)

// Expr is an expression over the columns of a stream: an immutable value that may be shared, used in several jobs and by
// several goroutines. Make one with Col, Field, Lit or Null and the methods below. Every method takes other expressions as
// well as plain Go values, which are converted by Lit.
//
// Faults (an unknown column, types that do not go together, a Go value without a column type) are kept in the expression and
// reported together by Bind. No method panics.
type Expr struct{ n *node }

// Output is an expression with the name of the column that it makes: an Expr, a FieldExpr or a Named.
type Output interface {
	// Output gives the expression with its name: that of As, or of the column where the expression is a bare one, else "".
	Output() Named
}

// Named is an expression with the name of the column that it makes. As gives one.
type Named struct {
	Name string
	Expr Expr
}

// Output gives the value itself.
func (n Named) Output() Named { return n }

// operator is the kind of a node of the tree: comparison and arithmetic as the loops know them, and what the tree has beside.
type operator = calc.Op

const (
	opEq  = calc.Eq
	opNe  = calc.Ne
	opLt  = calc.Lt
	opLe  = calc.Le
	opGt  = calc.Gt
	opGe  = calc.Ge
	opAdd = calc.Add
	opSub = calc.Sub
	opMul = calc.Mul
	opDiv = calc.Div
	opMod = calc.Mod
)

const (
	opColumn operator = iota + calc.Mod + 1
	opLiteral
	opNeg
	opAnd
	opOr
	opNot
	opIsNull
	opIsNotNull
	opIn
)

// node is a node of the tree. It is never changed once made.
type node struct {
	op    operator
	args  []*node
	name  string    // opColumn
	class fieldType // opColumn made by Field: what its Go type holds
	lit   literal   // opLiteral
	fault error     // what is wrong with the node whatever the schema
}

// Col is the value of a column.
func Col(name string) Expr { return Expr{&node{op: opColumn, name: name}} }

// Lit is a Go value as a constant: bool, integers, floats, string, []byte, time.Time (a timestamp), time.Duration (a duration),
// named types of these, pointers to them (a nil pointer is null), and nil (null of whatever type its place asks for). A value
// that is an expression already is given as it is.
//
// A constant takes the type of what it is combined with where it can be held exactly: Col("int32_column").Eq(5) compares
// in int32, and Col("float_column").Mul(2) multiplies by 2.0.
func Lit(v any) Expr { return Expr{nodeOf(v)} }

// Null is null of a type.
func Null(t arrow.DataType) Expr {
	if t == nil {
		return Lit(nil)
	}
	return Expr{&node{op: opLiteral, lit: literal{typ: t}}}
}

// nodeOf gives the tree of an operand.
func nodeOf(v any) *node {
	if x, ok := v.(Output); ok {
		if n := x.Output().Expr.n; n != nil {
			return n
		}
		return emptyNode()
	}
	lit, err := literalOf(v)
	return &node{op: opLiteral, lit: lit, fault: err}
}

func emptyNode() *node {
	return &node{op: opLiteral, lit: literal{typ: arrow.Null}, fault: fmt.Errorf("the zero Expr is no expression")}
}

func (e Expr) node() *node {
	if e.n == nil {
		return emptyNode()
	}
	return e.n
}

func (e Expr) with(op operator, args ...any) Expr {
	n := &node{op: op, args: make([]*node, 1, 1+len(args))}
	n.args[0] = e.node()
	for _, a := range args {
		n.args = append(n.args, nodeOf(a))
	}
	return Expr{n}
}

// Output gives the expression with the name of its column where it is a bare one.
func (e Expr) Output() Named {
	n := Named{Expr: e}
	if e.n != nil && e.n.op == opColumn {
		n.Name = e.n.name
	}
	return n
}

// As names the column that the expression makes in a Select.
func (e Expr) As(name string) Named { return Named{Name: name, Expr: e} }

// Eq is e = x. Comparison is exact whatever the types: integers of any kind, floats and decimals compare by their values,
// dates and timestamps as instants across units, strings and binaries byte by byte. NaN equals itself and is greater than
// every other float; -0.0 equals 0.0. Comparison with null gives null.
func (e Expr) Eq(x any) Expr { return e.with(opEq, x) }

// Ne is e <> x, the negation of Eq.
func (e Expr) Ne(x any) Expr { return e.with(opNe, x) }

// Lt is e < x in the order that Eq describes. Booleans have none.
func (e Expr) Lt(x any) Expr { return e.with(opLt, x) }

// Le is e <= x.
func (e Expr) Le(x any) Expr { return e.with(opLe, x) }

// Gt is e > x.
func (e Expr) Gt(x any) Expr { return e.with(opGt, x) }

// Ge is e >= x.
func (e Expr) Ge(x any) Expr { return e.with(opGe, x) }

// Add is e + x. The package comment has the types of results. A result that its type cannot hold is an error of the row.
// Null if either side is.
func (e Expr) Add(x any) Expr { return e.with(opAdd, x) }

// Sub is e - x; the difference of two timestamps or dates is a duration.
func (e Expr) Sub(x any) Expr { return e.with(opSub, x) }

// Mul is e * x.
func (e Expr) Mul(x any) Expr { return e.with(opMul, x) }

// Div is e / x. Between integers it truncates towards zero, and a zero divisor is an error of the row; between floats it
// follows IEEE 754. Decimals have no division.
func (e Expr) Div(x any) Expr { return e.with(opDiv, x) }

// Mod is e % x, the remainder of Div: it has the sign of e.
func (e Expr) Mod(x any) Expr { return e.with(opMod, x) }

// Neg is -e.
func (e Expr) Neg() Expr { return e.with(opNeg) }

// And is e and x with the null logic of SQL: false if either is false, else null if either is null. x is evaluated only for
// rows where e is not false, so e guards x against errors.
func (e Expr) And(x any) Expr { return e.with(opAnd, x) }

// Or is e or x with the null logic of SQL: true if either is true, else null if either is null. x is evaluated only for rows
// where e is not true.
func (e Expr) Or(x any) Expr { return e.with(opOr, x) }

// Not is true where e is false, false where e is true, and null where e is null.
func (e Expr) Not() Expr { return e.with(opNot) }

// IsNull tells whether e is null. It is never null itself.
func (e Expr) IsNull() Expr { return e.with(opIsNull) }

// IsNotNull tells whether e has a value.
func (e Expr) IsNotNull() Expr { return e.with(opIsNotNull) }

// In is e in (values...), that is e = v1 or e = v2 or … : null if e is null, or if no value equals e and one of them is null.
// It is false for every row if there are no values.
func (e Expr) In(values ...any) Expr { return e.with(opIn, values...) }

// Columns gives the names of the columns that the expression reads, sorted, each once.
func (e Expr) Columns() []string {
	var names []string
	var walk func(*node)
	walk = func(n *node) {
		if n.op == opColumn {
			names = append(names, n.name)
		}
		for _, a := range n.args {
			walk(a)
		}
	}
	walk(e.node())
	slices.Sort(names)
	return slices.Compact(names)
}
