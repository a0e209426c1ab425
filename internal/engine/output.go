package engine

import (
	"sync/atomic"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/internal/keys"
	"github.com/arkflow-go/arkflow/internal/link"
	"github.com/arkflow-go/arkflow/internal/plan"
	"github.com/arkflow-go/arkflow/internal/preagg"
	"github.com/arkflow-go/arkflow/operator"
	"github.com/arkflow-go/arkflow/shuffle"
)

// Batches between tasks have about this many rows: a sender collects smaller ones while the receiver is busy.
const (
	wholeRows = 8192  // at least this many are sent as they are
	flushRows = 16384 // collected rows are sent at this number, at fewer where there are many receivers

	leastFlushRows = 512

	flushBytes = 8 << 20 // or at this size

	gatherEntries = 64 << 10 // entries that are gathered by key before they are sent, or flushBytes of them
)

// outEdge is an edge from an operator of a task to the tasks of another chain. It collects small batches for a receiver
// that is busy, and sends at once to one that waits; rows never wait across a control element (DESIGN E2).
type outEdge struct {
	task    *task
	way     plan.Ship
	keys    []int // Hash: columns of the key
	rehash  bool  // Hash: batches may carry the hashes of another key
	targets []*target
	split   *shuffle.Partitioner
	enough  int // collected rows that are sent to a busy receiver
	turn    int // Rebalance: the next target
	status  shuffle.Status

	stage  preagg.Stage // Hash: gathers rows by key where it pays; nil where it cannot be
	gate   preagg.Gate
	always bool         // gather whether it pays or not
	held   atomic.Int64 // bytes of the stage
}

// target is one receiver of an edge.
type target struct {
	link   *link.Link
	rows   *column.Builder // collected; nil until needed
	schema *arrow.Schema   // of rows
	w      int64           // the watermark to send after the rows; MinWatermark where it has been sent
	sentW  int64
}

func newOutEdge(t *task, p plan.Edge, keys []int, links []*link.Link, keyGroups int) *outEdge {
	e := &outEdge{task: t, way: p.Ship, keys: keys, rehash: p.Rehash, status: shuffle.Active}
	e.enough = min(flushRows, max(leastFlushRows, 4*flushRows/max(1, len(links))))
	for _, l := range links {
		e.targets = append(e.targets, &target{link: l, w: operator.MinWatermark, sentW: operator.MinWatermark})
	}
	if p.Ship == plan.Hash && len(links) > 1 {
		e.split = shuffle.NewPartitioner(keyGroups, len(links))
	}
	return e
}

// emit sends a batch, borrowed for the call.
func (e *outEdge) emit(b *column.Batch) error {
	if e.stage == nil || !e.always && !e.gate.Open(b.Len()) {
		return e.ship(b, e.keys)
	}
	rest, err := e.stage.Add(b)
	if rest != nil {
		defer rest.Release()
	}
	if err != nil {
		return err
	}
	entries, bytes, memory := e.stage.Size()
	e.held.Store(memory)
	if entries >= gatherEntries || bytes >= flushBytes {
		if err := e.sendGathered(operator.MaxWatermark); err != nil {
			return err
		}
	}
	if rest == nil {
		return nil
	}
	return e.ship(rest, e.keys)
}

// sendGathered sends what was gathered and must leave before the watermark w.
func (e *outEdge) sendGathered(w int64) error {
	if e.stage == nil {
		return nil
	}
	rows, entries, err := e.stage.Flush(w, func(b *column.Batch) error { return e.ship(b, e.stage.Keys()) })
	e.gate.Left(rows, entries)
	return err
}

// ship sends a batch with the key in those columns, borrowed for the call.
func (e *outEdge) ship(b *column.Batch, key []int) error {
	if need := e.split != nil && b.Hash == nil; need || e.rehash && b.Hash != nil {
		d := b.Derive()
		defer d.Release()
		d.Hash = nil
		if e.split != nil {
			d.Hash = keys.Hash(column.Alloc[uint64](d, d.Rows), d, key)
		}
		b = d
	}
	switch {
	case e.split != nil:
		return e.scatter(b)
	case e.way == plan.Rebalance && len(e.targets) > 1:
		t := e.targets[e.turn]
		e.turn = (e.turn + 1) % len(e.targets)
		return e.add(t, b, nil)
	}
	return e.add(e.targets[0], b, nil)
}

