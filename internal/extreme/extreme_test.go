package extreme

import (
	"cmp"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/internal/keys"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// texts share prefixes and lengths around the 8 bytes that decide most comparisons.
var texts = rapid.StringOfN(rapid.SampledFrom([]rune("\x00ab")), 0, 12, -1)

func TestPrefixesAreOrderedAsTheirStrings(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := texts.Draw(t, "a"), texts.Draw(t, "b")
		if pa, pb := Prefix([]byte(a)), Prefix([]byte(b)); pa != pb {
			require.Equal(t, strings.Compare(a, b), cmp.Compare(pa, pb))
		} else {
			require.Equal(t, strings.TrimRight(a[:min(8, len(a))], "\x00"), strings.TrimRight(b[:min(8, len(b))], "\x00"))
		}
	})
}

// A heap keeps the greatest or the least string of each group, whatever is collected, copied and restarted on the way.
func TestAHeapKeepsTheExtremeOfEachGroup(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		least := rapid.Bool().Draw(t, "least")
		var h Heap
		groups := make([][2]uint64, 3)
		want := make([]*string, 3)
		for range rapid.IntRange(1, 60).Draw(t, "rows") {
			g, v := rapid.IntRange(0, 2).Draw(t, "group"), texts.Draw(t, "v")
			better := want[g] == nil || v != *want[g] && (v < *want[g]) == least
			p := Prefix([]byte(v))
			require.Equal(t, better, h.Better(&groups[g], p, []byte(v), least))
			if better {
				h.Replace(&groups[g], p, []byte(v))
				want[g] = &v
			}
			if rapid.IntRange(0, 9).Draw(t, "restart") == 0 {
				old := h.Restart()
				for i := range groups {
					if groups[i][1] != 0 {
						groups[i][1] = h.CopyFrom(&old, nil, groups[i][1])
					}
				}
				require.LessOrEqual(t, h.Len(), old.Len())
			}
		}
		var c Heap
		c.Copy(&h)
		h.Reset()
		require.Zero(t, h.Len())
		for g, v := range want {
			require.Equal(t, v != nil, groups[g][1] != 0)
			if v != nil {
				require.Equal(t, *v, string(c.At(groups[g][1])))
			}
		}
	})
}

func TestAHeapOfReplacedStringsIsWasteful(t *testing.T) {
	var h Heap
	var g [2]uint64
	for n := range 1000 {
		v := []byte(strings.Repeat("x", n+1))
		h.Replace(&g, Prefix(v), v)
	}
	require.True(t, h.Wasteful())
	old := h.Restart()
	g[1] = h.CopyFrom(&old, nil, g[1])
	require.False(t, h.Wasteful())
	require.Equal(t, 1004, h.Len(), "one string of 1,000 bytes and its length")
	require.Len(t, h.At(g[1]), 1000)
}

// pick is a row of the model: what is compared, its time, its value.
type pick struct {
	by   string
	ts   int64
	item string
}

// batchOf makes a batch of such rows: columns by and item, and times.
func batchOf(pool *column.Pool, rows []pick) *column.Batch {
	text := arrow.BinaryTypes.String
	bl := column.NewBuilder(pool, arrow.NewSchema([]arrow.Field{{Name: "by", Type: text}, {Name: "item", Type: text}}, nil))
	for _, r := range rows {
		bl.String(0, r.by)
		bl.String(1, r.item)
		bl.Time(r.ts, true)
		bl.EndRow()
	}
	return bl.Finish()
}

var picks = rapid.SliceOfN(rapid.Custom(func(t *rapid.T) pick {
	return pick{texts.Draw(t, "by"), rapid.Int64Range(-3, 3).Draw(t, "ts"), texts.Draw(t, "item")}
}), 1, 30)

// ruleOf is the rule of ArgMin or ArgMax over the columns of batchOf.
func ruleOf(least, ties bool) *Rule {
	typ := keys.TypeOf(arrow.BinaryTypes.String)
	return &Rule{By: 0, ByType: typ, ByKind: column.Bytes, Timed: !ties, Inverse: !ties && !least, Ties: ties, Least: least, Values: []int{1}, Types: []keys.Type{typ}}
}

