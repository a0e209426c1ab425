package tree

import (
	"encoding/base64"
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/arkflow-go/arkflow/internal/calc"
)

// The structured form of an expression is made of what JSON and YAML hold. A column is {"col": name}; an operator is
// {word: [operands]}, or {word: operand} where it has one; and and or take any number of operands, in takes the value and
// then the list. Strings, booleans, null, integers, and floats that are not whole stand for themselves; other constants
// are {type: value}: {"float64": 5}, {"int8": 1}, {"timestamp": "2024-05-01T00:00:00Z"}, {"duration": "1m30s"}, {"binary": base64},
// and {"null": type}.

// specWords names the operators in the structured form.
var specWords = map[Operator]string{
	OpEq: "eq", OpNe: "ne", OpLt: "lt", OpLe: "le", OpGt: "gt", OpGe: "ge",
	OpAdd: "add", OpSub: "sub", OpMul: "mul", OpDiv: "div", OpMod: "mod", OpNeg: "neg",
	OpAnd: "and", OpOr: "or", OpNot: "not", OpIsNull: "is_null", OpIsNotNull: "is_not_null", OpIn: "in",
}

// exactInt is the greatest integer up to which readers that take every number for a float64 see them all.
const exactInt = 1 << 53

// Spec gives the tree in structured form.
func (n *Node) Spec() (any, error) {
	if n.Fault != nil {
		return nil, fmt.Errorf("expression: %w", n.Fault)
	}
	switch n.Op {
	case OpColumn:
		return map[string]any{"col": n.Name}, nil
	case OpLiteral:
		return n.Lit.spec()
	}
	operands := n.Args
	if n.Op == OpAnd || n.Op == OpOr {
		operands = n.spine(nil)
	}
	list := make([]any, len(operands))
	for i, a := range operands {
		s, err := a.Spec()
		if err != nil {
			return nil, err
		}
		list[i] = s
	}
	if unary(n.Op) {
		return map[string]any{specWords[n.Op]: list[0]}, nil
	}
	return map[string]any{specWords[n.Op]: list}, nil
}

func unary(o Operator) bool {
	return o == OpNeg || o == OpNot || o == OpIsNull || o == OpIsNotNull
}

// spine gives the operands of a and b and c as a list: left sides of the same operator are opened.
func (n *Node) spine(list []*Node) []*Node {
	if n.Args[0].Op == n.Op {
		list = n.Args[0].spine(list)
	} else {
		list = append(list, n.Args[0])
	}
	return append(list, n.Args[1])
}

func (l Literal) spec() (any, error) {
	if l.IsNull() {
		if l.Untyped() {
			return nil, nil
		}
		if t, err := parseType(l.Type.String()); err != nil || !arrow.TypeEqual(t, l.Type) {
			return nil, fmt.Errorf("expression: null of type %s has no structured form", l.Type)
		}
		return map[string]any{"null": l.Type.String()}, nil
	}
	switch v := l.Value.(type) {
	case bool:
		return v, nil
	case string:
		if l.Type.ID() == arrow.BINARY {
			return map[string]any{"binary": base64.StdEncoding.EncodeToString([]byte(v))}, nil
		}
		return v, nil
	case int64:
		return l.specInt(v), nil
	case uint64:
		return map[string]any{l.Type.String(): strconv.FormatUint(v, 10)}, nil
	case float64:
		switch {
		case l.Type.ID() == arrow.FLOAT32:
			return map[string]any{"float32": calc.FormatFloat(v, 32)}, nil
		case math.IsNaN(v), math.IsInf(v, 0), v == math.Trunc(v):
			return map[string]any{"float64": calc.FormatFloat(v, 64)}, nil
		}
		return v, nil
	}
	return nil, fmt.Errorf("expression: constant %s has no structured form", l)
}

func (l Literal) specInt(v int64) any {
	switch t := l.Type.(type) {
	case *arrow.TimestampType:
		unit := NanosPer(t.Unit)
		per := int64(time.Second) / unit
		sec := floorDiv(v, per)
		at := time.Unix(sec, (v-sec*per)*unit).UTC()
		if y := at.Year(); y >= 0 && y <= 9999 {
			return map[string]any{"timestamp": at.Format(time.RFC3339Nano)}
		}
		return map[string]any{"timestamp": fmt.Sprintf("%d %s", v, t.Unit)}
	case *arrow.DurationType:
		return map[string]any{"duration": time.Duration(v).String()}
	case *arrow.Int64Type:
		if v >= -exactInt && v <= exactInt {
			return v
		}
	}
	return map[string]any{l.Type.String(): strconv.FormatInt(v, 10)}
}
