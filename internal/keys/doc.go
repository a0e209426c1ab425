// Package keys answers: when are two keys the same, and how are they hashed, ordered and written?
//
// [TypeOf] gives the canonical type of a column, by which columns may be compared as keys; [Words] the canonical words of its
// values. [Hash] is the stable hash by which rows find their task, [Append] and [Decode] are the written form of a key:
//
//	for i, h := range keys.Hash(nil, batch, []int{0}) { owner[i] = state.KeyGroup(h, 128) }
//
// The package never keeps anything, and never changes what it writes: checkpoints depend on it.
package keys
