package expr

import (
	"fmt"
	"slices"

	"github.com/arkflow-go/arkflow/column"
)

// RowError says what went wrong with one row: which sub-expression could not be computed, of which values.
type RowError struct {
	Row     int    // physical row of the batch
	Expr    string // the sub-expression as text
	Problem string // operation and values, such as "7 / 0: division by zero"
}

// Error gives sub-expression and problem. It does not speak of the row, whose number depends on how batches were cut.
func (e *RowError) Error() string { return fmt.Sprintf("%s: %s", e.Expr, e.Problem) }

// Errors collects the rows of one batch that could not be computed. The zero value is empty. It may collect over several
// programs that are evaluated over the same batch; Reset it before the next batch. Not safe for concurrent use.
//
// Which error of a row is kept does not depend on how batches were cut: it is the first in the order of evaluation, operands
// from left to right before their operator, programs in the order in which they were evaluated.
type Errors struct {
	list   []rowFault
	sorted bool
	rows   []uint32
}

// rowFault is an error whose text is made when somebody asks for it.
type rowFault struct {
	row  uint32
	what *failure
	a, b [2]uint64 // the operands, low word first
	text string    // the problem, where the step has told it
}

// Reset forgets all errors and keeps the memory.
func (e *Errors) Reset() { e.list, e.rows, e.sorted = e.list[:0], e.rows[:0], false }

// Len is the number of rows in error.
func (e *Errors) Len() int { e.sort(); return len(e.rows) }

// Rows gives the physical rows in error, ascending, each once. The slice is valid until the next evaluation or Reset.
func (e *Errors) Rows() []uint32 { e.sort(); return e.rows }

// First gives the error of the first row in error, a *RowError; nil if there is none.
func (e *Errors) First() error { return e.At(0) }

// At gives the error of the i-th of Rows, a *RowError; nil if there is none.
func (e *Errors) At(i int) error {
	if e.sort(); i >= len(e.rows) {
		return nil
	}
	f := &e.list[i]
	text := f.text
	if text == "" {
		text = f.what.text(f.a, f.b)
	}
	return &RowError{Row: int(f.row), Expr: f.what.node.String(), Problem: text}
}

// Without gives b without the rows in error: a derived batch, or nil where no row is left. The caller owns it.
func (e *Errors) Without(b *column.Batch) *column.Batch {
	bad := e.Rows()
	if n := b.Len() - len(bad); n <= 0 {
		return nil
	}
	d := b.Derive()
	if len(bad) == 0 {
		return d
	}
	all := b.Sel
	if all == nil {
		all = column.Alloc[uint32](d, b.Rows)
		for i := range all {
			all[i] = uint32(i)
		}
	}
	d.Sel = without(column.Alloc[uint32](d, len(all))[:0], all, bad)
	return d
}

// without appends to dst the rows that are not among bad; both ascend. dst may begin where rows does.
func without(dst, rows, bad []uint32) []uint32 {
	for _, r := range rows {
		for len(bad) > 0 && bad[0] < r {
			bad = bad[1:]
		}
		if len(bad) == 0 || bad[0] != r {
			dst = append(dst, r)
		}
	}
	return dst
}

func (e *Errors) add(f rowFault) {
	e.list = append(e.list, f)
	e.sorted = false
}

// sort brings the list into the order of rows and keeps the first error of each.
func (e *Errors) sort() {
	if e.sorted {
		return
	}
	slices.SortStableFunc(e.list, func(x, y rowFault) int { return int(x.row) - int(y.row) })
	e.list = slices.CompactFunc(e.list, func(x, y rowFault) bool { return x.row == y.row })
	e.rows = e.rows[:0]
	for i := range e.list {
		e.rows = append(e.rows, e.list[i].row)
	}
	e.sorted = true
}
