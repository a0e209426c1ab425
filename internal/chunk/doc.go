// Package chunk answers: how do many lists that grow side by side share memory?
//
// [Memory] lends chunks of [Words] words; a [List] is a chain of them:
//
//	var m chunk.Memory
//	l := chunk.Empty
//	copy(m.Chunk(m.Link(&l)), entry)
//
// The package never gives memory back to the machine: drop the Memory for that.
package chunk
