package blocks

import (
	"errors"
	"fmt"
	"runtime"
	"sync/atomic"

	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/arkflow-go/arkflow/column"
)

// Allocator lends memory of the garbage collector up to a limit, beyond which it panics with an error that Recover catches: a length that
// a damaged file claims costs no more than that.
type Allocator struct {
	heap  *memory.GoAllocator
	limit int64
	used  atomic.Int64
}

// NewAllocator gives an allocator of limit bytes.
func NewAllocator(limit int64) *Allocator {
	return &Allocator{heap: memory.NewGoAllocator(), limit: limit}
}

// Begin starts a step to which the limit applies: what was lent before does not count any more.
func (a *Allocator) Begin() { a.used.Store(0) }

// Allocate is part of memory.Allocator.
func (a *Allocator) Allocate(size int) []byte {
	a.take(int64(size))
	return a.heap.Allocate(size)
}

// Reallocate is part of memory.Allocator.
func (a *Allocator) Reallocate(size int, b []byte) []byte {
	a.take(int64(size - len(b)))
	return a.heap.Reallocate(size, b)
}

// Free is part of memory.Allocator.
func (a *Allocator) Free(b []byte) {
	a.used.Add(-int64(len(b)))
	a.heap.Free(b)
}

func (a *Allocator) take(n int64) {
	if used := a.used.Add(n); used > a.limit {
		a.used.Add(-n)
		panic(&LimitError{Limit: a.limit, Need: used})
	}
}

// LimitError says that decoding needs more memory than it may take.
type LimitError struct{ Limit, Need int64 }

func (e *LimitError) Error() string {
	return fmt.Sprintf("needs more than %d bytes of memory for one block: raise the limit if the file is to be trusted", e.Limit)
}

// Recover calls f and turns a panic into an error: decoders of other people's bytes may panic on what is damaged.
func Recover(f func() error) (err error) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case *LimitError:
			err = r
		case runtime.Error:
			err = fmt.Errorf("damaged: %w", r)
		case error:
			err = fmt.Errorf("damaged: %w", r)
		default:
			err = fmt.Errorf("damaged: %v", r)
		}
	}()
	return f()
}

// Check says whether the columns of a batch are as long as its rows and their offsets lie within their bytes. Files of Arrow data carry no
// checksums; without this, damage would come to light as a panic in an operator far away.
func Check(b *column.Batch) error {
	for i := range b.Cols {
		if err := checkColumn(&b.Cols[i], b.Rows); err != nil {
			return fmt.Errorf("damaged: column %q: %w", b.Schema.Field(i).Name, err)
		}
	}
	return nil
}

func checkColumn(c *column.Column, rows int) error {
	if c.Nulls < 0 || c.Nulls > rows {
		return fmt.Errorf("%d nulls in %d rows", c.Nulls, rows)
	}
	if c.Nulls > 0 {
		if len(c.Valid) < column.BitmapLen(rows) {
			return errors.New("the bitmap of nulls is too short")
		}
		c.Nulls = column.CountZeros(c.Valid, rows)
	}
	if c.Nulls == 0 {
		c.Valid = nil
	}
	need := column.BitmapLen(rows)
	switch c.Kind {
	case column.Bool:
	case column.Bytes:
		return checkOffsets(c.Offsets, len(c.Data), rows)
	default:
		need = rows * c.Kind.Width()
	}
	if len(c.Data) < need {
		return fmt.Errorf("%d bytes of values, %d are needed", len(c.Data), need)
	}
	return nil
}

func checkOffsets(offsets []int32, bytes, rows int) error {
	if len(offsets) < rows+1 {
		return fmt.Errorf("%d offsets for %d rows", len(offsets), rows)
	}
	offsets = offsets[:rows+1]
	last := offsets[0]
	if last < 0 {
		return fmt.Errorf("offset %d", last)
	}
	for _, o := range offsets {
		if o < last {
			return fmt.Errorf("offset %d behind %d", o, last)
		}
		last = o
	}
	if int(last) > bytes {
		return fmt.Errorf("offset %d of %d bytes", last, bytes)
	}
	return nil
}
