package generate

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/internal/fault"
	"github.com/arkflow-go/arkflow/internal/structmap"
	"github.com/arkflow-go/arkflow/operator"
)

// MaxBatchRows is the greatest number of rows of a batch.
const MaxBatchRows = 8192

const (
	defaultBatchSize = 4096
	maxSplits        = 1 << 15
)

// Source makes rows. Give Context, or use Func; everything else has a default.
type Source struct {
	// Context is a JSON object: every row is a copy of it. Integers become int64 columns, other numbers float64, texts utf8,
	// true and false bool; none is nullable. Required, except with Func.
	Context string
	// Interval is the time from one batch to the next; the first comes at once. Defaults to 0, no waiting.
	Interval time.Duration
	// BatchSize is the number of rows made at a time. With Interval that is the number each interval; more than 8,192 come as
	// several batches. Defaults to 1 with Interval, else to 4,096.
	BatchSize int
	// Count is the number of rows after which the source ends. Defaults to 0: it never does.
	Count int64
	// Rate is the number of rows each second, kept on average from the start on: what the job was too slow for is made up
	// for. It excludes Interval. Defaults to 0, no limit.
	Rate float64
	// NumSplits is the number of splits, which the tasks of the source share: row i is in split i mod NumSplits. Rate and Count
	// are of all splits together, Interval and BatchSize of each. Defaults to 1.
	NumSplits int

	fn    *function
	codec bool // a spec said "codec: {type: json}"
}

// function makes rows by Go code. It is never changed once made.
type function struct {
	schema *arrow.Schema
	err    error
	reader func(ctx *operator.Context) maker
}

// maker makes batches of one split.
type maker interface {
	// make gives the rows number i, i+step, … (n of them), owned by the caller; nil where none is left by the error policy.
	make(i, step int64, n int) (*column.Batch, error)
	close()
}

// Option sets a field of a Source that Func makes.
type Option func(*Source)

// Count is the number of rows after which the source ends. Defaults to 0: never.
func Count(rows int64) Option { return func(s *Source) { s.Count = rows } }

// Rate is the number of rows each second. Defaults to 0: as fast as they are taken. See Source.Rate.
func Rate(perSecond float64) Option { return func(s *Source) { s.Rate = perSecond } }

// Every makes so many rows each interval. Defaults to no interval. See Source.Interval.
func Every(interval time.Duration, rows int) Option {
	return func(s *Source) { s.Interval, s.BatchSize = interval, rows }
}

// BatchSize is the number of rows made at a time. Defaults to 4,096, with an interval to 1. See Source.BatchSize.
func BatchSize(rows int) Option { return func(s *Source) { s.BatchSize = rows } }

// Splits is the number of splits. Defaults to 1. See Source.NumSplits.
func Splits(n int) Option { return func(s *Source) { s.NumSplits = n } }

// Func makes row i by a Go function: i = 0, 1, 2, … Columns are the exported fields of T, named by the tag
// `arkflow:"name"`, else by the json tag, else by the field. The function must give the same row for the same i, since rows are
// made again after a restore, and is called by several tasks at once.
func Func[T any](fn func(i int64) T, options ...Option) Source {
	s := Source{fn: &function{}}
	for _, o := range options {
		if o != nil {
			o(&s)
		}
	}
	w, err := structmap.NewWriter[T]()
	switch {
	case fn == nil:
		s.fn.err = &fault.Fault{Path: "function", Problem: "the function is nil"}
		return s
	case err != nil:
		s.fn.err = err
		return s
	}
	s.fn.schema = w.Schema()
	s.fn.reader = func(ctx *operator.Context) maker {
		return &funcMaker[T]{ctx: ctx, fn: fn, writer: w, rows: make([]T, funcChunk), bld: column.NewBuilder(ctx.Pool, w.Schema())}
	}
	return s
}

// WithDefaults gives a copy in which every field has its value.
func (s Source) WithDefaults() Source {
	if s.BatchSize == 0 {
		s.BatchSize = defaultBatchSize
		if s.Interval > 0 {
			s.BatchSize = 1
		}
	}
	if s.NumSplits == 0 {
		s.NumSplits = 1
	}
	return s
}

// Check reports all that is wrong with the description.
func (s Source) Check() error { return s.checkAt("") }

