package checkpoint

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/arkflow-go/arkflow/checkpoint/storage"
	"github.com/stretchr/testify/require"
	"gocloud.dev/blob"
	"gocloud.dev/blob/driver"
	"gocloud.dev/gcerrors"
)

// C9: objects of an epoch that failed before its manifest was written are deleted too, be it the first one of the session.
func TestC9WhatTheFirstEpochLeftIsDeletedWhenItFailed(t *testing.T) {
	g := newGarbage()
	g.wrote([]string{"piece"})
	require.Empty(t, g.due(0, 10))
	require.Equal(t, []string{"piece"}, g.due(10, 10))
	g.gone(map[string]bool{"piece": true})
	require.Empty(t, g.due(20, 10))
}

// C9: an epoch whose seal got no reply may be the latest one in the bucket, so it stays however long the next ones fail.
func TestC9AnEpochWhoseSealIsInDoubtIsKept(t *testing.T) {
	g := newGarbage()
	m := &Manifest{Operators: []OperatorRecord{{Tasks: []TaskRecord{{Segments: []SegmentRecord{{Name: "piece"}}}}}}}
	g.refer("manifest", m)
	g.doubt("manifest")
	g.wrote([]string{"piece", "manifest"})
	require.Empty(t, g.due(0, 10))
	require.Empty(t, g.due(100, 10))
	g.keep("seal", []storage.Kept{{Name: "another"}})
	require.Empty(t, g.due(200, 10))
	require.Equal(t, []string{"piece", "manifest"}, g.due(210, 10))
}

// slowDeletes is a bucket that takes a second to delete an object.
type slowDeletes struct {
	driver.Bucket
	deleted atomic.Int64
}

func (b *slowDeletes) As(any) bool             { return false }
func (b *slowDeletes) Close() error            { return nil }
func (b *slowDeletes) ErrorAs(error, any) bool { return false }

var errAbsent = errors.New("there is no such object")

func (b *slowDeletes) ErrorCode(error) gcerrors.ErrorCode { return gcerrors.NotFound }
func (b *slowDeletes) Attributes(context.Context, string) (*driver.Attributes, error) {
	return nil, errAbsent
}
func (b *slowDeletes) Delete(context.Context, string, *driver.DeleteOptions) error {
	<-time.After(time.Second)
	b.deleted.Add(1)
	return nil
}

// C9: where deletes take longer than the interval of epochs they do not pile up, and no object is deleted twice.
func TestC9SlowDeletesDoNotPileUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := &slowDeletes{}
		b, err := storage.Open(t.Context(), blob.NewBucket(slow), storage.Options{})
		require.NoError(t, err)
		s := &Session{bucket: b, holder: storage.NewClaims(b, "orders").Hold(storage.Claim{Run: 1}), names: storage.NamesOf("orders"), garbage: newGarbage(), opts: Options{Grace: time.Millisecond}.WithDefaults()}
		for i := range 30 {
			s.garbage.wrote([]string{fmt.Sprint("piece", i)})
		}
		s.sweep(t.Context()) // they are idle from now on
		time.Sleep(time.Second)
		began := time.Now()
		waits := make(chan time.Duration, 4)
		for range 4 {
			go func() { s.sweep(t.Context()); waits <- time.Since(began) }()
			time.Sleep(time.Millisecond)
		}
		for range 3 {
			require.Less(t, <-waits, time.Second, "another sweep is under way")
		}
		require.Equal(t, 10*time.Second, <-waits, "three at a time")
		require.Equal(t, int64(30), slow.deleted.Load())
		require.Empty(t, s.garbage.own)
	})
}
