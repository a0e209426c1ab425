package structmap

import (
	"fmt"
	"math"
	"reflect"
	"strconv"
	"time"
	"unsafe"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/arkflow-go/arkflow/column"
)

// ValueError says which value of which row cannot be held by a field, or by a column.
type ValueError struct {
	Column, Field string
	Value         string // as text; empty for a null
	Problem       string
}

func (e *ValueError) Error() string {
	if e.Value == "" {
		return fmt.Sprintf("column %q: field %q: %s", e.Column, e.Field, e.Problem)
	}
	return fmt.Sprintf("column %q: field %q: %s (value %s)", e.Column, e.Field, e.Problem, e.Value)
}

// Reader fills structs of type T from the rows of batches of one schema. Not safe for concurrent use.
//
// What it fills belongs to the caller for good: the strings of a column are one Go string a batch, of which each field is
// a part, so that a string that is kept keeps those of its batch; nested values are made one by one.
type Reader[T any] struct {
	steps []step
	batch *column.Batch
	texts []string         // by step: the values of a Bytes column that are there, one after the other
	bytes [][]byte         // the same for []byte fields
	ends  [][]int32        // by step: where the value of the i-th row ends, where the batch has a selection
	slabs []unsafe.Pointer // by step: what pointer fields point to
	errs  []error
}

// NewReader compiles the mapping of a schema to T. Faults name field, column, both types and the nearest columns, and come
// together. Columns without a field are left aside.
func NewReader[T any](s *arrow.Schema) (*Reader[T], error) {
	steps, err := bindReader(reflect.TypeFor[T](), s)
	if err != nil {
		return nil, err
	}
	n := len(steps)
	return &Reader[T]{steps: steps, texts: make([]string, n), bytes: make([][]byte, n), ends: make([][]int32, n), slabs: make([]unsafe.Pointer, n)}, nil
}

// Begin says which batch is read. The batch is borrowed until the last Read of it.
func (r *Reader[T]) Begin(b *column.Batch) {
	r.batch = b
	for k := range r.steps {
		st := &r.steps[k]
		c := &b.Cols[st.index]
		if st.class == text || st.class == binary {
			r.copyBytes(k, c)
		}
		r.slabs[k] = nil
		if st.pointer && b.Len() > 0 {
			r.slabs[k] = reflect.MakeSlice(reflect.SliceOf(st.typ), b.Len(), b.Len()).UnsafePointer()
		}
	}
}

// End forgets the batch.
func (r *Reader[T]) End() {
	r.batch = nil
	clear(r.texts)
	clear(r.bytes)
	clear(r.slabs)
}

// copyBytes copies the values of a Bytes column that are there, once.
func (r *Reader[T]) copyBytes(k int, c *column.Column) {
	b := r.batch
	var buf []byte
	switch {
	case b.Len() == 0:
	case b.Sel == nil:
		buf = append(buf, c.Data[c.Offsets[0]:c.Offsets[b.Rows]]...)
	default:
		ends := r.ends[k][:0]
		total := int32(0)
		for _, row := range b.Sel {
			total += c.Offsets[row+1] - c.Offsets[row]
			ends = append(ends, total)
		}
		r.ends[k] = ends
		buf = make([]byte, 0, total)
		for _, row := range b.Sel {
			buf = append(buf, c.Data[c.Offsets[row]:c.Offsets[row+1]]...)
		}
	}
	if r.steps[k].class == text {
		r.texts[k] = unsafe.String(unsafe.SliceData(buf), len(buf))
	} else {
		r.bytes[k] = buf
	}
}

// bounds gives where the value of the i-th row lies in what copyBytes made.
func (r *Reader[T]) bounds(k int, c *column.Column, i int) (from, to int32) {
	if r.batch.Sel == nil {
		base := c.Offsets[0]
		return c.Offsets[i] - base, c.Offsets[i+1] - base
	}
	if i > 0 {
		from = r.ends[k][i-1]
	}
	return from, r.ends[k][i]
}

