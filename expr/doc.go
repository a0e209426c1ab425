// Package expr answers: what is the value of an expression for each row of a batch?
//
// An [Expr] is built in Go from columns, constants, methods and functions, or written as SQL ([T]); both are the same tree, and
// String is SQL again. It is bound to a schema, which checks names and types and gives a [Program]; each task makes an [Evaluator]
// of it, which works on whole columns:
//
//	status := expr.Field(func(o *Order) *string { return &o.Status })
//	amount := expr.Col("amount")
//	paid := status.Eq("paid").And(amount.Gt(0))   // or expr.T("status = 'paid' and amount > 0")
//
//	prog, err := paid.Bind(schema)        // all faults at once, each a *fault.Fault
//	ev := prog.New()                      // one a task
//	kept, err := ev.Filter(batch, &errs)  // the rows for which it is true; nil where there is none
//
// # How an operator uses it
//
// Bind when the job is compiled: the error holds every fault (unknown column, types that do not go together) and wants only
// operator and place added (fault.Place). [Program.Type] and [Program.Nullable] give the output field. [Program.New] when the
// task starts. For each batch:
//
//	errs.Reset()
//	kept, err := ev.Filter(b, &errs)              // a filter
//	if err != nil { return err }                  // a bug: b is not of the schema that was bound
//	if errs.Len() > 0 {                           // rows that could not be computed; kept is without them
//		if err := ctx.Reject(errs.Len(), errs.First()); err != nil { … release kept, return err }
//	}
//
//	errs.Reset()
//	for i, ev := range evs {                      // a projection: one program an output column
//		err := ev.Eval(out, &out.Cols[i], b, &errs)
//	}
//	if errs.Len() > 0 { … under Fail return errs.First(); under Skip release out and evaluate again over errs.Without(b) }
//
// where out is a derived batch of b if b has no selection and a program is a bare column ([Program.Column] >= 0), because
// such a column is not copied, and may be a new batch otherwise. The columns that Eval makes are dense: a projection is
// where a selection is compacted.
//
// # Types
//
// Comparison is exact across all numeric types, and across units of time. And, Or and Not follow the null logic of SQL; every
// other operator gives null where an operand is null. Arithmetic gives:
//
//	signed or narrow unsigned integers    int64
//	uint64 with an unsigned integer       uint64
//	uint64 with a signed integer          int64
//	float32 with float32                  float32
//	any other pair with a float           float64
//	decimal with decimal or integer       decimal128, scale and precision as in SQL, at most 38 digits
//	timestamp ± duration                  timestamp of the finer unit
//	instant - instant                     duration of the finer unit
//	duration ± duration                   duration of the finer unit
//	duration * integer, duration / integer  duration
//
// A constant takes the type of the other side where that holds it exactly (an integer beside a float, a float beside a
// float32 or a decimal), but a float constant never makes integers of its result. Integers never wrap: overflow, also of a
// conversion, and division of integers by zero are errors of the row. Floats follow IEEE 754, with NaN as one value that is
// equal to itself and greater than every other in comparisons.
//
// # Errors and short circuits
//
// An error belongs to the row. [Errors] collects them with the sub-expression and the values, and which error is reported for
// a row does not depend on how batches are cut. The right side of And and Or is evaluated only for rows that the left side has not
// decided, and the branches of When and Coalesce only for the rows that come to them: in `n <> 0 and total / n > 5` no row divides
// by zero. All other operands are always evaluated.
//
// # What it never does
//
// The package never looks at a clock: equal rows give equal values. It keeps nothing between batches but scratch memory, and
// never changes a batch that it is given.
package expr
