package memory

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"sync/atomic"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/internal/fault"
	"github.com/arkflow-go/arkflow/internal/structmap"
	"github.com/arkflow-go/arkflow/operator"
)

// MaxBatchRows is the greatest number of rows of a batch, and the default.
const MaxBatchRows = 8192

// Source gives fixed rows and then ends. It is a value that may be used by several jobs at once; each run reads all rows, and a
// position is the number of rows read of a split. The zero value has no rows, and no schema: operators behind it are checked
// against none.
type Source struct {
	schema    *arrow.Schema
	splits    [][]span
	batchRows int
	inline    []any // rows as a spec has them
	err       error
}

// span is the rows from <= row < to of a record.
type span struct {
	rec      arrow.RecordBatch
	from, to int
}

// Of gives the rows of one or more slices of structs, each slice a split. Columns are the exported fields of T, named by the tag
// `arkflow:"name"`, else by the json tag, else by the field. The rows are copied.
func Of[T any](splits ...[]T) Source {
	w, err := structmap.NewWriter[T]()
	if err != nil {
		return Source{err: err}
	}
	s := Source{schema: w.Schema()}
	var faults fault.List
	for k, rows := range splits {
		var spans []span
		for from := 0; from < len(rows); from += MaxBatchRows {
			part := rows[from:min(from+MaxBatchRows, len(rows))]
			for i := range part {
				if err := w.Check(&part[i]); err != nil {
					faults.Add(&fault.Fault{Path: fmt.Sprintf("split %d, row %d", k, from+i), Problem: err.Error()})
				}
			}
			bld := column.NewBuilder(nil, w.Schema())
			w.Append(bld, part)
			if err := bld.Err(); err != nil {
				faults.Add(&fault.Fault{Path: fmt.Sprintf("split %d", k), Problem: err.Error()})
				continue
			}
			spans = append(spans, recordOf(bld))
		}
		s.splits = append(s.splits, spans)
	}
	s.err = faults.Err()
	return s
}

// recordOf gives the rows of a builder as a span of a record that nobody has to release.
func recordOf(bld *column.Builder) span {
	b := bld.Finish()
	defer b.Release()
	return span{b.Record(), 0, b.Rows}
}

// Records gives the rows of records of one schema, in one split. The records are borrowed: they must live as long as jobs
// use the source.
func Records(schema *arrow.Schema, recs ...arrow.RecordBatch) Source {
	s := Source{schema: schema, splits: [][]span{nil}}
	if schema == nil {
		s.err = &fault.Fault{Path: "schema", Problem: "the schema is nil", Hint: "give that of the records"}
		return s
	}
	if err := column.CheckSchema(schema); err != nil {
		s.err = &fault.Fault{Path: "schema", Problem: err.Error()}
		return s
	}
	for i, r := range recs {
		if !r.Schema().Equal(schema) {
			s.err = &fault.Fault{Path: fmt.Sprintf("record %d", i), Problem: fmt.Sprintf("has the schema %s and not %s", r.Schema(), schema)}
			return s
		}
		for k := range int(r.NumCols()) {
			countNulls(r.Column(k))
		}
		s.splits[0] = append(s.splits[0], span{r, 0, int(r.NumRows())})
	}
	return s
}

// countNulls makes an array count its nulls: it would do so when it is first asked, which is a race between readers.
func countNulls(a arrow.Array) {
	a.NullN()
	if d, ok := a.(*array.Dictionary); ok {
		countNulls(d.Dictionary())
	}
}

// InSplits gives the source with its rows cut into n splits of about as many rows each, in order.
func (s Source) InSplits(n int) Source {
	if n < 1 {
		return s.withFault(&fault.Fault{Path: "splits", Problem: fmt.Sprintf("%d splits", n), Hint: "give 1 at least"})
	}
	var all []span
	total := 0
	for _, spans := range s.splits {
		for _, p := range spans {
			all = append(all, p)
			total += p.to - p.from
		}
	}
	s.splits = make([][]span, n)
	at := 0
	for k := range n {
		for end := total * (k + 1) / n; at < end; {
			p := &all[0]
			take := min(end-at, p.to-p.from)
			if take > 0 {
				s.splits[k] = append(s.splits[k], span{p.rec, p.from, p.from + take})
			}
			at, p.from = at+take, p.from+take
			if p.from == p.to {
				all = all[1:]
			}
		}
	}
	return s
}

// InBatches gives the source with batches of at most n rows, 1 to MaxBatchRows.
func (s Source) InBatches(n int) Source {
	if n < 1 || n > MaxBatchRows {
		return s.withFault(&fault.Fault{Path: "batch_rows", Problem: fmt.Sprintf("%d is not within 1 and %d", n, MaxBatchRows)})
	}
	s.batchRows = n
	return s
}

