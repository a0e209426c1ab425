package state

import "math/bits"

// DefaultMaxParallelism is the number of key groups of a job that sets none.
const DefaultMaxParallelism = 128

// MaxKeyGroups is the largest number of key groups that a job may have.
const MaxKeyGroups = 1 << 15

// KeyGroup maps the stable hash of a key into [0, max) (K2): the high word of hash × max.
func KeyGroup(hash uint64, max int) int {
	hi, _ := bits.Mul64(hash, uint64(max))
	return int(hi)
}

// Range is the key groups First <= g < End.
type Range struct{ First, End int }

// Contains reports whether the group is in the range.
func (r Range) Contains(group int) bool { return r.First <= group && group < r.End }

// Len is the number of groups.
func (r Range) Len() int { return r.End - r.First }

// OwnedBy is the range of groups that subtask i of p owns: [i·max/p, (i+1)·max/p).
func OwnedBy(subtask, parallelism, max int) Range {
	return Range{subtask * max / parallelism, (subtask + 1) * max / parallelism}
}

// Owner is the subtask of p whose range has the group.
func Owner(group, parallelism, max int) int {
	i := group * parallelism / max
	for i+1 < parallelism && group >= (i+1)*max/parallelism {
		i++
	}
	return i
}
