package storagetest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/arkflow-go/arkflow/checkpoint/storage"
	"github.com/stretchr/testify/require"
	"gocloud.dev/blob"
)

// quick are options whose waits do not matter.
var quick = storage.Options{Backoff: time.Microsecond, MaxBackoff: time.Microsecond}

// Run runs the suite. Each test opens a bucket that is empty; its owner closes it.
func Run(t *testing.T, open func(t *testing.T) *blob.Bucket) {
	t.Helper()
	for name, test := range map[string]func(*testing.T, *blob.Bucket){
		"gives back what was put":        givesBackWhatWasPut,
		"lists its names sorted":         listsItsNamesSorted,
		"refuses names":                  refusesNames,
		"creates a name once":            createsAName,
		"shows nothing that is given up": showsNothingThatIsGivenUp,
		"verifies before it gives":       verifiesBeforeItGives,
		"bounds sizes":                   boundsSizes,
		"claims grow":                    claimsGrow,
		"claims are each their own":      claimsAreEachTheirOwn,
		"fencing is told":                fencingIsTold,
	} {
		t.Run(name, func(t *testing.T) { test(t, open(t)) })
	}
}

func open(t *testing.T, raw *blob.Bucket, opts storage.Options) *storage.Bucket {
	b, err := storage.Open(t.Context(), raw, opts)
	require.NoError(t, err)
	return b
}

func bytesOf(data []byte) func(io.Writer) error {
	return func(w io.Writer) error { _, err := w.Write(data); return err }
}

func put(t *testing.T, b *storage.Bucket, name, data string) storage.Object {
	o, err := b.Put(t.Context(), name, bytesOf([]byte(data)))
	require.NoError(t, err)
	return o
}

func names(t *testing.T, b *storage.Bucket, folder string) (out []string) {
	all, err := b.List(t.Context(), folder)
	require.NoError(t, err)
	for _, o := range all {
		out = append(out, o.Name)
	}
	return out
}

func claim(t *testing.T, b *storage.Bucket) storage.Claim {
	c, err := storage.NewClaims(b, "orders").Claim(t.Context(), "host", 0)
	require.NoError(t, err)
	return c
}

func givesBackWhatWasPut(t *testing.T, raw *blob.Bucket) {
	b := open(t, raw, quick)
	for i, data := range []string{"", "x", strings.Repeat("0123456789", 200_000)} {
		o := put(t, b, fmt.Sprintf("job/piece/%03d", i), data)
		require.EqualValues(t, len(data), o.Size)
		got, err := b.Get(t.Context(), o)
		require.NoError(t, err)
		require.True(t, data == string(got))
	}
	o := put(t, b, "job/piece/000", "replaced as a whole")
	got, err := b.Get(t.Context(), o)
	require.NoError(t, err)
	require.Equal(t, "replaced as a whole", string(got))
}

func listsItsNamesSorted(t *testing.T, raw *blob.Bucket) {
	b := open(t, raw, quick)
	require.Empty(t, names(t, b, ""))
	for _, name := range []string{"b/2", "a/1/x", "b/1", "ab/1", "a/2/x", "a0/1"} {
		put(t, b, name, name)
	}
	for _, foreign := range []string{"a/.hidden", "a/1/X", "a/1/x.attrs.old", "a/note.txt", "a/1/x.123.tmp"} {
		require.NoError(t, raw.WriteAll(t.Context(), foreign, []byte("foreign"), nil))
	}
	require.Equal(t, []string{"a/1/x", "a/2/x", "a0/1", "ab/1", "b/1", "b/2"}, names(t, b, ""))
	require.Equal(t, []string{"a/1/x", "a/2/x"}, names(t, b, "a"))
	require.Empty(t, names(t, b, "c"))
	require.NoError(t, b.Delete(t.Context(), "a/1/x"))
	require.NoError(t, b.Delete(t.Context(), "a/1/x"))
	there, err := b.Exists(t.Context(), "a/1/x")
	require.NoError(t, err)
	require.False(t, there)
	require.Equal(t, []string{"a/2/x"}, names(t, b, "a"))
}

func refusesNames(t *testing.T, raw *blob.Bucket) {
	b := open(t, raw, quick)
	for _, name := range []string{"", "/", "a/", "/a", "a//b", "A", "a.b", "a-b", "a_b", "../a", "é", strings.Repeat("a", 65), strings.Repeat("a/", 8) + "a"} {
		_, err := b.Put(t.Context(), name, bytesOf(nil))
		require.ErrorContains(t, err, fmt.Sprintf("put %q in bucket", name))
		require.Error(t, b.PutIfAbsent(t.Context(), name, nil))
		_, err = b.Get(t.Context(), storage.Object{Name: name})
		require.Error(t, err)
		_, err = b.Read(t.Context(), name, 1)
		require.Error(t, err)
		require.Error(t, b.Delete(t.Context(), name))
	}
}

