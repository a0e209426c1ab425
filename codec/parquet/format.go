package parquet

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"
	"github.com/arkflow-go/arkflow/codec"
	"github.com/arkflow-go/arkflow/codec/internal/blocks"
	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/internal/fault"
	"github.com/arkflow-go/arkflow/internal/structmap"
)

// Compression of the pages of files that are written. Files that are read say what they have.
type Compression string

// The compressions. Gzip and brotli are read as well.
const (
	Snappy Compression = ""
	None   Compression = "none"
	Zstd   Compression = "zstd"
	LZ4    Compression = "lz4"
	Gzip   Compression = "gzip"
)

const (
	defaultGroupRows  = 131_072
	greatestGroupRows = 1 << 24
)

// Format is Parquet. The zero value reads all columns of a file, and writes pages compressed with Snappy.
//
// Columns keep their types: files carry the Arrow schema beside that of Parquet, which other programs read. But dictionaries and views
// are written as plain values, and durations as int64 in their unit.
type Format struct {
	schema *arrow.Schema
	err    error
	comp   Compression
	rows   int // 0: defaultGroupRows
}

// New is Parquet with the given schema, whose columns are read by name; nil means all columns of the first file.
func New(s *arrow.Schema) Format { return Format{schema: s} }

// Of is Parquet whose columns are the fields of struct type T, named by their `arkflow` tag, else their `json` tag, else their name.
// Pointers are nullable columns. A type that cannot be mapped is reported by Check.
func Of[T any]() Format {
	s, err := structmap.SchemaOf[T]()
	return Format{schema: s, err: err}
}

// Register makes job specs know the codec {type: parquet}.
func Register(r codec.Registrar) error { return r.RegisterCodec("parquet", FromConfig) }

// Compress gives the format that writes pages with another compression. Defaults to Snappy.
func (f Format) Compress(c Compression) Format {
	f.comp = c
	return f
}

// GroupRows gives the format that writes row groups of at most n rows. They are gathered in memory. Defaults to 131,072.
func (f Format) GroupRows(n int) Format {
	f.rows = n
	return f
}

// Kind is part of codec.Format.
func (Format) Kind() string { return "parquet" }

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
	if _, ok := f.pages(); !ok {
		faults.Add(&fault.Fault{Path: "compression", Problem: fmt.Sprintf("%q is none of snappy, none, zstd, lz4, gzip", string(f.comp))})
	}
	if f.rows < 0 || f.rows > greatestGroupRows {
		faults.Add(&fault.Fault{Path: "group_rows", Problem: fmt.Sprintf("%d is not within 1 and %d", f.rows, greatestGroupRows)})
	}
	if f.schema != nil {
		faults.Add(blocks.CheckSchema(f.schema))
		faults.Add(refuseNested(f.schema))
	}
	return faults.Err()
}

// refuseNested tells columns of lists, maps and structs: arrow-go reads those on goroutines of its own, where a panic over damaged pages
// could not be caught.
func refuseNested(s *arrow.Schema) error {
	var faults fault.List
	for _, f := range s.Fields() {
		if column.KindOf(f.Type).IsNested() {
			faults.Add(&fault.Fault{Path: "schema." + f.Name, Problem: fmt.Sprintf("Parquet is read and written without nested columns, this is %s", codec.TypeName(f.Type)),
				Hint: "take the column apart, or use Arrow IPC or JSON"})
		}
	}
	return faults.Err()
}

// flat gives the columns of a file that are read where no schema is given.
func flat(have *arrow.Schema) *arrow.Schema {
	s, _ := blocks.Supported(have)
	fields := slices.DeleteFunc(s.Fields(), func(f arrow.Field) bool { return column.KindOf(f.Type).IsNested() })
	return arrow.NewSchema(fields, nil)
}

// CheckRows is part of codec.BlockFormat.
func (f Format) CheckRows(s *arrow.Schema) error {
	if err := blocks.CheckSchema(s); err != nil {
		return err
	}
	if err := refuseNested(s); err != nil {
		return err
	}
	var faults fault.List
	for _, f := range storable(s).Fields() {
		err := blocks.Recover(func() error {
			_, err := pqarrow.ToParquet(arrow.NewSchema([]arrow.Field{f}, nil), nil, arrowProperties())
			return err
		})
		if err != nil {
			faults.Add(&fault.Fault{Path: "schema." + f.Name, Problem: fmt.Sprintf("Parquet has no %s", codec.TypeName(f.Type)), Hint: "cast it to another type"})
		}
	}
	return faults.Err()
}

// Config is part of codec.Format.
func (f Format) Config() (map[string]any, error) {
	if err := f.Check(); err != nil {
		return nil, err
	}
	c := map[string]any{"type": "parquet"}
	if f.schema != nil {
		c["schema"] = codec.SchemaConfig(f.schema)
	}
	if f.comp != Snappy {
		c["compression"] = string(f.comp)
	}
	if f.rows != 0 {
		c["group_rows"] = f.rows
	}
	return c, nil
}

// FromConfig makes the format of the codec section of a JobSpec; path begins the path of each fault. Its keys:
//
//	type         parquet
//	schema       list of {name, type, nullable}, as for json. Defaults to the columns of the first file
//	compression  snappy (the default), none, zstd, lz4 or gzip, of what is written
//	group_rows   greatest number of rows of a row group that is written. Defaults to 131072
func FromConfig(path string, section map[string]any) (codec.Format, error) {
	r := blocks.NewConfig(path, section)
	f := Format{schema: r.Schema(), comp: Compression(r.Word("compression")), rows: r.Count("group_rows")}
	switch section["compression"] {
	case "snappy":
		f.comp = Snappy
	case "none":
		f.comp = None
	}
	if err := r.Err("type", "schema", "compression", "group_rows"); err != nil {
		return nil, err
	}
	return f, fault.Prefix(path+".", f.Check())
}

// OpenBlocks is part of codec.BlockFormat.
func (f Format) OpenBlocks(ctx context.Context, src io.ReaderAt, size int64, o codec.BlockOptions) (codec.BlockReader, error) {
	if err := f.Check(); err != nil {
		return nil, err
	}
	r := &reader{ctx: ctx, o: o, alloc: blocks.NewAllocator(o.MaxBytes)}
	if err := blocks.Recover(func() error { return r.open(io.NewSectionReader(src, 0, size), f.schema) }); err != nil {
		return nil, errors.Join(fmt.Errorf("parquet: %w", err), r.Close())
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
		f.rows = defaultGroupRows
	}
	return newWriter(f, dst, s)
}
