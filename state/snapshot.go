package state

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/arkflow-go/arkflow/column"
)

// Table is entries of state as columns. Its memory belongs to the garbage collector and is never written again, so a
// table may be shared by the epoch that holds it and by those who restore from it.
type Table struct {
	Schema *arrow.Schema
	Rows   int
	Cols   []column.Column // as many as Schema has fields, each of Rows values
	Groups []uint16        // the key group of each row
}

// Writer takes the state of one operator of one task at a barrier. What is handed over must not change any more.
type Writer interface {
	// Value saves something that the task as a whole knows. Names are unique in an operator.
	Value(name string, v []byte)
	// Table saves entries of keyed state. A name may be given several times: the rows add up.
	Table(name string, t Table)
}

// Reader gives an operator of one task what was saved, before it sees any row.
type Reader interface {
	// Values gives what each task of the operator had saved under that name, in the order of the subtasks: one value
	// where the parallelism is the same, several to be merged where it is not.
	Values(name string) [][]byte
	// Tables gives all entries that were saved under that name. The operator takes the rows whose group is in its Range
	// and no others.
	Tables(name string) []Table
}

// Snapshot is the state of one operator of one task in memory: what a Writer was given.
type Snapshot struct {
	values map[string][]byte
	tables map[string][]Table
}

// NewSnapshot gives an empty snapshot, which is a Writer.
func NewSnapshot() *Snapshot {
	return &Snapshot{values: map[string][]byte{}, tables: map[string][]Table{}}
}

// Value implements Writer.
func (s *Snapshot) Value(name string, v []byte) { s.values[name] = v }

// Table implements Writer.
func (s *Snapshot) Table(name string, t Table) { s.tables[name] = append(s.tables[name], t) }

// Rows is the number of rows of all tables.
func (s *Snapshot) Rows() (n int) {
	for _, tables := range s.tables {
		for _, t := range tables {
			n += t.Rows
		}
	}
	return n
}

// Merged is the snapshots of all tasks of an operator, which is a Reader.
type Merged []*Snapshot

// Values implements Reader.
func (m Merged) Values(name string) (out [][]byte) {
	for _, s := range m {
		if v, ok := s.values[name]; ok {
			out = append(out, v)
		}
	}
	return out
}

// Tables implements Reader.
func (m Merged) Tables(name string) (out []Table) {
	for _, s := range m {
		out = append(out, s.tables[name]...)
	}
	return out
}
