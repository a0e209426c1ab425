package operator

import (
	"fmt"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/expr"
)

// ErrorPolicy says what happens to a row or record that cannot be decoded, processed or written. The zero value is Fail.
type ErrorPolicy struct {
	retries int
	backoff time.Duration
	last    action
	sink    Sink
}

type action uint8

const (
	actFail action = iota
	actSkip
	actDeadLetter
)

// Fail ends the job with the error: the default.
func Fail() ErrorPolicy { return ErrorPolicy{} }

// Skip drops the row, counts it under the reason "error" and logs a throttled warning.
func Skip() ErrorPolicy { return ErrorPolicy{last: actSkip} }

// Retry tries n times more, the first time after backoff, which doubles with each further try up to a minute; then it fails (see Then).
// It tries what may go better the next time: reading from a source, a Go function of the user, writing to a sink. The task waits.
func Retry(n int, backoff time.Duration) ErrorPolicy {
	return ErrorPolicy{retries: n, backoff: backoff}
}

// DeadLetter hands the row to another sink, with the reason, the operator, the phase and the place that it came from (see
// DeadLetterSchema), and counts it under the reason "dead_letter". An error of that sink ends the job.
func DeadLetter(sink Sink) ErrorPolicy { return ErrorPolicy{last: actDeadLetter, sink: sink} }

// Then says what happens after the retries: Retry(3, time.Second).Then(Skip()).
func (p ErrorPolicy) Then(next ErrorPolicy) ErrorPolicy {
	p.last, p.sink = next.last, next.sink
	p.retries += next.retries
	return p
}

// Skips reports whether the job goes on without the rows in error.
func (p ErrorPolicy) Skips() bool { return p.last != actFail }

// Retries gives how often something is tried again, and the time before the first further try.
func (p ErrorPolicy) Retries() (n int, backoff time.Duration) { return p.retries, p.backoff }

// DeadLetterSink gives the sink of DeadLetter, or nil.
func (p ErrorPolicy) DeadLetterSink() Sink {
	if p.last != actDeadLetter {
		return nil
	}
	return p.sink
}

// Check reports what cannot work.
func (p ErrorPolicy) Check() error {
	switch {
	case p.retries < 0:
		return &Fault{Path: "on_error.retry", Problem: fmt.Sprintf("%d retries", p.retries), Hint: "give 0 or more"}
	case p.backoff < 0:
		return &Fault{Path: "on_error.backoff", Problem: fmt.Sprintf("%s is negative", p.backoff), Hint: "give 0 or more"}
	case p.last == actDeadLetter && p.sink == nil:
		return &Fault{Path: "on_error.dead_letter", Problem: "the dead-letter sink is nil", Hint: "give one, such as file.Sink"}
	case p.last == actDeadLetter:
		if err := p.sink.Check(Stream{Schema: DeadLetterSchema, Time: ProcessingTime}); err != nil {
			return fmt.Errorf("dead-letter sink: %w", err)
		}
	}
	return nil
}

func (p ErrorPolicy) String() string {
	s := ""
	if p.retries > 0 {
		s = fmt.Sprintf("retry %d after %s, then ", p.retries, p.backoff)
	}
	switch p.last {
	case actSkip:
		return s + "skip"
	case actDeadLetter:
		return s + "dead letter"
	}
	return s + "fail"
}

// Phases in which rows fail.
const (
	PhaseDecode  = "decode"
	PhaseProcess = "process"
	PhaseSink    = "sink"
)

// DeadLetterSchema is that of the rows in a dead-letter sink: when it failed, at which operator, in which phase ("decode", "process" or
// "sink"), why, where the row came from as far as that is known, and the record: as it was read, or the row as JSON.
var DeadLetterSchema = arrow.NewSchema([]arrow.Field{
	{Name: "failed_at", Type: arrow.FixedWidthTypes.Timestamp_ms},
	{Name: "operator", Type: arrow.BinaryTypes.String},
	{Name: "phase", Type: arrow.BinaryTypes.String},
	{Name: "reason", Type: arrow.BinaryTypes.String},
	{Name: "place", Type: arrow.BinaryTypes.String, Nullable: true},
	{Name: "record", Type: arrow.BinaryTypes.String, Nullable: true},
}, nil)