// C2: of many that create a name, one wins, and its bytes are there.
func createsAName(t *testing.T, raw *blob.Bucket) {
	b := open(t, raw, quick)
	for round := range 50 {
		name := fmt.Sprintf("job/claim/%04d", round)
		var won [4]bool
		var wait sync.WaitGroup
		for i := range won {
			wait.Go(func() {
				b, err := storage.Open(t.Context(), raw, quick) // as another process has it
				if err == nil {
					err = b.PutIfAbsent(t.Context(), name, []byte{byte('0' + i)})
				}
				won[i] = err == nil
				if err != nil && !errors.Is(err, storage.ErrExists) {
					t.Error(err)
				}
			})
		}
		wait.Wait()
		got, err := b.Read(t.Context(), name, 10)
		require.NoError(t, err)
		for i := range won {
			require.Equal(t, string(got) == fmt.Sprint(i), won[i], "round %d: %v won, the object holds %s", round, won, got)
		}
	}
	require.Len(t, names(t, b, ""), 50)
}

// B84: what is given up before its end never appears, and what was there stays.
func showsNothingThatIsGivenUp(t *testing.T, raw *blob.Bucket) {
	b := open(t, raw, quick)
	old := put(t, b, "a/1", "old")
	boom := errors.New("encoder broke")
	for _, name := range []string{"a/1", "a/2"} {
		ctx, cancel := context.WithCancel(t.Context())
		_, err := b.Put(ctx, name, func(w io.Writer) error {
			_, err := w.Write(make([]byte, 1<<20))
			cancel()
			return err
		})
		require.ErrorIs(t, err, context.Canceled)
		calls := 0
		_, err = b.Put(t.Context(), name, func(w io.Writer) error {
			calls++
			_, _ = w.Write([]byte("half"))
			return boom
		})
		require.ErrorIs(t, err, boom)
		require.Equal(t, 1, calls, "an error of the caller is not tried again")
		require.Panics(t, func() {
			_, _ = b.Put(t.Context(), name, func(w io.Writer) error {
				_, _ = w.Write([]byte("half"))
				panic("encoder")
			})
		})
		cancelled, cancel := context.WithCancel(t.Context())
		cancel()
		require.ErrorIs(t, b.PutIfAbsent(cancelled, "a/3", []byte("x")), context.Canceled)
	}
	got, err := b.Get(t.Context(), old)
	require.NoError(t, err)
	require.Equal(t, "old", string(got))
	for it := raw.List(nil); ; { // nor a temporary file
		o, err := it.Next(t.Context())
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
		require.Equal(t, "a/1", o.Key)
	}
	require.Equal(t, []string{"a/1"}, names(t, b, ""))
}

// B35: nothing is allocated, and nothing given out, that is not what was written.
func verifiesBeforeItGives(t *testing.T, raw *blob.Bucket) {
	b := open(t, raw, quick)
	const data = "thirty-two bytes of a checkpoint"
	o := put(t, b, "a/1", data)
	damaged := func(what string, o storage.Object) {
		got, err := b.Get(t.Context(), o)
		var d *storage.DamagedError
		require.ErrorAs(t, err, &d, what)
		require.Nil(t, got, what)
		require.ErrorContains(t, err, `get "a/1" in bucket "`)
	}
	for i := range data {
		bad := []byte(data)
		bad[i] ^= 1 << (i % 8)
		require.NoError(t, raw.WriteAll(t.Context(), "a/1", bad, nil))
		damaged(fmt.Sprint("flipped at ", i), o)
		require.NoError(t, raw.WriteAll(t.Context(), "a/1", []byte(data[:i]), nil))
		damaged(fmt.Sprint("cut to ", i), o)
	}
	require.NoError(t, raw.WriteAll(t.Context(), "a/1", []byte(data+"!"), nil))
	damaged("longer", o)
	_, err := b.Read(t.Context(), "a/1", int64(len(data)))
	require.ErrorContains(t, err, "it has 33 bytes, at most 32 are expected")
	require.NoError(t, b.Delete(t.Context(), "a/1"))
	_, err = b.Get(t.Context(), o)
	require.ErrorIs(t, err, storage.ErrNotFound)
	require.ErrorContains(t, err, "it was deleted, or the bucket is another one")
}

