// Package fault answers: how is a mistake in a job told to the person who wrote it?
//
// A [Fault] names the operator, the field and the line of the program, says what is wrong and what to do about it. A [List]
// gathers faults, so that all come back together:
//
//	var faults fault.List
//	faults.Add(&fault.Fault{Operator: "totals", Path: "window.size", Problem: "size is 0s", Hint: "give a size > 0"})
//	return faults.Err()
//
// The package never decides what a fault is.
package fault
