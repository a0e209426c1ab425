package state

import (
	"iter"
	"sync"

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
	// Frozen saves entries that are written out later, so that rows need not wait for it: tables gives them, of rows rows or
	// fewer together. It is called at most once, by any goroutine, while the operator goes on, so it must read nothing that the
	// operator still writes; it may never be called.
	Frozen(name string, rows int, tables func() ([]Table, error))
}

// Reader gives an operator of one task what was saved, before it sees any row.
type Reader interface {
	// Values gives what each task of the operator had saved under that name, in the order of the subtasks: one value
	// where the parallelism is the same, several to be merged where it is not.
	Values(name string) [][]byte
	// Tables gives all entries that were saved under that name; after an error it ends. The operator takes the rows whose group
	// is in its Range and no others.
	Tables(name string) iter.Seq2[Table, error]
}

// Snapshot is the state of one operator of one task in memory: what a Writer was given. It may be read by several goroutines
// once it is written.
type Snapshot struct {
	values map[string][]byte
	tables map[string][]*entries
}

// entries is tables that are there, or that a function gives.
type entries struct {
	rows   int
	once   sync.Once
	thaw   func() ([]Table, error)
	tables []Table
	err    error
}

func (e *entries) get() ([]Table, error) {
	e.once.Do(func() {
		if e.thaw != nil {
			e.tables, e.err = e.thaw()
			e.thaw = nil // what was frozen is not needed any more
		}
	})
	return e.tables, e.err
}

// NewSnapshot gives an empty snapshot, which is a Writer.
func NewSnapshot() *Snapshot {
	return &Snapshot{values: map[string][]byte{}, tables: map[string][]*entries{}}
}

// Value implements Writer.
func (s *Snapshot) Value(name string, v []byte) { s.values[name] = v }

// Table implements Writer.
func (s *Snapshot) Table(name string, t Table) {
	s.tables[name] = append(s.tables[name], &entries{rows: t.Rows, tables: []Table{t}})
}

// Frozen implements Writer.
func (s *Snapshot) Frozen(name string, rows int, tables func() ([]Table, error)) {
	s.tables[name] = append(s.tables[name], &entries{rows: rows, thaw: tables})
}

// Rows is the number of rows of all tables, or a bound on it from above.
func (s *Snapshot) Rows() (n int) {
	for _, list := range s.tables {
		for _, e := range list {
			n += e.rows
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
func (m Merged) Tables(name string) iter.Seq2[Table, error] {
	return func(yield func(Table, error) bool) {
		for _, s := range m {
			for _, e := range s.tables[name] {
				tables, err := e.get()
				if err != nil {
					yield(Table{}, err)
					return
				}
				for _, t := range tables {
					if !yield(t, nil) {
						return
					}
				}
			}
		}
	}
}
