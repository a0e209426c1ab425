package checkpoint

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/arkflow-go/arkflow/checkpoint/storage"
)

// Seal implements Store: it writes what changed in the state, the manifest, and last the seal. When it returns nil the epoch is what the
// next execution begins with; after an error it may be or not, unless the error is ErrFenced: then it never will.
func (s *Session) Seal(ctx context.Context, e *Epoch) error {
	if err := s.Err(); err != nil {
		return err
	}
	m, err := compose(e, s.shape, s.claim.Run)
	if err != nil {
		return err
	}
	m.Time = s.opts.Clock.Now().UTC()
	w := s.newWriter(ctx, s.names.Data, &s.pieces)
	next, err := w.write(e, m, s.chains)
	if err != nil {
		return err
	}
	kept, err := s.putManifest(ctx, m)
	if err != nil {
		return err
	}
	if err := s.claims.Check(ctx, s.claim); err != nil {
		return s.noteFence(err)
	}
	if err := s.take(ctx, kept); err != nil {
		return s.noteFence(err)
	}
	s.chains, e.Written = next, w.written+kept.Size
	s.last = max(s.last, e.Number)
	s.sweep(ctx, m)
	return nil
}

// Release implements Store.
func (s *Session) Release(e *Epoch) { e.Close() }

func (s *Session) noteFence(err error) error {
	if errors.Is(err, storage.ErrFenced) {
		s.lose(err)
	}
	return err
}

func (s *Session) putManifest(ctx context.Context, m *Manifest) (storage.Kept, error) {
	data, err := encodeManifest(m)
	if err != nil {
		return storage.Kept{}, err
	}
	k := storage.Kept{Epoch: m.Epoch, Run: m.Run, Name: s.names.Manifest(m.Epoch, m.Run), Size: int64(len(data))}
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
	}
}

// garbage is what a session wrote and no kept epoch refers to.
type garbage struct {
	refs map[string]map[string]bool // by manifest: the names of its segments, of manifests that this session sealed
	own  []string                   // all objects that it wrote and that are still there
	idle map[string]int64           // since when nothing refers to them, in ms
}

// sweep deletes objects of this session that no kept epoch refers to, after the grace period (C9). What it cannot delete it tries again
// after the next epoch; what other sessions left is for Sweep.
func (s *Session) sweep(ctx context.Context, sealed *Manifest) {
	g := &s.garbage
	if g.refs == nil {
		g.refs, g.idle = map[string]map[string]bool{}, map[string]int64{}
	}
	name := s.names.Manifest(sealed.Epoch, sealed.Run)
	refs := map[string]bool{}
	for _, seg := range sealed.segments() {
		refs[seg.Name] = true
	}
	g.refs[name] = refs
	g.own = append(g.own, name, s.names.Seal(s.number))
	live := map[string]bool{s.names.Seal(s.number): true}
	for _, k := range s.kept {
		live[k.Name] = true
		for seg := range g.refs[k.Name] {
			live[seg] = true
		}
	}
	now := s.opts.Clock.Now().UnixMilli()
	rest := g.own[:0]
	for i, o := range g.own {
		switch since, idle := g.idle[o]; {
		case live[o]:
		case !idle:
			g.idle[o] = now
		case now-since >= s.opts.Grace.Milliseconds() && ctx.Err() == nil:
			err := s.bucket.Delete(ctx, o)
			if err == nil {
				delete(g.idle, o)
				delete(g.refs, o)
				continue
			}
			s.opts.Logger.Warn("old object not deleted", "job", s.job, "object", o, "error", err)
			rest = append(rest, g.own[i:]...)
			g.own = rest
			return
		}
		rest = append(rest, o)
	}
	g.own = rest
}

// wrapState names the task whose state could not be written.
func wrapState(operator string, subtask int, err error) error {
	return fmt.Errorf("state of operator %q subtask %d: %w", operator, subtask, err)
}
