package shuffle

import (
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/state"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// Each row that is there goes to the owner of its key group, once, in order; rows outside the selection go nowhere.
func TestPartitionerDealsEachRowToItsOwner(t *testing.T) {
	schema := arrow.NewSchema(nil, nil)
	rapid.Check(t, func(t *rapid.T) {
		max := rapid.IntRange(1, 1000).Draw(t, "max")
		tasks := rapid.IntRange(1, min(max, 9)).Draw(t, "tasks")
		p := NewPartitioner(max, tasks)
		for range 3 { // the partitioner is used again
			pool := column.NewDebugPool()
			b := column.NewBatch(pool, schema, rapid.IntRange(0, 50).Draw(t, "rows"))
			b.Hash = make([]uint64, b.Rows)
			for i := range b.Hash {
				b.Hash[i] = rapid.Uint64().Draw(t, "hash")
			}
			if rapid.Bool().Draw(t, "selection") {
				b.Sel = []uint32{}
				for i := range b.Rows {
					if rapid.Bool().Draw(t, "there") {
						b.Sel = append(b.Sel, uint32(i))
					}
				}
			}
			want := make([][]uint32, tasks)
			for i := range b.Len() {
				r := b.Row(i)
				at := state.Owner(state.KeyGroup(b.Hash[r], max), tasks, max)
				want[at] = append(want[at], uint32(r))
			}
			for i, rows := range p.Split(b) {
				require.Equal(t, len(want[i]), len(rows))
				for k := range rows {
					require.Equal(t, want[i][k], rows[k])
				}
			}
			b.Release()
			require.NoError(t, pool.Check())
		}
	})
}

func BenchmarkPartition8192Rows(b *testing.B) {
	for _, tasks := range []int{2, 7} {
		p := NewPartitioner(128, tasks)
		batch := column.NewBatch(nil, arrow.NewSchema(nil, nil), 8192)
		batch.Hash = make([]uint64, batch.Rows)
		x := uint64(1)
		for i := range batch.Hash {
			x = x*6364136223846793005 + 1442695040888963407
			batch.Hash[i] = x
		}
		b.Run(map[int]string{2: "to 2 tasks", 7: "to 7 tasks"}[tasks], func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				p.Split(batch)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/8192, "ns/row")
		})
	}
}
