package codec

import (
	"context"
	"io"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/arkflow-go/arkflow/column"
)

// BlockFormat is a Format of whole files that are made of blocks of rows: Arrow IPC (of record batches), Parquet (of row groups). A file is
// read at any place and written from its beginning to its end; it compresses its blocks by itself.
type BlockFormat interface {
	Format
	// OpenBlocks opens a file of size bytes. Where the format has a schema its columns are read, found by their names, and converted where that loses nothing: to more
	// bits, another form of text, another unit of time.
	// Where it is open, all columns of the file that an operator can hold are.
	OpenBlocks(ctx context.Context, src io.ReaderAt, size int64, o BlockOptions) (BlockReader, error)
	// CheckRows says whether rows of that schema can be written. It is free of side effects.
	CheckRows(s *arrow.Schema) error
	// CreateBlocks begins a file. Nobody has to close dst.
	CreateBlocks(dst io.Writer, s *arrow.Schema) (BlockWriter, error)
}

// BlockOptions bound what reading takes.
type BlockOptions struct {
	Pool     *column.Pool
	Rows     int   // greatest number of rows of a batch, > 0
	MaxBytes int64 // memory that Next may take, about; a file that needs more is an error. > 0
}

// RowPlace is where in a file of blocks a row stands.
type RowPlace struct {
	Block int64 // number of the block, the first is 0
	Row   int64 // number of the row in the block, the first is 0
}

// BlockReader reads one file. It is used by one goroutine. A file that is truncated, damaged or needs too much memory is an error, never a
// panic; what is read of it until then stays valid.
type BlockReader interface {
	// Schema is that of the batches.
	Schema() *arrow.Schema
	// Seek makes Next go on at a place that Place has given.
	Seek(at RowPlace) error
	// Next gives the next rows, at least one, as a batch that the caller owns; io.EOF behind the last.
	Next() (*column.Batch, error)
	// Place is where Next goes on.
	Place() RowPlace
	// FirstRow is the number of the row of Place in the file, the first is 0.
	FirstRow() int64
	Close() error
}

// BlockWriter writes one file. It is used by one goroutine; after an error nothing but Close may be called.
type BlockWriter interface {
	// Write takes rows, borrowed for the call.
	Write(b *column.Batch) error
	// Buffered is about the number of bytes that Write has taken and that are not written yet.
	Buffered() int64
	// Close writes what is left and what ends the file, and gives memory back. It does not close dst.
	Close() error
}

// NewFormat makes a format of the codec section of a JobSpec, as FromConfig does.
type NewFormat = func(path string, section map[string]any) (Format, error)

// Registrar takes a format of a package of its own, which specs may then name: a registry is one.
type Registrar interface {
	RegisterCodec(kind string, make NewFormat) error
}
