package tree

import (
	"errors"
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
	OpCall    // Name(Args…)
	OpCast    // Args[0] as Type; a value that does not fit is an error of the row
	OpTryCast // Args[0] as Type; a value that does not fit gives null
	OpCase    // Args: condition and value in turns, and the value of no condition where their number is odd
	OpSwitch  // Args[0] is compared with what stands before each value; else as OpCase
)

// Node is a node of the tree. It is never changed once made.
type Node struct {
	Op     Operator
	Args   []*Node
	Name   string         // OpColumn, OpCall
	Class  FieldType      // OpColumn made by Field: what its Go type holds
	Quoted bool           // OpColumn: text had it in double quotes without need
	Lit    Literal        // OpLiteral
	Type   arrow.DataType // OpCast, OpTryCast
	Fault  error          // what is wrong with the node whatever the schema
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
	return &Node{Op: OpLiteral, Lit: Literal{Type: PlainType(t)}}
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

// Faults gives what is wrong with the tree whatever the schema, in the order of the text.
func (n *Node) Faults() (list []error) {
	if n.Fault != nil {
		list = append(list, n.Fault)
	}
	for _, a := range n.Args {
		list = append(list, a.Faults()...)
	}
	return list
}

// Call is a function of operands.
func Call(name string, args ...*Node) *Node { return &Node{Op: OpCall, Name: name, Args: args} }

// Cast is n as another type. A constant that the type holds becomes one of that type.
func Cast(n *Node, t arrow.DataType, try bool) *Node {
	if n.Op == OpLiteral && n.Fault == nil {
		if l, ok := n.Lit.As(t); ok {
			return &Node{Op: OpLiteral, Lit: l}
		}
	}
	c := &Node{Op: OpCast, Args: []*Node{n}, Type: t}
	if try {
		c.Op = OpTryCast
	}
	return c
}

// Between is low <= n and n <= high.
func Between(n, low, high *Node) *Node {
	return &Node{Op: OpAnd, Args: []*Node{{Op: OpGe, Args: []*Node{n, low}}, {Op: OpLe, Args: []*Node{n, high}}}}
}

// NoType is the node of a cast without a type.
func NoType() *Node {
	return faulty(errors.New("cast to no type: give one, such as arrow.PrimitiveTypes.Int64"))
}
