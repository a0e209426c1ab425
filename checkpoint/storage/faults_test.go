package storage

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"gocloud.dev/blob"
	"gocloud.dev/blob/driver"
	"gocloud.dev/gcerrors"
)

// errFlaky is an error that may pass.
var errFlaky = errors.New("connection reset by peer")

// fault is what goes wrong with one call.
type fault struct {
	before error         // the call is not made
	after  error         // the call is made, and its reply lost
	delay  time.Duration // before it
	cut    int           // bytes that are missing at the end of what is read, the size being right
	short  bool          // the object looks as if it had one byte less
	flip   int           // position from 1 of a byte that is read with a flipped bit
}

// faulty is a driver over another bucket.
type faulty struct {
	inner *blob.Bucket
	mu    sync.Mutex
	calls int // in flight
	most  int
	plan  func(op, key string) fault
}

func (f *faulty) at(ctx context.Context, op, key string) (fault, error) {
	f.mu.Lock()
	var x fault
	if f.plan != nil {
		x = f.plan(op, key)
	}
	f.calls++
	f.most = max(f.most, f.calls)
	f.mu.Unlock()
	defer func() {
		f.mu.Lock()
		f.calls--
		f.mu.Unlock()
	}()
	if x.delay > 0 {
		select {
		case <-time.After(x.delay):
		case <-ctx.Done():
			return x, ctx.Err()
		}
	}
	return x, x.before
}

func (f *faulty) ErrorCode(err error) gcerrors.ErrorCode { return gcerrors.Code(err) }
func (f *faulty) As(any) bool                            { return false }
func (f *faulty) ErrorAs(error, any) bool                { return false }
func (f *faulty) Close() error                           { return nil }
func (f *faulty) Copy(context.Context, string, string, *driver.CopyOptions) error {
	return errors.ErrUnsupported
}

func (f *faulty) SignedURL(context.Context, string, *driver.SignedURLOptions) (string, error) {
	return "", errors.ErrUnsupported
}

func (f *faulty) Attributes(ctx context.Context, key string) (*driver.Attributes, error) {
	if _, err := f.at(ctx, "attributes", key); err != nil {
		return nil, err
	}
	a, err := f.inner.Attributes(ctx, key)
	if err != nil {
		return nil, err
	}
	return &driver.Attributes{Size: a.Size, ModTime: a.ModTime}, nil
}

func (f *faulty) ListPaged(ctx context.Context, opts *driver.ListOptions) (*driver.ListPage, error) {
	if _, err := f.at(ctx, "list", opts.Prefix); err != nil {
		return nil, err
	}
	var page driver.ListPage
	for it := f.inner.List(&blob.ListOptions{Prefix: opts.Prefix}); ; {
		o, err := it.Next(ctx)
		if errors.Is(err, io.EOF) {
			return &page, nil
		}
		if err != nil {
			return nil, err
		}
		// As bad as a listing may be: backwards, each twice.
		e := &driver.ListObject{Key: o.Key, Size: o.Size, ModTime: o.ModTime}
		page.Objects = append([]*driver.ListObject{e, e}, page.Objects...)
	}
}

func (f *faulty) Delete(ctx context.Context, key string, _ *driver.DeleteOptions) error {
	x, err := f.at(ctx, "delete", key)
	if err != nil {
		return err
	}
	return errors.Join(f.inner.Delete(ctx, key), x.after)
}

func (f *faulty) NewRangeReader(ctx context.Context, key string, offset, length int64, _ *driver.ReaderOptions) (driver.Reader, error) {
	x, err := f.at(ctx, "read", key)
	if err != nil {
		return nil, err
	}
	r, err := f.inner.NewRangeReader(ctx, key, offset, length, nil)
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	if x.flip > 0 && x.flip <= len(data) {
		data[x.flip-1] ^= 0x10
	}
	out := &faultyReader{size: int64(len(data)), data: data[:len(data)-min(x.cut, len(data))]}
	if x.short {
		out.size, out.data = out.size-1, out.data[:len(out.data)-1]
	}
	return out, r.Close()
}

type faultyReader struct {
	size int64
	data []byte
}

func (r *faultyReader) Read(p []byte) (int, error) {
	if len(r.data) == 0 {
		return 0, io.EOF
	}
	n := copy(p, r.data)
	r.data = r.data[n:]
	return n, nil
}
func (r *faultyReader) Close() error { return nil }
func (r *faultyReader) Attributes() *driver.ReaderAttributes {
	return &driver.ReaderAttributes{Size: r.size}
}
func (r *faultyReader) As(any) bool { return false }

func (f *faulty) NewTypedWriter(ctx context.Context, key, contentType string, opts *driver.WriterOptions) (driver.Writer, error) {
	ctx, cancel := context.WithCancel(ctx)
	w, err := f.inner.NewWriter(ctx, key, &blob.WriterOptions{ContentType: contentType, IfNotExist: opts.IfNotExist})
	return &faultyWriter{Writer: w, ctx: ctx, cancel: cancel, f: f, key: key}, err
}

type faultyWriter struct {
	*blob.Writer
	ctx    context.Context
	cancel context.CancelFunc
	f      *faulty
	key    string
}

func (w *faultyWriter) Write(p []byte) (int, error) {
	if _, err := w.f.at(w.ctx, "write", w.key); err != nil {
		return 0, err
	}
	return w.Writer.Write(p)
}

func (w *faultyWriter) Close() error {
	x, err := w.f.at(w.ctx, "close", w.key)
	if err != nil {
		w.cancel()
		_ = w.Writer.Close()
		return err
	}
	defer w.cancel()
	if err := w.Writer.Close(); err != nil {
		return err
	}
	return x.after
}
