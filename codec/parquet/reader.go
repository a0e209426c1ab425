package parquet

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/metadata"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"
	"github.com/arkflow-go/arkflow/codec"
	"github.com/arkflow-go/arkflow/codec/internal/blocks"
	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/internal/flatwalk"
)

// reader reads one file, row group after row group, of which only the pages at hand are in memory.
type reader struct {
	ctx    context.Context
	o      codec.BlockOptions
	alloc  *blocks.Allocator
	file   *file.Reader
	arrow  *pqarrow.FileReader
	plan   *blocks.Projection
	schema *arrow.Schema // of these columns in the file
	group  []*pqarrow.ColumnReader
	rows   int64 // of the row group
	place  codec.RowPlace
	first  int64 // rows of the row groups before
}

func (r *reader) open(src *io.SectionReader, want *arrow.Schema) error {
	if err := checkEnds(src); err != nil {
		return err
	}
	r.alloc.Begin()
	props := parquet.NewReaderProperties(r.alloc)
	props.BufferedStreamEnabled = true
	props.MaxCompressedPageSize = min(props.MaxCompressedPageSize, r.o.MaxBytes, src.Size())
	props.MaxUncompressedPageSize = r.o.MaxBytes
	var err error
	if r.file, err = file.NewParquetReader(src, file.WithReadProps(props)); err != nil {
		return fmt.Errorf("truncated or damaged: %w", err)
	}
	if err := checkRows(r.file.MetaData()); err != nil {
		return err
	}
	if err := checkStored(r.file); err != nil {
		return err
	}
	if r.arrow, err = pqarrow.NewFileReader(r.file, pqarrow.ArrowReadProperties{BatchSize: int64(r.o.Rows)}, r.alloc); err != nil {
		return fmt.Errorf("damaged: %w", err)
	}
	have, err := r.arrow.Schema()
	if err != nil {
		return fmt.Errorf("damaged: %w", err)
	}
	if want == nil {
		want = flat(have)
	}
	if r.plan, err = blocks.Project(have, want); err != nil {
		return err
	}
	fields := make([]arrow.Field, len(r.plan.Columns))
	for i, at := range r.plan.Columns {
		fields[i] = have.Field(at)
	}
	r.schema = arrow.NewSchema(fields, nil)
	return nil
}

// magic is what a file begins and ends with.
const magic = "PAR1"

// checkEnds tells a file that is none, or was cut off, from one that is damaged.
func checkEnds(src *io.SectionReader) error {
	var head, tail [4]byte
	if src.Size() < 12 {
		return fmt.Errorf("truncated: %d bytes are no Parquet file", src.Size())
	}
	_, err := src.ReadAt(head[:], 0)
	if err == nil {
		_, err = src.ReadAt(tail[:], src.Size()-4)
	}
	switch {
	case err != nil && !errors.Is(err, io.EOF):
		return err
	case string(head[:]) != magic:
		return errors.New("not a Parquet file")
	case string(tail[:]) == "PARE":
		return errors.New("the file is encrypted, which is not supported")
	case string(tail[:]) != magic:
		return errors.New("truncated: the file does not end with the table of its row groups")
	}
	return nil
}

// checkRows compares the numbers of rows that a file gives: of itself, of its row groups, and of their columns. Rows beyond one of them would
// be missing without a word.
func checkRows(m *metadata.FileMetaData) error {
	left := m.NumRows
	for i := range m.NumRowGroups() {
		g := m.RowGroup(i)
		left -= g.NumRows()
		for c := range min(g.NumColumns(), m.Schema.NumColumns()) {
			chunk, err := g.ColumnChunk(c)
			if err != nil {
				return fmt.Errorf("damaged: %w", err)
			}
			if m.Schema.Column(c).MaxRepetitionLevel() == 0 && chunk.NumValues() != g.NumRows() {
				return fmt.Errorf("damaged: %d values of column %q in a row group of %d rows", chunk.NumValues(), m.Schema.Column(c).Path(), g.NumRows())
			}
		}
	}
	if left != 0 {
		return fmt.Errorf("damaged: the file has %d rows, its row groups %d", m.NumRows, m.NumRows-left)
	}
	return nil
}

// checkStored looks at the Arrow schema that a file may carry, whose lengths arrow-go would trust.
func checkStored(f *file.Reader) error {
	stored := f.MetaData().KeyValueMetadata().FindValue("ARROW:schema")
	if stored == nil {
		return nil
	}
	text, err := base64.StdEncoding.DecodeString(*stored)
	if err != nil {
		return fmt.Errorf("damaged: schema: %w", err)
	}
	damaged := errors.New("damaged: schema")
	var n uint32
	for i := 0; i < 2 && (i == 0 || n == 0xFFFFFFFF); i++ { // the length, in newer files behind four bytes FF
		if len(text) < 4 {
			return damaged
		}
		n, text = binary.LittleEndian.Uint32(text), text[4:]
	}
	if int64(n) > int64(len(text)) {
		return damaged
	}
	m, err := flatwalk.Read(text[:n])
	switch {
	case err != nil:
		return err
	case m.Kind != ipc.MessageSchema || m.Body > int64(len(text))-int64(n):
		return damaged
	}
	return nil
}

// Schema is part of codec.BlockReader.
func (r *reader) Schema() *arrow.Schema { return r.plan.Schema() }

// Place is part of codec.BlockReader.
func (r *reader) Place() codec.RowPlace { return r.place }

