package storage

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"gocloud.dev/blob"
	"gocloud.dev/blob/memblob"
	"pgregory.net/rapid"
)

func claim(t *testing.T, b *Bucket, atLeast int64) Claim {
	c, err := NewClaims(b, "orders").Claim(t.Context(), "host", atLeast)
	require.NoError(t, err)
	return c
}

// Numbers grow whatever comes between: records that are deleted (but the newest), numbers known from elsewhere, lost replies, calls that
// are given up. Whoever held before is fenced.
func TestClaimsGrowUnderDeletesAndFaults(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		f := &faulty{inner: memblob.OpenBucket(nil)}
		opts := quick
		opts.Attempts = 3
		b, err := Open(t.Context(), blob.NewBucket(f), opts)
		require.NoError(rt, err)
		used := map[int64]bool{}
		var last Claim
		for range rapid.IntRange(1, 25).Draw(rt, "steps") {
			claims := NewClaims(b, "orders") // another process
			switch rapid.SampledFrom([]string{"claim", "claim", "claim", "at least", "delete", "faults"}).Draw(rt, "step") {
			case "claim":
				c, err := claims.Claim(t.Context(), "host", 0)
				require.NoError(rt, err)
				require.Greater(rt, c.Run, last.Run)
				require.False(rt, used[c.Run])
				used[c.Run] = true
				if last.Run > 0 {
					require.ErrorIs(rt, claims.Check(t.Context(), last), ErrFenced)
				}
				require.NoError(rt, claims.Check(t.Context(), c))
				last = c
			case "at least":
				least := last.Run + rapid.Int64Range(-2, 1000).Draw(rt, "at least")
				c, err := claims.Claim(t.Context(), "host", max(0, least))
				require.NoError(rt, err)
				require.Greater(rt, c.Run, max(last.Run, least))
				if last.Run > 0 {
					require.ErrorIs(rt, claims.Check(t.Context(), last), ErrFenced)
				}
				used[c.Run], last = true, c
			case "delete":
				if run := rapid.Int64Range(1, max(1, last.Run)).Draw(rt, "run"); run < last.Run {
					require.NoError(rt, b.Delete(t.Context(), claims.Names().Claim(run)))
				}
			case "faults":
				seed := rapid.Uint64().Draw(rt, "seed")
				f.plan = func(op, _ string) fault {
					seed = seed*6364136223846793005 + 1442695040888963407
					if op == "list" || seed>>33%2 == 0 {
						return fault{}
					}
					return []fault{{before: errFlaky}, {after: errFlaky}}[seed>>40%2]
				}
				if c, err := claims.Claim(t.Context(), "host", 0); err == nil {
					require.Greater(rt, c.Run, last.Run)
					used[c.Run], last = true, c
				}
				f.plan = nil
			}
		}
	})
}

// A number that was set aside for a claim that never came is not used, and whoever held before is fenced all the same.
func TestAClaimantThatDiesAfterSettingNumbersAside(t *testing.T) {
	f, b := open(t, quick)
	old := claim(t, b, 0)
	closes := 0
	f.plan = func(op, _ string) fault {
		if op == "close" {
			if closes++; closes > 1 {
				return fault{before: permanent("killed")}
			}
		}
		return fault{}
	}
	claims := NewClaims(b, "orders")
	_, err := claims.Claim(t.Context(), "host", 41)
	require.ErrorContains(t, err, "killed")
	f.plan = nil
	require.ErrorIs(t, claims.Check(t.Context(), old), ErrFenced)
	_, held, err := claims.Latest(t.Context())
	require.NoError(t, err)
	require.False(t, held)
	require.EqualValues(t, 42, claim(t, b, 0).Run)
	require.EqualValues(t, 43, claim(t, b, 41).Run)
}

