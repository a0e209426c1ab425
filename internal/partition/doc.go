// Package partition answers: how are the rows of very many keys kept, when to look each of them up would be a cache miss?
//
// Entries, a key and some values, are only appended to one of [Count] partitions by the high bits of the key's hash.
// A partition has few enough keys to be grouped in the first caches; rows of groups can take the place of its entries:
//
//	s := partition.New(&memory, 2)
//	s.Append(keys, [][]uint64{values}, func(at int) { … })
//	err := s.Entries(0, 0, s.Pending(0), func(entries []uint64) error { … })
//
// [Store.Freeze] gives a store as it is at the moment, for another goroutine, in a time that does not depend on what is in it.
//
// The package never groups anything and never changes an entry or a row that was appended.
package partition
