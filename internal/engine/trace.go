package engine

import (
	"context"

	"github.com/arkflow-go/arkflow/internal/report"
	"github.com/arkflow-go/arkflow/internal/spans"
)

// span begins a span of the job.
func (x *Execution) span(ctx context.Context, name string) spans.Span {
	return spans.Teller{Tracer: x.cfg.Tracer, Job: x.cfg.Plan.Job, Logger: x.log}.Begin(ctx, name)
}

// endSpan ends the span of an epoch, if it has not ended.
func (m *master) endSpan(epoch int64, o report.SpanOutcome) {
	if s, ok := m.spans[epoch]; ok {
		delete(m.spans, epoch)
		o.Run, o.Epoch = m.x.run(), epoch
		s.End(o)
	}
}

// recover takes hold of the job, and builds its tasks from what that begins with.
func (x *Execution) recover(ctx context.Context) error {
	if x.cfg.Hold == nil && x.cfg.Restore == nil {
		return x.prepare(ctx)
	}
	recovery := x.span(ctx, report.SpanRecovery)
	err := x.openSession(ctx, recovery.Ctx)
	if err == nil {
		err = x.prepare(recovery.Ctx)
	}
	o := report.SpanOutcome{Run: x.run(), Err: err}
	if x.session != nil {
		r := x.session.Progress().Now()
		o.Epoch, o.Entries, o.Bytes = r.Epoch, r.Entries, r.Bytes
	} else if r := x.cfg.Restore; r != nil {
		o.Epoch, o.Entries = r.Number, r.Entries()
	}
	recovery.End(o)
	return err
}