// Rejected is a row or record that the error policy DeadLetter applies to: either a Record as it was read, or a row of a Batch, or
// neither, where it could not be kept.
type Rejected struct {
	Err    error
	Record []byte        // borrowed
	Batch  *column.Batch // borrowed
	Row    int           // physical row of Batch
}

// Reject applies the error policy to n rows that could not be processed because of err and of which nothing can be shown: under Skip and
// DeadLetter they are counted and nil is returned, under Fail err is. RejectRecord and RejectRows show the row to a dead-letter sink.
func (c *Context) Reject(n int, err error) error {
	switch c.OnError.last {
	case actSkip:
		c.Counters.Drop(DropError, n)
		c.Warn("row skipped", "error", err)
		return nil
	case actDeadLetter:
		for range n {
			if derr := c.deadLetter(Rejected{Err: err}); derr != nil {
				return derr
			}
		}
		return nil
	}
	return err
}

// RejectRecord is Reject for one record that could not be decoded.
func (c *Context) RejectRecord(record []byte, err error) error {
	if c.OnError.last != actDeadLetter {
		return c.Reject(1, err)
	}
	return c.deadLetter(Rejected{Err: err, Record: record})
}

// RejectRows is Reject for physical rows of a batch, each with its error: errAt(i) is that of rows[i]. Under Fail it is the first row's.
func (c *Context) RejectRows(b *column.Batch, rows []uint32, errAt func(i int) error) error {
	if len(rows) == 0 {
		return nil
	}
	if c.OnError.last != actDeadLetter {
		return c.Reject(len(rows), errAt(0))
	}
	for i, r := range rows {
		if err := c.deadLetter(Rejected{Err: errAt(i), Batch: b, Row: int(r)}); err != nil {
			return err
		}
	}
	return nil
}

// rejectErrors applies the error policy to the rows in which expressions failed.
func rejectErrors(c *Context, b *column.Batch, errs *expr.Errors) error {
	return c.RejectRows(b, errs.Rows(), func(i int) error { return rowError(errs.At(i)) })
}

func (c *Context) deadLetter(r Rejected) error {
	if c.DeadLetter == nil {
		return fmt.Errorf("no dead-letter sink is open for: %w", r.Err)
	}
	if err := c.DeadLetter(r); err != nil {
		return fmt.Errorf("dead-letter sink: %w", err)
	}
	c.Counters.Drop(DropDeadLetter, 1)
	return nil
}

// maxRetryBackoff bounds what doubling makes of the time before a further try.
const maxRetryBackoff = time.Minute

// Again says whether to try once more what has failed attempt+1 times, and waits before: for attempt := 0; err != nil && ctx.Again(attempt);
// attempt++ { err = try() }.
func (c *Context) Again(attempt int) bool {
	if attempt >= c.OnError.retries || c.Context != nil && c.Err() != nil {
		return false
	}
	wait := c.OnError.RetryAfter(attempt)
	if c.Pause != nil {
		return c.Pause(wait) == nil
	}
	t := c.Clock.NewTimer(wait)
	defer t.Stop()
	var done <-chan struct{}
	if c.Context != nil {
		done = c.Done()
	}
	select {
	case <-t.C():
		return true
	case <-done:
		return false
	}
}

// RetryAfter is the time before the try that follows attempt+1 failed ones.
func (p ErrorPolicy) RetryAfter(attempt int) time.Duration {
	wait, most := p.backoff, max(maxRetryBackoff, p.backoff)
	for range attempt {
		if wait *= 2; wait >= most {
			return most
		}
	}
	return wait
}
