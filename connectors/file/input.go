package file

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/arkflow-go/arkflow/codec"
)

const (
	blockBytes = 256 << 10 // what is read at once, unless a line is longer
	leastBlock = 4 << 10
)

// input is an open file of records and the block of it that is being decoded. buf[from:to] is what was read and not decoded yet;
// before it lie up to tailBytes of what was.
type input struct {
	name    string
	file    *os.File // nil once its end was read
	src     io.Reader
	unpack  func() // ends src
	format  codec.RecordFormat
	maxLine int
	buf     []byte
	from    int
	to      int
	at      place // of buf[from]
	ended   bool  // src has no more
	over    *overlong
}

// overlong is a record that is being passed over: rest is a part of it.
type overlong struct {
	at   place // of its beginning
	tail uint64
	err  *codec.RecordError
}

// opening says how files of records are opened.
type opening struct {
	format  codec.RecordFormat
	comp    Compression
	maxLine int
	// header takes the header of each file that has one.
	header func(record []byte) error
}

// open opens a file at a place, and reads what is needed to tell whether it is the file that it was.
func (o opening) open(ctx context.Context, name string, at place) (*input, error) {
	if !o.format.HasHeader() {
		return o.openAt(ctx, name, at)
	}
	in, err := o.openAt(ctx, name, start)
	if err != nil {
		return nil, err
	}
	record, ok, err := in.nextRecord()
	for err == nil && ok && len(record) == 0 {
		record, ok, err = in.nextRecord()
	}
	if err == nil && ok {
		if err = o.header(record); err != nil {
			err = fmt.Errorf("%s: %w", name, err)
		}
	}
	if err == nil && in.at.offset >= at.offset {
		return in, nil
	}
	if closed := in.close(); err == nil {
		err = closed
	}
	if err != nil {
		return nil, err
	}
	return o.openAt(ctx, name, at)
}

func (o opening) openAt(ctx context.Context, name string, at place) (*input, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	in := &input{name: name, file: f, src: f, unpack: func() {}, format: o.format, maxLine: o.maxLine}
	if err := in.begin(ctx, o.comp.of(name), at); err != nil {
		_ = in.close() // the first error says more
		return nil, err
	}
	return in, nil
}

func (in *input) begin(ctx context.Context, c Compression, at place) error {
	info, err := in.file.Stat()
	if err != nil {
		return err
	}
	size := blockBytes
	if c == None {
		if info.Size() < at.offset {
			return in.shrank(at.offset, info.Size())
		}
		size = int(min(int64(size), max(leastBlock, info.Size()-at.offset+tailBytes+1)))
	}
	in.buf = make([]byte, size)
	tail := min(at.offset, tailBytes)
	if c == None {
		_, err = in.file.Seek(at.offset-tail, io.SeekStart)
	} else if in.src, in.unpack, err = c.unpack(in.file); err == nil {
		err = in.skip(ctx, at.offset-tail)
	} else {
		in.unpack = func() {}
	}
	if err != nil {
		return fmt.Errorf("read %q: %w", in.name, err)
	}
	n, err := io.ReadFull(in.src, in.buf[:tail])
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return in.shrank(at.offset, at.offset-tail+int64(n))
	}
	if err != nil {
		return fmt.Errorf("read %q: %w", in.name, err)
	}
	in.from, in.to, in.at = n, n, at
	if at.offset == 0 {
		return in.skipMark()
	}
	return nil
}

