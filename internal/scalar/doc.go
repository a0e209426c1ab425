// Package scalar answers: what do the functions of expressions give for the rows of a block?
//
// A [Function] says which operands it takes; bound to their types and constants it is a [Kernel], which works on a block of rows at
// a time:
//
//	f, _ := scalar.Find("substr")
//	call := scalar.Call{Args: …}          // types and constants
//	err := f.Bind(&call)                  // an *ArgError names the operand; a bad pattern, path or time zone is found here
//	call.Kernel(&out, operands)           // values, nulls and errors of the rows of a block
//
// Text is a run of bytes that should be UTF-8. A byte that is not counts as one character, matches no other, and is kept as it is:
// no function fails or invents bytes because of it, except the cast of a binary to a string, which is the place to find it.
//
// The package never looks at a clock, a locale or a schema, and never allocates for each row on a path without errors.
package scalar
