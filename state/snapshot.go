package state

import (
	"errors"
	"iter"
	"maps"
	"slices"
	"sync"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/arkflow-go/arkflow/column"
)

// Table is entries of state as columns. The memory of one that a Writer is given belongs to the garbage collector and is never written
// again, so it may be shared by the epoch that holds it and by those who restore from it. One that is read, by View.Each or as one of
// a sequence, is good until the next.
type Table struct {
	Schema *arrow.Schema
	Rows   int
	Cols   []column.Column // as many as Schema has fields, each of Rows values
	Groups []uint16        // the key group of each row
	Part   PartID          // of a table that is read back
}

// Clone gives a table that is good as long as one likes.
func (t Table) Clone() Table {
	t.Cols, t.Groups = cloneColumns(t.Cols), slices.Clone(t.Groups)
	return t
}

func cloneColumns(cols []column.Column) []column.Column {
	out := slices.Clone(cols)
	for i := range out {
		c := &out[i]
		c.Valid, c.Offsets, c.Children = slices.Clone(c.Valid), slices.Clone(c.Offsets), cloneColumns(c.Children)
		if c.Data != nil {
			c.Data = append(column.BytesOf(make([]uint64, (len(c.Data)+7)/8))[:0], c.Data...) // aligned
		}
	}
	return out
}

// Writer takes the state of one operator of one task at a barrier. What is handed over must not change any more.
type Writer interface {
	// Value saves something that the task as a whole knows. Names are unique in an operator.
	Value(name string, v []byte)
	// Table saves entries of keyed state that are few: they are written anew at each barrier. A name may be given several times: the
	// rows add up.
	Table(name string, t Table)
	// Part saves entries of keyed state that are written out later, so that rows need not wait for it, and of which an epoch may hold
	// no more than what changed. The part's number is unique among those of the table while the task runs, and is that of the same
	// entries at the next barrier; a part that is not given any more is gone. Numbers are > 0.
	Part(name string, id int64, v View)
}

// View is a part of a table as it was at a barrier. It is read while the operator goes on, so it reads nothing that the operator still
// writes. Its methods are called by any goroutine, one at a time.
type View interface {
	// Rows is the number of rows, or a bound on it from above.
	Rows() int
	// Each gives the rows, in tables of bounded size; where since is a View of the same part at an earlier barrier, which was settled or given,
	// those that are new or not the same since then. No two of the rows have the same key. It may be called again with the same since; with
	// another one it may fail, unless the View was settled before. A table's memory is good until emit returns.
	Each(since View, emit func(Table) error) error
	// Settle makes the View one that can be kept: it holds on to no memory that the operator could use again. Each without since does it too.
	Settle() error
	// Close tells that Each will not be called again on this View, nor Settle; it may still be what another one is compared with if it
	// was settled, or Each has given its rows.
	Close()
}

// PartID names a part of a table that is read back.
type PartID struct {
	Task int   // subtask that saved it
	ID   int64 // see Writer.Part; 0 of a Table
}

// Reader gives an operator of one task what was saved, before it sees any row.
type Reader interface {
	// Values gives what each task of the operator had saved under that name, in the order of the subtasks: one value
	// where the parallelism is the same, several to be merged where it is not.
	Values(name string) [][]byte
	// Tables gives all entries that were saved under that name; after an error it ends. The operator takes the rows whose group
	// is in its Range and no others. Tables of a part may be mixed with those of others; a row takes the place of one of the same key
	// that came before in the same part.
	Tables(name string) iter.Seq2[Table, error]
}

// Saved is the state of one operator of one task: a Snapshot, or what storage holds of one.
type Saved interface {
	// Find gives a value.
	Find(name string) (v []byte, ok bool)
	// Tables gives the entries saved under a name, as Reader.Tables does; the Task of their parts is not set.
	Tables(name string) iter.Seq2[Table, error]
	// Rows is the number of rows of all tables, or a bound on it from above.
	Rows() int
}

// Snapshot is the state of one operator of one task in memory: what a Writer was given. Once it is written it may be read by several
// goroutines.
type Snapshot struct {
	values map[string][]byte
	tables map[string][]Table
	parts  map[string][]Part

	mu sync.Mutex // guards the views
}

