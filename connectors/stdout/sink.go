package stdout

import (
	"fmt"
	"io"
	"os"
	"sync"

	"github.com/arkflow-go/arkflow/codec"
	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/connectors"
	"github.com/arkflow-go/arkflow/operator"
)

// Sink writes rows to the standard output. The zero value writes JSON lines.
type Sink struct {
	// Format of the rows. A header, which CSV has, is written once, when the job starts. Defaults to codec.JSON(nil).
	Format codec.RecordFormat
	// Writer takes the rows in place of the standard output, one call of Write a batch; it is never closed. More than
	// one task may write only to an *os.File, or to what Locked gives: Open refuses anything else. Defaults to os.Stdout.
	Writer io.Writer
}

// Locked gives a writer that several tasks, sinks and jobs may share: its calls of w.Write follow each other.
func Locked(w io.Writer) io.Writer { return &locked{w: w} }

type locked struct {
	mu sync.Mutex // guards calls of w.Write
	w  io.Writer
}

func (l *locked) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(p)
}

// Kind is part of operator.Sink.
func (Sink) Kind() string { return "stdout" }

func (s Sink) format() codec.RecordFormat {
	if s.Format == nil {
		return codec.JSON(nil)
	}
	return s.Format
}

// Check is part of operator.Sink.
func (s Sink) Check(in operator.Stream) error {
	if err := s.format().Check(); err != nil {
		return err
	}
	_, err := s.format().NewEncoder(in.Schema)
	return err
}

// Open is part of operator.Sink.
func (s Sink) Open(ctx *operator.Context, in operator.Stream) (operator.Writer, error) {
	w := s.Writer
	switch w.(type) {
	case nil:
		w = os.Stdout
	case *os.File, *locked:
	default:
		if ctx.Parallelism > 1 {
			return nil, fmt.Errorf("stdout: %d tasks would write to one %T at the same time; give stdout.Locked(w), or parallelism 1", ctx.Parallelism, w)
		}
	}
	enc, err := s.format().NewEncoder(in.Schema)
	if err != nil {
		return nil, err
	}
	if head := enc.Header(nil); len(head) > 0 && ctx.Subtask == 0 {
		if _, err := w.Write(head); err != nil {
			return nil, fmt.Errorf("stdout: write: %w", err)
		}
	}
	return &writer{enc: enc, w: w}, nil
}

// Config is part of connectors.Configured.
func (s Sink) Config() (config, section map[string]any, err error) {
	if s.Writer != nil {
		return nil, nil, fmt.Errorf("stdout: a Writer cannot be written in a spec")
	}
	if s.Format != nil {
		section, err = s.Format.Config()
	}
	return map[string]any{}, section, err
}

// FromParams makes the sink of a JobSpec. It has no configuration beside the codec.
func FromParams(p connectors.Params) (operator.Sink, error) {
	if err := connectors.Decode(p, &struct{}{}); err != nil {
		return nil, err
	}
	f, err := p.RecordFormat()
	if err != nil {
		return nil, err
	}
	return Sink{Format: f}, nil
}

type writer struct {
	enc codec.Encoder
	w   io.Writer
	buf []byte
}

// Write is part of operator.Writer.
func (w *writer) Write(b *column.Batch) error {
	var err error
	if w.buf, err = w.enc.Encode(w.buf[:0], b); err != nil {
		return fmt.Errorf("stdout: %w", err)
	}
	if _, err = w.w.Write(w.buf); err != nil {
		return fmt.Errorf("stdout: write: %w", err)
	}
	return nil
}

// Flush is part of operator.Writer: nothing is kept back.
func (w *writer) Flush() error { return nil }

// Close is part of operator.Writer.
func (w *writer) Close() error { return nil }
