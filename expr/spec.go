package expr

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
var specWords = map[operator]string{
	opEq: "eq", opNe: "ne", opLt: "lt", opLe: "le", opGt: "gt", opGe: "ge",
	opAdd: "add", opSub: "sub", opMul: "mul", opDiv: "div", opMod: "mod", opNeg: "neg",
	opAnd: "and", opOr: "or", opNot: "not", opIsNull: "is_null", opIsNotNull: "is_not_null", opIn: "in",
}

// exactInt is the greatest integer up to which readers that take every number for a float64 see them all.
const exactInt = 1 << 53

// ToSpec gives the expression in the structured form of job specs, made of map[string]any, []any, string, bool, int64, float64 and
// nil: FromSpec gives an equal expression back, also by way of JSON or YAML. An expression with a fault is an error.
//
//	{"and": [{"eq": [{"col": "status"}, "paid"]}, {"gt": [{"col": "amount"}, 0]}]}
func ToSpec(e Expr) (any, error) { return e.node().spec() }

func (n *node) spec() (any, error) {
	if n.fault != nil {
		return nil, fmt.Errorf("expression: %w", n.fault)
	}
	switch n.op {
	case opColumn:
		return map[string]any{"col": n.name}, nil
	case opLiteral:
		return n.lit.spec()
	}
	operands := n.args
	if n.op == opAnd || n.op == opOr {
		operands = n.spine(nil)
	}
	list := make([]any, len(operands))
	for i, a := range operands {
		s, err := a.spec()
		if err != nil {
			return nil, err
		}
		list[i] = s
	}
	if unary(n.op) {
		return map[string]any{specWords[n.op]: list[0]}, nil
	}
	return map[string]any{specWords[n.op]: list}, nil
}

func unary(o operator) bool {
	return o == opNeg || o == opNot || o == opIsNull || o == opIsNotNull
}

// spine gives the operands of a and b and c as a list: left sides of the same operator are opened.
func (n *node) spine(list []*node) []*node {
	if n.args[0].op == n.op {
		list = n.args[0].spine(list)
	} else {
		list = append(list, n.args[0])
	}
	return append(list, n.args[1])
}

func (l literal) spec() (any, error) {
	if l.null() {
		if l.untyped() {
			return nil, nil
		}
		if t, err := parseType(l.typ.String()); err != nil || !arrow.TypeEqual(t, l.typ) {
			return nil, fmt.Errorf("expression: null of type %s has no structured form", l.typ)
		}
		return map[string]any{"null": l.typ.String()}, nil
	}
	switch v := l.value.(type) {
	case bool:
		return v, nil
	case string:
		if l.typ.ID() == arrow.BINARY {
			return map[string]any{"binary": base64.StdEncoding.EncodeToString([]byte(v))}, nil
		}
		return v, nil
	case int64:
		return l.specInt(v), nil
	case uint64:
		return map[string]any{l.typ.String(): strconv.FormatUint(v, 10)}, nil
	case float64:
		switch {
		case l.typ.ID() == arrow.FLOAT32:
			return map[string]any{"float32": calc.FormatFloat(v, 32)}, nil
		case math.IsNaN(v), math.IsInf(v, 0), v == math.Trunc(v):
			return map[string]any{"float64": calc.FormatFloat(v, 64)}, nil
		}
		return v, nil
	}
	return nil, fmt.Errorf("expression: constant %s has no structured form", l)
}

func (l literal) specInt(v int64) any {
	switch t := l.typ.(type) {
	case *arrow.TimestampType:
		unit := nanosPer(t.Unit)
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
	return map[string]any{l.typ.String(): strconv.FormatInt(v, 10)}
}