// Part is a View with its number.
type Part struct {
	ID   int64
	View View
}

// NewSnapshot gives an empty snapshot, which is a Writer.
func NewSnapshot() *Snapshot {
	return &Snapshot{values: map[string][]byte{}, tables: map[string][]Table{}, parts: map[string][]Part{}}
}

// Value implements Writer.
func (s *Snapshot) Value(name string, v []byte) { s.values[name] = v }

// Table implements Writer.
func (s *Snapshot) Table(name string, t Table) { s.tables[name] = append(s.tables[name], t) }

// Part implements Writer.
func (s *Snapshot) Part(name string, id int64, v View) {
	s.parts[name] = append(s.parts[name], Part{id, v})
}

// Values gives all values by name. The map is not to be changed.
func (s *Snapshot) Values() map[string][]byte { return s.values }

// Names gives the names of all tables, sorted.
func (s *Snapshot) Names() []string {
	names := slices.Collect(maps.Keys(s.tables))
	for name := range s.parts {
		if _, ok := s.tables[name]; !ok {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// Whole gives the tables of a name that were saved whole. The slice is not to be changed.
func (s *Snapshot) Whole(name string) []Table { return s.tables[name] }

// Parts gives the parts of a table. The slice is not to be changed.
func (s *Snapshot) Parts(name string) []Part { return s.parts[name] }

// Each calls View.Each of one of the parts, one call at a time.
func (s *Snapshot) Each(p Part, since View, emit func(Table) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return p.View.Each(since, emit)
}

// Settle makes the snapshot one that can be kept: see View.Settle.
func (s *Snapshot) Settle() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, parts := range s.parts {
		for _, p := range parts {
			if err := p.View.Settle(); err != nil {
				return err
			}
		}
	}
	return nil
}

// Close closes all views.
func (s *Snapshot) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, parts := range s.parts {
		for _, p := range parts {
			p.View.Close()
		}
	}
}

// Rows implements Saved.
func (s *Snapshot) Rows() (n int) {
	for _, list := range s.tables {
		for _, t := range list {
			n += t.Rows
		}
	}
	for _, parts := range s.parts {
		for _, p := range parts {
			n += p.View.Rows()
		}
	}
	return n
}

// Find implements Saved.
func (s *Snapshot) Find(name string) ([]byte, bool) {
	v, ok := s.values[name]
	return v, ok
}

// errStop ends Each where nobody wants more rows.
var errStop = errors.New("no more rows are wanted")

// Tables implements Saved.
func (s *Snapshot) Tables(name string) iter.Seq2[Table, error] {
	return func(yield func(Table, error) bool) {
		for _, t := range s.tables[name] {
			if !yield(t, nil) {
				return
			}
		}
		for _, p := range s.parts[name] {
			err := s.Each(p, nil, func(t Table) error {
				t.Part.ID = p.ID
				if !yield(t, nil) {
					return errStop
				}
				return nil
			})
			if errors.Is(err, errStop) {
				return
			}
			if err != nil {
				yield(Table{}, err)
				return
			}
		}
	}
}

// Merged is what all tasks of an operator saved, for one of the tasks that take over: a Reader.
type Merged struct {
	Tasks []Saved // in the order of the subtasks
	// Own are the key groups of the task that reads, of Max: what tasks saved that had none of them is not read. With Max 0 all is.
	Own Range
	Max int
}

// Values implements Reader.
func (m Merged) Values(name string) (out [][]byte) {
	for _, s := range m.Tasks {
		if v, ok := s.Find(name); ok {
			out = append(out, v)
		}
	}
	return out
}

// Tables implements Reader.
func (m Merged) Tables(name string) iter.Seq2[Table, error] {
	return func(yield func(Table, error) bool) {
		for i, s := range m.Tasks {
			if had := OwnedBy(i, len(m.Tasks), m.Max); m.Max > 0 && (had.End <= m.Own.First || m.Own.End <= had.First) {
				continue
			}
			for t, err := range s.Tables(name) {
				t.Part.Task = i
				if !yield(t, err) || err != nil {
					return
				}
			}
		}
	}
}
