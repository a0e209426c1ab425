package arkflowtest

import (
	"context"
	"slices"
	"strings"

	"github.com/arkflow-go/arkflow/checkpoint"
	"gocloud.dev/blob/memblob"
)

// bucket sends the epochs of a run through a bucket in memory: what is restored has been written as bytes, each epoch as what changed since
// the one before, and read again.
type bucket struct{ session *checkpoint.Session }

// through writes an epoch and gives it as the next execution would read it.
func (b *bucket) through(ctx context.Context, e *checkpoint.Epoch) (*checkpoint.Epoch, error) {
	if b.session == nil {
		s, err := checkpoint.Open(ctx, memblob.OpenBucket(nil), e.Job, checkpoint.Options{Keep: 1})
		if err != nil {
			return nil, err
		}
		b.session = s
	}
	if err := b.session.Fit(shapeOf(e)); err != nil {
		return nil, err
	}
	if err := b.session.Seal(ctx, e); err != nil {
		return nil, err
	}
	return b.session.Latest(context.WithoutCancel(ctx))
}

// shapeOf gives the shape of the plan that an epoch is of, as far as it shows.
func shapeOf(e *checkpoint.Epoch) checkpoint.Shape {
	s := checkpoint.Shape{Job: e.Job, MaxParallelism: 1 << 15}
	for id, ops := range e.Operators {
		s.Operators = append(s.Operators, checkpoint.OperatorShape{ID: id, Parallelism: len(ops)})
		for i := range ops {
			s.Tasks = append(s.Tasks, checkpoint.TaskID{Chain: id, Subtask: i}.String())
		}
	}
	slices.SortFunc(s.Operators, func(a, b checkpoint.OperatorShape) int { return strings.Compare(a.ID, b.ID) })
	return s
}

// close ends the session.
func (b *bucket) close(ctx context.Context) {
	if b.session != nil {
		_ = b.session.Close(ctx) // a bucket in memory: there is nothing that could be told
		b.session = nil
	}
}
