package baseline

import (
	"sort"

	"github.com/arkflow-go/arkflow/bench/events"
)

// paned keeps rows by pane, a stretch of time that the same windows have.
type paned interface {
	// add takes rows of the newest pane.
	add(b *events.Batch, from, to int)
	// cut ends the newest pane and begins the next.
	cut()
	// fire folds what all ended panes give together.
	fire(end int64, into *Result)
	// leave takes out the n oldest panes.
	leave(n int)
}

// Sliding counts and sums (or takes the greatest) by key over windows of `size` ms every `step` ms. The rows are in order from time 0
// on, which each batch is asked for.
func Sliding(size, step int64, p paned) Job {
	first := size - size/step*step // end of the first window that has an instant after 0
	if first == 0 {
		first = step
	}
	j := &sliding{panes: p, size: size, step: step, end: first, begins: []int64{0}}
	j.edge = j.next(0)
	return j
}

type sliding struct {
	panes      paned
	size, step int64
	edge       int64   // end of the newest pane
	end        int64   // of the next window
	begins     []int64 // of the panes that have not left
	last       int64   // time of the last row
	filled     bool
	result     Result
}

// next is the first start or end of a window after t.
func (j *sliding) next(t int64) int64 {
	start := t - t%j.step + j.step
	end := t - (t+j.step-j.size%j.step)%j.step + j.step
	return min(start, end)
}

func (j *sliding) Batch(b *events.Batch) {
	if !ascending(b.Time) {
		panic("baseline: rows out of order: there is no loop for sliding windows over such")
	}
	for from, n := 0, len(b.Time); from < n; {
		to := n
		if b.Time[n-1] >= j.edge {
			to = from + sort.Search(n-from, func(i int) bool { return b.Time[from+i] >= j.edge })
		}
		if to > from {
			j.panes.add(b, from, to)
			j.last, j.filled = b.Time[to-1], true
		}
		if to < n {
			j.cut()
		}
		from = to
	}
}

// cut ends a pane, and the window that ends with it.
func (j *sliding) cut() {
	at := j.edge
	j.panes.cut()
	j.edge = j.next(at)
	j.begins = append(j.begins, at)
	if at != j.end {
		return
	}
	j.panes.fire(at, &j.result)
	j.end += j.step
	n := 0
	for j.begins[n] < j.end-j.size && j.begins[n] < at {
		n++
	}
	j.panes.leave(n)
	j.begins = append(j.begins[:0], j.begins[n:]...)
}

func (j *sliding) Finish() Result {
	for j.filled && j.end <= j.last+j.size {
		j.cut()
	}
	return j.result
}

// Panes has a column of counts and sums for each pane and one of running totals: the newest pane is added and the oldest subtracted.
type Panes struct {
	index    intIndex
	pane     [][]counted
	total    []counted
	oldest   int // of the ring; the panes from there on have entered or wait for it
	fresh    int // panes that have ended and are not in the totals yet
	stale    int // panes before oldest that are in the totals still
	newest   int
	group    [events.Rows]uint32
	standing []counted // stays zero: stands for a pane that is not there
}

type counted struct{ count, sum int64 }

// NewPanes gives room for so many keys and panes of a window; a ring of two panes more.
func NewPanes(keys int64, panes int) *Panes {
	p := &Panes{index: newIntIndex(keys, 0.5), total: make([]counted, keys), standing: make([]counted, keys)}
	p.pane = make([][]counted, panes+2)
	for i := range p.pane {
		p.pane[i] = make([]counted, keys)
	}
	return p
}

func (p *Panes) add(b *events.Batch, from, to int) {
	group := p.group[:to-from]
	p.index.find(b.Key[from:to], group)
	pane := p.pane[p.newest]
	price := b.Price[from:to][:len(group)]
	for i, g := range group {
		c := &pane[g]
		c.count++
		c.sum += price[i]
	}
}

func (p *Panes) step(i, n int) int { return (i + n + len(p.pane)) % len(p.pane) }

