package expr

import (
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/arkflow-go/arkflow/internal/tree"
)

// failure says how a step can fail; with the operands of a row it makes the text of that row's error.
type failure struct {
	node *tree.Node
	kind failureKind
	a, b arrow.DataType // of the operands
	to   arrow.DataType // what the result should have been
	swap bool           // the step computes b op a
}

type failureKind uint8

const (
	failBinary  failureKind = iota // a op b calc.Overflows, or divides by zero
	failNegate                     // -a calc.Overflows
	failConvert                    // a does not fit in the type that the operator computes in
)

func (f *failure) text(a, b int128) string {
	if f.swap {
		a, b = b, a
	}
	x := valueText(a, f.a)
	switch f.kind {
	case failNegate:
		return fmt.Sprintf("-(%s) does not fit in %s", x, f.to)
	case failConvert:
		return fmt.Sprintf("%s does not fit in %s", x, f.to)
	}
	y := valueText(b, f.b)
	if (f.node.Op == tree.OpDiv || f.node.Op == tree.OpMod) && b == (int128{}) {
		return fmt.Sprintf("%s %s %s: division by zero", x, tree.Symbols[f.node.Op], y)
	}
	return fmt.Sprintf("%s %s %s does not fit in %s", x, tree.Symbols[f.node.Op], y, f.to)
}

// valueText gives a fixed-width value of a type as text.
func valueText(w int128, t arrow.DataType) string {
	return tree.LiteralFrom(tree.PlainType(t), w).Short()
}
