package checkpoint

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/arkflow-go/arkflow/checkpoint/storage"
	"github.com/stretchr/testify/require"
	"gocloud.dev/blob/memblob"
)

// again is an execution that ends after an epoch, and is followed by another of the same start.
type again struct {
	*execution
	start  *Start
	runs   []int64
	backed bool // the second has begun
}

func (x *again) run(t *testing.T) {
	x.opts.Start = x.start
	for x.backed = false; ; x.backed = true {
		x.epochs, x.session = 1, nil
		x.err = x.live(t.Context())
		if x.session != nil {
			x.runs = append(x.runs, x.session.Run())
		}
		if x.err != nil || x.backed {
			break
		}
	}
	x.done = true
}

// restartBeside runs an execution that is restarted beside another one of the job: the first makes i calls, the other j, then the first all.
func restartBeside(t *testing.T, i, j int, first, other OnClaimed) (made map[string]int, x, y *again) {
	inner := memblob.OpenBucket(nil)
	defer inner.Close()
	g := &gate{inner: inner, dead: map[string]bool{}}
	w := newWorld()
	alive := func() bool { return false }
	x = &again{execution: &execution{who: "first", world: w, bucket: g.bucket("first"), dead: alive, opts: Options{OnClaimed: first}}, start: new(Start)}
	y = &again{execution: &execution{who: "other", world: w, bucket: g.bucket("other"), dead: alive, opts: Options{OnClaimed: other}}, start: new(Start)}
	go x.run(t)
	go y.run(t)
	made = map[string]int{}
	for idle := 0; ; {
		synctest.Wait()
		if x.done && y.done {
			break
		}
		pending := g.pending()
		if len(pending) == 0 { // somebody waits for the clock
			idle++
			require.Less(t, idle, 1000, "nothing happens any more")
			<-time.After(time.Second)
			continue
		}
		g.letTurn("first", "other", i, j, made, pending)
	}
	w.settle(t, inner)
	require.NoError(t, x.bucket.Close())
	require.NoError(t, y.bucket.Close())
	return made, x, y
}

// E7, C4: an execution and its restart, beside another that does the same, taking turns at every pair of moments. Neither comes back once the
// other has claimed a run: of the four runs that there are at most, those of one start follow each other.
func TestE7NoRestartTakesTheJobBackAtAnyPairOfMoments(t *testing.T) {
	var total map[string]int
	synctest.Test(t, func(t *testing.T) { total, _, _ = restartBeside(t, 1<<30, 0, TakeOver, TakeOver) })
	require.Greater(t, total["first"], 30)
	runs, refused := 0, map[string]int{}
	for i := 0; i <= total["first"]; i++ {
		for j := 1 + i*4%11; j <= total["other"]; j += 11 { // every eleventh pair: each i with others
			synctest.Test(t, func(t *testing.T) {
				_, x, y := restartBeside(t, i, j, TakeOver, TakeOver)
				for _, z := range []*again{x, y} {
					if len(z.runs) == 2 {
						require.Equal(t, z.runs[0]+1, z.runs[1], "%s at %d, %d", z.who, i, j)
					}
					if z.err != nil {
						require.ErrorIs(t, z.err, storage.ErrFenced)
						if z.backed {
							refused[z.who]++
						}
					}
				}
				require.True(t, x.err == nil || y.err == nil, "one of both goes on")
			})
			runs++
		}
	}
	t.Logf("%d runs, restarts that were refused: %v", runs, refused)
	require.Positive(t, refused["first"])
}

// E7, C4: with Standby both come to their end, whoever has the job when: a restart waits.
func TestE7RestartsStandByAtAnyPairOfMoments(t *testing.T) {
	var total map[string]int
	synctest.Test(t, func(t *testing.T) { total, _, _ = restartBeside(t, 1<<30, 0, Standby, Standby) })
	waited := 0
	for i := 0; i <= total["first"]; i++ {
		for j := 1 + i*4%11; j <= 40; j += 11 {
			synctest.Test(t, func(t *testing.T) {
				_, x, y := restartBeside(t, i, j, Standby, Standby)
				require.NoError(t, x.err)
				require.NoError(t, y.err)
				require.Len(t, x.runs, 2)
				require.Len(t, y.runs, 2)
				if x.runs[1] > x.runs[0]+1 {
					waited++
				}
			})
		}
	}
	require.Positive(t, waited)
}

// E7, C4: with Standby a restart does not wait for its own lease to run out, where that could not be given back.
func TestE7ARestartDoesNotWaitForItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		inner := memblob.OpenBucket(nil)
		defer inner.Close()
		g := &gate{inner: inner, dead: map[string]bool{}, open: pass}
		bucket := g.bucket("one")
		defer bucket.Close()
		opts := Options{OnClaimed: Standby, Start: new(Start)}
		s, err := Open(t.Context(), bucket, booksJob, opts)
		require.NoError(t, err)
		g.decide(func(*call) verdict { return verdict{before: permanentErr{errFlaky}} })
		require.Error(t, s.Close(t.Context()))
		g.decide(pass)
		began := time.Now()
		s, err = Open(t.Context(), bucket, booksJob, opts)
		require.NoError(t, err)
		require.Zero(t, time.Since(began))
		require.EqualValues(t, 2, s.Run())
		require.NoError(t, s.Close(t.Context()))
	})
}

// E7, C3: an Open that fails when it has claimed a run is one of the start all the same, also where nobody knows whether it has.
func TestE7AStartThatFailsBehindItsClaimIsNotItsOwnRival(t *testing.T) {
	for name, lost := range map[string]verdict{"behind the claim": {}, "the reply of the claim is lost": {after: permanentErr{errFlaky}}, "the claim is not made": {before: permanentErr{errFlaky}}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				inner := memblob.OpenBucket(nil)
				defer inner.Close()
				g := &gate{inner: inner, dead: map[string]bool{}, open: pass}
				bucket := g.bucket("one")
				defer bucket.Close()
				opts := Options{Start: new(Start)}
				s, err := Open(t.Context(), bucket, booksJob, opts)
				require.NoError(t, err)
				require.NoError(t, s.Close(t.Context()))
				claim := s.names.Claim(2)
				g.decide(func(c *call) verdict {
					switch {
					case c.key == claim && c.op == "write":
						return lost
					case c.op == "write":
						return verdict{before: permanentErr{errFlaky}}
					}
					return verdict{}
				})
				_, err = Open(t.Context(), bucket, booksJob, opts)
				require.ErrorIs(t, err, errFlaky)
				g.decide(pass)
				s, err = Open(t.Context(), bucket, booksJob, opts)
				require.NoError(t, err)
				require.Contains(t, []int64{2, 3}, s.Run())
				require.NoError(t, s.Close(t.Context()))

				other, err := Open(t.Context(), bucket, booksJob, Options{})
				require.NoError(t, err)
				defer func() { require.NoError(t, other.Close(t.Context())) }()
				_, err = Open(t.Context(), bucket, booksJob, opts)
				require.ErrorIs(t, err, storage.ErrFenced)
				require.NoError(t, other.claims.Check(t.Context(), other.claim), "who is refused claims nothing")
			})
		})
	}
}
