package state

import (
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
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
	a.Frozen("t", 9, func() ([]Table, error) { return []Table{{Rows: 4}, {Rows: 5}}, nil })
	require.Equal(t, []Table{{Rows: 1}, {Rows: 2}, {Rows: 4}, {Rows: 5}, {Rows: 3}}, all(t, m, "t"))
	require.Empty(t, all(t, m, "other"))
	require.Equal(t, 12, a.Rows())
}

func all(t *testing.T, m Merged, name string) (out []Table) {
	for table, err := range m.Tables(name) {
		require.NoError(t, err)
		out = append(out, table)
	}
	return out
}

func TestFrozenEntriesAreMadeOnce(t *testing.T) {
	calls, s := 0, NewSnapshot()
	s.Frozen("t", 1, func() ([]Table, error) { calls++; return []Table{{Rows: 1}}, nil })
	require.Zero(t, calls, "a barrier does not wait for it")
	var readers sync.WaitGroup
	for range 4 {
		readers.Go(func() {
			for table, err := range (Merged{s}).Tables("t") {
				assert.NoError(t, err)
				assert.Equal(t, 1, table.Rows)
			}
		})
	}
	readers.Wait()
	require.Equal(t, 1, calls)
}

func TestTablesEndAtAnError(t *testing.T) {
	s := NewSnapshot()
	s.Table("t", Table{Rows: 1})
	s.Frozen("t", 1, func() ([]Table, error) { return nil, errors.New("damaged") })
	s.Table("t", Table{Rows: 2})
	var seen []string
	for table, err := range (Merged{s}).Tables("t") {
		seen = append(seen, fmt.Sprint(table.Rows, err))
	}
	require.Equal(t, []string{"1 <nil>", "0 damaged"}, seen)
	for table, err := range (Merged{s}).Tables("t") {
		require.NoError(t, err)
		require.Equal(t, 1, table.Rows)
		break
	}
}
