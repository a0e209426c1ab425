package checkpoint

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/arkflow-go/arkflow/checkpoint/storage"
)

// garbage is what a session wrote and deletes again once no kept epoch refers to it (C9). It knows nothing of what other sessions wrote:
// that is for Sweep. Safe for concurrent use.
type garbage struct {
	mu   sync.Mutex
	refs map[string][]string // by manifest of this session: the segments that it refers to
	own  []string            // objects of epochs that are written, or were given up, in order
	idle map[string]int64    // since when no kept epoch refers to them, in ms
	live map[string]bool     // what the last seal keeps, and what one keeps that may have been taken
}

func newGarbage() *garbage {
	return &garbage{refs: map[string][]string{}, idle: map[string]int64{}, live: map[string]bool{}}
}

// wrote notes the objects of an epoch whose writing has ended, well or not.
func (g *garbage) wrote(objects []string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.own = append(g.own, objects...)
}

// refer notes what a manifest refers to, before it can be sealed.
func (g *garbage) refer(manifest string, m *Manifest) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, s := range m.segments() {
		g.refs[manifest] = append(g.refs[manifest], s.Name)
	}
}

// keep notes what is kept from now on.
func (g *garbage) keep(seal string, kept []storage.Kept) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.live = map[string]bool{seal: true}
	for _, k := range kept {
		g.needs(k.Name)
	}
}

// doubt notes that a manifest may be kept from now on: until the next seal nobody but the bucket knows.
func (g *garbage) doubt(manifest string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.needs(manifest)
}

func (g *garbage) needs(manifest string) {
	g.live[manifest] = true
	for _, s := range g.refs[manifest] {
		g.live[s] = true
	}
}

// due gives the objects that have been idle for the grace period.
func (g *garbage) due(now, grace int64) (out []string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, o := range g.own {
		since, idle := g.idle[o]
		switch {
		case g.live[o]:
			delete(g.idle, o) // of an epoch whose seal is in doubt, or was
		case !idle:
			g.idle[o] = now
		case now-since >= grace:
			out = append(out, o)
		}
	}
	return out
}

// gone notes that objects were deleted.
func (g *garbage) gone(objects map[string]bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	rest := g.own[:0]
	for _, o := range g.own {
		if objects[o] {
			delete(g.idle, o)
			delete(g.refs, o)
			continue
		}
		rest = append(rest, o)
	}
	g.own = rest
}

// sweep deletes what is due, some objects at a time, unless that is being done already. What it does not delete is for the next epoch.
func (s *Session) sweep(ctx context.Context) {
	if !s.sweeping.TryLock() {
		return
	}
	defer s.sweeping.Unlock()
	var deletes sync.WaitGroup
	var mu sync.Mutex // guards gone
	gone, failed := map[string]bool{}, atomic.Bool{}
	slots := make(chan struct{}, uploadsAtATime)
	least := s.holder.Kept() // the seal from which who begins looks for the latest one
	for _, o := range s.garbage.due(s.opts.Clock.Now().UnixMilli(), s.opts.Grace.Milliseconds()) {
		if n := s.names.Numbers(o); len(n) == 1 && n[0] >= least { // of what a session writes only seals have one number
			continue
		}
		slots <- struct{}{}
		if failed.Load() {
			break
		}
		deletes.Go(func() {
			defer func() { <-slots }()
			if err := s.bucket.Delete(ctx, o); err != nil {
				if !failed.Swap(true) && ctx.Err() == nil {
					s.opts.Logger.Warn("old object not deleted", "job", s.job, "object", o, "error", err)
				}
				return
			}
			mu.Lock()
			defer mu.Unlock()
			gone[o] = true
		})
	}
	deletes.Wait()
	s.garbage.gone(gone)
}
