package checkpoint

import (
	"cmp"
	"context"
	"encoding/hex"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/arkflow-go/arkflow/checkpoint/segment"
	"github.com/arkflow-go/arkflow/checkpoint/storage"
	"github.com/arkflow-go/arkflow/state"
)

const (
	segmentBytes   = 8 << 20 // a segment is ended once it has so many
	uploadsAtATime = 3
	maxSegments    = 128 // of a task after its base: then that is written anew
)

// chain is the segments of a task's state in the last sealed epoch of this session: a base and what changed after it.
type chain struct {
	segments    []SegmentRecord
	base, delta int64 // bytes
	based       int   // segments of the base
	parts       map[partKey]livePart
}

type partKey struct {
	table string
	id    int64
}

type livePart struct {
	view state.View
	from int // segment that it begins in
}

// stateWriter writes the state of an epoch into segments.
type stateWriter struct {
	ctx    context.Context
	cancel context.CancelCauseFunc
	bucket *storage.Bucket
	name   func(number int64) string
	number *atomic.Int64
	names  []string // of what it wrote

	written int64

	slots   chan struct{}
	uploads sync.WaitGroup
}

func newStateWriter(ctx context.Context, b *storage.Bucket, name func(int64) string, number *atomic.Int64) *stateWriter {
	w := &stateWriter{bucket: b, name: name, number: number, slots: make(chan struct{}, uploadsAtATime)}
	w.ctx, w.cancel = context.WithCancelCause(ctx)
	return w
}

// write fills in the state of the operators: what changed since the chains, or all where a task has none. It gives the chains of this
// epoch. When it returns every segment is durable, or nothing is being written any more.
func (w *stateWriter) write(e *Epoch, m *Manifest, since map[taskKey]*chain) (map[taskKey]*chain, error) {
	next := map[taskKey]*chain{}
	var err error
	if e.Shared { // the states are read again, as something else
		if err = e.Settle(); err != nil {
			return nil, err
		}
	}
	for i := range m.Operators {
		o := &m.Operators[i]
		for k := range o.Tasks {
			saved, ok := e.Operators[o.ID][k].State.(*state.Snapshot)
			if !ok {
				continue
			}
			key := taskKey{o.ID, k}
			if next[key], err = w.task(saved, &o.Tasks[k], since[key]); err != nil {
				err = wrapState(o.ID, k, err)
				w.cancel(err)
				break
			}
			if !e.Shared { // what waits for uploads holds nothing of the operator
				saved.Close()
			}
			o.Keyed = o.Keyed || len(saved.Names()) > 0
		}
		if err != nil {
			break
		}
	}
	w.uploads.Wait()
	if cause := context.Cause(w.ctx); cause != nil {
		return nil, cause // that of the upload that failed first, or the end of the caller's context
	}
	w.cancel(nil)
	return next, nil
}

// measure sums up the sizes of the segments.
func (c *chain) measure() {
	total := int64(0)
	for _, s := range c.segments {
		total += s.Size
	}
	if c.base == 0 {
		c.base, c.based = total, len(c.segments)
	}
	c.delta = total - c.base
}

// task writes the state of one task. A base is written anew when what changed after it is larger (S6).
func (w *stateWriter) task(saved *state.Snapshot, t *TaskRecord, since *chain) (*chain, error) {
	t.Values = saved.Values()
	next := &chain{parts: map[partKey]livePart{}}
	if since != nil && since.delta <= since.base && len(since.segments)-since.based < maxSegments {
		next.segments, next.base, next.based = slices.Clone(since.segments), since.base, since.based
	} else {
		since = &chain{}
	}
	out := &segmentWriter{w: w, chain: next, begun: map[partKey]int{}}
	var err error
	if out.seg, err = segment.NewWriter(segment.Options{TargetBytes: segmentBytes}, out.done); err != nil {
		return nil, err
	}
	for _, name := range saved.Names() {
		for i, table := range saved.Whole(name) {
			if i == 0 {
				next.parts[partKey{name, 0}] = livePart{}
			}
			if err := out.add(segment.Block{Table: name, Full: i == 0}, table); err != nil {
				return nil, err
			}
		}
		for _, p := range saved.Parts(name) {
			key := partKey{name, p.ID}
			before, known := since.parts[key]
			live := livePart{view: p.View, from: before.from}
			first := !known
			err := saved.Each(p, before.view, func(table state.Table) error {
				b := segment.Block{Table: name, Part: p.ID, Full: first}
				first = false
				return out.add(b, table)
			})
			if err != nil {
				return nil, err
			}
			if first { // no row yet
				continue
			}
			next.parts[key] = live
		}
	}
	if err := out.seg.Close(); err != nil {
		return nil, err
	}
	for key, at := range out.begun {
		live := next.parts[key]
		live.from = at
		next.parts[key] = live
	}
	next.measure()
	t.Segments = next.segments
	for key, p := range next.parts {
		t.Parts = append(t.Parts, PartRecord{key.table, key.id, p.from})
	}
	slices.SortFunc(t.Parts, func(a, b PartRecord) int {
		return cmp.Or(cmp.Compare(a.Table, b.Table), cmp.Compare(a.Part, b.Part))
	})
	return next, nil
}

// segmentWriter uploads the segments of a task.
type segmentWriter struct {
	w     *stateWriter
	chain *chain
	seg   *segment.Writer
	begun map[partKey]int // parts that begin anew, with the segment: known when that is done, as the writer holds rows back
}

func (o *segmentWriter) add(b segment.Block, t state.Table) error {
	if o.w.ctx.Err() != nil {
		return context.Cause(o.w.ctx)
	}
	return o.seg.Add(b, t)
}

// done uploads a segment beside the next one.
func (o *segmentWriter) done(obj segment.Object) error {
	w := o.w
	sum := storage.ObjectOf(w.name(w.number.Add(1)), obj.Data)
	r := SegmentRecord{Name: sum.Name, Size: sum.Size, SHA: hex.EncodeToString(sum.SHA256[:])}
	for _, b := range obj.Blocks {
		if b.Full {
			o.begun[partKey{b.Table, b.Part}] = len(o.chain.segments)
		}
		r.Entries += int64(b.Rows)
		if !slices.Contains(r.Tables, b.Table) {
			r.Tables = append(r.Tables, b.Table)
		}
	}
	o.chain.segments = append(o.chain.segments, r)
	w.names = append(w.names, sum.Name)
	w.written += sum.Size
	select {
	case w.slots <- struct{}{}:
	case <-w.ctx.Done():
		return context.Cause(w.ctx)
	}
	w.uploads.Go(func() {
		defer func() { <-w.slots }()
		if err := w.bucket.PutObject(w.ctx, sum, obj.Data); err != nil {
			w.cancel(err)
		}
	})
	return nil
}
