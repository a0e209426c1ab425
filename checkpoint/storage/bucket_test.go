package storage

import (
	"bytes"
	"fmt"
	"io"
	"net/url"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"gocloud.dev/blob"
	"gocloud.dev/blob/memblob"
	"pgregory.net/rapid"
)

// quick are options whose waits do not matter.
var quick = Options{Backoff: time.Microsecond, MaxBackoff: time.Microsecond}

func fileBucket(t *testing.T, dir string) *blob.Bucket {
	b, err := blob.OpenBucket(t.Context(), "file://"+(&url.URL{Path: dir}).EscapedPath()+"?no_tmp_dir=true&metadata=skip")
	require.NoError(t, err)
	t.Cleanup(func() { _ = b.Close() })
	return b
}

func bytesOf(data []byte) func(io.Writer) error {
	return func(w io.Writer) error { _, err := w.Write(data); return err }
}

func put(t *testing.T, b *Bucket, name, data string) Object {
	o, err := b.Put(t.Context(), name, bytesOf([]byte(data)))
	require.NoError(t, err)
	return o
}

func names(t *testing.T, b *Bucket, folder string) (out []string) {
	all, err := b.List(t.Context(), folder)
	require.NoError(t, err)
	for _, o := range all {
		out = append(out, o.Name)
	}
	return out
}

// B95: fileblob's own listing loses names between its pages of 1,000.
func TestBucketListIsWholeBeyondOnePage(t *testing.T) {
	for _, raw := range []*blob.Bucket{memblob.OpenBucket(nil), blob.PrefixedBucket(fileBucket(t, t.TempDir()), "team-")} {
		b, err := Open(t.Context(), raw, quick)
		require.NoError(t, err)
		var want []string
		for i := range 1100 {
			want = append(want, fmt.Sprintf("a/%04d/%04d", i%7, i/7))
			require.NoError(t, raw.WriteAll(t.Context(), want[i], nil, nil))
		}
		require.ElementsMatch(t, want, names(t, b, "a"))
	}
}

// A listing that is backwards, and gives each name twice, does no harm.
func TestBucketSortsABadListing(t *testing.T) {
	_, b := open(t, quick)
	for _, name := range []string{"a/2", "a/1", "a/3"} {
		put(t, b, name, name)
	}
	require.Equal(t, []string{"a/1", "a/2", "a/3"}, names(t, b, "a"))
	require.EqualValues(t, 1, claim(t, b, 0).Run)
	require.EqualValues(t, 2, claim(t, b, 0).Run)
}

// What a bucket holds after any calls, with transient faults of every kind in between, is what a map would hold.
func TestBucketIsAMapUnderFaults(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		f := &faulty{inner: memblob.OpenBucket(nil)}
		opts := quick
		opts.Attempts = 100
		b, err := Open(t.Context(), blob.NewBucket(f), opts)
		require.NoError(rt, err)
		seed := rapid.Uint64().Draw(rt, "seed")
		f.plan = func(string, string) fault {
			seed = seed*6364136223846793005 + 1442695040888963407
			return []fault{{}, {}, {}, {before: errFlaky}, {after: errFlaky}, {cut: 1}}[seed>>33%6]
		}
		model := map[string]Object{}
		for i := range rapid.IntRange(1, 20).Draw(rt, "calls") {
			name := fmt.Sprint("a/", rapid.IntRange(0, 3).Draw(rt, "name"))
			data := bytes.Repeat([]byte{byte(i)}, rapid.IntRange(1, 50).Draw(rt, "size"))
			old, exists := model[name]
			switch rapid.IntRange(0, 3).Draw(rt, "call") {
			case 0:
				model[name], err = b.Put(t.Context(), name, bytesOf(data))
				require.NoError(rt, err)
			case 1:
				err := b.PutIfAbsent(t.Context(), name, data)
				if exists {
					require.ErrorIs(rt, err, ErrExists)
					break
				}
				require.NoError(rt, err)
				sum := Object{Name: name, Size: int64(len(data))}
				sum.SHA256 = sha(data)
				model[name] = sum
			case 2:
				require.NoError(rt, b.Delete(t.Context(), name))
				delete(model, name)
			case 3:
				got, err := b.Get(t.Context(), old)
				if !exists {
					require.Error(rt, err)
					break
				}
				require.NoError(rt, err)
				require.NoError(rt, old.verify(got))
			}
		}
		all, err := b.List(t.Context(), "a")
		require.NoError(rt, err)
		require.Len(rt, all, len(model))
	})
}

func TestBucketKeepsToItsFlight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		opts := quick
		opts.MaxInFlight = 3
		f, b := open(t, opts)
		f.plan = func(string, string) fault { return fault{delay: time.Second} }
		var done atomic.Int64
		var wait sync.WaitGroup
		for i := range 20 {
			wait.Go(func() {
				if err := b.PutIfAbsent(t.Context(), fmt.Sprintf("a/%02d", i), []byte("x")); err == nil {
					done.Add(1)
				}
			})
		}
		wait.Wait()
		require.EqualValues(t, 20, done.Load())
		require.Equal(t, 3, f.most)
	})
}

func TestOptionsReportAllFaults(t *testing.T) {
	err := Options{MaxInFlight: -1, Attempts: -2, Backoff: -3, MaxBackoff: -4, MaxObjectBytes: -5}.Validate()
	for _, field := range []string{"MaxInFlight is -1", "Attempts is -2", "Backoff is -3ns", "MaxBackoff is -4ns", "MaxObjectBytes is -5"} {
		require.ErrorContains(t, err, field)
	}
	_, err = Open(t.Context(), memblob.OpenBucket(nil), Options{Backoff: 2, MaxBackoff: 1})
	require.ErrorContains(t, err, "MaxBackoff is 1ns: give at least Backoff")
	_, err = Open(t.Context(), nil, Options{})
	require.ErrorContains(t, err, "no bucket")
	require.NoError(t, Options{}.WithDefaults().Validate())
	require.NoError(t, Options{Backoff: time.Hour}.WithDefaults().Validate())
}
