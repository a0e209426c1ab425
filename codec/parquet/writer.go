package parquet

import (
	"fmt"
	"io"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"
	"github.com/arkflow-go/arkflow/codec/internal/blocks"
)

// pages gives the compression of pages in the words of arrow-go.
func (f Format) pages() (c compress.Compression, ok bool) {
	switch f.comp {
	case Snappy:
		return compress.Codecs.Snappy, true
	case None:
		return compress.Codecs.Uncompressed, true
	case Zstd:
		return compress.Codecs.Zstd, true
	case LZ4:
		return compress.Codecs.Lz4Raw, true
	case Gzip:
		return compress.Codecs.Gzip, true
	}
	return c, false
}

// arrowProperties make a file carry the schema, so that types come back that Parquet has no word for.
func arrowProperties() pqarrow.ArrowWriterProperties {
	return pqarrow.NewArrowWriterProperties(pqarrow.WithStoreSchema())
}

// storable gives the schema with types that arrow-go writes, of the same values.
func storable(s *arrow.Schema) *arrow.Schema {
	s = blocks.Plain(s)
	fields := s.Fields()
	for i := range fields {
		switch fields[i].Type.ID() {
		case arrow.STRING_VIEW:
			fields[i].Type = arrow.BinaryTypes.String
		case arrow.BINARY_VIEW:
			fields[i].Type = arrow.BinaryTypes.Binary
		case arrow.DURATION: // which comes back as a duration where a schema says so
			fields[i].Type = arrow.PrimitiveTypes.Int64
		}
	}
	return arrow.NewSchema(fields, nil)
}

// plainWriter hides that a file can be closed: it is not the writer's.
type plainWriter struct{ io.Writer }

// newWriter begins a file: rows are gathered to row groups of f.rows.
func newWriter(f Format, dst io.Writer, s *arrow.Schema) (*blocks.Gather, error) {
	s = storable(s)
	pages, _ := f.pages()
	var w *pqarrow.FileWriter
	err := blocks.Recover(func() (err error) {
		props := parquet.NewWriterProperties(parquet.WithCompression(pages), parquet.WithMaxRowGroupLength(int64(f.rows)), parquet.WithVersion(parquet.V2_LATEST))
		w, err = pqarrow.NewFileWriter(s, plainWriter{dst}, props, arrowProperties())
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("parquet: %w", err)
	}
	return blocks.NewGather("parquet", s, f.rows, w.Write, w.Close), nil
}
