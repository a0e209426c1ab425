package shuffle

import "github.com/arkflow-go/arkflow/column"

// Kind is the kind of an Element.
type Kind uint8

// The kinds of elements.
const (
	Data      Kind = iota + 1 // Batch
	Watermark                 // Time
	Barrier                   // Epoch, Ends
	StatusOf                  // Status
)

// Status says whether an input takes part in event time.
type Status uint8

// The statuses. Finished is the end of data: only barriers follow it.
const (
	Active Status = iota
	Idle
	Finished
)

func (s Status) String() string { return [...]string{"active", "idle", "finished"}[s] }

// Element is what a link carries.
type Element struct {
	Kind   Kind
	Batch  *column.Batch // Data: owned by the element
	Time   int64         // Watermark: ms
	Epoch  int64         // Barrier
	Ends   bool          // Barrier: the last one; the task that has answered it ends
	Status Status        // StatusOf
}
