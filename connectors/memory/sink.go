package memory

import (
	"fmt"
	"sync"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/connectors"
	"github.com/arkflow-go/arkflow/internal/fault"
	"github.com/arkflow-go/arkflow/internal/structmap"
	"github.com/arkflow-go/arkflow/operator"
)

// Sink keeps the rows that it is given, of all its tasks and of every run, in the order in which batches arrive. It is safe
// for concurrent use; what a run has written can be read while it goes on. The zero value works.
type Sink struct {
	// MaxRows bounds the rows that are kept: a batch that would exceed it is an error. Defaults to 0, no bound.
	MaxRows int

	mu   sync.Mutex
	recs []arrow.RecordBatch
	rows int
}

// NewSink gives an empty sink.
func NewSink() *Sink { return &Sink{} }

// Kind implements operator.Sink.
func (s *Sink) Kind() string { return "memory" }

// Check implements operator.Sink.
func (s *Sink) Check(in operator.Stream) error {
	if s.MaxRows < 0 {
		return &fault.Fault{Path: "max_rows", Problem: fmt.Sprintf("%d is negative", s.MaxRows), Hint: "give 0 for no bound"}
	}
	if err := column.CheckSchema(in.Schema); err != nil {
		return &fault.Fault{Problem: err.Error()}
	}
	return nil
}

// Open implements operator.Sink.
func (s *Sink) Open(*operator.Context, operator.Stream) (operator.Writer, error) {
	return writer{s}, nil
}

// Config implements connectors.Configured.
func (s *Sink) Config() (config, codec map[string]any, err error) {
	if s.MaxRows == 0 {
		return map[string]any{}, nil, nil
	}
	return map[string]any{"max_rows": s.MaxRows}, nil, nil
}

// SinkFromParams gives the sink of a JobSpec: {max_rows: 0}.
func SinkFromParams(p connectors.Params) (operator.Sink, error) {
	var cfg struct {
		MaxRows int `json:"max_rows"`
	}
	var faults fault.List
	faults.Add(connectors.Decode(p, &cfg))
	if p.Codec != nil {
		faults.Add(p.Fault("codec", "a memory sink has no codec", "leave it out"))
	}
	if cfg.MaxRows < 0 {
		faults.Add(p.Fault("config.max_rows", fmt.Sprintf("%d is negative", cfg.MaxRows), "give 0 for no bound"))
	}
	if err := faults.Err(); err != nil {
		return nil, err
	}
	return &Sink{MaxRows: cfg.MaxRows}, nil
}

type writer struct{ sink *Sink }

// Write implements operator.Writer. The rows are copied.
func (w writer) Write(b *column.Batch) error {
	bld := column.NewBuilder(nil, b.Schema)
	bld.AppendRows(b, nil)
	if err := bld.Err(); err != nil {
		bld.Discard()
		return err
	}
	own := bld.Finish()
	defer own.Release()
	rec := own.Record()
	s := w.sink
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.MaxRows > 0 && s.rows+own.Rows > s.MaxRows {
		return fmt.Errorf("memory sink: %d rows and %d more are over MaxRows, %d", s.rows, own.Rows, s.MaxRows)
	}
	s.recs = append(s.recs, rec)
	s.rows += own.Rows
	return nil
}

// Flush implements operator.Writer.
func (writer) Flush() error { return nil }

// Close implements operator.Writer.
func (writer) Close() error { return nil }

// Len is the number of rows.
func (s *Sink) Len() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.rows
}

// Reset forgets all rows.
func (s *Sink) Reset() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.recs, s.rows = nil, 0
}

// Records gives the rows as Arrow records, one for each batch that came. The garbage collector owns them: they need no
// Release.
func (s *Sink) Records() []arrow.RecordBatch {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]arrow.RecordBatch(nil), s.recs...)
}

// Collect gives the rows of a sink as structs. The columns must suit the fields of T, as in operator.Map; columns without
// a field are left out. A value that a field cannot hold is an error that names row and field.
func Collect[T any](s *Sink) ([]T, error) {
	var (
		out    []T
		reader *structmap.Reader[T]
		schema *arrow.Schema
	)
	for _, rec := range s.Records() {
		if reader == nil || !rec.Schema().Equal(schema) {
			r, err := structmap.NewReader[T](rec.Schema())
			if err != nil {
				return nil, err
			}
			reader, schema = r, rec.Schema()
		}
		b, err := column.FromRecord(nil, rec)
		if err != nil {
			return nil, err
		}
		at := len(out)
		out = append(out, make([]T, b.Rows)...)
		reader.Begin(b)
		errs := reader.Read(0, out[at:])
		reader.End()
		b.Release()
		for i, err := range errs {
			if err != nil {
				return nil, fmt.Errorf("row %d: %w", at+i, err)
			}
		}
	}
	return out, nil
}