// Of equal extremes the earliest row is kept, and of those the one whose value is least; what is saved gives the same again.
func TestARuleKeepsTheEarliestOfTheExtremeRows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		least, rows := rapid.Bool().Draw(t, "least"), picks.Draw(t, "rows")
		pool := column.NewDebugPool()
		b := batchOf(pool, rows)
		r := ruleOf(least, false)
		p := make([]uint64, len(rows))
		r.Prefixes(p, make([]uint64, len(rows)), b, 0, nil)
		var h Heap
		var g [2]uint64
		for i := range rows {
			if tuple := r.Encode(nil, b, i); h.Better(&g, p[i], tuple, least) {
				h.Replace(&g, p[i], tuple)
			}
		}
		b.Release()
		want := slices.MinFunc(rows, func(x, y pick) int {
			by := strings.Compare(x.by, y.by)
			if !least {
				by = -by
			}
			return cmp.Or(by, cmp.Compare(x.ts, y.ts), strings.Compare(x.item, y.item))
		})
		for range 2 { // once as it is, once saved and read
			f, err := r.Value(slices.Clone(h.Tuple(r, g[1])), 0)
			require.NoError(t, err)
			require.Equal(t, want.item, string(f.Bytes))
			saved := h.Dump(nil, r, g[0], g[1])
			h, g = Heap{}, [2]uint64{}
			require.NoError(t, h.Load(&g, r, saved))
		}
		require.NoError(t, pool.Check())
	})
}

// With ties all rows of the extreme are kept, through a restart of the heap and what is saved.
func TestARuleWithTiesKeepsAllExtremeRows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		least, rows := rapid.Bool().Draw(t, "least"), picks.Draw(t, "rows")
		pool := column.NewDebugPool()
		b := batchOf(pool, rows)
		r := ruleOf(least, true)
		at := make([]uint32, len(rows)) // rows named one by one give what a range gives
		for i := range at {
			at[i] = uint32(i)
		}
		p := make([]uint64, len(rows))
		r.Prefixes(p, make([]uint64, len(rows)), b, 0, at)
		var h Heap
		var g [2]uint64
		for i := range rows {
			if g[1] == 0 || p[i] == g[0] || (p[i] < g[0]) == least {
				h.Tie(&g, p[i], r.Encode(nil, b, i), r)
			}
		}
		b.Release()
		best := rows[0].by
		for _, x := range rows {
			if x.by != best && (x.by < best) == least {
				best = x.by
			}
		}
		var want []string
		for _, x := range rows {
			if x.by == best {
				want = append(want, x.item)
			}
		}
		check := func() {
			var got []string
			for w := g[1]; w != 0; w = h.Next(w) {
				f, err := r.Value(slices.Clone(h.Tuple(r, w)), 0)
				require.NoError(t, err)
				got = append(got, string(f.Bytes))
			}
			require.ElementsMatch(t, want, got)
		}
		check()
		old := h.Restart()
		g[1] = h.CopyFrom(&old, r, g[1])
		check()
		saved := h.Dump(nil, r, g[0], g[1])
		h, g = Heap{}, [2]uint64{}
		require.NoError(t, h.Load(&g, r, saved))
		check()
		require.NoError(t, pool.Check())
	})
}

// What was saved and cut off, or is no tuple, is an error and never a panic.
func TestDamagedTuplesAreErrors(t *testing.T) {
	pool := column.NewDebugPool()
	b := batchOf(pool, []pick{{"greatest of all", 5, "item"}})
	for _, ties := range []bool{false, true} {
		r := ruleOf(false, ties)
		p := make([]uint64, 1)
		r.Prefixes(p, make([]uint64, 1), b, 0, nil)
		var h Heap
		var g [2]uint64
		if ties {
			h.Tie(&g, p[0], r.Encode(nil, b, 0), r)
		} else {
			h.Replace(&g, p[0], r.Encode(nil, b, 0))
		}
		saved := h.Dump(nil, r, g[0], g[1])
		for n := range saved {
			var again [2]uint64
			if err := new(Heap).Load(&again, r, saved[:n]); n == 8 && ties {
				require.NoError(t, err, "a group of no tuples")
			} else {
				require.Error(t, err, "%d of %d bytes", n, len(saved))
			}
		}
	}
	b.Release()
	require.NoError(t, pool.Check())
}
