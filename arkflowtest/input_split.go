package arkflowtest

import (
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/internal/structmap"
)

// Split is the script of one split of a source: rows, watermarks and pauses, in order. After its last step the split ends,
// unless that step is [Open]. A Split is a value; Then gives a longer one.
type Split struct{ steps []step }

// Then gives the split with more steps after its own.
func (s Split) Then(more ...Split) Split { return Script(append([]Split{s}, more...)...) }

// Script puts pieces of a split together, one after the other.
func Script(parts ...Split) (s Split) {
	for _, p := range parts {
		s.steps = append(s.steps, p.steps...)
	}
	return s
}

type stepKind uint8

const (
	stepRows stepKind = iota + 1
	stepWatermark
	stepSync
	stepAdvance
	stepCheckpoint
	stepFail
	stepOpen
)

// step is one step of a script.
type step struct {
	kind stepKind
	rows rowSet        // stepRows
	w    int64         // stepWatermark: ms
	d    time.Duration // stepAdvance
	err  error         // stepFail
}

// gate reports whether the split waits at the step until nothing in the job can move.
func (s step) gate() bool {
	return s.kind == stepSync || s.kind == stepAdvance || s.kind == stepCheckpoint
}

// rowSet is rows that can be made into batches of a schema.
type rowSet interface {
	len() int
	// own is the schema of the rows, or nil where they take that of the source.
	own() (*arrow.Schema, error)
	// batch makes a batch, owned by the caller, of rows from <= i < to.
	batch(p *column.Pool, s *arrow.Schema, from, to int) (*column.Batch, error)
}

// Rows gives rows: structs, whose fields become columns as package arkflow maps them (tag arkflow:"name", else json, else the
// field's name; pointers are nullable), or maps from column to value. Maps take the schema of the source that they stand in
// for; where that is open, types are inferred from their values.
func Rows[T any](rows ...T) Split {
	if m, ok := any(rows).([]map[string]any); ok {
		return one(&mapRows{rows: m})
	}
	return one(&structRows[T]{rows: rows})
}

// Table gives rows as values in the order of a schema's columns: bool, numbers, string, []byte, time.Time, time.Duration, Decimal and
// nil; an integer fits every integer column that can hold it.
func Table(schema *arrow.Schema, rows ...[]any) Split {
	return one(&tableRows{schema: schema, rows: rows})
}

// Records gives the rows of Arrow records of one schema, each as it is laid out: slices, dictionaries and views included. The
// records are borrowed for as long as tests use the split.
func Records(recs ...arrow.RecordBatch) (s Split) {
	for _, r := range recs {
		s.steps = append(s.steps, step{kind: stepRows, rows: recordRows{r}})
	}
	return s
}

// WatermarkAt says that every row of the split with an event time before ms has been seen. A split whose script has such a step makes no
// watermark by the source's policy.
func WatermarkAt(ms int64) Split { return Split{[]step{{kind: stepWatermark, w: ms}}} }

// Sync lets the split wait until nothing in the job can move any more: rows that were read have reached their sinks or wait in
// an operator, and every other split waits as well or has nothing more. Then all splits that wait (at a Sync, an Advance or a Checkpoint) go
// on together: these steps are rounds that the splits of all sources have in common.
func Sync() Split { return Split{[]step{{kind: stepSync}}} }

// Advance is a Sync after which the fake clock goes on by d before any split does; by the longest d where several splits wait at one.
func Advance(d time.Duration) Split { return Split{[]step{{kind: stepAdvance, d: d}}} }

// Checkpoint is a Sync after which an epoch is taken before any split goes on.
func Checkpoint() Split { return Split{[]step{{kind: stepCheckpoint}}} }

// FailWith makes reading the split fail.
func FailWith(err error) Split { return Split{[]step{{kind: stepFail, err: err}}} }

// Open keeps the split open: more rows might come, none does. The job has to be ended; see [EndBy].
func Open() Split { return Split{[]step{{kind: stepOpen}}} }

func one(r rowSet) Split {
	if r.len() == 0 {
		if s, _ := r.own(); s == nil {
			return Split{}
		}
	}
	return Split{[]step{{kind: stepRows, rows: r}}}
}

// structRows are structs.
type structRows[T any] struct {
	rows []T

	once sync.Once
	w    *structmap.Writer[T]
	err  error
}

func (r *structRows[T]) len() int { return len(r.rows) }

