package checkpoint

import (
	"context"
	"fmt"
	"slices"

	"github.com/arkflow-go/arkflow/checkpoint/segment"
	"github.com/arkflow-go/arkflow/checkpoint/storage"
)

// Verification is the result of reading everything that was looked at.
type Verification struct {
	Epochs   int // that were read
	Objects  int // manifests and segments that are as they were written, each counted once
	Bytes    int64
	Entries  int64     // rows of state that were decoded
	Problems []Problem // empty where all is well
}

// Verify reads every object that the kept epochs refer to, compares size and SHA-256, and decodes it. What is missing or damaged is told of each
// epoch that needs it. At most one segment is in memory at a time. An error is one of the bucket; nothing is known then.
func (j *JobInventory) Verify(ctx context.Context) (Verification, error) {
	v := &verifier{seen: map[storage.Object]*looked{}}
	v.Problems = slices.Clone(j.Problems)
	for i := range j.Epochs {
		if err := v.epoch(ctx, &j.Epochs[i]); err != nil {
			return Verification{}, err
		}
	}
	return v.Verification, nil
}

// Verify is JobInventory.Verify of one epoch or savepoint.
func (e *SavedEpoch) Verify(ctx context.Context) (Verification, error) {
	v := &verifier{seen: map[storage.Object]*looked{}}
	if err := v.epoch(ctx, e); err != nil {
		return Verification{}, err
	}
	return v.Verification, nil
}

// verifier reads segments, each once.
type verifier struct {
	Verification
	seen map[storage.Object]*looked
}

// looked is what a segment turned out to hold.
type looked struct {
	err    error // it is missing or damaged
	blocks []segment.Entry
}

func (v *verifier) epoch(ctx context.Context, e *SavedEpoch) error {
	v.Epochs++
	if e.Err != nil {
		p, err := problem(e.Kept.Name, e.Err)
		p.Epoch = e.Kept.Epoch
		v.Problems = append(v.Problems, p)
		return err
	}
	m := e.Manifest
	v.Objects++
	v.Bytes += e.Kept.Size
	for i := range m.Operators {
		o := &m.Operators[i]
		for k := range o.Tasks {
			if err := v.task(ctx, e, o, k); err != nil {
				return err
			}
		}
	}
	return nil
}

func (v *verifier) task(ctx context.Context, e *SavedEpoch, o *OperatorRecord, subtask int) error {
	t := &o.Tasks[subtask]
	blocks := make([][]segment.Entry, len(t.Segments))
	tell := func(object string, err error) error {
		p, err := problem(object, err)
		if err != nil {
			return err
		}
		p.Epoch, p.Operator, p.Subtask = e.Kept.Epoch, o.ID, subtask
		v.Problems = append(v.Problems, p)
		return nil
	}
	whole := true
	for i, s := range t.Segments {
		l, err := v.segment(ctx, e.bucket, s)
		if err != nil {
			return err
		}
		bad := l.err
		if bad == nil {
			bad = s.agree(l.blocks, e.Manifest.MaxParallelism)
		}
		if blocks[i] = l.blocks; bad != nil {
			whole = false
			if err := tell(s.Name, bad); err != nil {
				return err
			}
		}
	}
	for _, p := range t.Parts {
		if whole && !p.begins(blocks[p.From]) {
			err := &storage.DamagedError{Problem: fmt.Sprintf("part %d of table %q does not begin in the segment where the manifest says", p.Part, p.Table)}
			if err := tell(t.Segments[p.From].Name, err); err != nil {
				return err
			}
		}
	}
	return nil
}

// agree compares what the manifest says of a segment with its blocks.
func (s SegmentRecord) agree(blocks []segment.Entry, groups int) error {
	n := int64(0)
	for _, b := range blocks {
		n += int64(b.Rows)
		if !slices.Contains(s.Tables, b.Table) {
			return &storage.DamagedError{Problem: fmt.Sprintf("it holds table %q, of which the manifest does not know", b.Table)}
		}
		if b.Groups.End > groups {
			return &storage.DamagedError{Problem: fmt.Sprintf("it holds rows of key group %d, the job has %d", b.Groups.End-1, groups)}
		}
	}
	if n != s.Entries {
		return &storage.DamagedError{Problem: fmt.Sprintf("it holds %d entries, the manifest says %d", n, s.Entries)}
	}
	return nil
}

// begins reports whether the part begins anew in a segment.
func (p PartRecord) begins(blocks []segment.Entry) bool {
	return slices.ContainsFunc(blocks, func(b segment.Entry) bool { return b.Table == p.Table && b.Part == p.Part && b.Full })
}

// segment reads and decodes a segment, once. The error is one of the bucket.
func (v *verifier) segment(ctx context.Context, b *storage.Bucket, s SegmentRecord) (*looked, error) {
	o := storage.Object{Name: s.Name, Size: s.Size}
	if err := o.SetSHA(s.SHA); err != nil {
		return &looked{err: err}, nil
	}
	if l := v.seen[o]; l != nil {
		return l, nil
	}
	l := &looked{}
	v.seen[o] = l
	data, err := b.Get(ctx, o)
	if err != nil {
		_, bad := problem(s.Name, err)
		l.err = err
		return l, bad
	}
	if l.err = v.decode(l, data); l.err == nil {
		v.Objects++
		v.Bytes += s.Size
	} else {
		l.err = &storage.DamagedError{Problem: l.err.Error()}
	}
	return l, nil
}

// decode reads every block of a segment.
func (v *verifier) decode(l *looked, data []byte) error {
	r, err := segment.Open(data)
	if err != nil {
		return err
	}
	l.blocks = r.Blocks()
	for i, b := range l.blocks {
		if b.Rows == 0 {
			continue
		}
		if _, err := r.Read(i); err != nil {
			return err
		}
		v.Entries += int64(b.Rows)
	}
	return nil
}
