package state

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/arkflow-go/arkflow/column"
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
	m := Merged{Tasks: []Saved{a, b}}
	require.Equal(t, [][]byte{[]byte("1"), []byte("2")}, m.Values("w"))
	require.Empty(t, m.Values("other"))
	a.Part("t", 7, &tables{list: []Table{{Rows: 4}, {Rows: 5}}})
	of := func(rows, task int, id int64) Table { return Table{Rows: rows, Part: PartID{task, id}} }
	want := []Table{of(1, 0, 0), of(2, 0, 0), of(4, 0, 7), of(5, 0, 7), of(3, 1, 0)}
	require.Equal(t, want, all(t, m, "t"))
	require.Empty(t, all(t, m, "other"))
	require.Equal(t, 12, a.Rows())
	require.Equal(t, []string{"t"}, a.Names())
	require.Equal(t, want[4:], all(t, Merged{Tasks: m.Tasks, Own: Range{64, 128}, Max: 128}, "t"), "who owns other groups reads nothing of a task")
	require.Equal(t, want, all(t, Merged{Tasks: m.Tasks, Own: Range{63, 65}, Max: 128}, "t"))
}

// tables is a View.
type tables struct {
	list    []Table
	err     error
	busy    atomic.Bool
	settled int
	closed  int
}

func (v *tables) Rows() (n int) {
	for _, t := range v.list {
		n += t.Rows
	}
	return n
}

func (v *tables) Each(_ View, emit func(Table) error) error {
	if !v.busy.CompareAndSwap(false, true) {
		return errors.New("called by two at a time")
	}
	defer v.busy.Store(false)
	for _, t := range v.list {
		if err := emit(t); err != nil {
			return err
		}
	}
	return v.err
}

func (v *tables) Settle() error { v.settled++; return v.err }
func (v *tables) Close()        { v.closed++ }

func all(t *testing.T, m Merged, name string) (out []Table) {
	for table, err := range m.Tables(name) {
		require.NoError(t, err)
		out = append(out, table)
	}
	return out
}

func TestPartsAreReadByOneAtATime(t *testing.T) {
	v, s := &tables{list: []Table{{Rows: 1}, {Rows: 1}}}, NewSnapshot()
	s.Part("t", 1, v)
	var readers sync.WaitGroup
	for range 4 {
		readers.Go(func() {
			for table, err := range (Merged{Tasks: []Saved{s}}).Tables("t") {
				assert.NoError(t, err)
				assert.Equal(t, 1, table.Rows)
			}
		})
	}
	readers.Wait()
	require.NoError(t, s.Settle())
	require.Equal(t, 1, v.settled)
	s.Close()
	require.Equal(t, 1, v.closed)
}

func TestTablesEndAtAnError(t *testing.T) {
	s := NewSnapshot()
	s.Table("t", Table{Rows: 1})
	s.Part("t", 1, &tables{err: errors.New("damaged")})
	s.Part("t", 2, &tables{list: []Table{{Rows: 2}}})
	var seen []string
	for table, err := range (Merged{Tasks: []Saved{s}}).Tables("t") {
		seen = append(seen, fmt.Sprint(table.Rows, err))
	}
	require.Equal(t, []string{"1 <nil>", "0 damaged"}, seen)
	for table, err := range (Merged{Tasks: []Saved{s}}).Tables("t") {
		require.NoError(t, err)
		require.Equal(t, 1, table.Rows)
		break
	}
}

func TestAClonedTableIsGoodAfterTheOther(t *testing.T) {
	list := column.Column{Offsets: []int32{0, 2}, Children: []column.Column{{Data: []byte{1, 2}}}}
	text := column.Column{Data: []byte("abc"), Offsets: []int32{0, 3}, Valid: []byte{1}}
	was := Table{Rows: 1, Cols: []column.Column{list, text}, Groups: []uint16{7}, Part: PartID{1, 2}}
	got := was.Clone()
	require.Equal(t, was, got)
	for _, memory := range [][]byte{was.Cols[0].Children[0].Data, was.Cols[1].Data, was.Cols[1].Valid} {
		clear(memory)
	}
	was.Cols[0].Offsets[1], was.Cols[1].Offsets[1], was.Groups[0], was.Cols[1].Kind = 0, 0, 0, column.Int8
	require.Equal(t, []int32{0, 2}, got.Cols[0].Offsets)
	require.Equal(t, []byte{1, 2}, got.Cols[0].Children[0].Data)
	require.Equal(t, column.Column{Data: []byte("abc"), Offsets: []int32{0, 3}, Valid: []byte{1}}, got.Cols[1])
	require.Equal(t, []uint16{7}, got.Groups)
}
