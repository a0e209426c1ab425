package operator

import (
	"math"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/internal/fault"
	"github.com/arkflow-go/arkflow/state"
)

// Fault is a mistake in the description of a job. Bind returns it (or several, gathered by go-multierror); operator and
// place are filled in by who calls.
type Fault = fault.Fault

// TimeMode says how rows of a stream are timed.
type TimeMode uint8

// The time modes. Ingestion time is event time that is stamped at the source.
const (
	EventTime      TimeMode = iota // batches carry Times
	ProcessingTime                 // batches carry none, operators use the clock
)

func (m TimeMode) String() string {
	if m == ProcessingTime {
		return "processing time"
	}
	return "event time"
}

// Watermarks at both ends of time. No watermark is sent before one is known, so MinWatermark never travels.
const (
	MinWatermark int64 = math.MinInt64
	MaxWatermark int64 = math.MaxInt64
)

// Stream describes the rows of an edge.
type Stream struct {
	Schema *arrow.Schema
	Time   TimeMode
	Key    []string // key columns; nil on a stream that is not keyed

	Changes   ChangeMode // what its rows are to each other
	ChangeKey []string   // Upsert: rows with the same values of these columns take each other's place
}

// Output ports.
const (
	Main = 0
	Late = 1
)

// Operator is the description of an operator with one or more inputs. It holds no resources and may be used by
// several jobs at once.
type Operator interface {
	// Kind is the word for it in specs and plans: "filter", "window".
	Kind() string
	// Bind checks the operator against the streams it reads, one an input. It is called when the job is compiled and
	// again before the first row where a source's schema was open; it must be free of side effects.
	Bind(in []Stream) (Bound, error)
}

// Described is an Operator that can say more of itself than its kind, in one line for EXPLAIN.
type Described interface{ Describe() string }

// Bound is an operator whose input streams are known.
type Bound interface {
	// Outputs describes the streams it writes, by port.
	Outputs() []Stream
	// New makes the instance of one task.
	New(ctx *Context) (Instance, error)
}

// Output takes what an instance emits. It hands the batch on before it returns and keeps nothing: the emitter still owns
// the batch and releases it. An error is final; the instance returns it as it is.
type Output interface {
	Emit(port int, b *column.Batch) error
}

// Instance is an operator in one task, driven by one goroutine. After an error nothing but Close is called.
type Instance interface {
	// Process takes a batch of input `in`, borrowed for the call. It is never empty.
	Process(in int, b *column.Batch, out Output) error
}

// WatermarkHandler is an Instance with event-time work.
type WatermarkHandler interface {
	// OnWatermark is called when the watermark of the operator (the least of its inputs) has grown to w. What it emits
	// leaves before the watermark that it returns, which is <= w; MinWatermark holds everything back.
	// w = MaxWatermark says that no row will come any more.
	OnWatermark(w int64, out Output) (forward int64, err error)
}

// TimerHandler is an Instance with processing-time work. It asks for the call by Context.SetTimer.
type TimerHandler interface {
	OnTimer(now time.Time, out Output) error
}

// Drainer is an Instance that must give what it holds when input ends for good and that no watermark drives.
type Drainer interface {
	OnDrain(out Output) error
}

// KeyedState is a Bound whose instances have state by key. The fingerprint says all on which the form of that state depends: a saved one of
// another fingerprint is not restored.
type KeyedState interface{ KeyedState() (fingerprint string) }

// Stateful is an Instance whose memory belongs to checkpoints. Restore is called once, before any other method.
// The watermark of each operator is saved by the engine.
type Stateful interface {
	Snapshot(w state.Writer) error
	Restore(r state.Reader) error
}

// Sized is an Instance that meters its state.
type Sized interface {
	StateSize() (entries, bytes int64)
}

// Closer is an Instance that holds resources. Close is called once, also after an error.
type Closer interface{ Close() error }
