package arkflow

import (
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