func TestClaimsRefuseWhatTheyDoNotUnderstand(t *testing.T) {
	_, b := open(t, quick)
	claims := NewClaims(b, "orders")
	_, err := claims.Claim(t.Context(), "host", -1)
	require.ErrorContains(t, err, `job "orders": claim a run: atLeast is -1`)
	_, err = claims.Claim(t.Context(), "host", 1<<62+1)
	require.Error(t, err)
	for body, want := range map[string]string{
		string(EncodeRecord("claim", 2, []byte(`{}`))):                                "format version 2",
		string(EncodeRecord("claim", 1, []byte(`{`))):                                 "damaged object",
		string(EncodeRecord("claim", 1, []byte(`{"job":"x","run":1}`))):               `it is of job "x", run 1`,
		string(EncodeRecord("claim", 1, []byte(`{"job":"orders","run":2}`))):          `it is of job "orders", run 2`,
		string(EncodeRecord("claim", 1, []byte(`{"job":"orders","run":1,"next":1}`))): "claim 1 sends on to 1",
		"": "damaged object",
	} {
		put(t, b, claims.Names().Claim(1), body)
		_, err := NewClaims(b, "orders").Claim(t.Context(), "host", 0)
		require.ErrorContains(t, err, want)
		_, _, err = NewClaims(b, "orders").Latest(t.Context())
		require.ErrorContains(t, err, want)
	}
}

// C4, B39: silence is measured by the clock of who waits, between calls of its own; no time that somebody else wrote is looked at.
func TestATurnComesByReleaseOrSilence(t *testing.T) {
	at := func(s float64) time.Time { return time.Unix(0, int64(s*1e9)) }
	look := func(began, ended float64, beat int64) Look {
		return Look{Began: at(began), Ended: at(ended), Held: true, Lease: Lease{Run: 3, Beat: beat}}
	}
	type step struct {
		look Look
		want string // "": wait
	}
	other := look(30, 31, 1)
	other.Lease.Run = 4
	released := look(5, 6, 2)
	released.Lease.Released = true
	for name, steps := range map[string][]step{
		"nobody holds":                    {{Look{}, "no execution holds the job"}},
		"released":                        {{look(0, 1, 1), ""}, {released, "run 3 has released the job"}},
		"silent":                          {{look(0, 1, 1), ""}, {look(5, 6, 1), ""}, {look(11, 12, 1), "run 3 has not renewed its lease for 10s"}},
		"never renewed":                   {{look(0, 1, 0), ""}, {look(10.9, 11, 0), ""}, {look(12, 12, 0), "run 3 has not renewed its lease for 11s"}},
		"alive":                           {{look(0, 1, 1), ""}, {look(10, 11, 2), ""}, {look(20, 21, 3), ""}, {look(30, 31, 4), ""}},
		"a slow look is no silence":       {{look(0, 20, 1), ""}, {look(21, 50, 1), ""}, {look(51, 51, 1), "run 3 has not renewed its lease for 31s"}},
		"another took over":               {{look(0, 1, 1), ""}, {other, ""}},
		"failed looks are no evidence":    {{look(0, 1, 1), ""}, {look(30, 31, 2), ""}},
		"a beat that goes back is a life": {{look(0, 1, 2), ""}, {look(11, 12, 1), ""}},
	} {
		turn := Turn{Patience: 10 * time.Second}
		for i, s := range steps {
			why, take := turn.Step(s.look)
			require.Equal(t, s.want, why, "%s, step %d", name, i)
			require.Equal(t, s.want != "", take)
		}
	}
}

