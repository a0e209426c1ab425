package calc

// Op is an operator on two values.
type Op uint8

// The comparisons and the arithmetic.
const (
	Eq Op = iota
	Ne
	Lt
	Le
	Gt
	Ge
	Add
	Sub
	Mul
	Div
	Mod
)
