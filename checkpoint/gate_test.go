package checkpoint

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"

	"gocloud.dev/blob"
	"gocloud.dev/blob/driver"
	"gocloud.dev/gcerrors"
)

// verdict is what becomes of a call of a bucket.
type verdict struct {
	before error // the call is not made
	after  error // it is made, and its reply lost
}

// call is one that waits at a gate.
type call struct {
	who, op, key string
	order        int
	decided      chan verdict
}

func (c *call) String() string { return fmt.Sprint(c.who, " ", c.op, " ", c.key) }

// gate holds up the calls of buckets over one inner bucket until somebody lets them go.
type gate struct {
	inner *blob.Bucket

	mu      sync.Mutex
	waiting []*call
	dead    map[string]bool // whose calls all fail
	seen    int
	open    func(c *call) verdict // decides at once, in place of holding up; may be nil
}

// errDead is the error of all calls of an execution that was killed.
var errDead = errors.New("the process is dead")

// bucket gives the bucket as one execution sees it.
func (g *gate) bucket(who string) *blob.Bucket { return blob.NewBucket(&gated{g: g, who: who}) }

func (g *gate) pass(ctx context.Context, who, op, key string) verdict {
	g.mu.Lock()
	g.seen++
	c := &call{who: who, op: op, key: key, order: g.seen, decided: make(chan verdict, 1)}
	switch {
	case g.dead[who]:
		g.mu.Unlock()
		return verdict{before: permanentErr{errDead}}
	case g.open != nil:
		v := g.open(c)
		g.mu.Unlock()
		return v
	}
	g.waiting = append(g.waiting, c)
	g.mu.Unlock()
	select {
	case v := <-c.decided:
		return v
	case <-ctx.Done():
		g.mu.Lock()
		defer g.mu.Unlock()
		g.waiting = slices.DeleteFunc(g.waiting, func(o *call) bool { return o == c })
		return verdict{before: ctx.Err()}
	}
}

// decide makes f decide on all calls from now on.
func (g *gate) decide(f func(c *call) verdict) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.open = f
}

// pass lets a call go as it is.
func pass(*call) verdict { return verdict{} }

// pending are the calls that wait, in an order that does not depend on that of goroutines.
func (g *gate) pending() []*call {
	g.mu.Lock()
	defer g.mu.Unlock()
	slices.SortFunc(g.waiting, func(a, b *call) int {
		return cmp.Or(cmp.Compare(a.who, b.who), cmp.Compare(a.op, b.op), cmp.Compare(a.key, b.key), cmp.Compare(a.order, b.order))
	})
	return slices.Clone(g.waiting)
}

// let lets a call go.
func (g *gate) let(c *call, v verdict) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.waiting = slices.DeleteFunc(g.waiting, func(o *call) bool { return o == c })
	c.decided <- v
}

// kill makes all calls of an execution fail from now on.
func (g *gate) kill(who string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.dead[who] = true
	g.waiting = slices.DeleteFunc(g.waiting, func(c *call) bool {
		if c.who != who {
			return false
		}
		c.decided <- verdict{before: permanentErr{errDead}}
		return true
	})
}

func (g *gate) killed(who string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.dead[who]
}

// permanentErr is an error that storage does not try again.
type permanentErr struct{ error }

func (e permanentErr) Unwrap() error { return e.error }

// gated is the driver of the bucket of one execution.
type gated struct {
	g   *gate
	who string
}

func (d *gated) ErrorCode(err error) gcerrors.ErrorCode {
	if errors.As(err, new(permanentErr)) {
		return gcerrors.InvalidArgument
	}
	return gcerrors.Code(err)
}
func (d *gated) As(any) bool             { return false }
func (d *gated) ErrorAs(error, any) bool { return false }
func (d *gated) Close() error            { return nil }
func (d *gated) Copy(context.Context, string, string, *driver.CopyOptions) error {
	return errors.ErrUnsupported
}

func (d *gated) SignedURL(context.Context, string, *driver.SignedURLOptions) (string, error) {
	return "", errors.ErrUnsupported
}

func (d *gated) Attributes(ctx context.Context, key string) (a *driver.Attributes, err error) {
	err = d.do(ctx, "look up", key, func() error {
		at, err := d.g.inner.Attributes(ctx, key)
		if err == nil {
			a = &driver.Attributes{Size: at.Size, ModTime: at.ModTime}
		}
		return err
	})
	return a, err
}

func (d *gated) do(ctx context.Context, op, key string, f func() error) error {
	v := d.g.pass(ctx, d.who, op, key)
	if v.before != nil {
		return v.before
	}
	if err := f(); err != nil {
		return err
	}
	return v.after
}

func (d *gated) ListPaged(ctx context.Context, opts *driver.ListOptions) (*driver.ListPage, error) {
	page := &driver.ListPage{}
	err := d.do(ctx, "list", opts.Prefix, func() error {
		for it := d.g.inner.List(&blob.ListOptions{Prefix: opts.Prefix}); ; {
			o, err := it.Next(ctx)
			if errors.Is(err, io.EOF) {
				return nil
			}
			if err != nil {
				return err
			}
			page.Objects = append(page.Objects, &driver.ListObject{Key: o.Key, Size: o.Size, ModTime: o.ModTime})
		}
	})
	if errors.Is(err, errNothingListed) {
		return &driver.ListPage{}, nil
	}
	return page, err
}

// errNothingListed as a verdict makes a listing empty.
var errNothingListed = errors.New("nothing listed")

func (d *gated) Delete(ctx context.Context, key string, _ *driver.DeleteOptions) error {
	return d.do(ctx, "delete", key, func() error { return d.g.inner.Delete(ctx, key) })
}

func (d *gated) NewRangeReader(ctx context.Context, key string, offset, length int64, _ *driver.ReaderOptions) (r driver.Reader, err error) {
	err = d.do(ctx, "read", key, func() error {
		in, err := d.g.inner.NewRangeReader(ctx, key, offset, length, nil)
		if err == nil {
			r = gatedReader{in}
		}
		return err
	})
	if err != nil && r != nil {
		_ = r.Close()
	}
	return r, err
}

type gatedReader struct{ *blob.Reader }

func (r gatedReader) Attributes() *driver.ReaderAttributes {
	return &driver.ReaderAttributes{Size: r.Size()}
}

func (d *gated) NewTypedWriter(ctx context.Context, key, contentType string, opts *driver.WriterOptions) (driver.Writer, error) {
	ctx, cancel := context.WithCancel(ctx)
	w, err := d.g.inner.NewWriter(ctx, key, &blob.WriterOptions{ContentType: contentType, IfNotExist: opts.IfNotExist})
	return &gatedWriter{Writer: w, ctx: ctx, cancel: cancel, d: d, key: key}, err
}

// gatedWriter holds up the call that makes the object visible.
type gatedWriter struct {
	*blob.Writer
	ctx    context.Context
	cancel context.CancelFunc
	d      *gated
	key    string
}

func (w *gatedWriter) Close() error {
	defer w.cancel()
	closed := false
	err := w.d.do(w.ctx, "write", w.key, func() error {
		closed = true
		return w.Writer.Close()
	})
	if !closed {
		w.cancel()
		_ = w.Writer.Close()
	}
	return err
}
