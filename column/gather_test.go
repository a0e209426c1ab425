package column

import (
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// Rows come in runs, one by one, in any order and more than once.
func TestGatherGivesTheRowsThatAreNamed(t *testing.T) {
	pool := NewDebugPool()
	s := arrow.NewSchema([]arrow.Field{{Name: "flag", Type: arrow.FixedWidthTypes.Boolean, Nullable: true}, {Name: "text", Type: arrow.BinaryTypes.String, Nullable: true}}, nil)
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 100).Draw(t, "n")
		// -1 is a null. All texts have 16 bytes, or nearly all, or any number.
		length := rapid.SampledFrom([]*rapid.Generator[int]{rapid.Just(16), rapid.SampledFrom([]int{16, 16, 16, 16, 16, 16, 16, 16, 16, -1, 0, 15, 17, 60}),
			rapid.IntRange(-1, 5), rapid.IntRange(-1, 40)}).Draw(t, "lengths")
		b := NewBuilder(pool, s)
		for i := range n {
			if v := length.Draw(t, "length"); v >= 0 {
				b.Bool(0, v%2 == 0)
				b.String(1, strings.Repeat(string(rune('a'+i%26)), v))
			}
			b.EndRow()
		}
		in := b.Finish()
		var rows []uint32
		for range rapid.IntRange(0, 6).Draw(t, "runs") {
			from := rapid.IntRange(0, n-1).Draw(t, "from")
			for r := from; r < min(n, from+rapid.IntRange(1, 40).Draw(t, "length")); r++ {
				rows = append(rows, uint32(r))
			}
		}
		out := NewBatch(pool, s, len(rows))
		for i := range out.Cols {
			Gather(out, &out.Cols[i], &in.Cols[i], rows)
		}
		nulls := 0
		for i, r := range rows {
			require.Equal(t, in.Cols[0].IsNull(int(r)), out.Cols[0].IsNull(i))
			require.Equal(t, in.Cols[1].IsNull(int(r)), out.Cols[1].IsNull(i))
			if in.Cols[0].IsNull(int(r)) {
				nulls++
				continue
			}
			require.Equal(t, in.Cols[0].Bool(int(r)), out.Cols[0].Bool(i))
			require.Equal(t, in.Cols[1].String(int(r)), out.Cols[1].String(i))
		}
		require.Equal(t, nulls, out.Cols[0].Nulls)
		require.Equal(t, nulls, out.Cols[1].Nulls)
		out.Release()
		in.Release()
	})
	require.NoError(t, pool.Check())
}

// The event times of a source that has them in ms are those of its column: they are gathered once.
func TestTakeGathersTimesOnceWhereAColumnHoldsThem(t *testing.T) {
	pool := NewDebugPool()
	s := arrow.NewSchema([]arrow.Field{{Name: "n", Type: arrow.PrimitiveTypes.Int64}, {Name: "ts", Type: arrow.FixedWidthTypes.Timestamp_ms, Nullable: true}}, nil)
	for name, c := range map[string]struct {
		own, null, late bool
		shared          bool
	}{
		"of the column":      {shared: true},
		"of their own":       {own: true},
		"with nulls":         {null: true},
		"with rows behind":   {late: true},
		"own, null and late": {own: true, null: true, late: true},
		"column, null, late": {null: true, late: true},
	} {
		b := NewBuilder(pool, s)
		for i := range 20 {
			b.Int64(0, int64(i))
			if !c.null || i != 7 {
				b.Int64(1, int64(100+i))
			}
			b.EndRow()
		}
		in := b.Finish()
		in.Times, in.TimeValid = Values[int64](&in.Cols[1]), in.Cols[1].Valid
		if c.own {
			in.Times = append([]int64(nil), in.Times...)
		}
		if c.late {
			in.Late = []LatePair{{3, 1000}, {9, 2000}}
		}
		out := in.Take([]uint32{2, 7, 9, 19})
		require.Equal(t, c.shared, &out.Times[0] == &Values[int64](&out.Cols[1])[0], name)
		for i, row := range []int{2, 7, 9, 19} {
			valid := !c.null || row != 7
			require.Equal(t, valid, out.TimeValid == nil || Bit(out.TimeValid, i), name)
			if valid {
				require.EqualValues(t, 100+row, out.Times[i], name)
			}
		}
		if c.late {
			require.Equal(t, []LatePair{{2, 2000}}, out.Late, name)
		} else {
			require.Empty(t, out.Late, name)
		}
		out.Release()
		in.Release()
	}
	require.NoError(t, pool.Check())
}

func TestSharedTimesLiveAsLongAsWhoSharesThem(t *testing.T) {
	pool := NewDebugPool()
	s := arrow.NewSchema([]arrow.Field{{Name: "n", Type: arrow.PrimitiveTypes.Int64}}, nil)
	src := NewBatch(pool, s, 3)
	src.Times, src.TimeValid, src.Late = Alloc[int64](src, 3), AllocZero[byte](src, 1), []LatePair{{1, 50}}
	copy(src.Times, []int64{10, 20, 30})
	src.TimeValid[0], src.Hash = 0b011, Alloc[uint64](src, 3)
	shares, other := NewBatch(pool, s, 3), NewBatch(pool, s, 3)
	copies := other.Derive() // keeps another batch alive already
	other.Release()
	shares.ShareTimes(src)
	copies.ShareTimes(src)
	src.Release()
	for _, b := range []*Batch{shares, copies} {
		require.Equal(t, []int64{10, 20, 30}, b.Times)
		require.Equal(t, []byte{0b011}, b.TimeValid)
		require.Equal(t, []LatePair{{1, 50}}, b.Late)
		require.Nil(t, b.Hash)
		b.Release()
	}
	none, plain := NewBatch(pool, s, 3), NewBatch(pool, s, 3)
	plain.ShareTimes(none)
	require.Nil(t, plain.Times)
	none.Release()
	plain.Release()
	require.NoError(t, pool.Check())
}
