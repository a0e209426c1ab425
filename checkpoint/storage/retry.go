package storage

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/arkflow-go/arkflow/operator"
)

// do makes a call until it succeeds, its error is permanent, the attempts are used up or the context ends. A call holds a slot
// while it runs, none while it waits for the next attempt.
func (b *Bucket) do(ctx context.Context, op, object string, call func(context.Context) error) error {
	for attempt := 1; ; attempt++ {
		err := b.once(ctx, call)
		if err == nil {
			return nil
		}
		if ctx.Err() == nil && attempt < b.opts.Attempts && transient(err) {
			if b.pause(ctx, attempt) == nil {
				continue
			}
		}
		if cause := context.Cause(ctx); cause != nil && !errors.Is(err, cause) {
			err = fmt.Errorf("%w: %w", cause, err)
		}
		return b.fail(op, object, err)
	}
}

func (b *Bucket) once(ctx context.Context, call func(context.Context) error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	select {
	case b.slots <- struct{}{}:
		defer func() { <-b.slots }()
		return call(ctx)
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// pause waits before the next attempt: Backoff, doubled with each attempt up to MaxBackoff, of which a random half is taken off.
func (b *Bucket) pause(ctx context.Context, attempt int) error {
	d := b.opts.MaxBackoff
	if shift := attempt - 1; shift < 30 && b.opts.Backoff<<shift < d && b.opts.Backoff<<shift > 0 {
		d = b.opts.Backoff << shift
	}
	return wait(ctx, b.opts.Clock, d/2+time.Duration(rand.Int64N(int64(d/2)+1)))
}

func wait(ctx context.Context, clock operator.Clock, d time.Duration) error {
	t := clock.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C():
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// fail names bucket and object.
func (b *Bucket) fail(op, object string, err error) error {
	if absent(err) && !errors.Is(err, ErrNotFound) {
		err = fmt.Errorf("%w: %w", ErrNotFound, err)
	}
	return &Error{Op: op, Bucket: b.opts.Name, Object: object, Err: err, Hint: hint(err)}
}
