package kernel

import (
	"slices"
	"sync"

	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/internal/extreme"
	"github.com/arkflow-go/arkflow/internal/spare"
)

// A table that is frozen at a barrier shares its memory with the view. Who writes to it first copies it, into memory that a view
// gave back: it is mapped already, and to map it is what makes a large copy slow.

// lease is memory of a table that views share.
type lease struct {
	spares *spare.Memory

	mu    sync.Mutex // guards what follows
	views int
	left  bool // the table has other memory: what follows is the views' alone
	words [][]uint64
	texts [][]byte
}

// freeze gives a view of a table that can be read by another goroutine, not searched, until the lease is ended.
func (t *table) freeze() (*table, *lease) {
	if t.lease == nil {
		t.lease = &lease{spares: t.spares}
	}
	t.lease.mu.Lock()
	t.lease.views++
	t.lease.mu.Unlock()
	f := t.freezeKeys()
	f.sides, f.heaps = slices.Clone(t.sides), slices.Clone(t.heaps)
	return f, t.lease
}

// freezeKeys gives a view of the keys of a table alone: they are never written again.
func (t *table) freezeKeys() *table {
	t.lent = true
	return &table{l: t.l, rows: t.rows[:t.end:t.end], end: t.end, live: t.live, nulls: slices.Clip(t.nulls), bytes: slices.Clip(t.bytes)}
}

// end tells that a view is read no more.
func (l *lease) end() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.views--; l.views == 0 && l.left {
		l.spares.Give(l.words, l.texts)
		l.words, l.texts = nil, nil
	}
}

// own makes the rows of a table its own before they are written. Keys are never written again, so a table that gets only new keys
// need not call it.
func (t *table) own() {
	if t.lease != nil && !t.detach() {
		t.copyOut()
	}
}

// detach ends what a table has to do with views of it, and reports whether no view has its memory any more. If one has, the memory is
// to be written no more.
func (t *table) detach() bool {
	l := t.lease
	if l == nil {
		return true
	}
	t.lease = nil
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.views == 0 {
		return true
	}
	l.left = true
	l.words = append(l.words, t.rows)
	for _, s := range t.sides {
		l.words = append(l.words, column.View[uint64](column.BytesOf(s)))
	}
	for i := range t.heaps {
		l.texts = append(l.texts, t.heaps[i].Memory())
	}
	return false
}

// copyOut moves a table to other memory.
func (t *table) copyOut() {
	rows := t.spares.Words(int(t.end), len(t.rows))
	clear(rows[copy(rows, t.rows[:t.end]):])
	t.rows = rows
	for i, s := range t.sides {
		if s != nil {
			w := t.spares.Words(len(s), len(s))
			t.sides[i] = column.View[int64](column.BytesOf(w))
			copy(t.sides[i], s)
		}
	}
	for i := range t.heaps {
		var h extreme.Heap
		h.CopyInto(&t.heaps[i], t.spares.Bytes(t.heaps[i].Len()))
		t.heaps[i] = h
	}
}
