package file

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/arkflow-go/arkflow/internal/fault"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// Compression says how the bytes of a file are compressed.
type Compression string

// The compressions.
const (
	Auto Compression = ""     // by the ending of the name: ".gz" is gzip, ".zst" is zstd, anything else is not compressed
	None Compression = "none" // not at all, whatever the name
	Gzip Compression = "gzip" // gzip, also of several members
	Zstd Compression = "zstd" // zstd, also of several frames
)

// zstdWindow bounds the memory that a zstd frame makes a reader keep: what zstd --long=27 writes.
const zstdWindow = 128 << 20

func (c Compression) check() error {
	switch c {
	case Auto, None, Gzip, Zstd:
		return nil
	}
	return &fault.Fault{Path: "compression", Problem: fmt.Sprintf("%q is none of auto, none, gzip, zstd", string(c))}
}

// of is the compression of a file of that name: anything but Auto.
func (c Compression) of(name string) Compression {
	switch {
	case c != Auto:
		return c
	case strings.HasSuffix(name, ".gz"):
		return Gzip
	case strings.HasSuffix(name, ".zst"):
		return Zstd
	}
	return None
}

// unpack gives what r holds, and what ends reading it. A file without any byte is empty.
func (c Compression) unpack(r io.Reader) (out io.Reader, end func(), err error) {
	switch c {
	case Gzip:
		z, err := gzip.NewReader(r)
		if errors.Is(err, io.EOF) {
			return bytes.NewReader(nil), func() {}, nil
		}
		return z, func() {}, err
	case Zstd:
		z, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(zstdWindow),
			zstd.WithDecoderMaxMemory(1<<62))
		if err != nil {
			return nil, nil, err
		}
		return z, z.Close, nil
	}
	return r, func() {}, nil
}

// packer compresses what is written to it; Reset begins a member or frame, Close ends it.
type packer interface {
	io.WriteCloser
	Reset(w io.Writer)
}

// pack makes a packer, nil for None.
func (c Compression) pack() (packer, error) {
	switch c {
	case Gzip:
		return gzip.NewWriter(io.Discard), nil
	case Zstd:
		return zstd.NewWriter(io.Discard, zstd.WithEncoderConcurrency(1), zstd.WithLowerEncoderMem(true))
	}
	return nil, nil
}
