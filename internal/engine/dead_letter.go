package engine

import (
	"errors"
	"fmt"

	"github.com/arkflow-go/arkflow/codec"
	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/internal/graph"
	"github.com/arkflow-go/arkflow/operator"
)

// deadLetterRows is how many dead letters are collected before they are written, deadLetterBytes how many bytes of them; a barrier writes
// them too.
const (
	deadLetterRows  = 256
	deadLetterBytes = 1 << 20
)

// deadLetters is the dead-letter sink of one operator of one task (DESIGN E6). It is driven by the task.
type deadLetters struct {
	node    *node
	phase   string
	writer  operator.Writer
	rows    *column.Builder
	encoder codec.Encoder // of the rows of the operator's input
	encodes *column.Batch // whose schema encoder is for
	text    []byte
}

// openDeadLetters opens the dead-letter sink of a node that has one.
func (b *builder) openDeadLetters(n *node, g *graph.Node) error {
	sink := g.OnError.DeadLetterSink()
	if sink == nil {
		return nil
	}
	fail := func(err error) error {
		return &OperatorError{Operator: n.id, Task: n.task.id.String(), Err: fmt.Errorf("open dead-letter sink: %w", err)}
	}
	w, err := sink.Open(n.ctx, operator.Stream{Schema: operator.DeadLetterSchema, Time: operator.ProcessingTime})
	if err != nil {
		return fail(err)
	}
	b.x.closers = append(b.x.closers, closer{n, w.Close})
	if _, two := w.(operator.TwoPhaseWriter); two {
		return fail(errors.New("it commits in two phases, which a dead-letter sink cannot; use one that writes at once"))
	}
	d := &deadLetters{node: n, writer: w, rows: column.NewBuilder(b.x.pool, operator.DeadLetterSchema), phase: operator.PhaseProcess}
	switch {
	case g.Source != nil:
		d.phase = operator.PhaseDecode
	case g.Sink != nil:
		d.phase = operator.PhaseSink
	}
	n.dead = d
	n.ctx.DeadLetter = d.add
	return nil
}

// add takes a row or record in error.
func (d *deadLetters) add(r operator.Rejected) error {
	row := d.rows
	row.Int64(0, d.node.task.exec.clock.Now().UnixMilli())
	row.String(1, d.node.id)
	row.String(2, d.phase)
	row.String(3, r.Err.Error())
	var at *operator.RowError
	if errors.As(r.Err, &at) && at.Place != "" {
		row.String(4, at.Place)
	} else if record := (*codec.RecordError)(nil); errors.As(r.Err, &record) {
		row.String(4, fmt.Sprintf("%s line %d", record.Source, record.Line))
	}
	switch {
	case r.Batch != nil:
		text, err := d.encode(r.Batch, r.Row)
		if err != nil {
			row.DropRow()
			return err
		}
		row.Col(5).Bytes(text)
	case r.Record != nil:
		row.Col(5).Bytes(r.Record)
	}
	row.EndRow()
	if row.Len() >= deadLetterRows || row.Bytes() >= deadLetterBytes {
		return d.write()
	}
	return nil
}

// encode gives a row as JSON; the bytes are valid until the next call.
func (d *deadLetters) encode(b *column.Batch, row int) ([]byte, error) {
	if d.encoder == nil || d.encodes == nil || d.encodes.Schema != b.Schema {
		e, err := codec.JSON(nil).NewEncoder(b.Schema)
		if err != nil {
			return nil, err
		}
		d.encoder, d.encodes = e, &column.Batch{Schema: b.Schema}
	}
	var err error
	d.text, err = d.encoder.AppendRow(d.text[:0], b, row)
	return d.text, err
}

// write writes what was collected.
func (d *deadLetters) write() error {
	if d.rows.Len() == 0 {
		return nil
	}
	b := d.rows.Finish()
	defer b.Release()
	if err := d.node.task.write(d.writer, b); err != nil {
		return fmt.Errorf("write: %w", err)
	}
	return nil
}

// flush makes everything visible, at a barrier.
func (d *deadLetters) flush() error {
	if d == nil {
		return nil
	}
	if err := d.write(); err != nil {
		return fmt.Errorf("dead-letter sink: %w", err)
	}
	if err := d.writer.Flush(); err != nil {
		return fmt.Errorf("dead-letter sink: flush: %w", err)
	}
	return nil
}

func (d *deadLetters) discard() {
	if d != nil {
		d.rows.Discard()
	}
}
