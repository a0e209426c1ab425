package structmap

import (
	"math"
	"reflect"
	"time"
	"unsafe"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/arkflow-go/arkflow/column"
)

// Writer appends structs of type T to a builder of T's own schema.
type Writer[T any] struct {
	schema   *arrow.Schema
	fields   []field
	instants []int // fields that may hold what their column cannot
}

// NewWriter compiles the mapping of T to its columns; see SchemaOf.
func NewWriter[T any]() (*Writer[T], error) {
	t := reflect.TypeFor[T]()
	s, err := SchemaOfType(t)
	if err != nil {
		return nil, err
	}
	w := &Writer[T]{schema: s}
	if w.fields, err = fieldsOf(t); err != nil {
		return nil, err
	}
	for i, f := range w.fields {
		if f.hasInstant() {
			w.instants = append(w.instants, i)
		}
	}
	return w, nil
}

// Schema is that of the rows.
func (w *Writer[T]) Schema() *arrow.Schema { return w.schema }

// Years that a count of microseconds in an int64 reaches, in seconds.
const (
	minInstant = math.MinInt64 / 1_000_000
	maxInstant = math.MaxInt64/1_000_000 - 1
)

// Total reports whether every row passes Check, so that nobody needs to call it.
func (w *Writer[T]) Total() bool { return len(w.instants) == 0 }

// Check tells the first field that its column cannot hold: an instant out of the reach of microseconds.
func (w *Writer[T]) Check(row *T) error {
	for _, i := range w.instants {
		f := &w.fields[i]
		if t := f.instantOutOfReach(unsafe.Add(unsafe.Pointer(row), f.offset)); t != nil {
			return &ValueError{Column: f.column, Field: f.path, Value: t.String(), Problem: "does not fit a Timestamp(µs)"}
		}
	}
	return nil
}

// Append appends whole rows, each of which has passed Check. Builder.Err tells where they hold more than a batch can.
func (w *Writer[T]) Append(b *column.Builder, rows []T) {
	if len(rows) == 0 {
		return
	}
	stride := unsafe.Sizeof(rows[0])
	base := unsafe.Pointer(unsafe.SliceData(rows))
	for i := range w.fields {
		f := &w.fields[i]
		if at := unsafe.Add(base, f.offset); f.pointer {
			f.appendPointers(b.Col(i), at, stride, len(rows))
		} else {
			f.appendValues(b.Col(i), at, stride, len(rows))
		}
	}
	b.SetRows(b.Len() + len(rows))
}

func (f *field) appendPointers(a *column.Appender, src unsafe.Pointer, stride uintptr, n int) {
	for i := range n {
		if p := *(*unsafe.Pointer)(unsafe.Add(src, uintptr(i)*stride)); p != nil {
			f.appendValues(a, p, 0, 1)
		} else {
			a.Null()
		}
	}
}

func (f *field) appendValues(a *column.Appender, src unsafe.Pointer, stride uintptr, n int) {
	switch f.class {
	case text:
		appendBytes[string](a, src, stride, n)
	case binary:
		appendBytes[[]byte](a, src, stride, n)
	case boolean:
		for i := range n {
			a.Bool(*(*bool)(unsafe.Add(src, uintptr(i)*stride)))
		}
	case nested:
		for i := range n {
			f.value.append(a, unsafe.Add(src, uintptr(i)*stride))
		}
	case instant:
		for i, dst := 0, column.Extend[int64](a, n); i < n; i++ {
			dst[i] = (*time.Time)(unsafe.Add(src, uintptr(i)*stride)).UnixMicro()
		}
	default:
		f.appendNumbers(a, src, stride, n)
	}
}

// appendBytes appends n strings or byte slices.
func appendBytes[S string | []byte](a *column.Appender, src unsafe.Pointer, stride uintptr, n int) {
	total := 0
	for i := range n {
		total += len(*(*S)(unsafe.Add(src, uintptr(i)*stride)))
	}
	dst, at, ends := column.ExtendBytes(a, n, total)
	if dst == nil {
		return
	}
	k := 0
	for i := range ends {
		k += copy(dst[k:], *(*S)(unsafe.Add(src, uintptr(i)*stride)))
		ends[i] = at + int32(k)
	}
}

func (f *field) appendNumbers(a *column.Appender, src unsafe.Pointer, stride uintptr, n int) {
	switch size := f.typ.Size(); {
	case int(size) != a.Kind().Width(): // int and uint where they have 32 bits
		for i := range n {
			p := unsafe.Add(src, uintptr(i)*stride)
			if f.class == signed {
				a.Int64(int64(*(*int32)(p)))
			} else {
				a.Int64(int64(*(*uint32)(p)))
			}
		}
	case size == 8:
		gatherValues(column.Extend[uint64](a, n), src, stride)
	case size == 4:
		gatherValues(column.Extend[uint32](a, n), src, stride)
	case size == 2:
		gatherValues(column.Extend[uint16](a, n), src, stride)
	default:
		gatherValues(column.Extend[uint8](a, n), src, stride)
	}
}

func gatherValues[V any](dst []V, src unsafe.Pointer, stride uintptr) {
	for i := range dst {
		dst[i] = *(*V)(unsafe.Add(src, uintptr(i)*stride))
	}
}

// OneRow gives a row as a batch that the caller owns.
func OneRow[T any](pool *column.Pool, row T) (*column.Batch, error) {
	w, err := NewWriter[T]()
	if err != nil {
		return nil, err
	}
	if err := w.Check(&row); err != nil {
		return nil, err
	}
	b := column.NewBuilder(pool, w.Schema())
	w.Append(b, []T{row})
	if err := b.Err(); err != nil {
		b.Discard()
		return nil, err
	}
	return b.Finish(), nil
}
