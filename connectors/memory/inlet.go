package memory

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"sync"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/internal/fault"
	"github.com/arkflow-go/arkflow/internal/structmap"
	"github.com/arkflow-go/arkflow/operator"
)

// ErrClosed is what Send returns after Close.
var ErrClosed = errors.New("memory inlet: closed")

// InletConfig bounds the rows that an Inlet holds. The zero value means the defaults.
type InletConfig struct {
	// Capacity is the number of rows that wait to be read before Send waits. Defaults to 1,024.
	Capacity int
	// Keep is the number of rows already read that are kept for a restore. A job that is restored from an epoch more than
	// Keep rows ago cannot start. Defaults to 65,536.
	Keep int
}

// WithDefaults gives a copy in which every field has its value.
func (c InletConfig) WithDefaults() InletConfig {
	if c.Capacity == 0 {
		c.Capacity = 1024
	}
	if c.Keep == 0 {
		c.Keep = 65536
	}
	return c
}

// Validate reports all fields that are out of range.
func (c InletConfig) Validate() error {
	var faults fault.List
	if c.Capacity < 0 {
		faults.Add(&fault.Fault{Path: "capacity", Problem: fmt.Sprintf("%d is negative", c.Capacity), Hint: "give 1 at least"})
	}
	if c.Keep < 0 {
		faults.Add(&fault.Fault{Path: "keep", Problem: fmt.Sprintf("%d is negative", c.Keep), Hint: "give 1 at least"})
	}
	return faults.Err()
}

// Inlet is a source of rows that the program sends while the job runs. It is one split, and one run at a time reads it. A
// run without a restored position reads the rows that nobody has read yet.
//
// What a position speaks of is the number of rows sent before: a restored job gets again what it had read since the epoch, as
// far as the inlet still keeps it (InletConfig.Keep), and only in the process that sent it.
type Inlet[T any] struct {
	cfg    InletConfig
	err    error
	writer *structmap.Writer[T]
	ready  chan struct{} // has a value when there may be rows, or the end

	mu     sync.Mutex
	rows   []T           // rows[0] is row number first
	first  int64         // number of the oldest row that is held
	unread int64         // number of the first row that no run has read
	space  chan struct{} // closed when a sender that waits should look again; nil while none waits
	closed bool
	inUse  bool
}

// NewInlet makes an inlet for rows of type T; see Of for its columns.
func NewInlet[T any](cfg InletConfig) *Inlet[T] {
	in := &Inlet[T]{cfg: cfg.WithDefaults(), ready: make(chan struct{}, 1)}
	var faults fault.List
	faults.Add(cfg.Validate())
	w, err := structmap.NewWriter[T]()
	faults.Add(err)
	in.writer, in.err = w, faults.Err()
	return in
}

