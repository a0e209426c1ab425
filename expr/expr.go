package expr

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/arkflow-go/arkflow/internal/tree"
)

// Expr is an expression over the columns of a stream: an immutable value that may be shared, used in several jobs and by
// several goroutines. Make one with Col, Field, Lit or Null and the methods below. Every method takes other expressions as
// well as plain Go values, which are converted by Lit.
//
// Faults (an unknown column, types that do not go together, a Go value without a column type) are kept in the expression and
// reported together by Bind. No method panics.
type Expr struct{ n *tree.Node }

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

// Col is the value of a column.
func Col(name string) Expr { return Expr{&tree.Node{Op: tree.OpColumn, Name: name}} }

// Lit is a Go value as a constant: bool, integers, floats, string, []byte, time.Time (a timestamp), time.Duration (a duration),
// named types of these, pointers to them (a nil pointer is null), and nil (null of whatever type its place asks for). A value
// that is an expression already is given as it is.
//
// A constant takes the type of what it is combined with where it can be held exactly: Col("int32_column").Eq(5) compares
// in int32, and Col("float_column").Mul(2) multiplies by 2.0.
func Lit(v any) Expr { return Expr{nodeOf(v)} }

// Null is null of a type.
func Null(t arrow.DataType) Expr { return Expr{tree.NullOf(t)} }

// nodeOf gives the tree of an operand.
func nodeOf(v any) *tree.Node {
	if x, ok := v.(Output); ok {
		return x.Output().Expr.node()
	}
	return tree.ConstantOf(v)
}

func (e Expr) node() *tree.Node {
	if e.n == nil {
		return tree.EmptyNode()
	}
	return e.n
}

func (e Expr) with(op tree.Operator, args ...any) Expr {
	n := &tree.Node{Op: op, Args: make([]*tree.Node, 1, 1+len(args))}
	n.Args[0] = e.node()
	for _, a := range args {
		n.Args = append(n.Args, nodeOf(a))
	}
	return Expr{n}
}

// Output gives the expression with the name of its column where it is a bare one.
func (e Expr) Output() Named {
	n := Named{Expr: e}
	if e.n != nil && e.n.Op == tree.OpColumn {
		n.Name = e.n.Name
	}
	return n
}

// As names the column that the expression makes in a Select.
func (e Expr) As(name string) Named { return Named{Name: name, Expr: e} }

// Eq is e = x. Comparison is exact whatever the types: integers of any kind, floats and decimals compare by their values,
// dates and timestamps as instants across units, strings and binaries byte by byte. NaN equals itself and is greater than
// every other float; -0.0 equals 0.0. Comparison with null gives null.
func (e Expr) Eq(x any) Expr { return e.with(tree.OpEq, x) }

// Ne is e <> x, the negation of Eq.
func (e Expr) Ne(x any) Expr { return e.with(tree.OpNe, x) }

// Lt is e < x in the order that Eq describes. Booleans have none.
func (e Expr) Lt(x any) Expr { return e.with(tree.OpLt, x) }

// Le is e <= x.
func (e Expr) Le(x any) Expr { return e.with(tree.OpLe, x) }

// Gt is e > x.
func (e Expr) Gt(x any) Expr { return e.with(tree.OpGt, x) }

// Ge is e >= x.
func (e Expr) Ge(x any) Expr { return e.with(tree.OpGe, x) }

// Add is e + x. The package comment has the types of results. A result that its type cannot hold is an error of the row.
// Null if either side is.
func (e Expr) Add(x any) Expr { return e.with(tree.OpAdd, x) }

// Sub is e - x; the difference of two timestamps or dates is a duration.
func (e Expr) Sub(x any) Expr { return e.with(tree.OpSub, x) }

// Mul is e * x.
func (e Expr) Mul(x any) Expr { return e.with(tree.OpMul, x) }

// Div is e / x. Between integers it truncates towards zero, and a zero divisor is an error of the row; between floats it
// follows IEEE 754. Decimals have no division.
func (e Expr) Div(x any) Expr { return e.with(tree.OpDiv, x) }

// Mod is e % x, the remainder of Div: it has the sign of e.
func (e Expr) Mod(x any) Expr { return e.with(tree.OpMod, x) }

// Neg is -e.
func (e Expr) Neg() Expr { return e.with(tree.OpNeg) }

// And is e and x with the null logic of SQL: false if either is false, else null if either is null. x is evaluated only for
// rows where e is not false, so e guards x against errors.
func (e Expr) And(x any) Expr { return e.with(tree.OpAnd, x) }

// Or is e or x with the null logic of SQL: true if either is true, else null if either is null. x is evaluated only for rows
// where e is not true.
func (e Expr) Or(x any) Expr { return e.with(tree.OpOr, x) }

// Not is true where e is false, false where e is true, and null where e is null.
func (e Expr) Not() Expr { return e.with(tree.OpNot) }

// IsNull tells whether e is null. It is never null itself.
func (e Expr) IsNull() Expr { return e.with(tree.OpIsNull) }

// IsNotNull tells whether e has a value.
func (e Expr) IsNotNull() Expr { return e.with(tree.OpIsNotNull) }

// In is e in (values...), that is e = v1 or e = v2 or … : null if e is null, or if no value equals e and one of them is null.
// It is false for every row if there are no values.
func (e Expr) In(values ...any) Expr { return e.with(tree.OpIn, values...) }

// Columns gives the names of the columns that the expression reads, sorted, each once.
func (e Expr) Columns() []string { return e.node().Columns() }

// String gives the expression as SQL-like text, such as `status = 'paid' and amount > 0`.
func (e Expr) String() string { return e.node().String() }

// ToSpec gives the expression in the structured form of job specs, made of map[string]any, []any, string, bool, int64, float64 and
// nil: FromSpec gives an equal expression back, also by way of JSON or YAML. An expression with a fault is an error.
//
//	{"and": [{"eq": [{"col": "status"}, "paid"]}, {"gt": [{"col": "amount"}, 0]}]}
func ToSpec(e Expr) (any, error) { return e.node().Spec() }

// FromSpec reads an expression in structured form: what encoding/json or a YAML library make of a document (numbers may be any
// Go integer or float, or json.Number; a float64 that is a whole number is an integer), or what ToSpec gives. The error holds
// every fault found, each a *fault.Fault whose Path leads to it, such as "and[1].eq[0].col".
func FromSpec(spec any) (Expr, error) {
	n, err := tree.FromSpec(spec)
	if err != nil {
		return Expr{}, err
	}
	return Expr{n}, nil
}
