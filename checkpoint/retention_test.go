package checkpoint

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/arkflow-go/arkflow/checkpoint/storage"
	"github.com/stretchr/testify/require"
	"gocloud.dev/blob"
	"gocloud.dev/blob/driver"
	"gocloud.dev/blob/memblob"
	"pgregory.net/rapid"
)

// objects gives all objects of a bucket by name.
func objects(t testing.TB, b *blob.Bucket) map[string]string {
	out := map[string]string{}
	for it := b.List(nil); ; {
		o, err := it.Next(t.Context())
		if err != nil {
			return out
		}
		data, err := b.ReadAll(t.Context(), o.Key)
		require.NoError(t, err)
		out[o.Key] = string(data)
	}
}

// keeper seals epochs of the job, one after the other, as a session allows.
type keeper struct {
	t       testing.TB
	gate    *gate
	session *Session
	books   *books
	number  int64
	closed  int
}

func openKeeper(t testing.TB, g *gate, opts Options) *keeper {
	s, err := Open(t.Context(), g.bucket("x"), booksJob, opts)
	require.NoError(t, err)
	e, err := s.Epoch(t.Context())
	require.NoError(t, err)
	require.NoError(t, s.Fit(booksShape()))
	b, err := readBooks(e)
	require.NoError(t, err)
	return &keeper{t: t, gate: g, session: s, books: b, number: s.LastEpoch()}
}

func (k *keeper) seal(ctx context.Context) error {
	k.number++
	k.books.add(4)
	e := k.books.epoch(k.number, nil, &k.closed)
	defer k.session.Release(ctx, e)
	return k.session.Seal(ctx, e)
}

// requireWhole says that every epoch that the latest seal keeps is whole, and gives their numbers.
func requireWhole(t testing.TB, b *blob.Bucket, keep int) (epochs []int64) {
	bucket, err := storage.Open(t.Context(), b, storage.Options{})
	require.NoError(t, err)
	seal, err := storage.NewSeals(bucket, booksJob).Latest(t.Context(), 100)
	require.NoError(t, err)
	require.LessOrEqual(t, len(seal.Kept), keep)
	for _, k := range seal.Kept {
		m, err := loadKept(t.Context(), bucket, booksJob, k)
		require.NoError(t, err)
		for _, seg := range m.segments() {
			o := storage.Object{Name: seg.Name, Size: seg.Size}
			require.NoError(t, o.SetSHA(seg.SHA))
			_, err := bucket.Get(t.Context(), o)
			require.NoError(t, err, "epoch %d", k.Epoch)
		}
		epochs = append(epochs, k.Epoch)
	}
	return epochs
}

