package arrowipc

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/arkflow-go/arkflow/codec"
	"github.com/arkflow-go/arkflow/codec/internal/blocks"
	"github.com/arkflow-go/arkflow/column"
)

// reader reads one file of either form.
type reader struct {
	ctx    context.Context
	o      codec.BlockOptions
	src    io.ReaderAt
	size   int64
	alloc  *blocks.Allocator
	plan   *blocks.Projection
	picked *arrow.Schema // of the columns that plan needs
	text   *messages
	stream *ipc.Reader
	rec    arrow.RecordBatch // of block place.Block, nil before it is needed
	place  codec.RowPlace
	first  int64 // rows of the blocks before
}

func (r *reader) open(want *arrow.Schema) error {
	if err := r.begin(0); err != nil {
		return err
	}
	have := r.stream.Schema()
	var err error
	if r.plan, err = blocks.Project(have, want); err != nil {
		return err
	}
	fields := make([]arrow.Field, len(r.plan.Columns))
	for i, at := range r.plan.Columns {
		fields[i] = have.Field(at)
	}
	r.picked = arrow.NewSchema(fields, nil)
	return nil
}

// begin starts to read from the beginning, and passes over so many batches.
func (r *reader) begin(skip int64) (err error) {
	if r.stream != nil {
		r.stream.Release()
		r.stream = nil
	}
	r.alloc.Begin()
	if r.text, err = openMessages(r.src, r.size, r.o.MaxBytes, r.alloc); err != nil {
		return err
	}
	r.text.skip = skip
	if r.stream, err = ipc.NewReaderFromMessageReader(r.text, ipc.WithAllocator(r.alloc)); err != nil {
		return r.cause(err)
	}
	return nil
}

// cause gives the error of the messages, which says more than what arrow-go makes of it.
func (r *reader) cause(err error) error {
	switch {
	case errors.Is(r.text.fail, io.EOF): // which the error must not be taken for
		return errors.New("damaged: the stream ends too early: " + err.Error())
	case r.text.fail != nil:
		return r.text.fail
	}
	return fmt.Errorf("damaged: %w", err)
}

// Schema is part of codec.BlockReader.
func (r *reader) Schema() *arrow.Schema { return r.plan.Schema() }

// Place is part of codec.BlockReader.
func (r *reader) Place() codec.RowPlace { return r.place }

// FirstRow is part of codec.BlockReader.
func (r *reader) FirstRow() int64 { return r.first + r.place.Row }

// Seek is part of codec.BlockReader. Of what is before it reads the descriptions of batches, and dictionaries.
func (r *reader) Seek(at codec.RowPlace) error {
	if err := blocks.Recover(func() error { return r.seek(at) }); err != nil {
		return fmt.Errorf("arrow ipc: batch %d: %w", at.Block, err)
	}
	return nil
}

func (r *reader) seek(at codec.RowPlace) error {
	r.drop()
	r.place, r.first = codec.RowPlace{}, 0
	if err := r.begin(at.Block); err != nil {
		return beyond(err, at)
	}
	r.place.Block = at.Block
	err := r.load()
	r.first = r.text.passed
	switch {
	case errors.Is(err, io.EOF) && at.Row == 0 && r.text.skip == 0:
		return nil
	case err != nil:
		return beyond(err, at)
	case at.Row > r.rec.NumRows():
		return beyond(io.EOF, at)
	}
	r.place.Row = at.Row
	return nil
}

func beyond(err error, at codec.RowPlace) error {
	if errors.Is(err, io.EOF) {
		return fmt.Errorf("the file ends before batch %d, row %d", at.Block, at.Row)
	}
	return err
}

// Next is part of codec.BlockReader.
func (r *reader) Next() (b *column.Batch, err error) {
	err = blocks.Recover(func() error {
		b, err = r.next()
		return err
	})
	if err != nil && err != io.EOF { //nolint:errorlint // a failure may wrap it
		return nil, fmt.Errorf("arrow ipc: batch %d: %w", r.place.Block, err)
	}
	return b, err
}

func (r *reader) next() (*column.Batch, error) {
	for {
		if r.rec == nil {
			if err := r.load(); err != nil {
				return nil, err
			}
		}
		if r.place.Row < r.rec.NumRows() {
			break
		}
		r.leave()
	}
	to := min(r.place.Row+int64(r.o.Rows), r.rec.NumRows())
	part := r.rec.NewSlice(r.place.Row, to)
	defer part.Release()
	b, err := column.FromRecord(r.o.Pool, part)
	if err != nil {
		return nil, err
	}
	out, err := r.plan.Apply(b)
	if err != nil {
		return nil, fmt.Errorf("rows from %d: %w", r.place.Row, err)
	}
	r.place.Row = to
	if to == r.rec.NumRows() {
		r.leave()
	}
	return out, nil
}

// load reads the batch of place.Block; io.EOF where there is none.
func (r *reader) load() error {
	r.alloc.Begin()
	rec, err := r.readBatch()
	if err != nil {
		return err
	}
	defer rec.Release()
	cols := make([]arrow.Array, len(r.plan.Columns))
	for i, at := range r.plan.Columns {
		cols[i] = rec.Column(at)
		if int64(cols[i].Len()) != rec.NumRows() {
			return fmt.Errorf("damaged: column %q has %d values in a batch of %d rows", rec.ColumnName(at), cols[i].Len(), rec.NumRows())
		}
	}
	r.rec = array.NewRecordBatch(r.picked, cols, rec.NumRows())
	return nil
}

// readBatch gives the next batch of the file, owned by the caller.
func (r *reader) readBatch() (arrow.RecordBatch, error) {
	if err := r.ctx.Err(); err != nil {
		return nil, err
	}
	if r.stream.Next() {
		rec := r.stream.RecordBatch()
		rec.Retain()
		return rec, nil
	}
	if err := r.stream.Err(); err != nil {
		return nil, r.cause(err)
	}
	if r.text.fail == nil || !errors.Is(r.text.fail, io.EOF) {
		return nil, errors.New("damaged: the stream ends before its dictionaries")
	}
	return nil, io.EOF
}

// leave goes to the next block.
func (r *reader) leave() {
	r.first += r.rec.NumRows()
	r.place = codec.RowPlace{Block: r.place.Block + 1}
	r.drop()
}

func (r *reader) drop() {
	if r.rec != nil {
		r.rec.Release()
		r.rec = nil
	}
}

// Close is part of codec.BlockReader.
func (r *reader) Close() error {
	r.drop()
	if r.stream != nil {
		r.stream.Release()
		r.stream = nil
	}
	return nil
}
