package file

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/arkflow-go/arkflow/codec"
	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/operator"
)

// appendWriter appends the rows of one task to a file.
type appendWriter struct {
	ctx    *operator.Context
	name   string
	file   *os.File
	schema *arrow.Schema // of the rows
	to     *recordContent
	keeps  bool  // a regular file, which can be synced
	base   int64 // its size before anything was appended
	dirty  bool  // something was written since the last sync
	failed error // of the first write that failed; all later ones fail too
}

// openAppend opens a file to append to it.
func openAppend(ctx *operator.Context, s Sink, name string, schema *arrow.Schema, make newContent) (*appendWriter, error) {
	flags := os.O_RDWR | os.O_CREATE | os.O_APPEND
	if s.Overwrite {
		flags |= os.O_TRUNC
	}
	f, err := os.OpenFile(name, flags, 0o644)
	if err != nil {
		return nil, err
	}
	to, err := make(f)
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	w := &appendWriter{ctx: ctx, name: name, file: f, schema: schema, to: to.(*recordContent)}
	if err := w.mend(ctx, s.Format.(codec.RecordFormat), s.Compression.of(name)); err != nil {
		_ = f.Close() // the first error says more
		return nil, failure("append to", name, err)
	}
	if w.base, err = w.size(); err != nil {
		return nil, errors.Join(failure("append to", name, err), f.Close())
	}
	w.dirty = len(w.to.buf) > 0
	return w, nil
}

// mend makes the end of the file one at which records can be appended, and sees to it that they go under its header.
func (w *appendWriter) mend(ctx context.Context, f codec.RecordFormat, c Compression) error {
	size, err := w.size()
	if err != nil || size == 0 {
		return err
	}
	if c != None {
		whole, err := wholeBytes(ctx, c, io.NewSectionReader(w.file, 0, size))
		if err != nil {
			return err
		}
		if whole < size {
			if err := w.file.Truncate(whole); err != nil {
				return err
			}
		}
	} else if err := w.mendText(ctx, f, size); err != nil {
		return err
	}
	if size, err = w.size(); err != nil || size == 0 {
		return err
	}
	return w.checkHeader(ctx, f, c)
}

// size is the length of a regular file, 0 of anything else.
func (w *appendWriter) size() (int64, error) {
	info, err := w.file.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return 0, err
	}
	w.keeps = true
	return info.Size(), nil
}

// mendText ends a last record that has no newline, or cuts it off where it is half: within quotes, which may hold newlines, what comes
// behind would be taken for a part of it. Of CSV a value at the end may be half all the same.
func (w *appendWriter) mendText(ctx context.Context, f codec.RecordFormat, size int64) error {
	var last [1]byte
	if _, err := w.file.ReadAt(last[:], size-1); err != nil {
		return err
	}
	ended := last[0] == '\n'
	if _, json := f.(codec.JSONFormat); json && ended {
		return nil
	}
	at, err := lastRecord(ctx, f, w.name)
	if err != nil {
		return err
	}
	record := make([]byte, size-at, size-at+1)
	if _, err := w.file.ReadAt(record, at); err != nil {
		return err
	}
	switch _, p := f.Cut(record, false); {
	case ended && p.Bytes > 0:
		return nil
	case ended || !w.whole(f, record, at == 0):
		return w.file.Truncate(at)
	}
	_, err = w.file.WriteString("\n")
	return err
}

// whole reports whether a last record can be all of one.
func (w *appendWriter) whole(f codec.RecordFormat, record []byte, first bool) bool {
	if _, ok := f.(codec.JSONFormat); ok {
		return json.Valid(record)
	}
	if _, p := f.Cut(append(record, '\n'), false); p.Bytes == 0 {
		return false
	}
	header := bytes.TrimSuffix(w.to.buf, []byte{'\n'})
	if first && f.HasHeader() {
		return len(record) >= len(header) || !bytes.HasPrefix(header, record)
	}
	fields := make([]arrow.Field, w.schema.NumFields())
	for i := range fields {
		fields[i] = arrow.Field{Name: w.schema.Field(i).Name, Type: arrow.BinaryTypes.String, Nullable: true}
	}
	texts := f.WithSchema(arrow.NewSchema(fields, nil)).(codec.RecordFormat) // as many columns as the sink writes
	d, err := texts.NewDecoder(nil)
	if err != nil {
		return true
	}
	defer d.Discard()
	if f.HasHeader() && d.Header(header) != nil {
		return true
	}
	return d.Append(record) == nil
}

