package file

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/arkflow-go/arkflow/codec"
	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/connectors"
)

// pollBytes bounds how much text one Poll takes, so that wide rows make smaller batches and a file of records that are all
// skipped lets the task look up.
const pollBytes = 16 << 20

// recordReader reads files of records.
type recordReader struct {
	split
	format  codec.RecordFormat
	in      *input        // nil until it is needed
	dec     codec.Decoder // nil while the schema is open
	unknown int64         // fields told to the counters
	text    int           // bytes taken by this Poll
	saved   *position     // where to go on; nil after that
	failed  error         // a record in error under a policy that does not go on: Poll says so for ever
	lines   *[]int64      // the line of each row in the decoder; nil where nobody asks
}

// ready is closed: a file always has more to say, or its end.
var ready = func() chan struct{} { c := make(chan struct{}); close(c); return c }()

// openRecords opens a reader of files of records.
func openRecords(s split, f codec.RecordFormat, saved []byte) (*recordReader, error) {
	r := &recordReader{split: s, format: f}
	if slices.Contains(s.src.Metadata, connectors.MetaOffset) {
		r.lines = new([]int64)
	}
	if f.Schema() != nil { // nil: there was no record when the schema was looked for
		dec, err := f.NewDecoder(s.ctx.Pool)
		if err != nil {
			return nil, err
		}
		r.dec = dec
	}
	if saved == nil {
		return r, nil
	}
	p, err := decodePosition(saved, recordPosition)
	if err != nil {
		return nil, fmt.Errorf("file %q: %w", s.files[0], err)
	}
	if err := r.seek(p); err != nil {
		return nil, err
	}
	r.saved = &p
	return r, r.open()
}

// Ready is part of operator.Reader.
func (r *recordReader) Ready() <-chan struct{} { return ready }

// open opens the file that is to be read, at the saved position if there is one.
func (r *recordReader) open() error {
	at := start
	if r.saved != nil {
		at = r.saved.place
	}
	in, err := r.src.opening(r.format, r.header).open(r.ctx, r.files[r.index], at)
	if err != nil {
		return err
	}
	if r.saved != nil && at != start && tailHash(in.tail()) != r.saved.tail {
		_ = in.close() // the error below says more
		return fmt.Errorf("the file is not the one that was read before: the text of %q before the saved position, byte %d, has changed", in.name, at.offset)
	}
	r.in, r.saved = in, nil
	return nil
}

// header takes the header of a file.
func (r *recordReader) header(record []byte) error {
	if r.dec == nil {
		return nil
	}
	return r.dec.Header(record)
}

// Poll is part of operator.Reader. It may be called again after an error: what could not be read is read again, from the same place.
func (r *recordReader) Poll() (*column.Batch, error) {
	if r.failed != nil {
		return nil, r.failed
	}
	b, err := r.poll()
	if err == nil || err == io.EOF || r.failed != nil || r.in == nil { //nolint:errorlint // a failure may wrap it
		return b, err
	}
	p := r.position()
	p.kind = recordPosition
	p.place, p.tail = r.in.position()
	_ = r.in.close() // the first error says more
	r.in, r.saved = nil, &p
	return nil, err
}

func (r *recordReader) poll() (*column.Batch, error) {
	r.text = 0
	for r.text < pollBytes {
		if r.in == nil {
			if err := r.open(); err != nil {
				return nil, err
			}
		}
		full, err := r.decode()
		if err != nil {
			return nil, err
		}
		switch {
		case full:
			return r.finish(), nil
		case !r.in.empty():
			if err := r.reject(nil, r.in.fill()); err != nil {
				return nil, err
			}
		case len(r.src.Metadata) > 0 && r.dec != nil && r.dec.Len() > 0:
			return r.finish(), nil // the rows of a batch are of one file
		case r.more():
			r.in = nil
		default:
			if b := r.finish(); b != nil {
				return b, nil
			}
			return nil, io.EOF
		}
	}
	return r.finish(), nil
}

// decode decodes the whole records that were read; full says that the batch is.
func (r *recordReader) decode() (full bool, err error) {
	in := r.in
	if in.over != nil {
		r.text += len(in.rest())
		return false, nil
	}
	if r.dec == nil {
		return false, r.noSchema()
	}
	for len(in.rest()) > 0 {
		limits := codec.Limits{Rows: r.src.BatchRows, RecordBytes: r.src.MaxLineBytes, Lines: r.lines}
		before, block := r.dec.Len(), in.rest()
		p, err := r.dec.DecodeLines(block, in.ended, limits)
		if r.lines != nil {
			for i := before; i < len(*r.lines); i++ {
				(*r.lines)[i] += in.at.line
			}
		}
		var bad *codec.RecordError
		var record []byte
		if errors.As(err, &bad) {
			record = bytes.TrimRight(block[bad.Offset:p.Bytes], "\r\n")
			bad.Source = in.name
			bad.Line += in.at.line
			bad.Offset += in.at.offset
		}
		in.advance(p.Bytes, int64(p.Lines))
		r.text += p.Bytes
		if err := r.reject(record, err); err != nil {
			return false, err
		}
		if r.dec.Len() >= r.src.BatchRows {
			return true, nil
		}
		if err == nil {
			break
		}
	}
	return false, nil
}

// noSchema passes over blank lines; anything else came after the schema was looked for.
func (r *recordReader) noSchema() error {
	for {
		at := r.in.at.line + 1
		record, ok, err := r.in.nextRecord()
		if err != nil || !ok {
			return err
		}
		if len(record) > 0 {
			r.failed = fmt.Errorf("%s line %d: there was no record when the schema was looked for; give the schema", r.in.name, at)
			return r.failed
		}
	}
}

// reject applies the error policy to a record that could not be decoded; of an overlong one there is only what its error shows.
func (r *recordReader) reject(record []byte, err error) error {
	var bad *codec.RecordError
	switch {
	case !errors.As(err, &bad):
		return err
	case record == nil:
		r.failed = r.ctx.Reject(1, err)
	default:
		r.failed = r.ctx.RejectRecord(record, err)
	}
	return r.failed
}

// finish gives the rows decoded, nil if there are none.
func (r *recordReader) finish() *column.Batch {
	if r.dec == nil {
		return nil
	}
	if n := r.dec.Unknown() - r.unknown; n > 0 {
		r.unknown += n
		r.ctx.Counters.AddUnknown(n)
	}
	if r.dec.Len() == 0 {
		return nil
	}
	if r.lines == nil {
		return r.complete(r.dec.Finish(), nil)
	}
	b := r.complete(r.dec.Finish(), *r.lines)
	*r.lines = (*r.lines)[:0]
	return b
}

// Position is part of operator.Reader.
func (r *recordReader) Position() ([]byte, error) {
	p := r.position()
	p.kind = recordPosition
	switch {
	case r.saved != nil:
		p = *r.saved
	case r.in != nil:
		p.place, p.tail = r.in.position()
	default:
		p.tail = tailHash(nil)
	}
	return p.encode(), nil
}

// Close is part of operator.Reader.
func (r *recordReader) Close() error {
	if r.dec != nil {
		r.dec.Discard()
	}
	if r.in == nil {
		return nil
	}
	return r.in.close()
}
