package kernel

import (
	"fmt"
	"math"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/internal/aggregate"
	"github.com/arkflow-go/arkflow/internal/keys"
	"github.com/arkflow-go/arkflow/internal/partition"
	"github.com/arkflow-go/arkflow/state"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// patterns are keys as programs make them: whoever spreads them badly makes every look-up long.
var patterns = map[string]func(i uint64) uint64{
	"counted":          func(i uint64) uint64 { return i },
	"negative":         func(i uint64) uint64 { return -i },
	"thousands":        func(i uint64) uint64 { return i * 1000 },
	"high bits":        func(i uint64) uint64 { return i << 40 },
	"pages":            func(i uint64) uint64 { return i << 12 },
	"two halves":       func(i uint64) uint64 { return i%300<<32 | i/300 },
	"whole floats":     func(i uint64) uint64 { return math.Float64bits(float64(i)) },
	"tenths":           func(i uint64) uint64 { return math.Float64bits(float64(i) / 10) },
	"nanoseconds":      func(i uint64) uint64 { return 1_700_000_000_000_000_000 + i*1_000_000_000 },
	"random":           func(i uint64) uint64 { return keys.Mix64(i) },
	"snowflake counts": func(i uint64) uint64 { return i<<22 | i&7<<12 },
}

func TestNoPatternOfKeysMakesLookupsLong(t *testing.T) {
	const n = 100_000
	for name, key := range patterns {
		table := newTable(layoutOf(t, fieldsOf(arrow.PrimitiveTypes.Int64), 1))
		require.NoError(t, table.reserve(n))
		pairs := newTable(layoutOf(t, fieldsOf(arrow.PrimitiveTypes.Int64, arrow.PrimitiveTypes.Int64), 2))
		require.NoError(t, pairs.reserve(n))
		var parts [partition.Count]int
		for i := range uint64(n) {
			k := key(i)
			parts[k*fib>>(64-partition.Bits)]++
			table.probeWord(k)
			pairs.probePair(keys.Fold(k, i%3), k, i%3)
		}
		require.Equal(t, n, table.groups())
		assert.Less(t, steps(table), 2.5, name)
		assert.Less(t, steps(pairs), 2.5, name)
		most := 0
		for _, p := range parts {
			most = max(most, p)
		}
		assert.Less(t, most, 4*n/partition.Count, "%s: rows of a partition", name)
	}
}

// steps is the mean number of slots that a look-up visits.
func steps(t *table) float64 {
	sum, mask := 0, uint64(len(t.slots)-1)
	for at, ref := range t.slots {
		if ref != 0 {
			sum += int((uint64(at)-t.hashOf(ref)>>t.shift)&mask) + 1
		}
	}
	return float64(sum) / float64(t.groups())
}

func TestDamagedSnapshotsAreRefused(t *testing.T) {
	s := fieldsOf(arrow.BinaryTypes.String, arrow.PrimitiveTypes.Int64)
	l := layoutOf(t, s, 1, aggregate.Sum, aggregate.Max)
	p := NewAggregator(l).Open()
	b := batchOf(s, []any{"a", 1}, []any{"b", 2})
	require.NoError(t, p.AddRange(b, 0, 2))
	good := tablesOf(t, p.View(0, 128, pages), nil)[0]
	a := NewAggregator(l)
	load := NewLoad(a, state.Range{End: 128}, func(int64) (*Pane, error) { return a.Open(), nil })
	require.NoError(t, load.Add(good))
	for i := range good.Cols {
		bad := good
		bad.Cols = append([]column.Column(nil), good.Cols...)
		if c := &bad.Cols[i]; c.Kind == column.Bytes {
			c.Offsets = []int32{0, 5, 1}
		} else {
			c.Data = c.Data[:8]
		}
		require.ErrorContains(t, load.Add(bad), "saved windows are damaged: column", "column %d", i)
	}
	short := good
	short.Groups = short.Groups[:1]
	require.ErrorContains(t, load.Add(short), "have changed")
}

func BenchmarkHash(b *testing.B) {
	for name, typ := range map[string]arrow.DataType{"int64": arrow.PrimitiveTypes.Int64, "string13": arrow.BinaryTypes.String} {
		bl := column.NewBuilder(nil, fieldsOf(typ))
		for i := range 8192 {
			if name == "int64" {
				bl.Int64(0, int64(i))
			} else {
				bl.String(0, fmt.Sprintf("user-%08d", i))
			}
			bl.EndRow()
		}
		batch := bl.Finish()
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			var dst []uint64
			for range b.N {
				dst = keys.Hash(dst, batch, []int{0})
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/8192, "ns/row")
		})
	}
}
