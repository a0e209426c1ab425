package file

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/arkflow-go/arkflow/codec"
	"github.com/arkflow-go/arkflow/column"
	"github.com/klauspost/compress/gzip"
)

// flushBytes is how much text is gathered before it is written.
const flushBytes = 256 << 10

// writer appends the rows of one task to a file. What it hands to the file are whole lines, so that no line is torn unless
// the machine stops.
type writer struct {
	name   string
	enc    codec.Encoder
	zipped bool
	file   *os.File
	zip    *gzip.Writer // a member is open between its first row and the next Flush
	inZip  bool
	buf    []byte
	keeps  bool  // a regular file, which can be synced
	dirty  bool  // something was written since the last sync
	failed error // of the first write that failed; all later ones fail too
}

func (w *writer) open(ctx context.Context, overwrite bool) error {
	flags := os.O_RDWR | os.O_CREATE | os.O_APPEND
	if overwrite {
		flags |= os.O_TRUNC
	}
	f, err := os.OpenFile(w.name, flags, 0o644)
	if err != nil {
		return err
	}
	w.file = f
	if err := w.mend(ctx); err != nil {
		_ = f.Close() // the first error says more
		return fmt.Errorf("append to %q: %w", w.name, err)
	}
	return nil
}

// mend makes the end of the file one at which lines can be appended.
func (w *writer) mend(ctx context.Context) error {
	info, err := w.file.Stat()
	if err != nil {
		return err
	}
	w.keeps = info.Mode().IsRegular()
	if !w.keeps || info.Size() == 0 {
		return nil
	}
	if w.zipped {
		return w.mendZip(ctx, info.Size())
	}
	var last [1]byte
	if _, err := w.file.ReadAt(last[:], info.Size()-1); err != nil {
		return err
	}
	if last[0] != '\n' {
		_, err = w.file.WriteString("\n")
	}
	return err
}

// gzipMagic is what every gzip file begins with: the magic number and the only method there is.
const gzipMagic = "\x1f\x8b\x08"

// mendZip cuts off a member that is not whole. A file without a whole member is refused unless it looks like one: it was
// not written by a sink.
func (w *writer) mendZip(ctx context.Context, size int64) error {
	head := make([]byte, min(size, int64(len(gzipMagic))))
	if _, err := w.file.ReadAt(head, 0); err != nil {
		return err
	}
	if !strings.HasPrefix(gzipMagic, string(head)) {
		return errors.New("it is not gzip")
	}
	src := &countingReader{r: bufio.NewReaderSize(io.NewSectionReader(w.file, 0, size), blockBytes)}
	z, err := gzip.NewReader(src)
	if errors.Is(err, gzip.ErrHeader) {
		return errors.New("it is not gzip")
	}
	whole := int64(0)
	for err == nil {
		z.Multistream(false)
		for err == nil {
			if err := ctx.Err(); err != nil {
				return err
			}
			_, err = io.CopyN(io.Discard, z, blockBytes)
		}
		if !errors.Is(err, io.EOF) {
			break
		}
		whole = src.n
		err = z.Reset(src)
	}
	if whole == size {
		return nil
	}
	return w.file.Truncate(whole)
}

// countingReader counts the bytes that a gzip reader has taken; being a ByteReader, it is read no further than needed.
type countingReader struct {
	r *bufio.Reader
	n int64
}

func (c *countingReader) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}

func (c *countingReader) ReadByte() (byte, error) {
	b, err := c.r.ReadByte()
	if err == nil {
		c.n++
	}
	return b, err
}

// Write is part of operator.Writer.
func (w *writer) Write(b *column.Batch) error {
	var err error
	if w.buf, err = w.enc.Encode(w.buf, b); err != nil {
		return fmt.Errorf("write %q: %w", w.name, err)
	}
	if len(w.buf) < flushBytes {
		return nil
	}
	return w.drain()
}

// drain writes the text that was gathered.
func (w *writer) drain() error {
	if w.failed != nil || len(w.buf) == 0 {
		return w.failed
	}
	w.dirty = true
	if w.zipped {
		if !w.inZip {
			w.startMember()
		}
		_, w.failed = w.zip.Write(w.buf)
	} else {
		_, w.failed = w.file.Write(w.buf)
	}
	w.buf = w.buf[:0]
	if w.failed != nil {
		w.failed = fmt.Errorf("write %q: %w", w.name, w.failed)
	}
	return w.failed
}

func (w *writer) startMember() {
	if w.zip == nil {
		w.zip = gzip.NewWriter(w.file)
	} else {
		w.zip.Reset(w.file)
	}
	w.inZip = true
}

// Flush is part of operator.Writer: all rows are on the disk, in gzip as a whole member.
func (w *writer) Flush() error {
	if err := w.complete(); err != nil || !w.dirty || !w.keeps {
		return err
	}
	if err := w.file.Sync(); err != nil && !errors.Is(err, errors.ErrUnsupported) {
		w.failed = fmt.Errorf("sync %q: %w", w.name, err)
		return w.failed
	}
	w.dirty = false
	return nil
}

// complete writes what was gathered and ends the gzip member.
func (w *writer) complete() error {
	if err := w.drain(); err != nil || !w.inZip {
		return err
	}
	w.inZip = false
	if err := w.zip.Close(); err != nil {
		w.failed = fmt.Errorf("write %q: %w", w.name, err)
	}
	return w.failed
}

// Close is part of operator.Writer. Rows since the last Flush are written, unless a write has failed.
func (w *writer) Close() error {
	if w.file == nil {
		return nil
	}
	var err error
	if w.failed == nil {
		err = w.complete()
	}
	f := w.file
	w.file = nil
	if closed := f.Close(); err == nil {
		err = closed
	}
	return err
}
