package operator

import "github.com/arkflow-go/arkflow/column"

// Sink is the description of where rows go. It holds no resources.
type Sink interface {
	Kind() string
	// Check says whether the sink takes such rows; it is part of compiling a job and free of side effects. A sink that cannot write
	// rows that take the place of others refuses streams whose Changes is not Append (RefuseChanges); one that does not refuse writes
	// them as they are: the results of a corrected window one after the other, the last one of a key and window the valid one.
	Check(in Stream) error
	// Open makes the writer of one task.
	Open(ctx *Context, in Stream) (Writer, error)
}

// Writer writes the rows of one task. It is driven by one goroutine.
type Writer interface {
	// Write takes rows, borrowed for the call; b may have a selection. It may block (that is back-pressure) while
	// Context.Done is open.
	Write(b *column.Batch) error
	// Flush makes everything that was written visible. It is called at each barrier and at the end.
	Flush() error
	Close() error
}

// TwoPhaseWriter is a Writer whose rows become visible with the checkpoint they belong to: exactly once.
// Prepare is called at the barrier in place of Flush; after the epoch is sealed Commit is called for what Prepare gave,
// in the order of epochs, and again after a recovery: it must be idempotent. Abort undoes what was prepared and not sealed.
type TwoPhaseWriter interface {
	Writer
	Prepare(epoch int64) (prepared []byte, err error)
	Commit(epoch int64, prepared []byte) error
	Abort(epoch int64, prepared []byte) error
}

// TwoPhaser is a Sink that can say whether its writers are TwoPhaseWriters. Such a sink needs a store that keeps what it
// has prepared.
type TwoPhaser interface{ TwoPhase() bool }