// C9, B20, B84: whatever calls fail or lose their replies, and however soon what is old goes: every object that a kept manifest refers to is there, those
// of other runs and of others are never touched, and what failed epochs left goes.
func TestC9NothingThatIsKeptIsEverDeleted(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		synctest.Test(t, func(t *testing.T) {
			inner := memblob.OpenBucket(nil)
			defer inner.Close()
			foreign := map[string]string{"other": "1", storage.NamesOf("another").Data(1, 1): "2", storage.NamesOf(booksJob).Root() + "/piece/notes.txt": "3"}
			for name, text := range foreign {
				require.NoError(t, inner.WriteAll(t.Context(), name, []byte(text), nil))
			}
			keep := rapid.IntRange(1, 3).Draw(r, "keep")
			opts := Options{Keep: keep, Grace: time.Duration(rapid.SampledFrom([]int{1, 5000}).Draw(r, "grace")) * time.Millisecond}
			g := &gate{inner: inner, dead: map[string]bool{}, open: pass}
			own := func(run int64) (out map[string]string) {
				out = objects(t, inner)
				maps.DeleteFunc(out, func(name, _ string) bool {
					n := storage.NamesOf(booksJob).Numbers(name)
					mine := len(n) > 0 && n[len(n)-1] == run && strings.Contains(name, "/epoch/") || len(n) == 2 && n[0] == run && strings.Contains(name, "/piece/")
					return !mine
				})
				return out
			}
			var k *keeper
			ended := map[int64]map[string]string{} // what runs that have ended left
			sealed := int64(0)
			for range rapid.IntRange(1, 14).Draw(r, "steps") {
				if k == nil {
					k = openKeeper(t, g, opts)
					require.GreaterOrEqual(t, k.session.LastEpoch(), sealed)
				}
				switch what := rapid.IntRange(0, 9).Draw(r, "what"); {
				case what < 4:
					require.NoError(t, k.seal(t.Context()))
					sealed = k.number
				case what < 7: // the nth write goes wrong, for good
					nth, lost := rapid.IntRange(1, 5).Draw(r, "nth"), rapid.Bool().Draw(r, "lost")
					g.decide(func(c *call) verdict {
						if c.op != "write" || strings.Contains(c.key, "/lease/") {
							return verdict{}
						}
						if nth--; nth > 0 {
							return verdict{}
						}
						if lost && nth == 0 {
							return verdict{after: permanentErr{fmt.Errorf("reply lost")}}
						}
						return verdict{before: permanentErr{fmt.Errorf("refused")}}
					})
					if k.seal(t.Context()) == nil {
						sealed = k.number
					}
				case what < 9:
					time.Sleep(time.Duration(rapid.IntRange(1, 8000).Draw(r, "ms")) * time.Millisecond)
					k.session.sweep(t.Context())
				default:
					require.NoError(t, k.session.Close(t.Context()))
					ended[k.session.Run()] = own(k.session.Run())
					k = nil
				}
				g.decide(pass)
				if kept := requireWhole(t, inner, keep); sealed > 0 {
					require.GreaterOrEqual(t, kept[0], sealed)
				}
				for run, had := range ended {
					require.Equal(t, had, own(run), "B20: what run %d wrote", run)
				}
			}
			// In the end there is no more than what is kept, and what the last seal made idle.
			if k == nil {
				k = openKeeper(t, g, opts)
			}
			for range 3 {
				require.NoError(t, k.seal(t.Context()))
				time.Sleep(10 * time.Second)
			}
			live := map[string]bool{}
			requireWhole(t, inner, keep)
			for _, ref := range k.session.kept {
				live[ref.Name] = true
				m, err := loadManifest(t.Context(), k.session.bucket, ref)
				require.NoError(t, err)
				for _, s := range m.segments() {
					live[s.Name] = true
				}
			}
			k.session.sweep(t.Context())
			for name := range own(k.session.Run()) {
				require.True(t, live[name], "%s is an orphan", name)
			}
			requireWhole(t, inner, keep)
			require.NoError(t, k.session.Close(t.Context()))
			all := objects(t, inner)
			for name, text := range foreign {
				require.Equal(t, text, all[name], name)
			}
		})
	})
}

// C2, B95: the latest seal is found by look-ups, whatever a listing leaves out, and however soon old seals go: never an older one, never an empty start.
func TestB95LatestSealIsFoundWithoutAListing(t *testing.T) {
	for _, shown := range []string{"all", "none"} {
		t.Run(shown, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				inner := memblob.OpenBucket(nil)
				defer inner.Close()
				g := &gate{inner: inner, dead: map[string]bool{}, open: func(c *call) verdict {
					if c.op == "list" && shown == "none" {
						return verdict{after: errNothingListed}
					}
					return verdict{}
				}}
				last := int64(0)
				for range 4 {
					k := openKeeper(t, g, Options{Keep: 1, Grace: time.Millisecond})
					require.Equal(t, last, k.session.LastEpoch())
					for range 5 {
						require.NoError(t, k.seal(t.Context()))
						time.Sleep(50 * time.Millisecond) // less than between two renewals of the lease
					}
					last = k.number
					g.kill("x") // it leaves its lease as it is
					require.Error(t, k.session.Close(t.Context()))
					g.dead = map[string]bool{}
				}
			})
		})
	}
}

