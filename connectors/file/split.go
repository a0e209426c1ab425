package file

import (
	"fmt"
	"slices"

	"github.com/arkflow-go/arkflow/codec"
	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/connectors"
	"github.com/arkflow-go/arkflow/operator"

	"github.com/apache/arrow-go/v18/arrow"
)

// split is the files that a reader reads, one after the other.
type split struct {
	src     Source // with its defaults
	ctx     *operator.Context
	id      string
	files   []string
	inOrder bool
	index   int           // of the file that is being read
	schema  *arrow.Schema // of the batches, metadata columns included; nil while it is open
}

// seek goes to the file of a saved position.
func (s *split) seek(p position) error {
	if s.inOrder {
		switch at := slices.Index(s.files, p.name); {
		case at < 0:
			return fmt.Errorf("file %q of the saved position is not among the files of %q any more", p.name, s.src.URL)
		case at != p.index:
			return fmt.Errorf("file %q was number %d of %q and is number %d now: files before it came or went, whose rows would be lost or repeated",
				p.name, p.index+1, s.src.URL, at+1)
		}
	}
	if p.index >= len(s.files) {
		return fmt.Errorf("file %q: damaged position", s.files[0])
	}
	s.index = p.index
	return nil
}

// position begins the position of the file that is being read.
func (s *split) position() position {
	p := position{index: s.index}
	if s.inOrder {
		p.name = s.files[s.index]
	}
	return p
}

// more goes to the next file, if there is one.
func (s *split) more() bool {
	if s.index+1 == len(s.files) {
		return false
	}
	s.index++
	return true
}

// complete adds the metadata columns to a batch of rows of one file.
func (s *split) complete(b *column.Batch, offsets []int64) *column.Batch {
	if b == nil || len(s.src.Metadata) == 0 {
		return b
	}
	return connectors.AddMeta(b, s.schema, s.src.Metadata, connectors.Meta{Source: s.files[s.index], Partition: s.id, Offsets: offsets,
		IngestTime: s.ctx.Clock.Now()})
}

// opening says how the split's files of records are opened.
func (s Source) opening(f codec.RecordFormat, header func(record []byte) error) opening {
	return opening{format: f, comp: s.Compression, maxLine: s.MaxLineBytes, header: header}
}
