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
	// Write takes rows, borrowed for the call; b may have a selection. It may block (that is back-pressure) while Context.Done is open.
	Write(b *column.Batch) error
	// Flush makes everything that was written visible. It is called at each barrier and at the end.
	Flush() error
	Close() error
}

// TwoPhaseWriter is a Writer whose rows become visible with the checkpoint they belong to: exactly once.
// Prepare is called at the barrier in place of Flush; after the epoch is sealed Commit is called for what Prepare gave, in the order of epochs, and
// again after a recovery, before any row is written. It must be idempotent: it may then be called on the writer of another task, in another process
// and while an older execution, which does not know yet that it was fenced, commits the same. Abort undoes what was prepared and not sealed. Close
// gives up rows that were not prepared and keeps what was: nobody knows yet whether its epoch is sealed.
type TwoPhaseWriter interface {
	Writer
	Prepare(epoch int64) (prepared []byte, err error)
	Commit(epoch int64, prepared []byte) error
	Abort(epoch int64, prepared []byte) error
}

// Recoverer is a TwoPhaseWriter that gives up what earlier executions of the job left behind: what they prepared for epochs that were never sealed,
// and what they had only begun, also of tasks that are no more. Recover is called once a start, whether or not an epoch is restored, on the writer of
// one task of the sink: after all writers are open and the commits of the restored epoch have been repeated, before any row is written. An error fails the
// start. It means the work of smaller runs (Context.Run) and of earlier attempts of the same. One of a smaller run may still go on, not knowing that it
// was fenced: losing its work may make it fail, no more. One of a greater run may have begun, where it is this one that was fenced: its work stays.
type Recoverer interface{ Recover() error }

// TwoPhaser is a Sink that can say whether its writers are TwoPhaseWriters. Such a sink needs a store that keeps what it has prepared.
type TwoPhaser interface{ TwoPhase() bool }