func (r *structRows[T]) writer() (*structmap.Writer[T], error) {
	r.once.Do(func() {
		if r.w, r.err = structmap.NewWriter[T](); r.err != nil {
			return
		}
		for i := range r.rows {
			if err := r.w.Check(&r.rows[i]); err != nil {
				r.err = fmt.Errorf("row %d: %w", i, err)
				return
			}
		}
	})
	return r.w, r.err
}

func (r *structRows[T]) own() (*arrow.Schema, error) {
	w, err := r.writer()
	if err != nil {
		return nil, err
	}
	return w.Schema(), nil
}

func (r *structRows[T]) batch(p *column.Pool, s *arrow.Schema, from, to int) (*column.Batch, error) {
	w, err := r.writer()
	if err != nil {
		return nil, err
	}
	b := column.NewBuilder(p, s)
	w.Append(b, r.rows[from:to])
	if err := b.Err(); err != nil {
		b.Discard()
		return nil, err
	}
	return b.Finish(), nil
}

// tableRows are rows by position.
type tableRows struct {
	schema *arrow.Schema
	rows   [][]any
}

func (r *tableRows) len() int                    { return len(r.rows) }
func (r *tableRows) own() (*arrow.Schema, error) { return r.schema, nil }

func (r *tableRows) batch(p *column.Pool, s *arrow.Schema, from, to int) (*column.Batch, error) {
	return build(p, s, from, to, func(i, k int) (any, error) {
		if len(r.rows[i]) != s.NumFields() {
			return nil, fmt.Errorf("row %d has %d values for %d columns", i, len(r.rows[i]), s.NumFields())
		}
		return r.rows[i][k], nil
	})
}

// build makes a batch of values.
func build(p *column.Pool, s *arrow.Schema, from, to int, value func(row, col int) (any, error)) (*column.Batch, error) {
	b := column.NewBuilder(p, s)
	for i := from; i < to; i++ {
		for k := range s.NumFields() {
			v, err := value(i, k)
			if err == nil {
				err = put(b.Col(k), v)
			}
			if err != nil {
				b.Discard()
				return nil, fmt.Errorf("row %d, column %q: %w", i, s.Field(k).Name, err)
			}
		}
		b.EndRow()
	}
	return b.Finish(), nil
}

// mapRows are rows by the names of their columns.
type mapRows struct{ rows []map[string]any }

func (r *mapRows) len() int                    { return len(r.rows) }
func (r *mapRows) own() (*arrow.Schema, error) { return nil, nil }

func (r *mapRows) batch(p *column.Pool, s *arrow.Schema, from, to int) (*column.Batch, error) {
	for i := from; i < to; i++ {
		for k := range r.rows[i] {
			if !s.HasField(k) {
				return nil, fmt.Errorf("row %d: the schema of the source has no column %q", i, k)
			}
		}
	}
	return build(p, s, from, to, func(i, k int) (any, error) { return r.rows[i][s.Field(k).Name], nil })
}

// infer gives the schema of maps: columns in the order of their names.
func infer(sets []*mapRows) (*arrow.Schema, error) {
	types := map[string]arrow.DataType{}
	for _, set := range sets {
		for i, row := range set.rows {
			for name, v := range row {
				t, ok := inferType(v)
				if !ok {
					return nil, fmt.Errorf("row %d, column %q: a %T is not a value of a column", i, name, v)
				}
				if had := types[name]; t == nil || had != nil && arrow.TypeEqual(had, t) {
					types[name] = had
					continue
				} else if had != nil {
					return nil, fmt.Errorf("row %d, column %q: %s after %s; give a schema with Table", i, name, t, had)
				}
				types[name] = t
			}
		}
	}
	var fields []arrow.Field
	for _, name := range slices.Sorted(maps.Keys(types)) {
		t := types[name]
		if t == nil {
			t = arrow.BinaryTypes.String // nulls only
		}
		fields = append(fields, arrow.Field{Name: name, Type: t, Nullable: true})
	}
	return arrow.NewSchema(fields, nil), nil
}

// recordRows is an Arrow record.
type recordRows struct{ rec arrow.RecordBatch }

func (r recordRows) len() int                    { return int(r.rec.NumRows()) }
func (r recordRows) own() (*arrow.Schema, error) { return r.rec.Schema(), nil }

func (r recordRows) batch(p *column.Pool, _ *arrow.Schema, from, to int) (*column.Batch, error) {
	part := r.rec.NewSlice(int64(from), int64(to))
	defer part.Release()
	return column.FromRecord(p, part)
}
