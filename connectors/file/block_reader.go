package file

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/arkflow-go/arkflow/codec"
	"github.com/arkflow-go/arkflow/column"
	"github.com/zeebo/xxh3"
)

// blockReader reads files made of blocks.
type blockReader struct {
	split
	format codec.BlockFormat
	file   *os.File
	in     codec.BlockReader
	print  fingerprint // of the file
	saved  *position   // where to go on; nil after that
}

// openBlocks opens a reader of files made of blocks.
func openBlocks(s split, f codec.BlockFormat, saved []byte) (*blockReader, error) {
	r := &blockReader{split: s, format: f}
	if saved == nil {
		return r, nil
	}
	p, err := decodePosition(saved, blockPosition)
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
func (r *blockReader) Ready() <-chan struct{} { return ready }

// open opens the file that is to be read, at the saved position if there is one.
func (r *blockReader) open() error {
	name := r.files[r.index]
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	r.file = f
	if err := r.begin(name); err != nil {
		return errors.Join(err, r.close())
	}
	r.saved = nil
	return nil
}

func (r *blockReader) begin(name string) (err error) {
	info, err := r.file.Stat()
	if err != nil {
		return err
	}
	if r.print, err = fingerprintOf(r.file, info.Size()); err != nil {
		return fmt.Errorf("read %q: %w", name, err)
	}
	if r.saved != nil && r.saved.row != (codec.RowPlace{}) && r.saved.fingerprint != r.print {
		return fmt.Errorf("the file is not the one that was read before: %q has %d bytes with another end, it had %d", name, r.print.size, r.saved.size)
	}
	r.in, err = r.format.OpenBlocks(r.ctx, r.file, info.Size(), codec.BlockOptions{Pool: r.ctx.Pool, Rows: r.src.BatchRows, MaxBytes: r.src.MaxBlockBytes})
	if err == nil && r.saved != nil {
		err = r.in.Seek(r.saved.row)
	}
	if err != nil {
		return fmt.Errorf("read %q: %w", name, err)
	}
	return nil
}

// Poll is part of operator.Reader. It may be called again after an error: the file is opened again at the same place.
func (r *blockReader) Poll() (*column.Batch, error) {
	for {
		if r.in == nil {
			if err := r.open(); err != nil {
				return nil, err
			}
		}
		first := r.in.FirstRow()
		b, err := r.in.Next()
		switch {
		case err == nil:
			return r.complete(b, r.rowNumbers(first, b.Rows)), nil
		case err != io.EOF: //nolint:errorlint // a failure may wrap it
			p := r.position()
			p.kind, p.row, p.fingerprint = blockPosition, r.in.Place(), r.print
			r.saved = &p
			return nil, errors.Join(fmt.Errorf("read %q: %w", r.files[r.index], err), r.close())
		case !r.more():
			return nil, io.EOF
		}
		if err := r.close(); err != nil {
			return nil, err
		}
	}
}

// rowNumbers gives the numbers of rows in the file, of which the first is 1.
func (r *blockReader) rowNumbers(first int64, n int) []int64 {
	if len(r.src.Metadata) == 0 {
		return nil
	}
	numbers := make([]int64, n)
	for i := range numbers {
		numbers[i] = first + int64(i) + 1
	}
	return numbers
}

// Position is part of operator.Reader.
func (r *blockReader) Position() ([]byte, error) {
	p := r.position()
	p.kind = blockPosition
	switch {
	case r.saved != nil:
		p = *r.saved
	case r.in != nil:
		p.row, p.fingerprint = r.in.Place(), r.print
	}
	return p.encode(), nil
}

func (r *blockReader) close() error {
	var err error
	if r.in != nil {
		err = r.in.Close()
	}
	if r.file != nil {
		err = errors.Join(err, r.file.Close())
	}
	r.in, r.file = nil, nil
	return err
}

// Close is part of operator.Reader.
func (r *blockReader) Close() error { return r.close() }

// fingerprint tells that a file is the one that it was: files of blocks end with a table of what is in them.
type fingerprint struct {
	size int64
	end  uint64 // xxh3 of the last bytes
}

// fingerprintBytes is how much of the end of a file is hashed.
const fingerprintBytes = 4 << 10

func fingerprintOf(f io.ReaderAt, size int64) (fingerprint, error) {
	end := make([]byte, min(size, fingerprintBytes))
	if n, err := f.ReadAt(end, size-int64(len(end))); n < len(end) {
		return fingerprint{}, err
	}
	return fingerprint{size, xxh3.Hash(end)}, nil
}