// skip passes over unpacked bytes.
func (in *input) skip(ctx context.Context, n int64) error {
	for done := int64(0); done < n; {
		if err := ctx.Err(); err != nil {
			return err
		}
		k, err := in.src.Read(in.buf[:min(int64(len(in.buf)), n-done)])
		done += int64(k)
		if errors.Is(err, io.EOF) && done < n {
			return in.shrank(n, done)
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
	}
	return nil
}

func (in *input) shrank(want, have int64) error {
	return fmt.Errorf("the file is not the one that was read before: the saved position in %q is at byte %d, it has only %d", in.name, want, have)
}

// tail is the text right before the place, as far as tailHash looks.
func (in *input) tail() []byte { return in.buf[:in.from] }

// skipMark passes over a byte order mark.
func (in *input) skipMark() error {
	for in.to-in.from < 3 && !in.ended {
		if err := in.read(); err != nil {
			return err
		}
	}
	if bytes.HasPrefix(in.rest(), []byte("\xEF\xBB\xBF")) {
		in.advance(3, 0)
	}
	return nil
}

// rest is what was read and not decoded yet.
func (in *input) rest() []byte { return in.buf[in.from:in.to] }

// empty says that nothing is left.
func (in *input) empty() bool { return in.ended && in.from == in.to }

// advance says that bytes were decoded.
func (in *input) advance(bytes int, lines int64) {
	in.from += bytes
	in.at.offset += int64(bytes)
	in.at.line += lines
}

// fill reads more, where rest holds no whole record. A *codec.RecordError says that an overlong record was passed over: it ends with the
// line into which the limit falls.
func (in *input) fill() error {
	if in.over == nil && len(in.rest()) > in.maxLine {
		in.over = &overlong{at: in.at, tail: tailHash(in.tail()), err: in.recordError(codec.TooLong(in.maxLine, in.rest()))}
		in.pass(in.maxLine)
		return in.passOver()
	}
	if in.over != nil {
		in.pass(len(in.rest()))
	}
	in.compact()
	if in.to == len(in.buf) {
		in.grow()
	}
	if err := in.read(); err != nil {
		return err
	}
	if in.over != nil {
		return in.passOver()
	}
	return nil
}

// pass passes over n bytes of an overlong record.
func (in *input) pass(n int) {
	in.advance(n, int64(bytes.Count(in.rest()[:n], []byte{'\n'})))
}

// passOver ends an overlong record, if its end was read.
func (in *input) passOver() error {
	n := bytes.IndexByte(in.rest(), '\n') + 1
	switch {
	case n > 0:
		in.pass(n)
	case in.ended:
		in.advance(len(in.rest()), 1)
	default:
		return nil
	}
	err := in.over.err
	in.over = nil
	return err
}

// recordError gives the error of the record at the place its own place.
func (in *input) recordError(e *codec.RecordError) *codec.RecordError {
	e.Source, e.Line, e.Offset = in.name, in.at.line+1, in.at.offset
	return e
}

// compact moves what is needed to the beginning of the buffer.
func (in *input) compact() {
	if keep := min(in.from, tailBytes); keep < in.from {
		in.to = copy(in.buf, in.buf[in.from-keep:in.to])
		in.from = keep
	}
}

// grow makes the buffer larger, up to what the longest line needs.
func (in *input) grow() {
	next := make([]byte, min(2*len(in.buf), max(len(in.buf)+1, tailBytes+in.maxLine+1)))
	copy(next, in.buf[:in.to])
	in.buf = next
}

// read reads once, and closes the file at its end.
func (in *input) read() error {
	n, err := in.src.Read(in.buf[in.to:])
	in.to += n
	if errors.Is(err, io.EOF) {
		in.ended = true
		err = in.close()
	}
	if err != nil {
		return fmt.Errorf("read %q: %w", in.name, err)
	}
	return nil
}

// nextRecord gives the next record, until the next call; ok is false behind the last one. The error of an overlong one is a
// *codec.RecordError.
func (in *input) nextRecord() (record []byte, ok bool, err error) {
	for {
		if in.over == nil {
			record, p := in.format.Cut(in.rest(), in.ended)
			if p.Bytes > 0 {
				if len(record) > in.maxLine {
					err = in.recordError(codec.TooLong(in.maxLine, record))
				}
				in.advance(p.Bytes, int64(p.Lines))
				return record, true, err
			}
			if in.ended {
				return nil, false, nil
			}
		}
		if err := in.fill(); err != nil {
			return nil, true, err
		}
	}
}

// position is where to go on: before a line that is being passed over.
func (in *input) position() (place, uint64) {
	if in.over != nil {
		return in.over.at, in.over.tail
	}
	return in.at, tailHash(in.tail())
}

func (in *input) close() error {
	f := in.file
	in.file = nil
	if f == nil {
		return nil
	}
	in.unpack()
	return f.Close()
}