// checkAt is Check with a path before those of the fields.
func (s Source) checkAt(prefix string) error {
	var faults fault.List
	s = s.WithDefaults()
	bad := func(path, problem, hint string) {
		faults.Add(&fault.Fault{Path: prefix + path, Problem: problem, Hint: hint})
	}
	switch {
	case s.fn != nil && s.Context != "":
		bad("context", "there is a function as well", "give one of the two")
	case s.fn != nil:
		faults.Add(s.fn.err)
	default:
		if _, err := parseTemplate(s.Context); err != nil {
			bad("context", err.Error(), `give an object of values, such as {"id": "c-1", "amount": 42}`)
		}
	}
	if s.Interval < 0 {
		bad("interval", fmt.Sprintf("%s is negative", s.Interval), "give 0 for no waiting")
	}
	if s.BatchSize < 1 {
		bad("batch_size", fmt.Sprintf("%d is less than 1", s.BatchSize), "")
	}
	if s.Count < 0 {
		bad("count", fmt.Sprintf("%d is negative", s.Count), "give 0 for rows without end")
	}
	if !(s.Rate >= 0) || math.IsInf(s.Rate, 1) {
		bad("rate", fmt.Sprintf("%v is no number of rows a second", s.Rate), "give 0 for no limit")
	}
	if s.Rate > 0 && s.Interval > 0 {
		bad("rate", "there is an interval as well", "give one of the two")
	}
	if s.NumSplits < 1 || s.NumSplits > maxSplits {
		bad("splits", fmt.Sprintf("%d is not within 1 and %d", s.NumSplits, maxSplits), "")
	}
	return faults.Err()
}

// Kind implements operator.Source.
func (Source) Kind() string { return "generate" }

// Describe says how fast rows come.
func (s Source) Describe() string {
	s = s.WithDefaults()
	text := "at full speed"
	switch {
	case s.Rate > 0:
		text = fmt.Sprintf("%v rows/s", s.Rate)
	case s.Interval > 0:
		text = fmt.Sprintf("%d rows each %s", s.BatchSize, s.Interval)
	}
	if s.Count > 0 {
		text += fmt.Sprintf(", %d rows", s.Count)
	}
	return text
}

// Schema implements operator.Source. It is nil where Check reports a fault of Context or of the function's type.
func (s Source) Schema() *arrow.Schema {
	if s.fn != nil {
		return s.fn.schema
	}
	t, err := parseTemplate(s.Context)
	if err != nil {
		return nil
	}
	return t.schema
}

// Infer implements operator.Inferrer, to say what is wrong with a source that has no schema.
func (s Source) Infer(context.Context) (*arrow.Schema, error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	return s.Schema(), nil
}

// WithSchema implements operator.Inferrer; the schema is always that of the rows.
func (s Source) WithSchema(*arrow.Schema) operator.Source { return s }

// Splits implements operator.Source.
func (s Source) Splits(context.Context) ([]operator.Split, error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	out := make([]operator.Split, s.WithDefaults().NumSplits)
	for i := range out {
		out[i].ID = strconv.Itoa(i)
	}
	return out, nil
}

// Open implements operator.Source.
func (s Source) Open(ctx *operator.Context, split operator.Split, position []byte) (operator.Reader, error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	s = s.WithDefaults()
	k, err := strconv.Atoi(split.ID)
	if err != nil || k < 0 || k >= s.NumSplits {
		return nil, fmt.Errorf("open split %q: the source has the splits 0 to %d", split.ID, s.NumSplits-1)
	}
	r := &reader{ctx: ctx, pace: newPace(s, ctx.Clock.Now()), first: int64(k), step: int64(s.NumSplits), count: math.MaxInt64, wake: newWaker(ctx)}
	if s.Count > 0 {
		r.count = (s.Count - int64(k) + r.step - 1) / r.step
	}
	if position != nil {
		at, err := strconv.ParseInt(string(position), 10, 64)
		if err != nil || at < 0 || at > (math.MaxInt64-r.first)/r.step {
			return nil, fmt.Errorf("open split %q: %q is no position", split.ID, position)
		}
		r.from = at
		r.made.Store(at)
	}
	if s.fn != nil {
		r.maker = s.fn.reader(ctx)
		return r, nil
	}
	t, err := parseTemplate(s.Context)
	if err != nil {
		return nil, err
	}
	if r.maker, err = newTemplateMaker(ctx.Pool, t, min(s.BatchSize, MaxBatchRows)); err != nil {
		return nil, err
	}
	return r, nil
}
