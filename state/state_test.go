package state

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// K2: every group is owned by exactly one task, the ranges are contiguous, and Owner agrees with OwnedBy.
func TestK2EveryKeyGroupHasExactlyOneOwner(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		max := rapid.IntRange(1, MaxKeyGroups).Draw(t, "max")
		p := rapid.IntRange(1, min(max, 300)).Draw(t, "parallelism")
		end := 0
		for i := range p {
			r := OwnedBy(i, p, max)
			require.Equal(t, end, r.First)
			require.Equal(t, r.End-r.First, r.Len())
			require.GreaterOrEqual(t, r.Len(), max/p)
			end = r.End
		}
		require.Equal(t, max, end)
		g := rapid.IntRange(0, max-1).Draw(t, "group")
		require.True(t, OwnedBy(Owner(g, p, max), p, max).Contains(g))
		require.False(t, OwnedBy(Owner(g, p, max), p, max).Contains(max))
	})
}

func TestK2KeyGroupIsStable(t *testing.T) {
	for hash, want := range map[uint64]int{0: 0, 1: 0, 1 << 57: 1, 1 << 63: 64, ^uint64(0): 127, 0x0123456789ABCDEF: 0, 0xFEDCBA9876543210: 127} {
		require.Equal(t, want, KeyGroup(hash, DefaultMaxParallelism), "hash %x", hash)
	}
}

func TestMergedGivesWhatEveryTaskSaved(t *testing.T) {
	a, b := NewSnapshot(), NewSnapshot()
	a.Value("w", []byte("1"))
	b.Value("w", []byte("2"))
	a.Table("t", Table{Rows: 1})
	a.Table("t", Table{Rows: 2})
	b.Table("t", Table{Rows: 3})
	m := Merged{a, b}
	require.Equal(t, [][]byte{[]byte("1"), []byte("2")}, m.Values("w"))
	require.Empty(t, m.Values("other"))
	require.Equal(t, []Table{{Rows: 1}, {Rows: 2}, {Rows: 3}}, m.Tables("t"))
	require.Empty(t, m.Tables("other"))
}
