// Package typetext answers: by which words does a JobSpec name the types of columns?
//
// [Name] writes a type, [Parse] reads it back:
//
//	typetext.Name(arrow.ListOf(arrow.PrimitiveTypes.Int64)) // list[int64?]
//
// The package never looks at a value.
package typetext
