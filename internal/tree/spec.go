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

// Spec gives the tree as FromSpec reads it: in structured form where it has one, else as text.
func (n *Node) Spec() (any, error) {
	if faults := n.Faults(); len(faults) > 0 {
		return nil, fmt.Errorf("expression: %w", faults[0])
	}
	spec, ok := n.structured()
	if text, isText := spec.(string); isText {
		spec = map[string]any{"string": text} // a text alone is an expression to be parsed
	}
	if ok {
		return spec, nil
	}
	text := n.String()
	if back := FromText(text); len(back.Faults()) > 0 {
		return nil, fmt.Errorf("expression %s has no written form: %w", text, back.Faults()[0])
	}
	return text, nil
}

// structured gives the tree in structured form; false for functions, casts, case, and constants that only text has.
func (n *Node) structured() (spec any, ok bool) {
	switch n.Op {
	case OpColumn:
		return map[string]any{"col": n.Name}, true
	case OpLiteral:
		return n.Lit.spec()
	}
	word, known := specWords[n.Op]
	if !known {
		return nil, false
	}
	operands := n.Args
	if n.Op == OpAnd || n.Op == OpOr {
		operands = n.spine(nil)
	}
	list := make([]any, len(operands))
	for i, a := range operands {
		s, ok := a.structured()
		if !ok {
			return nil, false
		}
		list[i] = s
	}
	if unary(n.Op) {
		return map[string]any{word: list[0]}, true
	}
	return map[string]any{word: list}, true
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

func (l Literal) spec() (spec any, ok bool) {
	if l.IsNull() {
		if l.Untyped() {
			return nil, true
		}
		t, err := ParseType(l.Type.String())
		return map[string]any{"null": l.Type.String()}, err == nil && arrow.TypeEqual(t, l.Type)
	}
	switch v := l.Value.(type) {
	case bool:
		return v, true
	case string:
		if l.Type.ID() == arrow.BINARY {
			return map[string]any{"binary": base64.StdEncoding.EncodeToString([]byte(v))}, true
		}
		return v, l.Type.ID() == arrow.STRING
	case int64:
		return l.specInt(v)
	case uint64:
		return map[string]any{l.Type.String(): strconv.FormatUint(v, 10)}, true
	case float64:
		switch {
		case l.Type.ID() == arrow.FLOAT32:
			return map[string]any{"float32": calc.FormatFloat(v, 32)}, true
		case math.IsNaN(v), math.IsInf(v, 0), v == math.Trunc(v):
			return map[string]any{"float64": calc.FormatFloat(v, 64)}, true
		}
		return v, true
	}
	return nil, false
}

func (l Literal) specInt(v int64) (spec any, ok bool) {
	switch t := l.Type.(type) {
	case *arrow.TimestampType:
		unit := NanosPer(t.Unit)
		at, ok := timeOf(v, unit)
		if ok {
			return map[string]any{"timestamp": at.Format(time.RFC3339Nano)}, arrow.TypeEqual(instantOf(at).Type, t)
		}
		return map[string]any{"timestamp": fmt.Sprintf("%d %s", v, t.Unit)}, t.TimeZone == "UTC" && t.Unit != arrow.Millisecond
	case *arrow.DurationType:
		return map[string]any{"duration": time.Duration(v).String()}, t.Unit == arrow.Nanosecond
	case *arrow.Int64Type:
		if v >= -exactInt && v <= exactInt {
			return v, true
		}
	}
	return map[string]any{l.Type.String(): strconv.FormatInt(v, 10)}, ClassOf(l.Type) == ClassInt
}
