package storage

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// Lease is the record that the holder of a claim writes again and again while it is alive (FORMAT.md). It has no time: who waits
// measures by its own clock how long it stays the same.
type Lease struct {
	Job      string `json:"job"`
	Run      int64  `json:"run"`
	Beat     int64  `json:"beat"`               // counts renewals from 1; 0 before the first
	Released bool   `json:"released,omitempty"` // the holder has ended: nobody need wait
	Seals    int64  `json:"seals,omitempty"`    // a seal that is there, as are all after it; older ones may have been deleted
}

// Holder renews the lease of a claim. Safe for concurrent use.
type Holder struct {
	claims *Claims
	claim  Claim

	seals atomic.Int64 // one execution seals, so it only grows; beside mu, so that a slow renewal keeps no seal waiting
	kept  atomic.Int64 // seals as it was last written

	mu   sync.Mutex // held while the record is written, so that renewals are in order
	beat int64
	done bool
}

// Hold gives the holder of a claim that this execution has made.
func (c *Claims) Hold(claim Claim) *Holder { return &Holder{claims: c, claim: claim} }

// Keep notes from which seal on there are all, for the next renewal. It never waits. Numbers grow from call to call.
func (h *Holder) Keep(seals int64) { h.seals.Store(seals) }

// Kept is the seal that the lease names, as it was last written: from it on all must stay, as who begins looks for the latest from there. 0 before the
// first renewal.
func (h *Holder) Kept() int64 { return h.kept.Load() }

// Renew writes the lease with the next beat. After Release it does nothing.
func (h *Holder) Renew(ctx context.Context) error { return h.write(ctx, false) }

// Release tells who waits that the execution has ended. Its claim stays the newest until another is made.
func (h *Holder) Release(ctx context.Context) error { return h.write(ctx, true) }

func (h *Holder) write(ctx context.Context, release bool) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.done {
		return nil
	}
	h.beat++
	seals := h.seals.Load()
	body, err := json.Marshal(Lease{Job: h.claims.job, Run: h.claim.Run, Beat: h.beat, Released: release, Seals: seals})
	if err == nil {
		err = h.claims.bucket.putBytes(ctx, h.claims.names.Lease(h.claim.Run), EncodeRecord(leaseKind, recordVersion, body))
	}
	if err == nil {
		h.kept.Store(seals)
	}
	h.done = release && err == nil
	return h.claims.wrap("renew the lease of a run", err)
}

// Lease reads the lease of a run. One that was never renewed has beat 0.
func (c *Claims) Lease(ctx context.Context, run int64) (Lease, error) {
	lease := Lease{}
	err := c.read(ctx, c.names.Lease(run), leaseKind, &lease)
	switch {
	case errors.Is(err, ErrNotFound):
		return Lease{Job: c.job, Run: run}, nil
	case err == nil && (lease.Job != c.job || lease.Run != run):
		err = c.bucket.fail("read", c.names.Lease(run), &DamagedError{fmt.Sprintf("it is of job %q, run %d", lease.Job, lease.Run)})
	}
	return lease, c.wrap("read the lease of a run", err)
}

// Look is what one who waits has seen of the holder.
type Look struct {
	Began, Ended time.Time // of the calls that read it, by the waiter's clock
	Held         bool      // there is a newest claim
	Lease        Lease     // of its run
}

// Turn decides when one who waits may claim. It is pure; the times of looks must come from one monotonic clock.
type Turn struct {
	// Patience is how long a lease may stay the same before its holder counts as gone.
	Patience time.Duration

	seen  bool
	lease Lease
	since time.Time // the end of the look that saw it first
}

// Step takes a look, and says whether to claim now and why. Time counts from the end of the first look that saw a lease to the beginning
// of the last: a slow call never makes a holder look silent. A look that failed is not given to Step: it says nothing of the holder.
func (t *Turn) Step(l Look) (why string, take bool) {
	switch {
	case !l.Held:
		return "no execution holds the job", true
	case l.Lease.Released:
		return fmt.Sprintf("run %d has released the job", l.Lease.Run), true
	case !t.seen || t.lease != l.Lease:
		t.seen, t.lease, t.since = true, l.Lease, l.Ended
		return "", false
	case l.Began.Sub(t.since) >= t.Patience:
		return fmt.Sprintf("run %d has not renewed its lease for %v", l.Lease.Run, l.Began.Sub(t.since)), true
	}
	return "", false
}

// Standby waits until the turn has come, then claims, and says why it could. It looks at the holder every so often (every > 0). Of
// several who wait one claims; the others go on to wait for that one.
func (c *Claims) Standby(ctx context.Context, owner string, atLeast int64, every, patience time.Duration) (claim Claim, why string, err error) {
	if every <= 0 || patience <= 0 {
		return Claim{}, "", c.wrap("stand by", permanent("looks every %v, patience %v: both must be positive", every, patience))
	}
	if err := c.checkLeast(atLeast); err != nil {
		return Claim{}, "", err
	}
	turn := Turn{Patience: patience}
	for err == nil {
		var look Look
		var last int64
		if look, last, err = c.look(ctx); err != nil {
			break
		}
		if why, take := turn.Step(look); take {
			if claim, _, err = c.attempt(ctx, owner, atLeast, last); err == nil {
				return claim, why, nil
			}
			if !errors.Is(err, ErrExists) {
				break
			}
		}
		err = wait(ctx, c.bucket.opts.Clock, every)
	}
	return Claim{}, "", c.wrap("stand by", err)
}

// look reads the newest claim and its lease.
func (c *Claims) look(ctx context.Context) (l Look, last int64, err error) {
	l.Began = c.bucket.opts.Clock.Now()
	last, newest, err := c.newest(ctx)
	if err == nil && newest != nil {
		l.Held = true
		l.Lease, err = c.Lease(ctx, newest.Run)
	}
	l.Ended = c.bucket.opts.Clock.Now()
	return l, last, err
}
