package tree

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/arkflow-go/arkflow/internal/fault"
)

// maxSpecDepth bounds the nesting of a structured expression.
const maxSpecDepth = 500

// FromSpec reads a tree in structured form, or of a text where the whole is one.
func FromSpec(spec any) (*Node, error) {
	r, n := &specReader{}, (*Node)(nil)
	if text, ok := spec.(string); ok {
		n = FromText(text)
		for _, f := range n.Faults() {
			r.failf("", "", "expression: %s", f)
		}
	} else {
		n = r.read(spec, "", 0)
	}
	if err := r.faults.Err(); err != nil {
		if r.faults.Len() == 1 {
			return nil, r.first
		}
		return nil, err
	}
	return n, nil
}

type specReader struct {
	faults fault.List
	first  error
}

// fail records a fault and gives a node that nobody will use.
func (r *specReader) fail(f *fault.Fault) *Node {
	if r.first == nil {
		r.first = f
	}
	r.faults.Add(f)
	return EmptyNode()
}

func (r *specReader) failf(path, hint, format string, args ...any) *Node {
	return r.fail(&fault.Fault{Path: path, Problem: fmt.Sprintf(format, args...), Hint: hint})
}

func (r *specReader) read(spec any, path string, depth int) *Node {
	if depth > maxSpecDepth {
		return r.failf(path, "", "expression is nested more than %d deep", maxSpecDepth)
	}
	switch v := spec.(type) {
	case map[string]any:
		for word, arg := range v {
			if len(v) == 1 {
				return r.entry(word, arg, join(path, word), path, depth)
			}
		}
		words := make([]string, 0, len(v))
		for word := range v {
			words = append(words, strconv.Quote(word))
		}
		slices.Sort(words)
		return r.failf(path, `write {"and": […]} to join conditions`, "an expression has one operator, here are %d: %s", len(v), strings.Join(words, ", "))
	case map[any]any:
		m := make(map[string]any, len(v))
		for k, arg := range v {
			m[fmt.Sprint(k)] = arg
		}
		return r.read(m, path, depth)
	case []any:
		return r.failf(path, `write an operator around it, such as {"and": […]}`, "a list is no expression")
	case json.Number:
		if i, err := strconv.ParseInt(v.String(), 10, 64); err == nil {
			return ConstantOf(i)
		}
		f, err := v.Float64()
		if err != nil {
			return r.failf(path, "", "number %s is out of range", v)
		}
		return r.float(f)
	case float64:
		return r.float(v)
	case int:
		return ConstantOf(int64(v))
	case uint64:
		if v <= math.MaxInt64 {
			return ConstantOf(int64(v))
		}
	}
	n := ConstantOf(spec)
	if n.Fault != nil {
		return r.failf(path, "", "%s", n.Fault)
	}
	return n
}

// float reads a number of a format that does not tell integers from floats.
func (r *specReader) float(f float64) *Node {
	if f == math.Trunc(f) && math.Abs(f) <= exactInt {
		return ConstantOf(int64(f))
	}
	return ConstantOf(f)
}

func join(path, word string) string {
	if path == "" {
		return word
	}
	return path + "." + word
}

// entry reads {word: arg}.
func (r *specReader) entry(word string, arg any, path, outer string, depth int) *Node {
	if word == "col" {
		if name, ok := arg.(string); ok && name != "" {
			return &Node{Op: OpColumn, Name: name}
		}
		return r.failf(path, "", "a column's name is a string that is not empty, not %v", arg)
	}
	for op, w := range specWords {
		if w == word {
			return r.operation(op, arg, path, depth)
		}
	}
	if n, ok := r.typed(word, arg, path); ok {
		return n
	}
	known := []string{"col", "null", "timestamp", "duration", "binary", "float64", "float32", "int64", "int32", "int16", "int8", "uint64", "uint32", "uint16", "uint8"}
	for _, w := range specWords {
		known = append(known, w)
	}
	f := fault.Unknown("operator or type", word, known)
	f.Path = outer
	return r.fail(f)
}

