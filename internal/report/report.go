package report

import (
	"time"

	"github.com/arkflow-go/arkflow/checkpoint"
	"github.com/arkflow-go/arkflow/internal/life"
)

// Status is what can be said of an execution at one moment. Its numbers are read one after the other while rows flow; they
// add up exactly once the job has ended.
type Status struct {
	Job       string
	State     life.State
	Err       string // of a failed job
	LastEpoch int64  // the last sealed epoch, 0 where there is none
	Started   time.Time
	Ended     time.Time // zero while the job runs
	Restarts  int       // since it was started
	Memory    int64     // bytes in batches in flight and in state
	OverLimit bool      // over MemoryLimit: sources have paused

	Checkpoints CheckpointStatus
	Restored    checkpoint.Restored // what it began with
	Run         int64               // number of the execution in its bucket, 0 without one
	// HeldBack says of each source whose watermark a split holds back, which one and since when.
	HeldBack  []HeldBack
	Degraded  string // why results may be missing (such as evicted windows); empty where all is well
	Operators []OperatorStatus
}

// CheckpointStatus is what is known of a job's epochs.
type CheckpointStatus struct {
	Completed    int64
	Aborted      int64
	LastDuration time.Duration // from the trigger until it was sealed and committed
	LastAligned  time.Duration // the longest that a task waited for the barrier on its other inputs
	LastEntries  int64         // rows of state tables in the last epoch
	LastBytes    int64         // written to the bucket for it, 0 without one
	LastAt       time.Time
	InFlight     int64 // number of the epoch in flight, 0 where there is none
}

// HeldBack says who holds a watermark back: the slowest active split of a source, or the slowest input of an operator that has several.
type HeldBack struct {
	Operator     string
	Subtask      int
	By           string // the split, or the upstream operator and subtask
	Watermark    int64  // ms, of the one that holds back
	HasWatermark bool
	Since        time.Time // it has stood there since then
}

// OperatorStatus is an operator over all its tasks.
type OperatorStatus struct {
	ID      string
	Kind    string
	Tasks   int
	RowsIn  int64 // of a source: read, those that it could not decode included
	RowsOut int64
	// BytesIn and BytesOut are the memory of the columns of the batches that it took and emitted.
	BytesIn, BytesOut int64

	Batches int64            // emitted
	Late    int64            // rows that the late policy was applied to
	Dropped map[string]int64 // rows that go no further, by reason
	// Watermark is the least of its tasks in ms; HasWatermark is false while one of them has none.
	Watermark    int64
	HasWatermark bool
	// Lag is the clock minus the watermark; 0 without one, or at the end of time.
	Lag     time.Duration
	Future  int64         // rows too far ahead of the clock to move the watermark (MaxFutureSkew)
	Lead    time.Duration // the greatest lead of a row over the clock
	Unknown int64         // fields of records that the schema has no column for
	// SourceLag is, of a source that runs, how many records are there already that it has not read, over all its splits; HasSourceLag is false
	// where one of them does not know (operator.LagReader).
	SourceLag    int64
	HasSourceLag bool
	// Busy, Idle and Blocked are the time its tasks worked, waited for input, and were held up by those downstream (or by a rate or limit),
	// summed over tasks; operators of one chain share them.
	Busy, Idle, Blocked time.Duration
	QueueFill           float64 // of the fullest link into it, 0 to 1
	StateEntries        int64   // live (window, key) entries and the like
	StateBytes          int64
	// PeakEntries is the greatest number of entries seen, PeakBytes their size then (each summed over tasks).
	PeakEntries int64
	PeakBytes   int64
}

// Operator gives the status of the operator of that ID, or nil.
func (s Status) Operator(id string) *OperatorStatus {
	for i := range s.Operators {
		if s.Operators[i].ID == id {
			return &s.Operators[i]
		}
	}
	return nil
}
