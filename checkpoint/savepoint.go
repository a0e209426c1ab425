package checkpoint

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/arkflow-go/arkflow/checkpoint/storage"
)

// A savepoint is a folder of its own: everything that it refers to lies in it, under names that do not depend on where the folder is.
const (
	savepointManifest = "savepoint/manifest"
	savepointPieces   = "savepoint/piece"
	maxManifestBytes  = 256 << 20
)

// WriteSavepoint writes a whole epoch to a place of its own, which nothing deletes again. One that is there already is not touched: the
// error is storage.ErrExists. The states of the epoch stay open: it must be Shared.
func WriteSavepoint(ctx context.Context, url string, shape Shape, e *Epoch, run int64, opts storage.Options) (err error) {
	blob, err := storage.OpenURL(ctx, url)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, blob.Close()) }()
	opts.Name = storage.HideSecrets(url)
	b, err := storage.Open(ctx, blob, opts)
	if err != nil {
		return err
	}
	there, err := b.Exists(ctx, savepointManifest)
	if err == nil && there {
		err = storage.ErrExists
	}
	if err != nil {
		return savepointError(opts.Name, err)
	}
	m, err := compose(e, shape, run)
	if err != nil {
		return err
	}
	m.Time = opts.WithDefaults().Clock.Now().UTC()
	prefix := fmt.Sprintf("%s/%s", savepointPieces, storage.Token()) // what an attempt that failed left is not in the way
	w := newStateWriter(ctx, b, func(n int64) string { return fmt.Sprintf("%s/%019d", prefix, n) }, new(atomic.Int64))
	if _, err = w.write(e, m, nil); err != nil {
		return savepointError(opts.Name, err)
	}
	data, err := encodeManifest(m)
	if err == nil {
		err = b.PutIfAbsent(ctx, savepointManifest, data)
	}
	return savepointError(opts.Name, err)
}

func savepointError(url string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, storage.ErrExists):
		return fmt.Errorf("savepoint %q: %w: give another URL", url, err)
	}
	return fmt.Errorf("savepoint %q: %w", url, err)
}

// chooseSavepoint begins with a savepoint.
func (s *Session) chooseSavepoint(ctx context.Context) error {
	blob, err := storage.OpenURL(ctx, s.opts.Savepoint)
	if err != nil {
		return err
	}
	s.close = blob.Close
	o := s.opts.Storage
	o.Name = storage.HideSecrets(s.opts.Savepoint)
	b, err := storage.Open(ctx, blob, o)
	if err != nil {
		return err
	}
	m, _, err := readSavepoint(ctx, b)
	if err != nil {
		return savepointError(o.Name, err)
	}
	s.begin, s.saved = m, b
	s.last = max(s.last, m.Epoch)
	return nil
}

// readSavepoint gives the manifest of a savepoint, and its size.
func readSavepoint(ctx context.Context, b *storage.Bucket) (*Manifest, int64, error) {
	data, err := b.Read(ctx, savepointManifest, maxManifestBytes)
	if errors.Is(err, storage.ErrNotFound) {
		return nil, 0, fmt.Errorf("there is no savepoint: %w", err)
	}
	if err != nil {
		return nil, 0, err
	}
	m, err := decodeManifest(data)
	return m, int64(len(data)), err
}
