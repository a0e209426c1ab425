package segment

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/state"
	"github.com/klauspost/compress/s2"
	"github.com/zeebo/xxh3"
)

const (
	// unitBytes bounds what is packed together, unpacked; a row that is larger is alone.
	unitBytes = 1 << 20
	// greatestRow bounds a row.
	greatestRow = 1 << 30
	// blockBytes is what a block is counted for beside its rows, so that there is a bound on those without any.
	blockBytes = 16

	defaultTarget  = 8 << 20
	greatestTarget = 1 << 30
)

// Options of a Writer.
type Options struct {
	// TargetBytes is the size of an object, packed, from which on it is handed over: an object is at most so large and one unit (1 MiB of
	// rows, or one row that has more). At most 1 GiB. Defaults to 8 MiB.
	TargetBytes int
}

// WithDefaults gives the options with every default filled in.
func (o Options) WithDefaults() Options {
	if o.TargetBytes == 0 {
		o.TargetBytes = defaultTarget
	}
	return o
}

// Validate reports options that are out of bounds.
func (o Options) Validate() error {
	if o.TargetBytes < 0 || o.TargetBytes > greatestTarget {
		return fmt.Errorf("segment: TargetBytes: %d is not within 1 and %d", o.TargetBytes, greatestTarget)
	}
	return nil
}

// Object is an object that is complete.
type Object struct {
	Data   []byte
	Blocks []Entry // what it holds, as Reader.Blocks gives it
}

// Writer packs tables into objects, in the order in which they are added. It holds one object that is being made, and about 3 MiB. It is for one
// goroutine.
type Writer struct {
	target int
	unit   int // unitBytes
	emit   func(Object) error
	err    error // ends the writer

	packed [][]byte // the units of the object, packed
	size   int      // of the object, without its directory
	units  []unit
	blocks []Entry

	schema *arrow.Schema // of the tables in the unit that is gathered, nil where there is none
	rows   *column.Builder
	whole  *column.Batch // rows of a table that are a unit by themselves, in place of rows
	bytes  int
	first  int // block
	arrow  bytes.Buffer
	room   []byte // to pack a unit

	steps      []int8 // by which integers the columns of the unit are stored, see narrow
	narrowed   *arrow.Schema
	narrowedAt []byte

	pool *column.Pool
}

// NewWriter gives a writer that calls emit with each object: during Add, and during Close with the last. The object belongs to emit, which
// may go on to use it elsewhere. An error of emit ends the writer, and is what Add or Close returns.
func NewWriter(o Options, emit func(Object) error) (*Writer, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	return &Writer{target: o.WithDefaults().TargetBytes, unit: unitBytes, emit: emit, pool: column.NewPool()}, nil
}

// Add writes the rows of a table, whose memory it does not keep, as the block b, whatever t.Part is. Where they are split, the first block is Full if b is, and the others are not.
// A table that is not Full and has no rows leaves nothing. A table that is refused because its columns are not what they should be, or
// because a row has more than 1 GiB, leaves nothing as well, and the writer can be used on; any other error ends it.
func (w *Writer) Add(b Block, t state.Table) error {
	if w.err != nil {
		return w.err
	}
	if err := check(b, t); err != nil {
		return fmt.Errorf("segment: table %q: %w", b.Table, err)
	}
	if t.Rows == 0 && !b.Full {
		return nil
	}
	return w.do(func() error { return w.add(b, t) })
}

// Close hands over the last object. Without any block there is none.
func (w *Writer) Close() error {
	if w.err != nil {
		return w.err
	}
	err := w.do(func() error {
		if err := w.pack(); err != nil {
			return err
		}
		return w.finish()
	})
	if err == nil {
		w.drop()
		w.err = errors.New("segment: the writer is closed")
	}
	return err
}

// do runs a step; one that fails or panics ends the writer.
func (w *Writer) do(step func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("segment: write: %v", r)
		}
		if w.err = err; err != nil {
			w.drop()
		}
	}()
	return step()
}

// drop gives up what was gathered.
func (w *Writer) drop() {
	if w.rows != nil {
		w.rows.Discard()
	}
	w.packed, w.units, w.blocks, w.schema, w.rows, w.whole, w.room = nil, nil, nil, nil, nil, nil, nil
}

// check says why a table cannot be written.
func check(b Block, t state.Table) error {
	switch {
	case b.Part < 0:
		return fmt.Errorf("part %d", b.Part)
	case t.Schema == nil:
		return errors.New("no schema")
	case t.Rows < 0 || len(t.Cols) != t.Schema.NumFields() || len(t.Groups) != t.Rows:
		return fmt.Errorf("%d rows with %d key groups in %d columns, the schema has %d", t.Rows, len(t.Groups), len(t.Cols), t.Schema.NumFields())
	}
	if err := column.CheckSchema(t.Schema); err != nil {
		return err
	}
	for i := range t.Cols {
		if err := verify(&t.Cols[i], t.Schema.Field(i).Type, t.Rows, false); err != nil {
			return fmt.Errorf("column %q: %w", t.Schema.Field(i).Name, err)
		}
	}
	if tableBytes(t, 0, t.Rows) > greatestRow {
		for r := range t.Rows {
			if n := tableBytes(t, r, r+1); n > greatestRow {
				return fmt.Errorf("row %d has %d bytes, at most %d can be saved", r, n, greatestRow)
			}
		}
	}
	return nil
}

