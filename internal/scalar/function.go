package scalar

import (
	"fmt"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/arkflow-go/arkflow/internal/tree"
)

// Param is what an operand of a function may be.
type Param struct {
	Name string
	Kind ParamKind
	// Const: the operand must be a constant, because the function is prepared by it.
	Const bool
}

// ParamKind is a set of types.
type ParamKind uint8

// The sets of types that functions take.
const (
	AnyType ParamKind = iota
	Text              // strings
	Whole             // integers; brought to int64
	Number            // integers, floats, decimals
	Instant           // timestamps and dates
	Duration
	TextOrBytes      // strings and binaries
	NumberOrDuration // what has a sign
	WholeOrText
)

var paramNames = [...]string{AnyType: "a value", Text: "a string", Whole: "a whole number", Number: "a number", Instant: "a timestamp or a date",
	Duration: "a duration", TextOrBytes: "a string or a binary", NumberOrDuration: "a number or a duration", WholeOrText: "a whole number or a string"}

// holds tells whether a type is one of the set.
func (k ParamKind) holds(t arrow.DataType) bool {
	c := tree.ClassOf(t)
	switch k {
	case Text:
		return isString(t)
	case Whole:
		return c == tree.ClassInt
	case Number:
		return c.Numeric()
	case Instant:
		return c == tree.ClassInstant
	case Duration:
		return c == tree.ClassDuration
	case TextOrBytes:
		return c == tree.ClassText
	case NumberOrDuration:
		return c.Numeric() || c == tree.ClassDuration
	case WholeOrText:
		return c == tree.ClassInt || isString(t)
	}
	return true
}

// usual is the type of an operand that is null of no type.
func (k ParamKind) usual() arrow.DataType {
	switch k {
	case Whole, Number, NumberOrDuration, WholeOrText:
		return arrow.PrimitiveTypes.Int64
	case Instant:
		return arrow.FixedWidthTypes.Timestamp_ms
	case Duration:
		return arrow.FixedWidthTypes.Duration_ms
	}
	return arrow.BinaryTypes.String
}

func isString(t arrow.DataType) bool {
	switch t.ID() {
	case arrow.STRING, arrow.LARGE_STRING, arrow.STRING_VIEW:
		return true
	}
	return false
}

// Function is a function by its name.
type Function struct {
	Name     string
	Params   []Param
	Optional int  // how many of the last parameters may be left out
	Repeats  bool // the last parameter may be given any number of times
	bind     func(c *Call) error
}

// Arg is an operand as far as it is known before there are rows.
type Arg struct {
	Type  arrow.DataType // never a dictionary; Null: null of any type
	Const bool
	Value any // of a constant: nil, bool, int64, uint64, float64, string, *big.Int, as in tree.Literal
}

// Call is a function with operands. Bind completes it.
type Call struct {
	Args []Arg

	Want     []arrow.DataType // the types that the operands are brought to by casts
	Result   arrow.DataType
	Kernel   Kernel
	Fails    bool // rows can be in error
	Nullable bool // it gives null also where no operand is null
	Lax      bool // it is computed also where operands are null; otherwise the result is null there
}

// Kernel computes the rows of a block. It leaves rows alone for which out.Skip is true.
type Kernel func(out *Out, args []Vec)

// ArgError is a fault of one operand.
type ArgError struct {
	Index   int // of the operand; -1: of their number
	Problem string
	Hint    string
}

func (e *ArgError) Error() string { return e.Problem }

func argError(i int, hint, format string, args ...any) error {
	return &ArgError{Index: i, Problem: fmt.Sprintf(format, args...), Hint: hint}
}

// Find gives a function by its name, in lower case.
func Find(name string) (*Function, bool) {
	i := slices.IndexFunc(functions, func(f Function) bool { return f.Name == name })
	if i < 0 {
		return nil, false
	}
	f := functions[i]
	return &f, true
}

// Names gives the names of all functions.
func Names() (names []string) {
	for _, f := range functions {
		names = append(names, f.Name)
	}
	return names
}

// Usage shows how the function is written, such as substr(text, from [, length]).
func (f *Function) Usage() string {
	s := f.Name + "("
	for i, p := range f.Params {
		optional := i >= len(f.Params)-f.Optional
		switch {
		case optional && i > 0:
			s += " [, "
		case optional:
			s += "["
		case i > 0:
			s += ", "
		}
		s += p.Name
		if optional {
			s += "]"
		}
	}
	if f.Repeats {
		s += ", …"
	}
	return s + ")"
}

// Bind checks the operands and makes the kernel. The error is an *ArgError.
func (f *Function) Bind(c *Call) error {
	if n := len(c.Args); n < len(f.Params)-f.Optional || n > len(f.Params) && !f.Repeats {
		return argError(-1, "write "+f.Usage(), "%d operands", n)
	}
	c.Want = make([]arrow.DataType, len(c.Args))
	for i := range c.Args {
		p, a := f.Params[min(i, len(f.Params)-1)], &c.Args[i]
		if a.Type.ID() == arrow.NULL {
			a.Type = p.Kind.usual()
		}
		switch {
		case !p.Kind.holds(a.Type):
			hint := "write " + f.Usage()
			if a.Type.ID() == arrow.BINARY && p.Kind == Text {
				hint = "cast it: cast(x as utf8)"
			}
			return argError(i, hint, "of type %s is not %s", a.Type, paramNames[p.Kind])
		case p.Const && !a.Const:
			return argError(i, "write it as a constant", "is not the same for all rows, as %s of %s must be", p.Name, f.Name)
		case p.Const && a.Value == nil:
			return argError(i, "", "is null, as %s of %s must not be", p.Name, f.Name)
		}
		if c.Want[i] = a.Type; p.Kind == Whole {
			c.Want[i] = arrow.PrimitiveTypes.Int64
		}
	}
	return f.bind(c)
}

// text gives the value of a constant text.
func (c *Call) text(i int) string {
	s, _ := c.Args[i].Value.(string)
	return s
}

// whole gives the value of a constant whole number.
func (c *Call) whole(i int) (int64, bool) {
	switch v := c.Args[i].Value.(type) {
	case int64:
		return v, true
	case uint64:
		return int64(v), v <= 1<<63-1
	}
	return 0, false
}

// gives sets what most functions have: a result type and a kernel.
func (c *Call) gives(t arrow.DataType, k Kernel) error {
	c.Result, c.Kernel = t, k
	return nil
}
