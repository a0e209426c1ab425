// Package blocks answers: what do formats of files that other programs have written as Arrow data have in common?
//
//	alloc := blocks.NewAllocator(limit)                // memory that a hostile file cannot exceed
//	plan, err := blocks.Project(fileSchema, wanted)    // columns by name, types that lose nothing
//	b, err := plan.Apply(batch)
//	err = blocks.Recover(func() error { … })           // a panic of a decoder is an error
//
// The package reads no file itself.
package blocks
