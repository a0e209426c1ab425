package engine

import (
	"context"
	"errors"
	"fmt"

	"github.com/arkflow-go/arkflow/checkpoint"
	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/internal/plan"
	"github.com/arkflow-go/arkflow/internal/report"
	"github.com/arkflow-go/arkflow/operator"
)

// openSession takes hold of the bucket of the job, where it has one. What it opens outlives the span within which it does so.
func (x *Execution) openSession(ctx, within context.Context) (err error) {
	if x.cfg.Hold == nil {
		return nil
	}
	claim := x.span(within, report.SpanClaim)
	var known *checkpoint.Shape
	if len(x.cfg.Open) == 0 {
		x.shape = x.shapeOf(x.cfg.Bound)
		known = &x.shape
	}
	x.session, err = x.cfg.Hold(ctx, known)
	claim.End(report.SpanOutcome{Run: x.run(), Err: err})
	if err != nil {
		return err
	}
	x.cfg.Store = x.session
	return nil
}

// endSession gives the hold on the bucket back.
func (x *Execution) endSession() {
	if x.session == nil {
		return
	}
	if err := x.session.Close(x.ctx); err != nil {
		x.log.Warn("hold on the bucket not given back: who stands by waits until it runs out", "job", x.cfg.Plan.Job, "error", err)
	}
}

// prepare builds the tasks from what the session begins with, from an earlier epoch where that is damaged and it may be. After an
// error everything is closed.
func (x *Execution) prepare(ctx context.Context) error {
	for {
		err := x.begin(ctx)
		if err == nil {
			return nil
		}
		err = errors.Join(err, x.release())
		if x.session == nil || ctx.Err() != nil {
			return err
		}
		back, berr := x.session.Back(ctx, err)
		if berr != nil || !back {
			return berr
		}
		x.tasks, x.pool = nil, newPool(x.hooks)
	}
}

func newPool(h Hooks) *column.Pool {
	if h.DebugPool {
		return column.NewDebugPool()
	}
	return column.NewPool()
}

func (x *Execution) begin(ctx context.Context) (err error) {
	if x.session != nil {
		if x.cfg.Restore, err = x.session.Epoch(ctx); err != nil {
			return err
		}
	}
	b := &builder{x: x, ctx: ctx, sources: map[string]operator.Source{}, tasksOf: map[string][]*task{}, nodeOf: map[nodeKey]*node{}, splits: map[string][]operator.Split{}}
	err = apart(b.build)
	if errors.Is(err, errGoexit) {
		err = &OperatorError{Operator: b.operator, Task: b.task, Err: err}
	}
	return err
}

// fit compares the plan with what is restored (DESIGN C6, C7), now that all operators are bound.
func (b *builder) fit() error {
	b.x.shape = b.x.shapeOf(b.bound)
	if b.x.session == nil {
		return nil
	}
	return b.x.session.Fit(b.x.shape)
}

func (x *Execution) shapeOf(bound map[string]operator.Bound) checkpoint.Shape {
	return checkpoint.ShapeOf(x.cfg.Plan, x.cfg.Content, func(id string) string {
		if k, ok := bound[id].(operator.KeyedState); ok {
			return k.KeyedState()
		}
		return ""
	})
}

// recommit repeats the commits of the epoch that the job was restored from, before any input is read (DESIGN C1). What tasks
// prepared that are no more is committed by those that are.
func (b *builder) recommit() error {
	r := b.x.cfg.Restore
	if r == nil {
		return nil
	}
	for id, saved := range r.Operators {
		for i, s := range saved {
			if len(s.Prepared) == 0 {
				continue
			}
			op := b.x.cfg.Plan.Operator(id)
			if op == nil && (!s.Pending() || b.x.session != nil) {
				continue // nothing to commit, or it was allowed to leave it: see checkpoint.Shape
			}
			if op == nil {
				return fmt.Errorf("restore epoch %d: operator %q has prepared rows and is not in the plan", r.Number, id)
			}
			n := b.nodeOf[nodeKey{id, i % op.Parallelism}]
			w, ok := n.writer.(operator.TwoPhaseWriter)
			if !ok && !s.Pending() {
				continue
			}
			if !ok {
				return fmt.Errorf("restore epoch %d: operator %q has prepared rows and its sink is not two-phase any more", r.Number, id)
			}
			for _, p := range s.Prepared {
				if err := w.Commit(p.Epoch, p.Data); err != nil {
					return fmt.Errorf("restore epoch %d: operator %q: commit of epoch %d: %w", r.Number, id, p.Epoch, err)
				}
			}
		}
	}
	return nil
}

// recover gives up what earlier executions have prepared and nobody commits any more (DESIGN C1).
func (b *builder) recover() error {
	for _, o := range b.x.cfg.Plan.Operators {
		if o.Role != plan.Sink {
			continue
		}
		n := b.nodeOf[nodeKey{o.ID, 0}]
		r, ok := n.writer.(operator.Recoverer)
		if !ok {
			continue
		}
		err := b.call(o.ID, n.task.id.String(), func() error { return n.wrap(r.Recover()) })
		if err != nil {
			return fmt.Errorf("recover: %w", err)
		}
	}
	return nil
}