func claimsGrow(t *testing.T, raw *blob.Bucket) {
	b := open(t, raw, quick)
	claims := storage.NewClaims(b, "orders")
	_, held, err := claims.Latest(t.Context())
	require.NoError(t, err)
	require.False(t, held)
	for i := range 20 {
		c := claim(t, b)
		require.EqualValues(t, i+1, c.Run)
		latest, held, err := claims.Latest(t.Context())
		require.NoError(t, err)
		require.True(t, held)
		require.Equal(t, c, latest)
	}
	other, err := storage.NewClaims(b, "other").Claim(t.Context(), "host", 0)
	require.NoError(t, err)
	require.EqualValues(t, 1, other.Run)
}

// C3: many claim at once, on every kind of bucket: each number goes to one of them.
func claimsAreEachTheirOwn(t *testing.T, raw *blob.Bucket) {
	b := open(t, raw, quick)
	const claimers, each = 6, 15
	var mu sync.Mutex
	owners := map[int64]string{}
	var wait sync.WaitGroup
	for i := range claimers {
		wait.Go(func() {
			last := int64(0)
			for range each {
				b, err := storage.Open(t.Context(), raw, quick)
				if err != nil {
					t.Error(err)
					return
				}
				c, err := storage.NewClaims(b, "orders").Claim(t.Context(), fmt.Sprint(i), 0)
				mu.Lock()
				if err != nil || c.Run <= last || owners[c.Run] != "" {
					t.Errorf("claimer %d after %d: run %d of %q: %v", i, last, c.Run, owners[c.Run], err)
				}
				last = c.Run
				owners[c.Run] = c.Token
				mu.Unlock()
			}
		})
	}
	wait.Wait()
	require.Len(t, owners, claimers*each)
	latest, held, err := storage.NewClaims(b, "orders").Latest(t.Context())
	require.NoError(t, err)
	require.True(t, held)
	require.EqualValues(t, claimers*each, latest.Run)
	require.Equal(t, owners[latest.Run], latest.Token)
}

// B37: an execution that slept learns that it was fenced, and by whom; so does one whose claim somebody removed.
func fencingIsTold(t *testing.T, raw *blob.Bucket) {
	b := open(t, raw, quick)
	claims := storage.NewClaims(b, "orders")
	first := claim(t, b)
	require.NoError(t, claims.Check(t.Context(), first))
	second, err := claims.Claim(t.Context(), "host-2", 0)
	require.NoError(t, err)
	err = claims.Check(t.Context(), first)
	var fenced *storage.FencedError
	require.ErrorAs(t, err, &fenced)
	require.Equal(t, storage.FencedError{Job: "orders", Run: 1, By: 2, Owner: "host-2"}, *fenced)
	require.EqualError(t, err, `job "orders": run 1: run 2 (host-2): a newer execution has claimed the job: do not start it here again at once; where several processes run it, set OnClaimed: Standby`)
	_, err = storage.NewClaims(b, "orders").Next(t.Context(), first, 0)
	require.EqualError(t, err, fenced.Error(), "nor does it get the next number")
	second, err = storage.NewClaims(b, "orders").Next(t.Context(), second, 0)
	require.NoError(t, err)
	require.EqualValues(t, 3, second.Run)
	require.NoError(t, b.Delete(t.Context(), claims.Names().Claim(second.Run)))
	require.ErrorIs(t, claims.Check(t.Context(), second), storage.ErrFenced)
	forged := fmt.Sprintf(`{"job":"orders","run":%d,"token":"another"}`, second.Run)
	require.NoError(t, raw.WriteAll(t.Context(), claims.Names().Claim(second.Run), storage.EncodeRecord("claim", 1, []byte(forged)), nil))
	require.ErrorIs(t, claims.Check(t.Context(), second), storage.ErrFenced)
}

func boundsSizes(t *testing.T, raw *blob.Bucket) {
	opts := quick
	opts.MaxObjectBytes = 10
	b := open(t, raw, opts)
	put(t, b, "a/1", "0123456789")
	calls := 0
	_, err := b.Put(t.Context(), "a/2", func(w io.Writer) error {
		calls++
		for range 3 {
			if _, err := w.Write([]byte("01234")); err != nil {
				return fmt.Errorf("encode: %w", err)
			}
		}
		return nil
	})
	require.ErrorContains(t, err, "more than MaxObjectBytes = 10 bytes would be written")
	require.Equal(t, 1, calls)
	require.Equal(t, []string{"a/1"}, names(t, b, ""))
	for _, size := range []int64{-1, 11, 1 << 62} {
		_, err = b.Get(t.Context(), storage.Object{Name: "a/1", Size: size})
		require.ErrorContains(t, err, "is not between 0 and MaxObjectBytes = 10")
	}
}
