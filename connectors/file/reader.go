package file

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/arkflow-go/arkflow/codec"
	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/operator"
)

// pollBytes bounds how much text one Poll takes, so that wide rows make smaller batches and a file of lines that are all
// skipped lets the task look up.
const pollBytes = 16 << 20

// reader reads the files of one split, one after the other.
type reader struct {
	src     Source // with its defaults
	ctx     *operator.Context
	files   []string
	inOrder bool
	index   int           // of the file that is being read
	in      *input        // nil until it is needed
	dec     codec.Decoder // nil while the schema is open
	unknown int64         // fields told to the counters
	text    int           // bytes taken by this Poll
	saved   *position     // where to go on; nil after that
}

// ready is closed: a file always has more to say, or its end.
var ready = func() chan struct{} { c := make(chan struct{}); close(c); return c }()

// Ready is part of operator.Reader.
func (r *reader) Ready() <-chan struct{} { return ready }

// seek goes to a position that Position gave.
func (r *reader) seek(saved []byte) error {
	if saved == nil {
		return nil
	}
	p, err := decodePosition(saved)
	if err != nil {
		return fmt.Errorf("file %q: %w", r.files[0], err)
	}
	if r.inOrder {
		switch at := slices.Index(r.files, p.name); {
		case at < 0:
			return fmt.Errorf("file %q of the saved position is not among the files of %q any more", p.name, r.src.URL)
		case at != p.index:
			return fmt.Errorf("file %q was number %d of %q and is number %d now: files before it came or went, whose rows would be lost or repeated",
				p.name, p.index+1, r.src.URL, at+1)
		}
	}
	if p.index >= len(r.files) {
		return fmt.Errorf("file %q: damaged position", r.files[0])
	}
	r.index, r.saved = p.index, &p
	return r.open()
}

// open opens the file that is to be read, at the saved position if there is one.
func (r *reader) open() error {
	at := start
	if r.saved != nil {
		at = r.saved.place
	}
	in, err := openInput(r.ctx, r.files[r.index], r.src.Compression, r.src.MaxLineBytes, at)
	if err != nil {
		return err
	}
	if r.saved != nil && tailHash(in.tail()) != r.saved.tail {
		_ = in.close() // the error below says more
		return fmt.Errorf("the file is not the one that was read before: the text of %q before the saved position, byte %d, has changed", in.name, at.offset)
	}
	r.in, r.saved = in, nil
	return nil
}

// Poll is part of operator.Reader.
func (r *reader) Poll() (*column.Batch, error) {
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
			if err := r.reject(r.in.fill()); err != nil {
				return nil, err
			}
		case r.index+1 < len(r.files):
			r.index++
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

// decode decodes the whole lines that were read; full says that the batch is.
func (r *reader) decode() (full bool, err error) {
	in := r.in
	if in.over != nil {
		r.text += len(in.rest())
		return false, nil
	}
	if r.dec == nil {
		return false, r.noSchema()
	}
	for len(in.rest()) > 0 {
		p, err := r.dec.DecodeLines(in.rest(), in.ended, codec.Limits{Rows: r.src.BatchRows, RecordBytes: r.src.MaxLineBytes})
		var bad *codec.RecordError
		if errors.As(err, &bad) {
			bad.Source = in.name
			bad.Line += in.at.line
			bad.Offset += in.at.offset
		}
		in.advance(p.Bytes, int64(p.Lines))
		r.text += p.Bytes
		if err := r.reject(err); err != nil {
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
func (r *reader) noSchema() error {
	for {
		line, ok, err := r.in.nextLine()
		if err != nil || !ok {
			return err
		}
		if len(line) > 0 {
			return fmt.Errorf("%s line %d: there was no record when the schema was looked for; give the schema", r.in.name, r.in.at.line)
		}
	}
}

// reject applies the error policy to a line that could not be decoded.
func (r *reader) reject(err error) error {
	var bad *codec.RecordError
	if errors.As(err, &bad) {
		return r.ctx.Reject(1, err)
	}
	return err
}

// finish gives the rows decoded, nil if there are none.
func (r *reader) finish() *column.Batch {
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
	return r.dec.Finish()
}

// Position is part of operator.Reader.
func (r *reader) Position() ([]byte, error) {
	p := position{index: r.index}
	if r.saved != nil {
		p = *r.saved
	} else if r.in != nil {
		p.place, p.tail = r.in.position()
	} else {
		p.tail = tailHash(nil)
	}
	if r.inOrder {
		p.name = r.files[r.index]
	}
	return p.encode(), nil
}

// Close is part of operator.Reader.
func (r *reader) Close() error {
	if r.dec != nil {
		r.dec.Discard()
	}
	if r.in == nil {
		return nil
	}
	return r.in.close()
}