// FirstRow is part of codec.BlockReader.
func (r *reader) FirstRow() int64 { return r.first + r.place.Row }

// Seek is part of codec.BlockReader. Row groups before the place are not read.
func (r *reader) Seek(at codec.RowPlace) error {
	err := blocks.Recover(func() error {
		r.drop()
		r.place, r.first = codec.RowPlace{}, 0
		for ; r.place.Block < at.Block; r.place.Block++ {
			if r.place.Block >= int64(r.file.NumRowGroups()) {
				return beyond(at)
			}
			r.first += r.groupRows(r.place.Block)
		}
		if at.Row == 0 {
			return nil
		}
		if at.Block >= int64(r.file.NumRowGroups()) || at.Row > r.groupRows(at.Block) {
			return beyond(at)
		}
		r.place.Row = at.Row
		return nil
	})
	if err != nil {
		return fmt.Errorf("parquet: %w", err)
	}
	return nil
}

func beyond(at codec.RowPlace) error {
	return fmt.Errorf("the file ends before row group %d, row %d", at.Block, at.Row)
}

func (r *reader) groupRows(i int64) int64 { return r.file.MetaData().RowGroup(int(i)).NumRows() }

// Next is part of codec.BlockReader.
func (r *reader) Next() (b *column.Batch, err error) {
	r.alloc.Begin()
	err = blocks.Recover(func() error {
		b, err = r.next()
		return err
	})
	if err != nil && err != io.EOF { //nolint:errorlint // a failure may wrap it
		return nil, fmt.Errorf("parquet: row group %d: %w", r.place.Block, err)
	}
	return b, err
}

func (r *reader) next() (*column.Batch, error) {
	for {
		if err := r.ctx.Err(); err != nil {
			return nil, err
		}
		if r.place.Block >= int64(r.file.NumRowGroups()) {
			return nil, io.EOF
		}
		if r.group == nil {
			if err := r.openGroup(); err != nil {
				return nil, fmt.Errorf("damaged: %w", err)
			}
		}
		if r.place.Row < r.rows {
			break
		}
		r.leave()
	}
	rec, err := r.read(min(int64(r.o.Rows), r.rows-r.place.Row))
	if err != nil {
		return nil, fmt.Errorf("truncated or damaged: %w", err)
	}
	defer rec.Release()
	in, err := column.FromRecord(r.o.Pool, rec)
	if err != nil {
		return nil, err
	}
	b, err := r.plan.Apply(in)
	if err != nil {
		return nil, fmt.Errorf("rows from %d: %w", r.place.Row, err)
	}
	if r.place.Row += int64(b.Rows); r.place.Row == r.rows {
		r.leave()
	}
	return b, nil
}

// openGroup opens the row group of place, at its row. The columns are read one by one in this goroutine: the record reader of arrow-go
// starts others, in which a panic over damaged pages could not be caught.
func (r *reader) openGroup() error {
	r.rows = r.groupRows(r.place.Block)
	if r.rows < 0 {
		return fmt.Errorf("a row group of %d rows", r.rows)
	}
	for _, at := range r.plan.Columns {
		leaf := r.arrow.Manifest.Fields[at].ColIndex
		c, err := r.arrow.GetFieldReader(r.ctx, at, map[int]bool{leaf: true}, []int{int(r.place.Block)})
		if err != nil {
			return err
		}
		r.group = append(r.group, c)
		if r.place.Row == 0 || r.place.Row == r.rows {
			continue
		}
		if err := c.SeekToRow(r.place.Row); err != nil {
			return err
		}
	}
	return nil
}

// read reads the next n rows of the row group; the caller owns them.
func (r *reader) read(n int64) (arrow.RecordBatch, error) {
	cols := make([]arrow.Array, 0, len(r.group))
	defer func() {
		for _, c := range cols {
			c.Release()
		}
	}()
	for i, c := range r.group {
		chunks, err := c.NextBatch(n)
		if err != nil {
			return nil, err
		}
		defer chunks.Release()
		switch parts := chunks.Chunks(); len(parts) {
		case 0:
			return nil, errNoRows
		case 1:
			parts[0].Retain()
			cols = append(cols, parts[0])
		default:
			all, err := array.Concatenate(parts, r.alloc)
			if err != nil {
				return nil, err
			}
			cols = append(cols, all)
		}
		if have := cols[i].Len(); int64(have) != n {
			return nil, fmt.Errorf("column %q has %d rows where %d are expected", r.schema.Field(i).Name, have, n)
		}
		if !arrow.TypeEqual(cols[i].DataType(), r.schema.Field(i).Type) {
			return nil, fmt.Errorf("column %q is %s, the schema of the file has %s", r.schema.Field(i).Name, cols[i].DataType(), r.schema.Field(i).Type)
		}
	}
	return array.NewRecordBatch(r.schema, cols, n), nil
}

var errNoRows = errors.New("rows are missing")

// leave goes to the next row group.
func (r *reader) leave() {
	r.first += r.rows
	r.place = codec.RowPlace{Block: r.place.Block + 1}
	r.drop()
}

func (r *reader) drop() {
	group := r.group
	r.group = nil
	for _, c := range group {
		c.Release()
	}
}

// Close is part of codec.BlockReader.
func (r *reader) Close() error {
	return blocks.Recover(func() error {
		r.drop()
		return nil
	})
}