// Read fills dst with the rows from, from+1, … of those that are there. It gives nil, or for each row that a field cannot hold the
// first error by order of the fields; such a row of dst is undefined. The result is valid until the next Read.
func (r *Reader[T]) Read(from int, dst []T) []error {
	if len(dst) == 0 {
		return nil
	}
	r.errs = r.errs[:0]
	var zero T
	stride := unsafe.Sizeof(zero)
	base := unsafe.Pointer(unsafe.SliceData(dst))
	for k := range r.steps {
		st := &r.steps[k]
		c := &r.batch.Cols[st.index]
		at, step := unsafe.Add(base, st.offset), stride
		if st.pointer {
			step = st.typ.Size()
			at = unsafe.Add(r.slabs[k], uintptr(from)*step)
		}
		r.fill(k, c, at, step, from, len(dst))
		if st.pointer {
			r.point(st, c, unsafe.Add(base, st.offset), stride, at, from, len(dst))
		} else if c.Nulls > 0 && !st.nullable() {
			for i := range dst {
				if c.IsNull(r.batch.Row(from + i)) {
					r.fail(i, len(dst), &ValueError{Column: st.column, Field: st.path, Problem: "is null; make the field a pointer to take nulls"})
				}
			}
		}
	}
	if len(r.errs) == 0 {
		return nil
	}
	return r.errs
}

// point sets pointer fields to the values at `at`, or nil.
func (r *Reader[T]) point(st *step, c *column.Column, field unsafe.Pointer, stride uintptr, at unsafe.Pointer, from, n int) {
	size := st.typ.Size()
	for i := range n {
		p := (*unsafe.Pointer)(unsafe.Add(field, uintptr(i)*stride))
		if c.Nulls > 0 && c.IsNull(r.batch.Row(from+i)) {
			*p = nil
			continue
		}
		*p = unsafe.Add(at, uintptr(i)*size)
	}
}

// fail notes the first error of row i of n.
func (r *Reader[T]) fail(i, n int, err error) {
	for len(r.errs) < n {
		r.errs = append(r.errs, nil)
	}
	if r.errs[i] == nil {
		r.errs[i] = err
	}
}

// fill stores the values of n rows at dst, dst+stride, …
func (r *Reader[T]) fill(k int, c *column.Column, dst unsafe.Pointer, stride uintptr, from, n int) {
	st := &r.steps[k]
	switch st.class {
	case text:
		s := r.texts[k]
		if r.batch.Sel == nil {
			ends, base := c.Offsets[from:from+n+1], c.Offsets[0]
			for i := range n {
				*(*string)(unsafe.Add(dst, uintptr(i)*stride)) = s[ends[i]-base : ends[i+1]-base]
			}
			return
		}
		for i := range n {
			a, b := r.bounds(k, c, from+i)
			*(*string)(unsafe.Add(dst, uintptr(i)*stride)) = s[a:b]
		}
	case binary:
		s := r.bytes[k]
		for i := range n {
			a, b := r.bounds(k, c, from+i)
			*(*[]byte)(unsafe.Add(dst, uintptr(i)*stride)) = s[a:b:b]
		}
	case boolean:
		for i := range n {
			*(*bool)(unsafe.Add(dst, uintptr(i)*stride)) = c.Bool(r.batch.Row(from + i))
		}
	case instant:
		r.fillInstants(st, c, dst, stride, from, n)
	case span:
		r.fillSpans(st, c, dst, stride, from, n)
	case nested:
		r.fillNested(st, c, dst, stride, from, n)
	default:
		r.fillNumbers(st, c, dst, stride, from, n)
	}
}

func (r *Reader[T]) fillInstants(st *step, c *column.Column, dst unsafe.Pointer, stride uintptr, from, n int) {
	for i := range n {
		row := r.batch.Row(from + i)
		sec, nanos, ok := st.instant(intAt(c, st.col, row))
		if !ok && !c.IsNull(row) {
			r.fail(i, n, st.valueError(c, row, "is no instant of time.Time"))
			continue
		}
		*(*time.Time)(unsafe.Add(dst, uintptr(i)*stride)) = time.Unix(sec, nanos).UTC()
	}
}