// Send gives a row to the job. It waits while Capacity rows wait to be read, until the context ends. Safe for concurrent
// use. After Close it returns ErrClosed.
func (in *Inlet[T]) Send(ctx context.Context, row T) error {
	if in.err != nil {
		return in.err
	}
	if err := in.writer.Check(&row); err != nil {
		return err
	}
	for {
		space, err := in.offer(row)
		if err != nil || space == nil {
			return err
		}
		select {
		case <-space:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// offer takes a row, or gives what to wait for.
func (in *Inlet[T]) offer(row T) (space <-chan struct{}, err error) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.closed {
		return nil, ErrClosed
	}
	if in.first+int64(len(in.rows))-in.unread >= int64(in.cfg.Capacity) {
		if in.space == nil {
			in.space = make(chan struct{})
		}
		return in.space, nil
	}
	in.rows = append(in.rows, row)
	in.wake()
	return nil, nil
}

// Close ends the source: the job reads the rows that are left and finishes. It may be called again.
func (in *Inlet[T]) Close() error {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.closed = true
	in.wake()
	in.releaseLocked()
	return nil
}

func (in *Inlet[T]) wake() {
	select {
	case in.ready <- struct{}{}:
	default:
	}
}

// releaseLocked makes waiting senders look again.
func (in *Inlet[T]) releaseLocked() {
	if in.space != nil {
		close(in.space)
		in.space = nil
	}
}

// Kind implements operator.Source.
func (in *Inlet[T]) Kind() string { return "memory" }

// Check reports what is wrong with T or the configuration.
func (in *Inlet[T]) Check() error { return in.err }

// Config implements connectors.Configured: an inlet cannot be written down.
func (in *Inlet[T]) Config() (config, codec map[string]any, err error) {
	return nil, nil, &fault.Fault{Problem: "an inlet is part of a Go program and cannot be written in a spec"}
}

// Schema implements operator.Source.
func (in *Inlet[T]) Schema() *arrow.Schema {
	if in.writer == nil {
		return nil
	}
	return in.writer.Schema()
}

// Infer implements operator.Inferrer, to say what is wrong with T.
func (in *Inlet[T]) Infer(context.Context) (*arrow.Schema, error) { return in.Schema(), in.err }

// WithSchema implements operator.Inferrer; the schema is always that of T.
func (in *Inlet[T]) WithSchema(*arrow.Schema) operator.Source { return in }

// Splits implements operator.Source.
func (in *Inlet[T]) Splits(context.Context) ([]operator.Split, error) {
	return []operator.Split{{ID: "inlet"}}, in.err
}

// Open implements operator.Source.
func (in *Inlet[T]) Open(ctx *operator.Context, _ operator.Split, position []byte) (operator.Reader, error) {
	if in.err != nil {
		return nil, in.err
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.inUse {
		return nil, errors.New("memory inlet: another run reads it; an inlet serves one run at a time")
	}
	next := in.unread
	if position != nil {
		at, err := strconv.ParseInt(string(position), 10, 64)
		end := in.first + int64(len(in.rows))
		switch {
		case err != nil:
			return nil, fmt.Errorf("memory inlet: %q is no position", position)
		case at < in.first:
			return nil, fmt.Errorf("memory inlet: cannot read again from row %d: the oldest that is kept is %d; give InletConfig a greater Keep", at, in.first)
		case at > end:
			return nil, fmt.Errorf("memory inlet: cannot read from row %d: %d have been sent in this process", at, end)
		}
		next = at
	}
	in.inUse = true
	in.wake()
	return &inletReader[T]{in: in, next: next, most: MaxBatchRows, bld: column.NewBuilder(ctx.Pool, in.writer.Schema())}, nil
}

type inletReader[T any] struct {
	in     *Inlet[T]
	bld    *column.Builder
	next   int64
	most   int // rows of a batch
	closed bool
}

// LimitRows implements operator.RowLimiter.
func (r *inletReader[T]) LimitRows(n int) { r.most = min(r.most, n) }

// Poll implements operator.Reader.
func (r *inletReader[T]) Poll() (*column.Batch, error) {
	in := r.in
	in.mu.Lock()
	defer in.mu.Unlock()
	at := int(r.next - in.first)
	n := min(len(in.rows)-at, r.most)
	if n == 0 {
		if in.closed {
			return nil, io.EOF
		}
		return nil, nil
	}
	in.writer.Append(r.bld, in.rows[at:at+n])
	if err := r.bld.Err(); err != nil {
		r.bld.Discard()
		return nil, err
	}
	r.next += int64(n)
	if r.next > in.unread {
		in.unread = r.next
		in.forgetLocked()
		in.releaseLocked()
	}
	return r.bld.Finish(), nil
}

// forgetLocked drops the oldest rows that have been read, beyond Keep.
func (in *Inlet[T]) forgetLocked() {
	over := int(in.unread-in.first) - in.cfg.Keep
	if over <= 0 {
		return
	}
	clear(in.rows[:over])
	in.rows = in.rows[over:]
	in.first += int64(over)
}

// Ready implements operator.Reader.
func (r *inletReader[T]) Ready() <-chan struct{} { return r.in.ready }

// Position implements operator.Reader.
func (r *inletReader[T]) Position() ([]byte, error) { return strconv.AppendInt(nil, r.next, 10), nil }

// Lag implements operator.LagReader: the rows that were sent and not read. Those of senders that wait are not among them.
func (r *inletReader[T]) Lag() (int64, bool) {
	in := r.in
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.first + int64(len(in.rows)) - r.next, true
}

// Close implements operator.Reader.
func (r *inletReader[T]) Close() error {
	r.bld.Discard()
	r.in.mu.Lock()
	defer r.in.mu.Unlock()
	if !r.closed {
		r.closed, r.in.inUse = true, false
	}
	return nil
}