// B37: an execution stalls between its look at the claim and its seal, so long that the newer one's seal in that very place has been swept. It gets the
// place, and is fenced all the same: it commits nothing.
func TestB37SealInAPlaceThatWasSweptIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		inner := memblob.OpenBucket(nil)
		defer inner.Close()
		names := storage.NamesOf(booksJob)
		resume, stalled := make(chan struct{}), make(chan struct{})
		place := ""
		g := &gate{inner: inner, dead: map[string]bool{}}
		older := openKeeper(t, &gate{inner: inner, dead: map[string]bool{}, open: pass}, Options{})
		require.NoError(t, older.seal(t.Context()))
		place = names.Seal(older.session.number + 1)
		g.open = pass
		b, err := storage.Open(t.Context(), blob.NewBucket(&stalling{gated{g, "x"}, place, stalled, resume}), storage.Options{})
		require.NoError(t, err)
		older.session.seals = storage.NewSeals(b, booksJob)
		result := make(chan error, 1)
		go func() { result <- older.seal(t.Context()) }()
		<-stalled

		newer := openKeeper(t, g, Options{Grace: time.Millisecond})
		for range 5 {
			require.NoError(t, newer.seal(t.Context()))
			time.Sleep(time.Minute)
		}
		time.Sleep(11 * time.Minute)
		_, err = Sweep(t.Context(), inner, booksJob, SweepOptions{Grace: 10 * time.Minute})
		require.NoError(t, err)
		there, err := inner.Exists(t.Context(), place)
		require.NoError(t, err)
		require.False(t, there, "the place is free")
		close(resume)
		require.ErrorIs(t, <-result, storage.ErrFenced)
		require.Equal(t, newer.number, requireWhole(t, inner, 3)[0])
		require.NoError(t, newer.session.Close(t.Context()))
		require.NoError(t, older.session.Close(t.Context()))
	})
}

// stalling stalls before the write of one object.
type stalling struct {
	gated
	place           string
	stalled, resume chan struct{}
}

func (d *stalling) NewTypedWriter(ctx context.Context, key, contentType string, opts *driver.WriterOptions) (driver.Writer, error) {
	if key == d.place {
		close(d.stalled)
		<-d.resume
	}
	return d.gated.NewTypedWriter(ctx, key, contentType, opts)
}

// B84, B94: the first epoch of a session cannot be written, at whichever call; the next one can, and what the first left goes.
func TestB84FirstEpochFailsAtEachCall(t *testing.T) {
	for fails := 1; ; fails++ {
		met := false
		synctest.Test(t, func(t *testing.T) {
			inner := memblob.OpenBucket(nil)
			defer inner.Close()
			g := &gate{inner: inner, dead: map[string]bool{}, open: pass}
			k := openKeeper(t, g, Options{Keep: 1, Grace: time.Millisecond})
			n := 0
			g.decide(func(*call) verdict {
				if n++; n == fails {
					met = true
					return verdict{before: permanentErr{errFlaky}}
				}
				return verdict{}
			})
			err := k.seal(t.Context())
			g.decide(pass)
			require.Equal(t, met, err != nil)
			require.NoError(t, k.seal(t.Context()))
			time.Sleep(time.Second)
			k.session.sweep(t.Context())
			require.Equal(t, []int64{k.number}, requireWhole(t, inner, 1))
			for name := range objects(t, inner) {
				require.NotContains(t, name, fmt.Sprintf("/epoch/%019d/", k.number-1))
			}
			require.GreaterOrEqual(t, k.closed, 8, "every view is closed, of two tasks and two tables in two epochs")
			require.NoError(t, k.session.Close(t.Context()))
		})
		if !met {
			require.Greater(t, fails, 5)
			return
		}
	}
}
