package checkpoint

import (
	"context"
	"fmt"
	"iter"
	"slices"

	"github.com/arkflow-go/arkflow/checkpoint/segment"
	"github.com/arkflow-go/arkflow/checkpoint/storage"
	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/state"
)

// Block is rows of a table of state, as they were saved.
type Block struct {
	Operator string
	Subtask  int
	Segment  string // the object that they lie in
	// Part is the part of the table that they belong to, 0 of a table that is saved whole. A block that is Full begins the part anew. Any
	// other comes on top of what came before of the part: a row takes the place of one of the same key.
	Part int64
	Full bool
	// Table is the name of the table, Rows its rows, with the key group of each. Which columns are the key only the operator knows.
	Table string
	Rows  state.Table
}

// Batch gives the rows as a batch that shares their memory, to be written in a format or, by its Record, to be read by an Arrow program.
func (b Block) Batch() *column.Batch {
	out := column.NewBatch(nil, b.Rows.Schema, b.Rows.Rows)
	copy(out.Cols, b.Rows.Cols)
	return out
}

// Blocks gives the state tables of the epoch as they lie in the bucket, verified: of each operator in the order of the manifest, of each task
// its blocks from the oldest to the newest, those that hold changes after what they change. Rows that were removed since are left out where their part is gone. After an error
// it ends. At most one segment is in memory at a time.
func (e *SavedEpoch) Blocks(ctx context.Context) iter.Seq2[Block, error] {
	return func(yield func(Block, error) bool) {
		if e.Err != nil {
			yield(Block{}, e.Err)
			return
		}
		for i := range e.Manifest.Operators {
			o := &e.Manifest.Operators[i]
			for k := range o.Tasks {
				if !e.blocks(ctx, o, k, yield) {
					return
				}
			}
		}
	}
}

// blocks gives the blocks of a task; false where it is to go on no more.
func (e *SavedEpoch) blocks(ctx context.Context, o *OperatorRecord, subtask int, yield func(Block, error) bool) bool {
	t := &o.Tasks[subtask]
	for i, s := range t.Segments {
		fail := func(err error) bool {
			yield(Block{}, fmt.Errorf("epoch %d: %w", e.Manifest.Epoch, wrapState(o.ID, subtask, err)))
			return false
		}
		at := storage.Object{Name: s.Name, Size: s.Size}
		err := at.SetSHA(s.SHA)
		var data []byte
		if err == nil {
			data, err = e.bucket.Get(ctx, at)
		}
		if err != nil {
			return fail(err)
		}
		r, err := segment.Open(data)
		if err != nil {
			return fail(&storage.DamagedError{Problem: fmt.Sprintf("segment %q: %v", s.Name, err)})
		}
		for n, b := range r.Blocks() {
			if b.Rows == 0 || !t.lives(b, i) {
				continue
			}
			rows, err := r.Read(n)
			if err != nil {
				return fail(&storage.DamagedError{Problem: fmt.Sprintf("segment %q: %v", s.Name, err)})
			}
			rows.Part.Task = subtask
			if !yield(Block{Operator: o.ID, Subtask: subtask, Segment: s.Name, Part: b.Part, Full: b.Full, Table: b.Table, Rows: rows}, nil) {
				return false
			}
		}
	}
	return true
}

// lives reports whether a block of a segment belongs to a part that lives.
func (t *TaskRecord) lives(b segment.Entry, at int) bool {
	return slices.ContainsFunc(t.Parts, func(p PartRecord) bool { return p.Table == b.Table && p.Part == b.Part && at >= p.From })
}