func (r *Reader[T]) fillSpans(st *step, c *column.Column, dst unsafe.Pointer, stride uintptr, from, n int) {
	for i := range n {
		row := r.batch.Row(from + i)
		v, ok := st.exact(intAt(c, st.col, row))
		if !ok && !c.IsNull(row) {
			r.fail(i, n, st.valueError(c, row, "is longer than a time.Duration (292 years)"))
			continue
		}
		*(*int64)(unsafe.Add(dst, uintptr(i)*stride)) = v
	}
}

// fillNumbers copies values of the width of the field and converts others, all of them exactly.
func (r *Reader[T]) fillNumbers(st *step, c *column.Column, dst unsafe.Pointer, stride uintptr, from, n int) {
	same := st.class == float == (st.col == column.Float32 || st.col == column.Float64)
	if same && st.col.Width() == int(st.typ.Size()) {
		switch st.col.Width() {
		case 8:
			copyValues(dst, stride, column.View[uint64](c.Data), r.batch.Sel, from, n)
		case 4:
			copyValues(dst, stride, column.View[uint32](c.Data), r.batch.Sel, from, n)
		case 2:
			copyValues(dst, stride, column.View[uint16](c.Data), r.batch.Sel, from, n)
		case 1:
			copyValues(dst, stride, c.Data, r.batch.Sel, from, n)
		}
		return
	}
	for i := range n {
		row := r.batch.Row(from + i)
		p := unsafe.Add(dst, uintptr(i)*stride)
		if st.class != float {
			putInt(p, st.typ.Size(), intAt(c, st.col, row))
			continue
		}
		v, exact := floatAt(c, st.col, row)
		if !exact && !c.IsNull(row) {
			r.fail(i, n, st.valueError(c, row, "has no exact float64"))
			continue
		}
		if st.typ.Size() == 4 {
			*(*float32)(p) = float32(v)
		} else {
			*(*float64)(p) = v
		}
	}
}

func copyValues[V any](dst unsafe.Pointer, stride uintptr, src []V, sel []uint32, from, n int) {
	if sel == nil {
		for i, v := range src[from : from+n] {
			*(*V)(unsafe.Add(dst, uintptr(i)*stride)) = v
		}
		return
	}
	for i, row := range sel[from : from+n] {
		*(*V)(unsafe.Add(dst, uintptr(i)*stride)) = src[row]
	}
}

// intAt gives an integer; one of uint64 as the same bits.
func intAt(c *column.Column, k column.Kind, row int) int64 {
	switch k {
	case column.Int8:
		return int64(column.View[int8](c.Data)[row])
	case column.Int16:
		return int64(column.View[int16](c.Data)[row])
	case column.Int32:
		return int64(column.View[int32](c.Data)[row])
	case column.Uint8:
		return int64(c.Data[row])
	case column.Uint16:
		return int64(column.View[uint16](c.Data)[row])
	case column.Uint32:
		return int64(column.View[uint32](c.Data)[row])
	}
	return column.View[int64](c.Data)[row]
}

func putInt(p unsafe.Pointer, size uintptr, v int64) {
	switch size {
	case 8:
		*(*int64)(p) = v
	case 4:
		*(*int32)(p) = int32(v)
	case 2:
		*(*int16)(p) = int16(v)
	case 1:
		*(*int8)(p) = int8(v)
	}
}

// floatAt gives a number as a float64 and whether it is the same number.
func floatAt(c *column.Column, k column.Kind, row int) (float64, bool) {
	switch k {
	case column.Float32:
		return float64(column.View[float32](c.Data)[row]), true
	case column.Float64:
		return column.View[float64](c.Data)[row], true
	case column.Uint64:
		v := column.View[uint64](c.Data)[row]
		f := float64(v)
		return f, f < 1<<64 && uint64(f) == v
	}
	v := intAt(c, k, row)
	f := float64(v)
	return f, f < -math.MinInt64 && int64(f) == v
}

func (st *step) valueError(c *column.Column, row int, problem string) error {
	v := strconv.FormatInt(intAt(c, st.col, row), 10)
	if st.col == column.Uint64 {
		v = strconv.FormatUint(column.View[uint64](c.Data)[row], 10)
	}
	return &ValueError{Column: st.column, Field: st.path, Value: v, Problem: problem}
}
