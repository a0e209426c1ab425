package file

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// wholeBytes gives the length of the whole members or frames that a file begins with: a crash may have cut off the last one, which nobody
// can read. A file that is no such file was not written by a sink: an error.
func wholeBytes(ctx context.Context, c Compression, r io.Reader) (int64, error) {
	src := &countingReader{r: bufio.NewReaderSize(r, blockBytes)}
	if c == Zstd {
		return wholeFrames(ctx, src)
	}
	return wholeMembers(ctx, src)
}

func wholeMembers(ctx context.Context, src *countingReader) (whole int64, err error) {
	if head, _ := src.r.Peek(len(gzipMagic)); !bytes.HasPrefix(gzipMagic, head) {
		return 0, errors.New("it is not gzip")
	}
	z, err := gzip.NewReader(src)
	if errors.Is(err, gzip.ErrHeader) {
		return 0, errors.New("it is not gzip")
	}
	for err == nil {
		z.Multistream(false)
		for err == nil {
			if err := ctx.Err(); err != nil {
				return 0, err
			}
			_, err = io.CopyN(io.Discard, z, blockBytes)
		}
		if !errors.Is(err, io.EOF) {
			break
		}
		whole = src.n
		err = z.Reset(src)
	}
	return whole, nil
}

// wholeFrames goes from block to block by their lengths.
func wholeFrames(ctx context.Context, src *countingReader) (whole int64, err error) {
	for {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		switch err := src.frame(); {
		case errors.Is(err, errNotZstd) && whole == 0:
			return 0, err
		case err != nil:
			return whole, nil // the end, or what a crash left
		}
		whole = src.n
	}
}

// What frames begin with; that of a frame to be passed over begins with a byte from 0x50 to 0x5F.
var (
	zstdMagic = []byte{0x28, 0xB5, 0x2F, 0xFD}
	skipMagic = []byte{0x2A, 0x4D, 0x18}
	gzipMagic = []byte{0x1F, 0x8B, 8} // the magic number and the only method there is
)

var errNotZstd = errors.New("it is not zstd")

// frame reads a frame of zstd.
func (c *countingReader) frame() error {
	head, err := c.r.Peek(zstd.HeaderMaxSize)
	if len(head) == 0 {
		return err
	}
	if magic := head[:min(4, len(head))]; !bytes.HasPrefix(zstdMagic, magic) && !(head[0]&0xF0 == 0x50 && bytes.HasPrefix(skipMagic, magic[1:])) {
		return errNotZstd
	}
	var h zstd.Header
	if err := h.Decode(head); errors.Is(err, io.ErrUnexpectedEOF) {
		return err
	} else if err != nil {
		return errNotZstd
	}
	if h.Skippable {
		return c.discard(int64(h.HeaderSize) + int64(h.SkippableSize))
	}
	if err := c.discard(int64(h.HeaderSize)); err != nil {
		return err
	}
	for last := false; !last; {
		var b [4]byte
		if _, err := io.ReadFull(c, b[:3]); err != nil {
			return err
		}
		v := binary.LittleEndian.Uint32(b[:])
		size := int64(v >> 3)
		switch v >> 1 & 3 {
		case 1: // one byte, repeated
			size = 1
		case 3:
			return errNotZstd
		}
		if err := c.discard(size); err != nil {
			return err
		}
		last = v&1 != 0
	}
	if h.HasCheckSum {
		return c.discard(4)
	}
	return nil
}

// countingReader counts the bytes that were taken; being a ByteReader, it is read no further than needed.
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

// discard passes over exactly n bytes.
func (c *countingReader) discard(n int64) error {
	k, err := io.CopyN(io.Discard, c, n)
	if err == nil && k < n {
		err = io.ErrUnexpectedEOF
	}
	return err
}