func (p *Panes) cut() {
	p.fresh++
	p.newest = p.step(p.newest, 1)
}

func (p *Panes) leave(n int) {
	p.oldest = p.step(p.oldest, n)
	p.stale += n
	for p.stale > 1 {
		p.subtract()
	}
}

func (p *Panes) subtract() {
	old := p.pane[p.step(p.oldest, -p.stale)][:len(p.index.keys)]
	total := p.total[:len(old)]
	for g := range old {
		total[g].count -= old[g].count
		total[g].sum -= old[g].sum
		old[g] = counted{}
	}
	p.stale--
}

// fire adds and subtracts the last pane of each kind in the pass that folds the results.
func (p *Panes) fire(end int64, into *Result) {
	keys := p.index.keys
	total := p.total[:len(keys)]
	for ; p.fresh > 1; p.fresh-- {
		for g, c := range p.pane[p.step(p.newest, -p.fresh)][:len(keys)] {
			total[g].count += c.count
			total[g].sum += c.sum
		}
	}
	lead, trail := p.standing[:len(keys)], p.standing[:len(keys)]
	if p.fresh == 1 {
		lead = p.pane[p.step(p.newest, -1)][:len(keys)]
	}
	if p.stale == 1 {
		trail = p.pane[p.step(p.oldest, -1)][:len(keys)]
	}
	p.fresh, p.stale = 0, 0
	rows, checksum := int64(0), uint64(0)
	for g, k := range keys {
		t := &total[g]
		count := t.count + lead[g].count - trail[g].count
		sum := t.sum + lead[g].sum - trail[g].sum
		t.count, t.sum = count, sum
		trail[g] = counted{}
		if count != 0 {
			rows++
			checksum += events.WindowTerm(k, end, count, sum)
		}
	}
	into.Rows += rows
	into.Checksum += checksum
}

// Log is for panes of fewer rows than keys: it keeps the rows themselves, adds them to the totals as they come and subtracts
// those of a pane that leaves.
type Log struct {
	index intIndex
	total []counted
	rows  []loggedRow // ring, of a power of two
	begin []uint64    // of the panes, by number of the row
	next  uint64
	group [events.Rows]uint32
}

type loggedRow struct {
	price int64
	group uint32
}

// NewLog gives room for so many keys and rows of a window.
func NewLog(keys, rows int64) *Log {
	return &Log{index: newIntIndex(keys, 0.5), total: make([]counted, keys), rows: make([]loggedRow, 1<<tableBits(rows, 1)), begin: []uint64{0}}
}

func (l *Log) add(b *events.Batch, from, to int) {
	group := l.group[:to-from]
	l.index.find(b.Key[from:to], group)
	price := b.Price[from:to][:len(group)]
	total, rows, mask := l.total, l.rows, uint64(len(l.rows)-1)
	if int(l.next-l.begin[0])+len(group) > len(rows) {
		panic("baseline: a window has more rows than NewLog was told")
	}
	for i, g := range group {
		c := &total[g]
		c.count++
		c.sum += price[i]
		rows[l.next&mask] = loggedRow{price[i], g}
		l.next++
	}
}

func (l *Log) cut() { l.begin = append(l.begin, l.next) }

func (l *Log) leave(n int) {
	total, mask := l.total, uint64(len(l.rows)-1)
	for i := l.begin[0]; i < l.begin[n]; i++ {
		r := &l.rows[i&mask]
		c := &total[r.group]
		c.count--
		c.sum -= r.price
	}
	l.begin = append(l.begin[:0], l.begin[n:]...)
}

func (l *Log) fire(end int64, into *Result) {
	keys := l.index.keys
	total := l.total[:len(keys)]
	rows, checksum := int64(0), uint64(0)
	for g, k := range keys {
		if c := &total[g]; c.count != 0 {
			rows++
			checksum += events.WindowTerm(k, end, c.count, c.sum)
		}
	}
	into.Rows += rows
	into.Checksum += checksum
}
