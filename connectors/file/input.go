package file

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/arkflow-go/arkflow/codec"
	"github.com/klauspost/compress/gzip"
)

const (
	blockBytes = 256 << 10 // what is read at once, unless a line is longer
	leastBlock = 4 << 10
)

// input is an open file and the block of it that is being decoded. buf[from:to] is what was read and not decoded yet;
// before it lie up to tailBytes of what was.
type input struct {
	name    string
	file    *os.File // nil once its end was read
	src     io.Reader
	maxLine int
	buf     []byte
	from    int
	to      int
	at      place // of buf[from]
	ended   bool  // src has no more
	over    *overlong
}

// overlong is a line that is being passed over: rest is a part of it.
type overlong struct {
	at   place // of its beginning
	tail uint64
	err  *codec.RecordError
}

// openInput opens a file at a place, and reads what is needed to tell whether it is the file that it was.
func openInput(ctx context.Context, name string, c Compression, maxLine int, at place) (*input, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	in := &input{name: name, file: f, src: f, maxLine: maxLine}
	if err := in.begin(ctx, c, at); err != nil {
		_ = f.Close() // the first error says more
		return nil, err
	}
	return in, nil
}

func (in *input) begin(ctx context.Context, c Compression, at place) error {
	info, err := in.file.Stat()
	if err != nil {
		return err
	}
	zipped := c == Gzip || c == Auto && strings.HasSuffix(in.name, ".gz")
	size := blockBytes
	if !zipped {
		if info.Size() < at.offset {
			return in.shrank(at.offset, info.Size())
		}
		size = int(min(int64(size), max(leastBlock, info.Size()-at.offset+tailBytes+1)))
	}
	in.buf = make([]byte, size)
	tail := min(at.offset, tailBytes)
	if zipped {
		err = in.unzip(ctx, at.offset-tail)
	} else {
		_, err = in.file.Seek(at.offset-tail, io.SeekStart)
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

// unzip makes src give the unzipped bytes from skip on. A file without any byte is empty.
func (in *input) unzip(ctx context.Context, skip int64) error {
	z, err := gzip.NewReader(in.file)
	if errors.Is(err, io.EOF) {
		in.src = bytes.NewReader(nil)
		return nil
	}
	if err != nil {
		return err
	}
	in.src = z
	for done := int64(0); done < skip; {
		if err := ctx.Err(); err != nil {
			return err
		}
		n, err := z.Read(in.buf[:min(int64(len(in.buf)), skip-done)])
		done += int64(n)
		if errors.Is(err, io.EOF) && done < skip {
			return in.shrank(skip, done)
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

// fill reads more, where rest holds no whole line. A *codec.RecordError says that an overlong line was passed over.
func (in *input) fill() error {
	if in.over == nil && len(in.rest()) > in.maxLine {
		in.over = &overlong{at: in.at, tail: tailHash(in.tail()), err: in.lineError(codec.TooLong(in.maxLine, in.rest()))}
	}
	if in.over != nil {
		in.advance(len(in.rest()), 0)
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

// passOver ends an overlong line, if its end was read.
func (in *input) passOver() error {
	n := bytes.IndexByte(in.rest(), '\n') + 1
	if n == 0 && !in.ended {
		return nil
	}
	if n == 0 {
		n = len(in.rest())
	}
	in.advance(n, 1)
	err := in.over.err
	in.over = nil
	return err
}

// lineError gives the error of the line at the place its own place.
func (in *input) lineError(e *codec.RecordError) *codec.RecordError {
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

// nextLine gives the next line without white space at its ends, until the next call; ok is false behind the last one. The
// error of an overlong line is a *codec.RecordError.
func (in *input) nextLine() (line []byte, ok bool, err error) {
	for {
		if in.over == nil {
			n := bytes.IndexByte(in.rest(), '\n') + 1
			if n == 0 && in.ended {
				n = len(in.rest())
				if n == 0 {
					return nil, false, nil
				}
			}
			if n > 0 {
				line = bytes.TrimSuffix(in.rest()[:n], []byte{'\n'})
				if len(line) > in.maxLine {
					err = in.lineError(codec.TooLong(in.maxLine, line))
				}
				in.advance(n, 1)
				return bytes.TrimSpace(line), true, err
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
	return f.Close()
}
