package shuffle

import (
	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/state"
)

// Partitioner deals the rows of keyed batches to the tasks that own their key groups. Not safe for concurrent use.
type Partitioner struct {
	max    int
	owner  []uint16 // task of each key group
	rows   [][]uint32
	counts []int
	target []uint16
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
	if cap(p.target) < n {
		p.target = make([]uint16, n)
	}
	target, counts := p.target[:n], p.counts
	clear(counts)
	if b.Sel == nil {
		for i, h := range b.Hash[:n] {
			t := p.owner[state.KeyGroup(h, p.max)]
			target[i] = t
			counts[t]++
		}
	} else {
		for i, r := range b.Sel {
			t := p.owner[state.KeyGroup(b.Hash[r], p.max)]
			target[i] = t
			counts[t]++
		}
	}
	for t, c := range counts {
		if cap(p.rows[t]) < c {
			p.rows[t] = make([]uint32, max(c, 2*cap(p.rows[t])))
		}
		p.rows[t] = p.rows[t][:c]
		counts[t] = 0
	}
	for i, t := range target {
		p.rows[t][counts[t]] = uint32(b.Row(i))
		counts[t]++
	}
	return p.rows
}
