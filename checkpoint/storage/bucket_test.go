package storage

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"gocloud.dev/blob"
	"gocloud.dev/blob/fileblob"
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

// buckets are the kinds of buckets that every test of the suite runs on.
var buckets = map[string]func(t *testing.T) *blob.Bucket{
	"mem":  func(*testing.T) *blob.Bucket { return memblob.OpenBucket(nil) },
	"file": func(t *testing.T) *blob.Bucket { return fileBucket(t, t.TempDir()) },
	"file with its defaults": func(t *testing.T) *blob.Bucket {
		b, err := fileblob.OpenBucket(t.TempDir(), nil)
		require.NoError(t, err)
		return b
	},
	"folder of file": func(t *testing.T) *blob.Bucket { return blob.PrefixedBucket(fileBucket(t, t.TempDir()), "team/jobs/") },
	"prefix of file": func(t *testing.T) *blob.Bucket { return blob.PrefixedBucket(fileBucket(t, t.TempDir()), "team-") },
	"folder of mem":  func(*testing.T) *blob.Bucket { return blob.PrefixedBucket(memblob.OpenBucket(nil), "team/") },
	"driver with a bad listing": func(*testing.T) *blob.Bucket {
		return blob.NewBucket(&faulty{inner: memblob.OpenBucket(nil)})
	},
}

func onEach(t *testing.T, test func(t *testing.T, raw *blob.Bucket, b *Bucket)) {
	for name, open := range buckets {
		t.Run(name, func(t *testing.T) {
			raw := open(t)
			b, err := Open(t.Context(), raw, quick)
			require.NoError(t, err)
			test(t, raw, b)
		})
	}
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

func TestBucketGivesBackWhatWasPut(t *testing.T) {
	onEach(t, func(t *testing.T, _ *blob.Bucket, b *Bucket) {
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
	})
}

func TestBucketListIsSortedAndKnowsOnlyItsNames(t *testing.T) {
	onEach(t, func(t *testing.T, raw *blob.Bucket, b *Bucket) {
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
	})
}

// B95: fileblob's own listing loses names between its pages of 1,000.
func TestBucketListIsWholeBeyondOnePage(t *testing.T) {
	for _, kind := range []string{"mem", "prefix of file"} {
		raw := buckets[kind](t)
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

func TestBucketRefusesNames(t *testing.T) {
	onEach(t, func(t *testing.T, _ *blob.Bucket, b *Bucket) {
		for _, name := range []string{"", "/", "a/", "/a", "a//b", "A", "a.b", "a-b", "a_b", "../a", "é", strings.Repeat("a", 65), strings.Repeat("a/", 8) + "a"} {
			_, err := b.Put(t.Context(), name, bytesOf(nil))
			require.ErrorContains(t, err, fmt.Sprintf("put %q in bucket", name))
			require.Error(t, b.PutIfAbsent(t.Context(), name, nil))
			_, err = b.Get(t.Context(), Object{Name: name})
			require.Error(t, err)
			_, err = b.Read(t.Context(), name, 1)
			require.Error(t, err)
			require.Error(t, b.Delete(t.Context(), name))
		}
	})
}

// C2: of many that create a name, one wins, and its bytes are there.
func TestBucketCreatesAName(t *testing.T) {
	onEach(t, func(t *testing.T, raw *blob.Bucket, b *Bucket) {
		for round := range 50 {
			name := fmt.Sprintf("job/claim/%04d", round)
			var won [4]bool
			var wait sync.WaitGroup
			for i := range won {
				wait.Go(func() {
					b, err := Open(t.Context(), raw, quick) // as another process has it
					if err == nil {
						err = b.PutIfAbsent(t.Context(), name, []byte{byte('0' + i)})
					}
					won[i] = err == nil
					if err != nil && !errors.Is(err, ErrExists) {
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
	})
}

// B84: what is given up before its end never appears, and what was there stays.
func TestBucketWriteThatIsGivenUpIsNotVisible(t *testing.T) {
	onEach(t, func(t *testing.T, raw *blob.Bucket, b *Bucket) {
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
			if err == io.EOF {
				break
			}
			require.NoError(t, err)
			require.Equal(t, "a/1", o.Key)
		}
		require.Equal(t, []string{"a/1"}, names(t, b, ""))
	})
}

// B35: nothing is allocated, and nothing given out, that is not what was written.
func TestBucketVerifiesBeforeItGives(t *testing.T) {
	onEach(t, func(t *testing.T, raw *blob.Bucket, b *Bucket) {
		const data = "thirty-two bytes of a checkpoint"
		o := put(t, b, "a/1", data)
		damaged := func(what string, o Object) {
			got, err := b.Get(t.Context(), o)
			var d *DamagedError
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
		require.ErrorIs(t, err, ErrNotFound)
		require.ErrorContains(t, err, "it was deleted, or the bucket is another one")
	})
}

func TestBucketBoundsSizes(t *testing.T) {
	for name, open := range buckets {
		t.Run(name, func(t *testing.T) {
			opts := quick
			opts.MaxObjectBytes = 10
			b, err := Open(t.Context(), open(t), opts)
			require.NoError(t, err)
			put(t, b, "a/1", "0123456789")
			calls := 0
			_, err = b.Put(t.Context(), "a/2", func(w io.Writer) error {
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
				_, err = b.Get(t.Context(), Object{Name: "a/1", Size: size})
				require.ErrorContains(t, err, "is not between 0 and MaxObjectBytes = 10")
			}
		})
	}
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
