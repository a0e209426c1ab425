package file

import (
	"fmt"
	"io"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/arkflow-go/arkflow/codec"
	"github.com/arkflow-go/arkflow/column"
)

// flushBytes is how much text is gathered before it is written.
const flushBytes = 256 << 10

// content turns rows into the bytes of one file.
type content interface {
	// write takes rows, borrowed for the call.
	write(b *column.Batch) error
	// size is about the number of bytes that the file has got, what is gathered included.
	size() int64
	// finish writes what is left and what ends the file.
	finish() error
	// discard gives memory back where finish is not called.
	discard()
}

// newContent begins the content of a file, as what makes one for each file does.
type newContent func(dst io.Writer) (content, error)

// contentOf gives what makes the content of files of a format.
func contentOf(f codec.Format, s *arrow.Schema, comp Compression) newContent {
	if blocks, ok := f.(codec.BlockFormat); ok {
		return func(dst io.Writer) (content, error) {
			out := &counter{w: dst}
			w, err := blocks.CreateBlocks(out, s)
			return &blockContent{w: w, out: out}, err
		}
	}
	return func(dst io.Writer) (content, error) {
		enc, err := f.(codec.RecordFormat).NewEncoder(s)
		if err != nil {
			return nil, err
		}
		c := &recordContent{enc: enc, out: &counter{w: dst}}
		if c.pack, err = comp.pack(); err != nil {
			return nil, err
		}
		c.buf = enc.Header(nil)
		return c, nil
	}
}

// counter counts the bytes that go through it.
type counter struct {
	w    io.Writer
	n    int64
	torn int64 // bytes among them of a write that failed
}

func (c *counter) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	c.n += int64(n)
	if err != nil {
		c.torn = int64(n)
	}
	return n, err
}

type blockContent struct {
	w   codec.BlockWriter
	out *counter
}

func (c *blockContent) write(b *column.Batch) error { return c.w.Write(b) }
func (c *blockContent) size() int64                 { return c.out.n + c.w.Buffered() }
func (c *blockContent) finish() error               { return c.w.Close() }

func (c *blockContent) discard() {
	c.out.w = io.Discard
	_ = c.w.Close() // it goes nowhere
}

// recordContent writes whole records, so that none is torn unless a write fails or the machine stops.
type recordContent struct {
	enc    codec.Encoder
	out    *counter
	pack   packer // nil: not compressed
	inPack bool   // a member or frame is open: between its first byte and complete
	buf    []byte
}

func (c *recordContent) write(b *column.Batch) (err error) {
	if c.buf, err = c.enc.Encode(c.buf, b); err != nil {
		return err
	}
	if len(c.buf) < flushBytes {
		return nil
	}
	return c.drain()
}

// drain writes the text that was gathered.
func (c *recordContent) drain() error {
	if len(c.buf) == 0 {
		return nil
	}
	var w io.Writer = c.out
	if c.pack != nil {
		if !c.inPack {
			c.pack.Reset(c.out)
			c.inPack = true
		}
		w = c.pack
	}
	_, err := w.Write(c.buf)
	c.buf = c.buf[:0]
	return err
}

// complete writes what was gathered and ends the member or frame.
func (c *recordContent) complete() error {
	if err := c.drain(); err != nil || !c.inPack {
		return err
	}
	c.inPack = false
	return c.pack.Close()
}

func (c *recordContent) size() int64   { return c.out.n + int64(len(c.buf)) }
func (c *recordContent) finish() error { return c.complete() }

func (c *recordContent) discard() {
	if c.inPack {
		c.pack.Reset(io.Discard)
		_ = c.pack.Close() // it goes nowhere
	}
}

// failure names the file in an error.
func failure(what, name string, err error) error {
	return fmt.Errorf("%s %q: %w", what, name, err)
}
