package arrowipc

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/arkflow-go/arkflow/codec"
	"github.com/arkflow-go/arkflow/codec/internal/blocks"
	"github.com/arkflow-go/arkflow/internal/fault"
	"github.com/arkflow-go/arkflow/internal/structmap"
)

// Compression of the buffers of a record batch, in files that are written. Files that are read say what they have.
type Compression string

// The compressions.
const (
	None Compression = ""
	LZ4  Compression = "lz4"
	Zstd Compression = "zstd"
)

const (
	defaultBlockRows  = 65_536
	greatestBlockRows = 1 << 24
)

// Format is Arrow IPC. The zero value reads all columns of a file, and writes the file form without compression.
type Format struct {
	schema *arrow.Schema
	err    error
	stream bool
	comp   Compression
	rows   int // 0: defaultBlockRows
}

// New is Arrow IPC with the given schema, whose columns are read by name; nil means all columns of the first file.
func New(s *arrow.Schema) Format { return Format{schema: s} }

// Of is Arrow IPC whose columns are the fields of struct type T, named by their `arkflow` tag, else their `json` tag, else their name.
// Pointers are nullable columns. A type that cannot be mapped is reported by Check.
func Of[T any]() Format {
	s, err := structmap.SchemaOf[T]()
	return Format{schema: s, err: err}
}

// Stream gives the format that writes the stream form: readable while it grows, without a table of its batches.
func (f Format) Stream() Format {
	f.stream = true
	return f
}

// Compress gives the format that writes compressed batches. Defaults to None.
func (f Format) Compress(c Compression) Format {
	f.comp = c
	return f
}

// BlockRows gives the format that writes batches of at most n rows. Defaults to 65,536.
func (f Format) BlockRows(n int) Format {
	f.rows = n
	return f
}

// Kind is part of codec.Format.
func (Format) Kind() string { return "arrow_ipc" }

// Schema is part of codec.Format.
func (f Format) Schema() *arrow.Schema { return f.schema }

// WithSchema is part of codec.Format.
func (f Format) WithSchema(s *arrow.Schema) codec.Format {
	f.schema, f.err = s, nil
	return f
}

// Check is part of codec.Format.
func (f Format) Check() error {
	var faults fault.List
	faults.Add(f.err)
	switch f.comp {
	case None, LZ4, Zstd:
	default:
		faults.Add(&fault.Fault{Path: "compression", Problem: fmt.Sprintf("%q is none of none, lz4, zstd", string(f.comp))})
	}
	if f.rows < 0 || f.rows > greatestBlockRows {
		faults.Add(&fault.Fault{Path: "block_rows", Problem: fmt.Sprintf("%d is not within 1 and %d", f.rows, greatestBlockRows)})
	}
	if f.schema != nil {
		faults.Add(f.CheckRows(f.schema))
	}
	return faults.Err()
}

// CheckRows is part of codec.BlockFormat.
func (f Format) CheckRows(s *arrow.Schema) error { return blocks.CheckSchema(s) }

// Config is part of codec.Format.
func (f Format) Config() (map[string]any, error) {
	if err := f.Check(); err != nil {
		return nil, err
	}
	c := map[string]any{"type": "arrow_ipc"}
	if f.schema != nil {
		c["schema"] = codec.SchemaConfig(f.schema)
	}
	if f.stream {
		c["stream"] = true
	}
	if f.comp != None {
		c["compression"] = string(f.comp)
	}
	if f.rows != 0 {
		c["block_rows"] = f.rows
	}
	return c, nil
}

// FromConfig makes the format of the codec section of a JobSpec; path begins the path of each fault. Its keys:
//
//	type         arrow_ipc
//	schema       list of {name, type, nullable}, as for json. Defaults to the columns of the first file
//	stream       write the stream form. Defaults to false
//	compression  none (the default), lz4 or zstd, of what is written
//	block_rows   greatest number of rows of a batch that is written. Defaults to 65536
func FromConfig(path string, section map[string]any) (codec.Format, error) {
	r := blocks.NewConfig(path, section)
	f := Format{schema: r.Schema(), stream: r.Flag("stream"), comp: Compression(r.Word("compression")), rows: r.Count("block_rows")}
	if err := r.Err("type", "schema", "stream", "compression", "block_rows"); err != nil {
		return nil, err
	}
	return f, fault.Prefix(path+".", f.Check())
}

// OpenBlocks is part of codec.BlockFormat.
func (f Format) OpenBlocks(ctx context.Context, src io.ReaderAt, size int64, o codec.BlockOptions) (codec.BlockReader, error) {
	if err := f.Check(); err != nil {
		return nil, err
	}
	r := &reader{ctx: ctx, o: o, src: src, size: size, alloc: blocks.NewAllocator(o.MaxBytes)}
	err := blocks.Recover(func() error { return r.open(f.schema) })
	if err != nil {
		return nil, errors.Join(fmt.Errorf("arrow ipc: %w", err), r.Close())
	}
	return r, nil
}

// CreateBlocks is part of codec.BlockFormat.
func (f Format) CreateBlocks(dst io.Writer, s *arrow.Schema) (codec.BlockWriter, error) {
	if err := f.Check(); err != nil {
		return nil, err
	}
	if err := f.CheckRows(s); err != nil {
		return nil, err
	}
	if f.rows == 0 {
		f.rows = defaultBlockRows
	}
	return newWriter(f, dst, s)
}