// lastRecord gives the byte at which the last record of a file begins.
func lastRecord(ctx context.Context, f codec.RecordFormat, name string) (at int64, err error) {
	in, err := opening{format: f, maxLine: greatestLineBytes}.openAt(ctx, name, start)
	if err != nil {
		return 0, err
	}
	defer func() { _ = in.close() }() // it was only read
	for {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		before := in.at.offset
		_, ok, err := in.nextRecord()
		if err != nil || !ok {
			return at, err
		}
		at = before
	}
}

// checkHeader refuses to append under a header of other columns; the one that was gathered is not needed.
func (w *appendWriter) checkHeader(ctx context.Context, f codec.RecordFormat, c Compression) error {
	want := bytes.TrimSuffix(w.to.buf, []byte{'\n'})
	if len(want) == 0 {
		return nil
	}
	have := []byte(nil)
	in, err := opening{format: f, comp: c, maxLine: greatestLineBytes, header: func(record []byte) error {
		have = bytes.Clone(record)
		return nil
	}}.open(ctx, w.name, start)
	if err != nil {
		return err
	}
	if err := in.close(); err != nil {
		return err
	}
	if have != nil && !bytes.Equal(have, want) {
		return fmt.Errorf("its header is %q, that of the rows %q", have, want)
	}
	if have != nil {
		w.to.buf = w.to.buf[:0]
	}
	return nil
}

// Write is part of operator.Writer.
func (w *appendWriter) Write(b *column.Batch) error {
	if w.failed != nil {
		return w.failed
	}
	w.dirty = true
	return w.note("write", at(w.ctx, "append", func() error { return w.to.write(b) }))
}

// note keeps the first error, with the name of the file.
func (w *appendWriter) note(what string, err error) error {
	if err != nil && w.failed == nil {
		w.failed = failure(what, w.name, errors.Join(err, w.takeBack()))
	}
	return w.failed
}

// takeBack cuts off what a write that failed, as on a full disk, has left at the end: half a record of CSV may look like a whole one. What others
// have written behind it stays, and so does a half member or frame, which the next to append finds.
func (w *appendWriter) takeBack() error {
	torn := w.to.out.torn
	if torn == 0 || !w.keeps || w.to.pack != nil {
		return nil
	}
	info, err := w.file.Stat()
	if err != nil || info.Size() != w.base+w.to.out.n {
		return err
	}
	return w.file.Truncate(info.Size() - torn)
}

// Flush is part of operator.Writer: all rows are on the disk, compressed ones as a whole member or frame.
func (w *appendWriter) Flush() error {
	if w.failed != nil || !w.dirty {
		return w.failed
	}
	if err := w.note("write", at(w.ctx, "append the rest", w.to.complete)); err != nil {
		return err
	}
	if !w.keeps {
		return nil
	}
	if err := at(w.ctx, "sync", w.file.Sync); err != nil && !errors.Is(err, errors.ErrUnsupported) {
		return w.note("sync", err)
	}
	w.dirty = false
	return nil
}

// Close is part of operator.Writer. Rows since the last Flush are written, unless a write has failed.
func (w *appendWriter) Close() error {
	if w.file == nil {
		return nil
	}
	var err error
	if w.failed == nil {
		err = w.note("write", w.to.complete())
	} else {
		w.to.discard()
	}
	f := w.file
	w.file = nil
	if closed := f.Close(); err == nil {
		err = closed
	}
	return err
}