func (s Source) withFault(f *fault.Fault) Source {
	var all fault.List
	all.Add(s.err)
	all.Add(f)
	s.err = all.Err()
	return s
}

// Kind implements operator.Source.
func (Source) Kind() string { return "memory" }

// Check reports all that is wrong with the rows.
func (s Source) Check() error { return s.err }

// Schema implements operator.Source. It is nil for a source without rows.
func (s Source) Schema() *arrow.Schema { return s.schema }

// Infer implements operator.Inferrer for a source without rows.
func (s Source) Infer(context.Context) (*arrow.Schema, error) { return s.schema, s.err }

// WithSchema implements operator.Inferrer.
func (s Source) WithSchema(schema *arrow.Schema) operator.Source {
	s.schema = schema
	return s
}

// Splits implements operator.Source.
func (s Source) Splits(context.Context) ([]operator.Split, error) {
	if s.err != nil {
		return nil, s.err
	}
	out := make([]operator.Split, len(s.splits))
	for i := range out {
		out[i] = operator.Split{ID: strconv.Itoa(i)}
	}
	return out, nil
}

// Open implements operator.Source.
func (s Source) Open(ctx *operator.Context, split operator.Split, position []byte) (operator.Reader, error) {
	if s.err != nil {
		return nil, s.err
	}
	k, err := strconv.Atoi(split.ID)
	if err != nil || k < 0 || k >= len(s.splits) {
		return nil, fmt.Errorf("open split %q: the source has the splits 0 to %d", split.ID, len(s.splits)-1)
	}
	r := &reader{pool: ctx.Pool, spans: s.splits[k], most: s.batchRows, ready: make(chan struct{})}
	close(r.ready)
	for _, p := range r.spans {
		r.rows += int64(p.to - p.from)
	}
	if r.most == 0 {
		r.most = MaxBatchRows
	}
	if position == nil {
		return r, nil
	}
	at, err := strconv.ParseInt(string(position), 10, 64)
	if err != nil || at < 0 {
		return nil, fmt.Errorf("open split %q: %q is no position", split.ID, position)
	}
	if !r.skip(at) {
		return nil, fmt.Errorf("open split %q at row %d: it has fewer rows", split.ID, at)
	}
	return r, nil
}

type reader struct {
	pool  *column.Pool
	spans []span
	most  int
	rows  int64         // of the split
	read  atomic.Int64  // rows that Poll has returned
	done  int           // rows of the first span that Poll has returned
	rec   *column.Batch // the first span's record
	ready chan struct{}
}

// LimitRows implements operator.RowLimiter.
func (r *reader) LimitRows(n int) { r.most = min(r.most, n) }

// skip passes over n rows; false where there are fewer.
func (r *reader) skip(n int64) bool {
	r.read.Store(n)
	for n > 0 && len(r.spans) > 0 {
		rows := int64(r.spans[0].to - r.spans[0].from)
		if n < rows {
			r.done = int(n)
			return true
		}
		n -= rows
		r.spans = r.spans[1:]
	}
	return n == 0
}

// Poll implements operator.Reader.
func (r *reader) Poll() (*column.Batch, error) {
	for len(r.spans) > 0 && r.spans[0].from+r.done >= r.spans[0].to {
		r.leave()
		r.spans, r.done = r.spans[1:], 0
	}
	if len(r.spans) == 0 {
		return nil, io.EOF
	}
	p := r.spans[0]
	if r.rec == nil {
		rec, err := column.FromRecord(r.pool, p.rec)
		if err != nil {
			return nil, err
		}
		r.rec = rec
	}
	from := p.from + r.done
	n := min(r.most, p.to-from)
	r.done += n
	r.read.Add(int64(n))
	return r.rec.Slice(from, from+n), nil
}

// leave gives the current record back.
func (r *reader) leave() {
	if r.rec != nil {
		r.rec.Release()
		r.rec = nil
	}
}

// Ready implements operator.Reader: there is always something to say.
func (r *reader) Ready() <-chan struct{} { return r.ready }

// Position implements operator.Reader.
func (r *reader) Position() ([]byte, error) { return strconv.AppendInt(nil, r.read.Load(), 10), nil }

// Lag implements operator.LagReader: the rows that are left.
func (r *reader) Lag() (int64, bool) { return r.rows - r.read.Load(), true }

// Close implements operator.Reader.
func (r *reader) Close() error {
	r.leave()
	return nil
}
