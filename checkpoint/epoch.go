package checkpoint

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/arkflow-go/arkflow/state"
)

// TaskID names a task: one of the parallel instances of a chain of operators.
type TaskID struct {
	Chain   string // ID of the chain's first operator
	Subtask int
}

func (t TaskID) String() string { return fmt.Sprintf("%s/%d", t.Chain, t.Subtask) }

// OperatorSnapshot is one operator of one task at a barrier.
type OperatorSnapshot struct {
	Operator string
	Subtask  int
	// Watermark is that of the operator in ms; the least int64 where it had none.
	Watermark int64
	State     state.Saved // nil for an operator without state; a *state.Snapshot in an answer
	// Prepared is what a two-phase sink has to commit once the epoch is sealed, oldest first: what it prepared for this epoch,
	// and for earlier ones that were aborted.
	Prepared []Prepared
}

// Prepared is what a two-phase sink has prepared for an epoch.
type Prepared struct {
	Epoch int64  `json:"epoch"`
	Data  []byte `json:"data"`
}

// Pending reports whether a sink has prepared rows that are to be committed.
func (s OperatorSnapshot) Pending() bool { return pending(s.Prepared) }

func pending(list []Prepared) bool {
	return slices.ContainsFunc(list, func(p Prepared) bool { return len(p.Data) > 0 })
}

// SplitSnapshot is a split at a barrier: what has been handed downstream before it.
type SplitSnapshot struct {
	Source   string // operator ID
	Split    string
	Position []byte // next to read
	Done     bool   // the split had ended
	// MaxTime is the greatest event time seen, in ms; HasTime says that there was one. They restore J of the next row.
	MaxTime int64
	HasTime bool
}

// TaskSnapshot is what a task answers to a barrier.
type TaskSnapshot struct {
	Operators []OperatorSnapshot
	Splits    []SplitSnapshot
	Aligned   time.Duration // from the first barrier on one of the task's inputs to that on the last
}

// Close tells that the answer is not needed any more.
func (t *TaskSnapshot) Close() {
	for _, o := range t.Operators {
		if s, ok := o.State.(*state.Snapshot); ok {
			s.Close()
		}
	}
}

// Epoch is a sealed cut through the whole job.
type Epoch struct {
	Job       string
	Number    int64
	Ends      bool                          // the job ended with it
	Finished  bool                          // all input had ended
	Aligned   time.Duration                 // the longest that a task took to align
	Splits    map[string][]SplitSnapshot    // by source
	Operators map[string][]OperatorSnapshot // by operator, in the order of the subtasks
	Schemas   map[string]*arrow.Schema      // inferred schemas of open sources
	Written   int64                         // bytes that were written to seal it, of a store that writes
	Shared    bool                          // others than the store read the states: they are closed by Release alone
}

// Settle makes the states of an epoch such that they can be kept in memory: see state.View.
func (e *Epoch) Settle() error {
	for id, ops := range e.Operators {
		for _, o := range ops {
			if s, ok := o.State.(*state.Snapshot); ok {
				if err := s.Settle(); err != nil {
					return wrapState(id, o.Subtask, err)
				}
			}
		}
	}
	return nil
}

// Close tells that the states of an epoch are not read any more.
func (e *Epoch) Close() {
	for _, ops := range e.Operators {
		for _, o := range ops {
			if s, ok := o.State.(*state.Snapshot); ok {
				s.Close()
			}
		}
	}
}

// Entries is the number of rows of state tables in the epoch.
func (e *Epoch) Entries() (n int64) {
	for _, ops := range e.Operators {
		for _, o := range ops {
			if o.State != nil {
				n += int64(o.State.Rows())
			}
		}
	}
	return n
}

// Split gives the snapshot of a split, or nil where the epoch does not know it. In an epoch with which the job has finished all splits
// are done, also those that had rows left, and those that came later: event time has ended.
func (e *Epoch) Split(source, split string) *SplitSnapshot {
	s := SplitSnapshot{Source: source, Split: split}
	known := false
	for _, had := range e.Splits[source] {
		if had.Split == split {
			s, known = had, true
		}
	}
	if !known && !e.Finished {
		return nil
	}
	s.Done = s.Done || e.Finished
	return &s
}

// Store keeps sealed epochs. Seal returns only when the epoch will survive what the store promises to survive.
type Store interface {
	Seal(ctx context.Context, e *Epoch) error
	// Release tells that nobody but the store reads the states of an epoch any more, whether it was sealed or not.
	Release(ctx context.Context, e *Epoch)
}

// MemoryStore keeps the last epoch, or all of them, in memory. Safe for concurrent use.
type MemoryStore struct {
	KeepAll bool

	mu     sync.Mutex
	epochs []*Epoch
}

// Seal implements Store.
func (m *MemoryStore) Seal(_ context.Context, e *Epoch) error {
	if err := e.Settle(); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.KeepAll {
		m.epochs = m.epochs[:0]
	}
	m.epochs = append(m.epochs, e)
	return nil
}

// Release implements Store: an epoch that is kept stays readable.
func (m *MemoryStore) Release(context.Context, *Epoch) {}

// Epochs gives what is kept, oldest first.
func (m *MemoryStore) Epochs() []*Epoch {
	m.mu.Lock()
	defer m.mu.Unlock()
	return append([]*Epoch(nil), m.epochs...)
}

// Last gives the last sealed epoch, or nil.
func (m *MemoryStore) Last() *Epoch {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.epochs) == 0 {
		return nil
	}
	return m.epochs[len(m.epochs)-1]
}
