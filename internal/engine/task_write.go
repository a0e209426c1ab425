package engine

import (
	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/operator"
)

// write hands rows, borrowed, to a writer. The time that it takes is no idleness of the splits that the task could not poll meanwhile: a
// writer that waits is back-pressure (DESIGN T6).
func (t *task) write(w operator.Writer, b *column.Batch) error {
	if t.source == nil || t.source.policy.IdleTimeout <= 0 {
		return w.Write(b)
	}
	start := t.exec.clock.Now()
	err := w.Write(b)
	t.blocked += t.exec.clock.Now().Sub(start)
	return err
}
