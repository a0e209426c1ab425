package checkpoint

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/arkflow-go/arkflow/checkpoint/storage"
	"github.com/arkflow-go/arkflow/state"
)

// Seal implements Store: it writes what changed in the state, the manifest, and last the seal. When it returns nil the epoch is what the
// next execution begins with; after an error it may be or not. After ErrFenced it is for the newer execution alone to commit it, if it was sealed.
func (s *Session) Seal(ctx context.Context, e *Epoch) error {
	if err := s.Err(); err != nil {
		return err
	}
	m, err := compose(e, s.shape, s.claim.Run)
	if err != nil {
		return err
	}
	m.Time = s.opts.Clock.Now().UTC()
	w := newStateWriter(ctx, s.bucket, func(n int64) string { return s.names.Data(s.claim.Run, n) }, &s.pieces)
	defer func() { s.garbage.wrote(w.names) }()
	next, err := w.write(e, m, s.chains)
	if err != nil {
		return err
	}
	name := s.names.Manifest(m.Epoch, m.Run)
	w.names = append(w.names, name)
	s.garbage.refer(name, m)
	kept, err := s.putManifest(ctx, name, m)
	if err != nil {
		return err
	}
	asked := s.opts.Clock.Now()
	if err := s.claims.Check(ctx, s.claim); err != nil {
		return s.noteFence(err)
	}
	s.garbage.doubt(name) // the reply may be lost
	if err := s.take(ctx, kept); err != nil {
		return s.noteFence(err)
	}
	if s.opts.Clock.Now().Sub(asked) >= stalled { // so long that a seal of a newer execution may have come and gone
		if err := s.claims.Check(ctx, s.claim); err != nil {
			return s.noteFence(err)
		}
	}
	w.names = append(w.names, s.names.Seal(s.number))
	s.garbage.keep(s.names.Seal(s.number), s.kept)
	s.chains, e.Written = next, w.written+kept.Size
	s.last = max(s.last, e.Number)
	return nil
}

// Latest gives the last epoch that the session sealed, as the next execution reads it; its state is read while ctx lasts.
func (s *Session) Latest(ctx context.Context) (*Epoch, error) {
	if len(s.kept) == 0 {
		return nil, nil
	}
	m, err := loadKept(ctx, s.bucket, s.job, s.kept[0])
	if err != nil {
		return nil, err
	}
	return m.restore(func(o *OperatorRecord, subtask int) state.Saved {
		return &stored{ctx: ctx, bucket: s.bucket, task: &o.Tasks[subtask], progress: new(Progress), job: s.job, clock: s.opts.Clock, log: s.opts.Logger}
	})
}

// Release implements Store. It deletes objects that have not been needed for the grace period.
func (s *Session) Release(ctx context.Context, e *Epoch) {
	e.Close()
	s.sweep(ctx)
}

func (s *Session) noteFence(err error) error {
	if errors.Is(err, storage.ErrFenced) {
		s.lose(err)
	}
	return err
}

func (s *Session) putManifest(ctx context.Context, name string, m *Manifest) (storage.Kept, error) {
	data, err := encodeManifest(m)
	if err != nil {
		return storage.Kept{}, err
	}
	k := storage.Kept{Epoch: m.Epoch, Run: m.Run, Name: name, Size: int64(len(data))}
	o := storage.ObjectOf(k.Name, data)
	k.SHA = hex.EncodeToString(o.SHA256[:])
	return k, s.bucket.PutIfAbsent(ctx, k.Name, data)
}

// take takes the next seal for a manifest. A seal of this very run that stands there already is one whose reply was lost.
func (s *Session) take(ctx context.Context, k storage.Kept) error {
	for {
		kept := append([]storage.Kept{k}, s.kept...)
		kept = kept[:min(len(kept), s.opts.Keep)]
		err := s.seals.Take(ctx, storage.Seal{Number: s.number + 1, Run: s.claim.Run, Kept: kept})
		if err == nil {
			s.number, s.kept = s.number+1, kept
			s.holder.Keep(s.number)
			return nil
		}
		if !errors.Is(err, storage.ErrExists) {
			return err
		}
		there, err := s.seals.Load(ctx, s.number+1)
		if err != nil {
			return err
		}
		if there.Run != s.claim.Run {
			return &storage.FencedError{Job: s.job, Run: s.claim.Run, By: there.Run}
		}
		s.number, s.kept = there.Number, there.Kept
		s.garbage.wrote([]string{s.names.Seal(s.number)})
	}
}

// wrapState names the task whose state could not be written.
func wrapState(operator string, subtask int, err error) error {
	return fmt.Errorf("state of operator %q subtask %d: %w", operator, subtask, err)
}
