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
	memory []uint32   // of rows
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

// wideTasks is from how many tasks on rows are counted before they are dealt: room for a whole batch a task would be too much memory.
const wideTasks = 9

// Split gives for each task the physical rows of b that it gets, ascending. b.Hash must be there. The result is valid until
// the next call.
func (p *Partitioner) Split(b *column.Batch) [][]uint32 {
	n, tasks := b.Len(), len(p.rows)
	if need := n * min(tasks, wideTasks); len(p.memory) < need {
		p.memory = make([]uint32, need)
	}
	switch {
	case tasks >= wideTasks:
		return p.splitCounted(b, n)
	case tasks == 2 && b.Sel == nil:
		p.splitInTwo(b.Hash[:n])
	default:
		for t := range p.counts {
			p.counts[t] = t * n
		}
		p.deal(b, n)
	}
	for t, end := range p.counts {
		p.rows[t] = p.memory[t*n : end]
	}
	return p.rows
}

// splitCounted counts the rows of each task first.
func (p *Partitioner) splitCounted(b *column.Batch, n int) [][]uint32 {
	clear(p.counts)
	for i := range n {
		p.counts[p.owner[state.KeyGroup(b.Hash[b.Row(i)], p.max)]]++
	}
	at := 0
	for t, c := range p.counts {
		p.rows[t] = p.memory[at : at+c]
		p.counts[t] = at
		at += c
	}
	p.deal(b, n)
	return p.rows
}

// deal writes each row where the next one of its task belongs.
func (p *Partitioner) deal(b *column.Batch, n int) {
	owner, memory, counts, groups := p.owner, p.memory, p.counts, uint64(p.max)
	if b.Sel == nil {
		for i, h := range b.Hash[:n] {
			g, _ := bits.Mul64(h, groups) // state.KeyGroup
			t := owner[g]
			memory[counts[t]] = uint32(i)
			counts[t]++
		}
		return
	}
	for _, r := range b.Sel {
		g, _ := bits.Mul64(b.Hash[r], groups)
		t := owner[g]
		memory[counts[t]] = r
		counts[t]++
	}
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