// scatter deals rows to the owners of their key groups.
func (e *outEdge) scatter(b *column.Batch) error {
	for i, rows := range e.split.Split(b) {
		if len(rows) == 0 {
			continue
		}
		if len(rows) == b.Rows {
			rows = nil // all of them: the batch can be handed on as it is
		}
		if err := e.add(e.targets[i], b, rows); err != nil {
			return err
		}
	}
	return nil
}

// add gives rows of b (nil: all that are there) to a target.
func (e *outEdge) add(t *target, b *column.Batch, rows []uint32) error {
	n := len(rows)
	if rows == nil {
		n = b.Len()
	}
	collected := 0
	if t.rows != nil {
		collected = t.rows.Len()
	}
	if collected == 0 && (n >= wholeRows || t.link.Waiting()) {
		var own *column.Batch
		if rows == nil {
			own = b.Compact()
		} else {
			own = b.Take(rows)
		}
		return e.push(t, own)
	}
	if t.schema != b.Schema { // rows after what was gathered, or the other way round
		if err := e.flushTarget(t); err != nil {
			return err
		}
		e.discardOf(t)
	}
	if t.rows == nil {
		t.rows, t.schema = column.NewBuilder(e.task.pool(), b.Schema), b.Schema
	}
	if t.rows.Len() > 0 && !t.rows.Fits(b, rows) {
		if err := e.flushTarget(t); err != nil {
			return err
		}
	}
	t.rows.AppendRows(b, rows)
	if t.rows.Len() >= e.enough || t.rows.Bytes() >= flushBytes || t.link.Waiting() {
		return e.flushTarget(t)
	}
	return nil
}

// push sends a batch that the edge owns.
func (e *outEdge) push(t *target, b *column.Batch) error {
	if err := e.task.send(t.link, shuffle.Element{Kind: shuffle.Data, Batch: b}); err != nil {
		b.Release()
		return err
	}
	return nil
}

// flushTarget sends what is collected for a target, then the watermark that follows it.
func (e *outEdge) flushTarget(t *target) error {
	if t.rows != nil && t.rows.Len() > 0 {
		if err := e.push(t, t.rows.Finish()); err != nil {
			return err
		}
	}
	if t.w > t.sentW {
		t.sentW = t.w
		return e.task.send(t.link, shuffle.Element{Kind: shuffle.Watermark, Time: t.w})
	}
	return nil
}

// flush sends everything that is gathered or collected.
func (e *outEdge) flush() error {
	if err := e.sendGathered(operator.MaxWatermark); err != nil {
		return err
	}
	for _, t := range e.targets {
		if err := e.flushTarget(t); err != nil {
			return err
		}
	}
	return nil
}

// watermark sends w after the rows that it follows; while rows wait for a busy receiver it waits with them.
func (e *outEdge) watermark(w int64) error {
	if err := e.sendGathered(w); err != nil {
		return err
	}
	for _, t := range e.targets {
		t.w = max(t.w, w)
		if t.rows != nil && t.rows.Len() > 0 && !t.link.Waiting() {
			continue
		}
		if err := e.flushTarget(t); err != nil {
			return err
		}
	}
	return nil
}

// control sends a barrier or a status to every receiver, after everything that is gathered or collected.
func (e *outEdge) control(el shuffle.Element) error {
	if err := e.sendGathered(operator.MaxWatermark); err != nil {
		return err
	}
	for _, t := range e.targets {
		if err := e.flushTarget(t); err != nil {
			return err
		}
		if err := e.task.send(t.link, el); err != nil {
			return err
		}
	}
	return nil
}

// setStatus tells the receivers of a change of status.
func (e *outEdge) setStatus(s shuffle.Status) error {
	if e.status == s || e.status == shuffle.Finished {
		return nil
	}
	e.status = s
	return e.control(shuffle.Element{Kind: shuffle.StatusOf, Status: s})
}

// discard gives collected rows back; the task has ended.
func (e *outEdge) discard() {
	for _, t := range e.targets {
		e.discardOf(t)
	}
}

func (e *outEdge) discardOf(t *target) {
	if t.rows != nil {
		t.rows.Discard()
		t.rows = nil
	}
}
