package partition

import (
	"slices"
	"testing"

	"github.com/arkflow-go/arkflow/internal/chunk"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// all gives what a store holds.
func all(t require.TestingT, s *Store, stride int) (out [][4]uint64) {
	for at := range Count {
		s.Rows(at, 3, func(rows []uint64) {
			for ; len(rows) > 0; rows = rows[3:] {
				out = append(out, [4]uint64{uint64(at), rows[0], rows[1], rows[2]})
			}
		})
		require.NoError(t, s.Entries(at, 0, s.Pending(at), func(entries []uint64) error {
			for ; len(entries) > 0; entries = entries[stride:] {
				if Of(entries[0]) != at {
					t.Errorf("entry of partition %d in %d", Of(entries[0]), at)
				}
				e := [4]uint64{Count}
				copy(e[1:], entries[:min(3, stride)])
				out = append(out, e)
			}
			return nil
		}))
	}
	return out
}

// TestFrozenStoresStayWhatTheyWere: what is appended, dropped and put in place afterwards leaves a frozen store as it was.
func TestFrozenStoresStayWhatTheyWere(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var m chunk.Memory
		stride := rapid.IntRange(1, 4).Draw(t, "stride")
		s := New(&m, stride)
		fold := rapid.IntRange(1, 1000).Draw(t, "fold")
		full := func(at int) {
			if s.Pending(at) < fold {
				return
			}
			var keys []uint64
			s.Rows(at, 3, func(rows []uint64) {
				for ; len(rows) > 0; rows = rows[3:] {
					keys = append(keys, rows[0])
				}
			})
			s.Drop(at, false)
			for _, k := range append(keys, 1) {
				s.Put(at, []uint64{k, 2, 3})
			}
		}
		type frozen struct {
			s    *Store
			want [][4]uint64
		}
		var views []frozen
		next := uint64(0)
		for range rapid.IntRange(1, 10).Draw(t, "steps") {
			n := rapid.IntRange(0, 2000).Draw(t, "entries")
			keys, vals := make([]uint64, n), make([]uint64, n)
			for i := range keys {
				next++
				keys[i], vals[i] = next%13, next
			}
			var columns [][]uint64
			for range stride - 1 {
				columns = append(columns, vals)
			}
			s.Append(keys, columns, full)
			if rapid.Bool().Draw(t, "freeze") {
				views = append(views, frozen{s.Freeze(), all(t, s, stride)})
			}
			if len(views) > 0 && rapid.IntRange(0, 2).Draw(t, "unpin") == 0 {
				v := views[0]
				require.True(t, slices.Equal(v.want, all(t, v.s, stride)))
				v.s.Unpin()
				v.s.Unpin()
				views = views[1:]
			}
		}
		for _, v := range views {
			require.True(t, slices.Equal(v.want, all(t, v.s, stride)))
			require.Len(t, v.want, v.s.Upper())
			v.s.Unpin()
		}
		require.Zero(t, m.Held())
		require.Zero(t, m.Pins())
		s.Release()
		require.Zero(t, m.Used)
		require.Zero(t, s.Upper())
	})
}

// What comes after the last chunk of a frozen store is written by the store itself at any time.
func TestNothingIsReadAfterTheLastChunk(t *testing.T) {
	var m chunk.Memory
	s := New(&m, 2)
	const at = 0
	n := 2 * chunk.Words / 2 // two chunks, full
	for range n {
		s.Append([]uint64{0}, [][]uint64{{1}}, func(int) {})
	}
	f := s.Freeze()
	require.Equal(t, n, f.Pending(at))
	f.pinned.Next = f.pinned.Next[:f.raw[at].Last] // what follows the last one cannot be read
	for _, part := range [][2]int{{0, n}, {1, n}, {n / 2, n}, {n/2 + 1, n}, {n - 1, n}, {0, n / 2}, {3, 3}, {0, 1}} {
		got := 0
		require.NoError(t, f.Entries(at, part[0], part[1], func(entries []uint64) error {
			got += len(entries) / 2
			return nil
		}))
		require.Equal(t, part[1]-part[0], got)
	}
	f.Unpin()
}
