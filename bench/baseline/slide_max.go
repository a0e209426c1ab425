package baseline

import (
	"math"

	"github.com/arkflow-go/arkflow/bench/events"
)

// MaxPanes is Panes with the greatest price instead of the sum, by two stacks: the panes up to some instant hold the greatest from each to
// that instant, and one column the greatest since. When the first stack is used up the second one becomes it.
type MaxPanes struct {
	index  intIndex
	pane   [][]topped
	count  []int64 // running
	since  []int64 // greatest of the panes after the first stack
	oldest int
	newest int
	fresh  bool // the pane before newest is in neither stack nor count
	stack  int  // panes of the first stack, from oldest on
	group  [events.Rows]uint32
}

type topped struct{ count, top int64 }

const noTop = math.MinInt64

// NewMaxPanes gives room for so many keys and panes of a window. Each pane must end with a window: the size is a multiple of the step.
func NewMaxPanes(keys int64, panes int) *MaxPanes {
	p := &MaxPanes{index: newIntIndex(keys, 0.5), count: make([]int64, keys), since: make([]int64, keys)}
	for i := range p.since {
		p.since[i] = noTop
	}
	p.pane = make([][]topped, panes+2)
	for i := range p.pane {
		p.pane[i] = make([]topped, keys)
		clearTops(p.pane[i])
	}
	return p
}

func clearTops(p []topped) {
	for i := range p {
		p[i] = topped{0, noTop}
	}
}

func (p *MaxPanes) add(b *events.Batch, from, to int) {
	group := p.group[:to-from]
	p.index.find(b.Key[from:to], group)
	pane := p.pane[p.newest]
	price := b.Price[from:to][:len(group)]
	for i, g := range group {
		c := &pane[g]
		c.count++
		c.top = max(c.top, price[i])
	}
}

func (p *MaxPanes) cut() {
	p.fresh = true
	p.newest = (p.newest + 1) % len(p.pane)
}

func (p *MaxPanes) leave(n int) {
	for range n {
		old := p.pane[p.oldest][:len(p.index.keys)]
		for g := range old {
			p.count[g] -= old[g].count
		}
		clearTops(old)
		p.oldest = (p.oldest + 1) % len(p.pane)
		p.stack = max(p.stack-1, 0)
	}
	if p.stack == 0 && n > 0 {
		p.turn()
	}
}

// turn makes all panes that have ended the first stack.
func (p *MaxPanes) turn() {
	n := (p.newest - p.oldest + len(p.pane)) % len(p.pane)
	for i := n - 2; i >= 0; i-- {
		next := p.pane[(p.oldest+i+1)%len(p.pane)][:len(p.index.keys)]
		pane := p.pane[(p.oldest+i)%len(p.pane)][:len(next)]
		for g := range pane {
			pane[g].top = max(pane[g].top, next[g].top)
		}
	}
	p.stack = n
	for g := range p.since {
		p.since[g] = noTop
	}
}

func (p *MaxPanes) fire(end int64, into *Result) {
	keys := p.index.keys
	lead := p.pane[(p.newest+len(p.pane)-1)%len(p.pane)][:len(keys)]
	first := p.pane[p.oldest][:len(keys)]
	count, since := p.count[:len(keys)], p.since[:len(keys)]
	if !p.fresh {
		lead = nil
	}
	for g, c := range lead {
		count[g] += c.count
		since[g] = max(since[g], c.top)
	}
	p.fresh = false
	if p.stack == 0 {
		first = nil
	}
	rows, checksum := int64(0), uint64(0)
	for g, k := range keys {
		if count[g] == 0 {
			continue
		}
		top := since[g]
		if first != nil {
			top = max(top, first[g].top)
		}
		rows++
		checksum += events.WindowTerm(k, end, count[g], top)
	}
	into.Rows += rows
	into.Checksum += checksum
}
