package checkpoint

import (
	"testing"

	"github.com/arkflow-go/arkflow/checkpoint/storage"
	"github.com/stretchr/testify/require"
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