// tableBytes is the number of bytes of rows in a stream.
func tableBytes(t state.Table, from, to int) int {
	n := groupWidth * (to - from)
	for i := range t.Cols {
		n += sizeOf(&t.Cols[i], from, to)
	}
	return n
}

func (w *Writer) add(b Block, t state.Table) error {
	if w.schema == nil || !sameSchema(w.schema, t.Schema) {
		if err := w.pack(); err != nil {
			return err
		}
		stored, err := storedSchema(t.Schema)
		if err != nil {
			return fmt.Errorf("segment: %w", err)
		}
		w.schema, w.rows, w.narrowed = t.Schema, column.NewBuilder(w.pool, stored), nil
	}
	src := column.NewBatch(nil, w.rows.Schema(), t.Rows)
	src.Cols[0].Data = column.BytesOf(t.Groups)
	copy(src.Cols[1:], t.Cols)
	for from := 0; ; {
		to := t.Rows
		if w.first < len(w.blocks) && w.bytes+tableBytes(t, from, to) > w.unit {
			if err := w.pack(); err != nil {
				return err
			}
		}
		if to > from && tableBytes(t, from, to) > w.unit { // the unit is empty
			to = fitting(t, from, w.unit)
		}
		w.take(b, t, src, from, to)
		if w.whole != nil {
			if err := w.pack(); err != nil {
				return err
			}
		}
		if from, b.Full = to, false; from == t.Rows {
			return nil
		}
	}
}

// fitting gives the end of as many rows as have that many bytes, at least one.
func fitting(t state.Table, from, size int) int {
	lo, hi := from+1, t.Rows // lo fits, or is the least
	for lo < hi {
		mid := lo + (hi-lo+1)/2
		if tableBytes(t, from, mid) <= size {
			lo = mid
		} else {
			hi = mid - 1
		}
	}
	return lo
}

// take adds rows as a block to the unit.
func (w *Writer) take(b Block, t state.Table, src *column.Batch, from, to int) {
	e := Entry{Block: b, Rows: to - from}
	if to > from {
		least, most := groupsOf(t.Groups[from:to])
		e.Groups = state.Range{First: int(least), End: int(most) + 1}
		part := src
		if e.Rows < t.Rows {
			part = src.Slice(from, to)
		}
		if w.first == len(w.blocks) && tableBytes(t, from, to) > w.unit/2 && plain(part) {
			w.whole = part
		} else {
			w.rows.AppendRows(part, nil)
		}
	}
	w.bytes += tableBytes(t, from, to) + blockBytes
	w.blocks = append(w.blocks, e)
}

// plain reports whether a part of a table is as a unit must be: rows that lie side by side in the types of the schema.
func plain(b *column.Batch) bool {
	for i := range b.Cols {
		if c := &b.Cols[i]; c.Valid != nil || c.Kind.Width() == 0 || !arrow.TypeEqual(c.Type, b.Schema.Field(i).Type) {
			return false
		}
	}
	return true
}

// pack packs the unit that was gathered, and hands the object over if it is large enough.
func (w *Writer) pack() error {
	if w.first == len(w.blocks) {
		return nil
	}
	if w.size == 0 {
		w.size = headerSize
	}
	rows := w.whole
	if w.whole = nil; rows == nil {
		if err := w.rows.Err(); err != nil {
			return fmt.Errorf("segment: %w", err)
		}
		rows = w.rows.Finish()
	}
	u := unit{first: w.first, end: len(w.blocks), at: w.size, rows: rows.Rows, pack: packSnappy}
	b, err := w.narrow(rows)
	if err != nil {
		rows.Release()
		return fmt.Errorf("segment: %w", err)
	}
	if err := w.encode(b); err != nil {
		return fmt.Errorf("segment: %w", err)
	}
	raw := w.arrow.Bytes()
	w.room = slices.Grow(w.room[:0], s2.MaxEncodedLen(len(raw)))
	packed := bytes.Clone(s2.EncodeSnappy(w.room[:cap(w.room)], raw))
	w.packed, w.size = append(w.packed, packed), w.size+len(packed)
	u.stored, u.raw, u.sum = len(packed), len(raw), xxh3.Hash(packed)
	w.units = append(w.units, u)
	w.bytes, w.first = 0, len(w.blocks)
	if w.arrow.Cap() > 4*unitBytes { // of a row that was large
		w.arrow, w.room = bytes.Buffer{}, nil
	}
	if w.size < w.target {
		return nil
	}
	return w.finish()
}

// encode makes an Arrow stream of rows, which it releases.
func (w *Writer) encode(b *column.Batch) error {
	rec := b.Record()
	b.Release()
	defer rec.Release()
	w.arrow.Reset()
	out := ipc.NewWriter(&w.arrow, ipc.WithSchema(rec.Schema()))
	return errors.Join(out.Write(rec), out.Close())
}

// finish hands the object over.
func (w *Writer) finish() error {
	if len(w.units) == 0 {
		return nil
	}
	directory := appendDirectory(nil, w.units, w.blocks)
	data := make([]byte, 0, w.size+len(directory)+tailSize)
	data = append(append(data, magic...), Version)
	for _, p := range w.packed {
		data = append(data, p...)
	}
	data = appendTail(append(data, directory...), len(directory))
	o := Object{Data: data, Blocks: w.blocks}
	w.packed, w.size, w.units, w.blocks, w.first = nil, 0, nil, nil, 0
	return w.emit(o)
}
