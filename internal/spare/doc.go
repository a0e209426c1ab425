// Package spare answers: where does the memory for a large copy come from, when to map it is what makes the copy slow?
//
// A [Memory] keeps the largest pieces that were given back, and lends the smallest that is large enough:
//
//	var m spare.Memory
//	words := m.Words(n, n)
//	m.Give([][]uint64{words}, nil)
//
// The package never clears what it lends and never keeps many or small pieces.
package spare
