// Package calc answers: how are columns of values computed with and compared, a block of rows at a time?
//
// It holds the loops under package expr: arithmetic with overflow checks, division by constants without a division, comparison,
// selection of rows, 128-bit decimals, truth values as bytes and as bitmaps. They work on Go slices:
//
//	if calc.AddPairs(sum, a, b) { // true: some row may have overflowed
//		for i := range a { if calc.Overflows(calc.Add, a[i], b[i]) { … } }
//	}
//
// The package never knows of a schema, a null, an expression or a batch, and never allocates on a path of rows.
package calc
