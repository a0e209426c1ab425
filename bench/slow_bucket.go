package main

import (
	"context"
	"errors"
	"io"
	"sync/atomic"
	"time"

	"gocloud.dev/blob"
	"gocloud.dev/blob/driver"
	"gocloud.dev/gcerrors"
)

// slowBucket is a bucket that sleeps before each call while it is slow.
type slowBucket struct {
	driver.Bucket // of calls that are not made
	inner         *blob.Bucket
	delay         time.Duration
	slow          atomic.Bool
}

func (s *slowBucket) wait(ctx context.Context) error {
	if !s.slow.Load() {
		return nil
	}
	select {
	case <-time.After(s.delay):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (s *slowBucket) ErrorCode(err error) gcerrors.ErrorCode { return gcerrors.Code(err) }
func (s *slowBucket) As(any) bool                            { return false }
func (s *slowBucket) ErrorAs(error, any) bool                { return false }
func (s *slowBucket) Close() error                           { return s.inner.Close() }

func (s *slowBucket) Attributes(ctx context.Context, key string) (*driver.Attributes, error) {
	if err := s.wait(ctx); err != nil {
		return nil, err
	}
	a, err := s.inner.Attributes(ctx, key)
	if err != nil {
		return nil, err
	}
	return &driver.Attributes{Size: a.Size, ModTime: a.ModTime}, nil
}

func (s *slowBucket) ListPaged(ctx context.Context, o *driver.ListOptions) (*driver.ListPage, error) {
	if err := s.wait(ctx); err != nil {
		return nil, err
	}
	page := &driver.ListPage{}
	for it := s.inner.List(&blob.ListOptions{Prefix: o.Prefix}); ; {
		obj, err := it.Next(ctx)
		if errors.Is(err, io.EOF) {
			return page, nil
		}
		if err != nil {
			return nil, err
		}
		page.Objects = append(page.Objects, &driver.ListObject{Key: obj.Key, Size: obj.Size, ModTime: obj.ModTime})
	}
}

func (s *slowBucket) NewRangeReader(ctx context.Context, key string, offset, length int64, _ *driver.ReaderOptions) (driver.Reader, error) {
	if err := s.wait(ctx); err != nil {
		return nil, err
	}
	r, err := s.inner.NewRangeReader(ctx, key, offset, length, nil)
	if err != nil {
		return nil, err
	}
	return slowReader{r}, nil
}

type slowReader struct{ *blob.Reader }

func (r slowReader) Attributes() *driver.ReaderAttributes {
	return &driver.ReaderAttributes{Size: r.Size(), ModTime: r.ModTime()}
}
func (r slowReader) As(any) bool { return false }

func (s *slowBucket) NewTypedWriter(ctx context.Context, key, contentType string, o *driver.WriterOptions) (driver.Writer, error) {
	if err := s.wait(ctx); err != nil {
		return nil, err
	}
	return s.inner.NewWriter(ctx, key, &blob.WriterOptions{ContentType: contentType, IfNotExist: o.IfNotExist})
}

func (s *slowBucket) Delete(ctx context.Context, key string, _ *driver.DeleteOptions) error {
	if err := s.wait(ctx); err != nil {
		return err
	}
	return s.inner.Delete(ctx, key)
}
