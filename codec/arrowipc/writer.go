package arrowipc

import (
	"fmt"
	"io"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/arkflow-go/arkflow/codec/internal/blocks"
)

// batchWriter is either form of writer.
type batchWriter interface {
	Write(rec arrow.RecordBatch) error
	Close() error
}

// newWriter begins a file: rows are gathered to batches of f.rows.
func newWriter(f Format, dst io.Writer, s *arrow.Schema) (*blocks.Gather, error) {
	s = blocks.Plain(s) // batches have dictionaries of their own, which the file form does not allow
	options := []ipc.Option{ipc.WithSchema(s)}
	switch f.comp {
	case LZ4:
		options = append(options, ipc.WithLZ4())
	case Zstd:
		options = append(options, ipc.WithZstd())
	}
	var w batchWriter
	if f.stream {
		w = ipc.NewWriter(dst, options...)
	} else {
		fw, err := ipc.NewFileWriter(dst, options...)
		if err != nil {
			return nil, fmt.Errorf("arrow ipc: %w", err)
		}
		w = fw
	}
	return blocks.NewGather("arrow ipc", s, f.rows, w.Write, w.Close), nil
}
