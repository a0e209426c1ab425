package operator

import (
	"context"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/arkflow-go/arkflow/column"
)

// Split is the unit of a source that moves between tasks: a file, a partition.
type Split struct {
	ID   string // unique in the source and the same in each run
	Data []byte // what Open needs to know of it; may be nil
}

// Source is the description of where rows come from.
type Source interface {
	Kind() string
	// Schema is that of the rows, or nil where it is open: then the source is an Inferrer.
	Schema() *arrow.Schema
	// Splits enumerates the splits, once when the job starts. It must name the same splits in each run.
	Splits(ctx context.Context) ([]Split, error)
	// Open opens one split at a position that Position once gave; nil means from its beginning.
	Open(ctx *Context, s Split, position []byte) (Reader, error)
}

// Inferrer is a Source that can look at its first records to find their schema. It is called once a job, before any
// split is opened; nil without an error means that there is no record. WithSchema gives a source with that schema.
type Inferrer interface {
	Infer(ctx context.Context) (*arrow.Schema, error)
	WithSchema(s *arrow.Schema) Source
}

// Reader reads one split. It is driven by one goroutine.
type Reader interface {
	// Poll gives the next rows, owned by the caller; after an error it may be called again (the error policy Retry does), and then goes on where
	// it was. It gives nil where there are none right now; io.EOF itself (an error that wraps it
	// is a failure), with no batch, at the end of the split. It never waits for rows that are not there.
	Poll() (*column.Batch, error)
	// Ready is a channel that has (or soon gets) a value, or is closed, when Poll may have more to say after it gave nil.
	Ready() <-chan struct{}
	// Position is the next to read of what Poll has returned: opening the split there continues without gap or repetition.
	Position() ([]byte, error)
	Close() error
}

// TimePolicy says where the event time of a source's rows comes from. The zero value is processing time.
type TimePolicy struct {
	Kind           PolicyKind
	Column         string        // EventTimePolicy: the column
	OutOfOrderness time.Duration // the watermark of a split is its greatest time minus this. Defaults to 0
	IdleTimeout    time.Duration // a split that is polled and empty for this long is idle. 0 means never
	MaxFutureSkew  time.Duration // EventTimePolicy: a row further ahead of the clock does not move the watermark. 0 means no limit
}

// PolicyKind is the kind of a TimePolicy.
type PolicyKind uint8

// The time policies.
const (
	ProcessingTimePolicy PolicyKind = iota
	EventTimePolicy
	IngestionTimePolicy
)

// Mode is the time mode of the stream that the policy makes.
func (p TimePolicy) Mode() TimeMode {
	if p.Kind == ProcessingTimePolicy {
		return ProcessingTime
	}
	return EventTime
}

// WatermarkReader is a Reader that knows the watermark of its split better than the policy of the source does: after each
// Poll the engine asks for it. It never goes back; ok is false while there is none.
type WatermarkReader interface {
	Watermark() (ms int64, ok bool)
}

// LagReader is a Reader that knows how many records of its split are there already and were not read. Status asks at any time from the first Poll on,
// also beside another call and after Close: Lag is safe for concurrent use and answers at once. ok is false while the number is not known.
type LagReader interface {
	Lag() (records int64, ok bool)
}