// C4: of three that wait, one takes over 10 s after the holder's last beat, the next when that one releases.
func TestStandbyTakesOverOneByOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, b := open(t, Options{})
		began := time.Now()
		claims := NewClaims(b, "orders")
		first := claims.Hold(claim(t, b, 0))
		type taken struct {
			claim Claim
			why   string
			after time.Duration
		}
		got := make(chan taken, 3)
		for i := range 3 {
			go func() {
				c, why, err := NewClaims(b, "orders").Standby(t.Context(), fmt.Sprint(i), 0, time.Second, 10*time.Second)
				if err != nil {
					t.Error(err)
				}
				got <- taken{c, why, time.Since(began)}
			}()
		}
		for range 10 {
			time.Sleep(3 * time.Second)
			require.NoError(t, first.Renew(t.Context()))
		}
		require.Empty(t, got)
		second := <-got
		require.EqualValues(t, 2, second.claim.Run)
		require.Equal(t, "run 1 has not renewed its lease for 10s", second.why)
		require.InDelta(t, 40, second.after.Seconds(), 2)
		require.ErrorIs(t, claims.Check(t.Context(), first.claim), ErrFenced)

		holder := claims.Hold(second.claim)
		require.NoError(t, holder.Renew(t.Context()))
		time.Sleep(5 * time.Second)
		require.NoError(t, holder.Release(t.Context()))
		require.NoError(t, holder.Release(t.Context()))
		require.NoError(t, holder.Renew(t.Context()), "does nothing any more")
		third := <-got
		require.EqualValues(t, 3, third.claim.Run)
		require.Equal(t, "run 2 has released the job", third.why)
		require.NoError(t, claims.Check(t.Context(), third.claim))
		require.NoError(t, claims.Hold(third.claim).Release(t.Context()))
		require.EqualValues(t, 4, (<-got).claim.Run)
	})
}

func TestStandbyEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, b := open(t, Options{})
		claims := NewClaims(b, "orders")
		claim(t, b, 0)
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, errors.New("the service ends"))
		defer cancel()
		_, _, err := claims.Standby(ctx, "host", 0, time.Minute, time.Hour)
		require.ErrorContains(t, err, `job "orders": stand by: the service ends`)
		f.plan = func(string, string) fault { return fault{before: permanent("gone")} }
		_, _, err = claims.Standby(t.Context(), "host", 0, time.Minute, time.Hour)
		require.ErrorContains(t, err, "gone")
		_, _, err = claims.Standby(t.Context(), "host", 0, 0, time.Hour)
		require.ErrorContains(t, err, "both must be positive")
		_, _, err = claims.Standby(t.Context(), "host", -1, time.Minute, time.Hour)
		require.ErrorContains(t, err, "atLeast is -1")
	})
}

func TestALeaseOfAnotherIsRefused(t *testing.T) {
	_, b := open(t, quick)
	claims := NewClaims(b, "orders")
	lease, err := claims.Lease(t.Context(), 3)
	require.NoError(t, err)
	require.Equal(t, Lease{Job: "orders", Run: 3}, lease)
	put(t, b, claims.Names().Lease(3), string(EncodeRecord("lease", 1, []byte(`{"job":"x","run":3,"beat":1}`))))
	_, err = claims.Lease(t.Context(), 3)
	require.ErrorContains(t, err, `it is of job "x", run 3`)
}

// A renewal that the bucket does not answer keeps no seal waiting: the epoch is sealed, and its limit could not end the wait.
func TestASlowRenewalDoesNotKeepSealsWaiting(t *testing.T) {
	f, b := open(t, Options{})
	h := NewClaims(b, "orders").Hold(claim(t, b, 0))
	writing := make(chan struct{}, 1)
	f.mu.Lock()
	f.plan = func(op, _ string) fault {
		if op != "close" {
			return fault{}
		}
		writing <- struct{}{}
		return fault{delay: time.Hour}
	}
	f.mu.Unlock()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	renewed := make(chan error, 1)
	go func() { renewed <- h.Renew(ctx) }()
	<-writing
	h.Keep(7)
	require.Empty(t, renewed, "Keep has not waited")
	cancel()
	require.ErrorIs(t, <-renewed, context.Canceled)

	f.mu.Lock()
	f.plan = nil
	f.mu.Unlock()
	require.NoError(t, h.Renew(t.Context()))
	lease, err := NewClaims(b, "orders").Lease(t.Context(), 1)
	require.NoError(t, err)
	require.Equal(t, int64(7), lease.Seals)
}

