package shuffle

import (
	"math/bits"

	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/state"
)

// Partitioner deals the rows of keyed batches to the tasks that own their key groups. Not safe for concurrent use.
type Partitioner struct {
	max    int
	owner  []uint16   // task of each key group
	rows   [][]uint32 // by task: the result
	memory []uint32   // of rows: room for a whole batch a task
	counts []int
}

// NewPartitioner deals to `tasks` tasks over max key groups.
func NewPartitioner(max, tasks int) *Partitioner {
	p := &Partitioner{max: max, owner: make([]uint16, max), rows: make([][]uint32, tasks), counts: make([]int, tasks)}
	for g := range p.owner {
		p.owner[g] = uint16(state.Owner(g, tasks, max))
	}
	return p
}

// Split gives for each task the physical rows of b that it gets, ascending. b.Hash must be there. The result is valid until
// the next call.
func (p *Partitioner) Split(b *column.Batch) [][]uint32 {
	n := b.Len()
	if len(p.memory) < n*len(p.rows) {
		p.memory = make([]uint32, n*len(p.rows))
	}
	for t := range p.counts {
		p.counts[t] = t * n
	}
	owner, memory, counts, groups := p.owner, p.memory, p.counts, uint64(p.max)
	switch {
	case len(p.rows) == 2 && b.Sel == nil:
		p.splitInTwo(b.Hash[:n])
	case b.Sel == nil:
		for i, h := range b.Hash[:n] {
			g, _ := bits.Mul64(h, groups) // state.KeyGroup
			t := owner[g]
			memory[counts[t]] = uint32(i)
			counts[t]++
		}
	default:
		for _, r := range b.Sel {
			g, _ := bits.Mul64(b.Hash[r], groups)
			t := owner[g]
			memory[counts[t]] = r
			counts[t]++
		}
	}
	for t, end := range counts {
		p.rows[t] = memory[t*n : end]
	}
	return p.rows
}

// splitInTwo keeps both counters in registers: every row is written for both tasks, and one of the counters moves on.
func (p *Partitioner) splitInTwo(hash []uint64) {
	n, owner, groups := len(hash), p.owner, uint64(p.max)
	first, second := p.memory[:n], p.memory[n:2*n]
	a, b := 0, 0
	for i, h := range hash {
		g, _ := bits.Mul64(h, groups)
		first[a], second[b] = uint32(i), uint32(i)
		t := int(owner[g])
		a += 1 - t
		b += t
	}
	p.counts[0], p.counts[1] = a, n+b
}
