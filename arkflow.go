package arkflow

import (
	"time"

	"github.com/arkflow-go/arkflow/internal/fault"
	"github.com/arkflow-go/arkflow/operator"
)

// Fault is a mistake in the description of a job: which operator, which option, where in the program, what is wrong and what
// to do about it. Errors of Compile and its like hold one for each mistake: use errors.As, or *multierror.Error for all.
type Fault = fault.Fault

// ErrorPolicy says what happens to a row or record that cannot be processed. The zero value is Fail.
type ErrorPolicy = operator.ErrorPolicy

// Fail ends the job with the error of the first row that cannot be processed: the default.
func Fail() ErrorPolicy { return operator.Fail() }

// Skip drops rows that cannot be processed, counts them under the reason "error" and logs a throttled warning.
func Skip() ErrorPolicy { return operator.Skip() }

// Retry tries n times more, the first time after backoff, which doubles with each further try up to a minute; then the job fails, or does
// what Then says: Retry(3, time.Second).Then(Skip()). It tries what may go better the next time: reading from a source, a Go function, writing to
// a sink.
func Retry(n int, backoff time.Duration) ErrorPolicy { return operator.Retry(n, backoff) }

// DeadLetter hands rows that cannot be processed to another sink, with the reason, the operator, the phase and the place they came from, and
// counts them under the reason "dead_letter". Its rows have the columns of operator.DeadLetterSchema.
func DeadLetter(sink operator.Sink) ErrorPolicy { return operator.DeadLetter(sink) }