func (r *specReader) operation(op Operator, arg any, path string, depth int) *Node {
	list, isList := arg.([]any)
	if unary(op) {
		if isList && len(list) == 1 {
			arg, isList = list[0], false
		}
		if isList {
			return r.failf(path, "", "takes one operand, not %d", len(list))
		}
		return &Node{Op: op, Args: []*Node{r.read(arg, path, depth+1)}}
	}
	if !isList {
		return r.failf(path, "", "takes a list of operands")
	}
	args := make([]*Node, len(list))
	for i, a := range list {
		args[i] = r.read(a, fmt.Sprintf("%s[%d]", path, i), depth+1)
	}
	switch {
	case op == OpIn && len(args) >= 1:
		return &Node{Op: op, Args: args}
	case (op == OpAnd || op == OpOr) && len(args) >= 2:
		n := args[0]
		for _, a := range args[1:] {
			n = &Node{Op: op, Args: []*Node{n, a}}
		}
		return n
	case op == OpIn:
		return r.failf(path, "", "takes a value and the list that it may be in")
	case op == OpAnd || op == OpOr:
		return r.failf(path, "", "takes two operands or more, not %d", len(args))
	case len(args) != 2:
		return r.failf(path, "", "takes two operands, not %d", len(args))
	}
	return &Node{Op: op, Args: args}
}

// typed reads a constant of a type, {type: value}; false where the word is no type.
func (r *specReader) typed(word string, arg any, path string) (*Node, bool) {
	switch word {
	case "null":
		name, _ := arg.(string)
		t, err := ParseType(name)
		if err != nil {
			return r.failf(path, "", "%s", err), true
		}
		return NullOf(t), true
	case "timestamp", "duration", "binary", "string":
		text, ok := arg.(string)
		if !ok {
			return r.failf(path, "", "a %s is written as a string, not %v", word, arg), true
		}
		n, err := constantFromText(word, text)
		if err != nil {
			return r.failf(path, "", "%s", err), true
		}
		return n, true
	}
	t, err := ParseType(word)
	if err != nil || !ClassOf(t).Numeric() || ClassOf(t) == ClassDecimal {
		return nil, false
	}
	n, err := numberFromText(t, fmt.Sprint(arg))
	if err != nil {
		return r.failf(path, "", "%v is no %s", arg, word), true
	}
	return n, true
}

func constantFromText(kind, text string) (*Node, error) {
	switch kind {
	case "binary":
		b, err := base64.StdEncoding.DecodeString(text)
		if err != nil {
			return nil, fmt.Errorf("%q is not base64", text)
		}
		return ConstantOf(b), nil
	case "duration":
		l, err := durationFromText(text)
		return &Node{Op: OpLiteral, Lit: l}, err
	case "timestamp":
		if v, unit, ok := strings.Cut(text, " "); ok && (unit == "s" || unit == "us") {
			if n, err := strconv.ParseInt(v, 10, 64); err == nil {
				return ConstantOf(map[string]time.Time{"s": time.Unix(n, 0), "us": time.UnixMicro(n)}[unit]), nil
			}
		}
		l, err := timestampFromText(text)
		return &Node{Op: OpLiteral, Lit: l}, err
	}
	return ConstantOf(text), nil
}

// numberFromText reads a constant of a numeric type.
func numberFromText(t arrow.DataType, text string) (*Node, error) {
	bits := t.(arrow.FixedWidthDataType).BitWidth()
	l := Literal{Type: t}
	var err error
	switch {
	case ClassOf(t) == ClassFloat:
		l.Value, err = strconv.ParseFloat(text, bits)
	case strings.HasPrefix(t.String(), "u"):
		l.Value, err = strconv.ParseUint(text, 10, bits)
	default:
		l.Value, err = strconv.ParseInt(text, 10, bits)
	}
	return &Node{Op: OpLiteral, Lit: l}, err
}