// E7, C4: who goes on from a claim of its own gets the number after it, or is told who has the job: nothing is claimed then.
func TestNextClaimsBehindItsOwnStartAlone(t *testing.T) {
	_, b := open(t, quick)
	claims := func() *Claims { return NewClaims(b, "orders") } // each time another process
	first := claim(t, b, 0)
	second, err := claims().Next(t.Context(), first, 1)
	require.NoError(t, err)
	require.EqualValues(t, 2, second.Run)
	require.Equal(t, "host", second.Owner)
	third, err := claims().Next(t.Context(), first, 0) // it did not learn of the second
	require.NoError(t, err)
	require.EqualValues(t, 3, third.Run)
	fourth, err := claims().Next(t.Context(), second, 3)
	require.NoError(t, err)
	require.EqualValues(t, 4, fourth.Run)
	require.ErrorIs(t, claims().Check(t.Context(), third), ErrFenced)

	refused := func(last Claim, atLeast int64, want string) {
		t.Helper()
		_, err := claims().Next(t.Context(), last, atLeast)
		require.ErrorIs(t, err, ErrFenced)
		require.ErrorContains(t, err, want)
	}
	refused(fourth, 9, "run 4: run 9: a newer execution") // a lease tells of it
	_, err = claims().Next(t.Context(), fourth, -1)
	require.ErrorContains(t, err, "atLeast is -1")

	other := claim(t, b, 0)
	require.EqualValues(t, 5, other.Run)
	for _, last := range []Claim{first, second, fourth} {
		refused(last, 0, fmt.Sprintf("run %d: run 5 (host): a newer execution", last.Run))
	}
	require.NoError(t, claims().Check(t.Context(), other))
	sixth, err := claims().Next(t.Context(), other, 0)
	require.NoError(t, err)
	require.EqualValues(t, 6, sixth.Run)

	aside := claim(t, b, 40) // 7 sends on to 41
	require.EqualValues(t, 41, aside.Run)
	refused(sixth, 0, "run 6: run 41 (host): a newer execution")
	require.NoError(t, b.Delete(t.Context(), claims().Names().Claim(41)))
	refused(sixth, 0, "run 6: run 40: a newer execution")
	refused(aside, 0, "run 41: its claim was removed or replaced")
	body := fmt.Sprintf(`{"job":"orders","run":41,"token":%q}`, token())
	put(t, b, claims().Names().Claim(41), string(EncodeRecord("claim", 1, []byte(body))))
	refused(aside, 0, "run 41: its claim was removed or replaced")
}

// E7: of many that go on from the same claim, and others that claim afresh, each gets a number of its own; once one has claimed afresh no number
// is given to those who go on.
func TestNextBesideClaims(t *testing.T) {
	for range 20 {
		_, b := open(t, quick)
		first := claim(t, b, 0)
		got := make(chan Claim, 32)
		var all sync.WaitGroup
		for i := range 16 {
			all.Go(func() {
				claims := NewClaims(b, "orders")
				c, err := claims.Next(t.Context(), first, 0)
				if i%8 == 7 {
					c, err = claims.Claim(t.Context(), "other", 0)
				}
				if err == nil {
					got <- c
				}
			})
		}
		all.Wait()
		close(got)
		byRun, fresh := map[int64]Claim{}, int64(0)
		for c := range got {
			require.NotContains(t, byRun, c.Run)
			byRun[c.Run] = c
			if c.Owner == "other" && (fresh == 0 || c.Run < fresh) {
				fresh = c.Run
			}
		}
		require.Positive(t, fresh)
		for run, c := range byRun {
			require.False(t, run > fresh && c.Owner != "other", "run %d after the fresh run %d", run, fresh)
		}
	}
}
