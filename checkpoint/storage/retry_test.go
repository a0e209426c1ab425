package storage

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"gocloud.dev/blob"
	"gocloud.dev/blob/memblob"
)

func sha(data []byte) [32]byte { return sha256.Sum256(data) }

// open gives a bucket of faults that are planned from now on.
func open(t *testing.T, opts Options) (*faulty, *Bucket) {
	f := &faulty{inner: memblob.OpenBucket(nil)}
	b, err := Open(t.Context(), blob.NewBucket(f), opts)
	require.NoError(t, err)
	return f, b
}

func TestTransientErrorsAreTriedAgainWithGrowingWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, b := open(t, Options{Name: "s3://chk"})
		var at []time.Duration
		began := time.Now()
		f.plan = func(op, _ string) fault {
			if op == "close" {
				at = append(at, time.Since(began))
				return fault{before: errFlaky}
			}
			return fault{}
		}
		_, err := b.Put(t.Context(), "a/1", bytesOf([]byte("x")))
		require.ErrorIs(t, err, errFlaky)
		require.ErrorContains(t, err, `put "a/1" in bucket "s3://chk": `)
		require.ErrorContains(t, err, "check that it can be reached")
		require.Len(t, at, 6)
		for i := 1; i < len(at); i++ {
			most := 100 * time.Millisecond << (i - 1)
			wait := at[i] - at[i-1]
			require.True(t, wait >= most/2 && wait <= most, "wait %d is %v", i, wait)
		}
	})
}

func TestPermanentErrorsAreNotTriedAgain(t *testing.T) {
	for _, cause := range []error{
		syscall.ENOSPC, syscall.EDQUOT, syscall.EROFS, syscall.EACCES, syscall.ENAMETOOLONG, &DamagedError{}, ErrExists, permanent("no"),
		fmt.Errorf("wrapped: %w", syscall.EFBIG),
	} {
		f, b := open(t, quick)
		calls := 0
		f.plan = func(op, _ string) fault {
			if op == "write" {
				calls++
				return fault{before: cause}
			}
			return fault{}
		}
		_, err := b.Put(t.Context(), "a/1", bytesOf([]byte("x")))
		require.ErrorIs(t, err, cause)
		require.Equal(t, 1, calls, cause)
	}
}

func TestTheContextEndsWaitsAndSlowCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, b := open(t, Options{Backoff: time.Hour, MaxBackoff: time.Hour})
		f.plan = func(string, string) fault { return fault{before: errFlaky} }
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, errors.New("the epoch timed out"))
		defer cancel()
		_, err := b.Exists(ctx, "a/1")
		require.ErrorContains(t, err, "the epoch timed out")
		f.plan = func(string, string) fault { return fault{delay: time.Hour} }
		ctx, cancel = context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err = b.Read(ctx, "a/1", 1)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		err = b.PutIfAbsent(ctx, "a/1", []byte("x"))
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.NotErrorIs(t, err, ErrUnsure, "nothing was asked of the bucket")
	})
}

// A bucket that cannot be reached is told at once, by name.
func TestOpenSaysThatTheBucketDoesNotAnswer(t *testing.T) {
	f := &faulty{inner: memblob.OpenBucket(nil), plan: func(string, string) fault { return fault{before: errFlaky} }}
	opts := quick
	opts.Name = "s3://nowhere"
	_, err := Open(t.Context(), blob.NewBucket(f), opts)
	require.ErrorIs(t, err, errFlaky)
	require.ErrorContains(t, err, `in bucket "s3://nowhere"`)
	require.ErrorContains(t, err, "check that it can be reached")
}

func TestALostReplyOfACreationIsFoundOut(t *testing.T) {
	f, b := open(t, quick)
	lose := 1
	f.plan = func(op, _ string) fault {
		if op == "close" && lose > 0 {
			lose--
			return fault{after: errFlaky}
		}
		return fault{}
	}
	require.NoError(t, b.PutIfAbsent(t.Context(), "a/1", []byte("mine")), "it was our own")
	lose = 1
	require.ErrorIs(t, b.PutIfAbsent(t.Context(), "a/1", []byte("other")), ErrExists)
	require.ErrorIs(t, b.PutIfAbsent(t.Context(), "a/1", []byte("a longer one")), ErrExists)

	f.plan = func(op, _ string) fault {
		if op == "close" {
			return fault{after: errFlaky}
		}
		if op == "read" {
			return fault{before: errFlaky}
		}
		return fault{}
	}
	err := b.PutIfAbsent(t.Context(), "a/2", []byte("mine"))
	require.ErrorIs(t, err, ErrUnsure)
	f.plan = nil
	there, err := b.Exists(t.Context(), "a/2")
	require.NoError(t, err)
	require.True(t, there, "and indeed it was done")
}

// A bit that flips on the way heals; one that has flipped for good is told.
func TestAFlippedBitIsReadOnceMore(t *testing.T) {
	f, b := open(t, quick)
	o := put(t, b, "a/1", "data")
	flips := 1
	f.plan = func(op, _ string) fault {
		if op == "read" && flips > 0 {
			flips--
			return fault{flip: 2}
		}
		return fault{}
	}
	got, err := b.Get(t.Context(), o)
	require.NoError(t, err)
	require.Equal(t, "data", string(got))
	flips = 100
	_, err = b.Get(t.Context(), o)
	var damaged *DamagedError
	require.ErrorAs(t, err, &damaged)
	require.Equal(t, 98, flips)
	f.plan = func(string, string) fault { return fault{short: true} }
	_, err = b.Get(t.Context(), o)
	require.ErrorAs(t, err, &damaged)
}
