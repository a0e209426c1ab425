package engine

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/internal/fault"
	"github.com/arkflow-go/arkflow/operator"
)

// Peeked is rows that passed an operator. The records are the caller's: they need no Release.
type Peeked struct {
	Records []arrow.RecordBatch
	// Times are the event times of the rows in ms, nil on a processing-time stream; that of a row without one is operator.MinWatermark.
	Times []int64
}

// peek collects rows for one request; the tasks of an operator share it.
type peek struct {
	mu    sync.Mutex
	want  int
	got   Peeked
	full  chan struct{}
	ended bool
}

// peeks are the requests of one node; nil, nearly always, costs a batch one atomic load.
type peeks = atomic.Pointer[peek]

// look copies rows for a request.
func (n *node) look(p *peek, b *column.Batch) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ended || p.want == 0 {
		return
	}
	rows := make([]uint32, min(p.want, b.Len()))
	for i := range rows {
		rows[i] = uint32(b.Row(i))
		if b.Times != nil {
			t := operator.MinWatermark
			if r := b.Row(i); b.TimeValid == nil || column.Bit(b.TimeValid, r) {
				t = b.Times[r]
			}
			p.got.Times = append(p.got.Times, t)
		}
	}
	build := column.NewBuilder(nil, b.Schema) // memory of the garbage collector
	build.AppendRows(b, rows)
	own := build.Finish()
	p.got.Records = append(p.got.Records, own.Record())
	own.Release()
	if p.want -= len(rows); p.want == 0 {
		close(p.full)
	}
}

// Peek waits until the operator has emitted `rows` rows (a sink: taken them) and gives copies of them; if ctx or the job ends before, it
// gives those that there were. One request at a time looks at an operator.
func (x *Execution) Peek(ctx context.Context, id string, rows int) (*Peeked, error) {
	if rows < 1 {
		return nil, fmt.Errorf("peek at operator %q: %d rows; ask for 1 or more", id, rows)
	}
	var nodes []*node
	for _, t := range x.tasks {
		for _, n := range t.nodes {
			if n.id == id {
				nodes = append(nodes, n)
			}
		}
	}
	if len(nodes) == 0 {
		var ids []string
		for _, o := range x.cfg.Plan.Operators {
			ids = append(ids, o.ID)
		}
		return nil, fault.Unknown("operator", id, ids)
	}
	p := &peek{want: rows, full: make(chan struct{})}
	for i, n := range nodes {
		if !n.peek.CompareAndSwap(nil, p) {
			for _, m := range nodes[:i] {
				m.peek.CompareAndSwap(p, nil)
			}
			return nil, fmt.Errorf("peek at operator %q: somebody else is looking; try again later", id)
		}
	}
	defer func() {
		for _, n := range nodes {
			n.peek.CompareAndSwap(p, nil)
		}
	}()
	select {
	case <-p.full:
	case <-ctx.Done():
	case <-x.done:
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ended = true
	return &p.got, nil
}
