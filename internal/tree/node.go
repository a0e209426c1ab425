package tree

import (
	"fmt"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/arkflow-go/arkflow/internal/calc"
)

// Operator is the kind of a node of the tree: comparison and arithmetic as the loops know them, and what the tree has beside.
type Operator = calc.Op

const (
	OpEq  = calc.Eq
	OpNe  = calc.Ne
	OpLt  = calc.Lt
	OpLe  = calc.Le
	OpGt  = calc.Gt
	OpGe  = calc.Ge
	OpAdd = calc.Add
	OpSub = calc.Sub
	OpMul = calc.Mul
	OpDiv = calc.Div
	OpMod = calc.Mod
)

const (
	OpColumn Operator = iota + calc.Mod + 1
	OpLiteral
	OpNeg
	OpAnd
	OpOr
	OpNot
	OpIsNull
	OpIsNotNull
	OpIn
)

// Node is a node of the tree. It is never changed once made.
type Node struct {
	Op    Operator
	Args  []*Node
	Name  string    // opColumn
	Class FieldType // opColumn made by Field: what its Go type holds
	Lit   Literal   // opLiteral
	Fault error     // what is wrong with the node whatever the schema
}

// ConstantOf gives a Go value as a constant; see literalOf.
func ConstantOf(v any) *Node {
	lit, err := literalOf(v)
	return &Node{Op: OpLiteral, Lit: lit, Fault: err}
}

// EmptyNode is the node of no expression.
func EmptyNode() *Node {
	return &Node{Op: OpLiteral, Lit: Literal{Type: arrow.Null}, Fault: fmt.Errorf("the zero Expr is no expression")}
}

// NullOf is null of a type; nil: of any.
func NullOf(t arrow.DataType) *Node {
	if t == nil {
		t = arrow.Null
	}
	return &Node{Op: OpLiteral, Lit: Literal{Type: t}}
}

// Columns gives the names of the columns that the tree reads, sorted, each once.
func (n *Node) Columns() []string {
	var names []string
	var walk func(*Node)
	walk = func(n *Node) {
		if n.Op == OpColumn {
			names = append(names, n.Name)
		}
		for _, a := range n.Args {
			walk(a)
		}
	}
	walk(n)
	slices.Sort(names)
	return slices.Compact(names)
}
