package drop

import (
	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/connectors"
	"github.com/arkflow-go/arkflow/operator"
)

// Sink discards all rows.
type Sink struct{}

// Kind is part of operator.Sink.
func (Sink) Kind() string { return "drop" }

// Check is part of operator.Sink: any rows will do.
func (Sink) Check(operator.Stream) error { return nil }

// Open is part of operator.Sink.
func (Sink) Open(*operator.Context, operator.Stream) (operator.Writer, error) { return writer{}, nil }

// Config is part of connectors.Configured.
func (Sink) Config() (config, codec map[string]any, err error) { return map[string]any{}, nil, nil }

// FromParams makes the sink of a JobSpec. It has no configuration; a codec is accepted and of no consequence.
func FromParams(p connectors.Params) (operator.Sink, error) {
	return Sink{}, connectors.Decode(p, &struct{}{})
}

type writer struct{}

func (writer) Write(*column.Batch) error { return nil }
func (writer) Flush() error              { return nil }
func (writer) Close() error              { return nil }
